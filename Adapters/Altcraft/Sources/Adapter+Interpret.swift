public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var park: Finding?
        var verdicts: [OperationID: Verdict<Self>] = [:]
        var incoming: [JSONValue] = []
        for pending in exchange.operations {
            let reading = Reading(exchange: exchange, pending: pending, adapter: self)
            let verdict = reading.verdict(&memory)
            park = park ?? reading.park
            if case .retry = verdict { incoming.append(reading.attempt) }
            verdicts[pending.id] = verdict
        }
        return Interpretation(verdicts, incoming: incoming, park: park)
    }
}

/// What one exchange means for the operation it carried. Its bodies are read at most once.
private final class Reading {
    typealias Result = Verdict<AltcraftDevice>

    let exchange: Exchange<AltcraftDevice>
    let pending: Pending<AltcraftDevice>
    let adapter: AltcraftDevice
    // Parts of the exchange, which is large to copy.
    private let endpoint: AltcraftDevice.Endpoint
    private let response: WireResponse?

    init(exchange: Exchange<AltcraftDevice>, pending: Pending<AltcraftDevice>, adapter: AltcraftDevice) {
        (self.exchange, self.pending, self.adapter) = (exchange, pending, adapter)
        (endpoint, response) = (exchange.endpoint, exchange.outcome.reply)
    }

    private lazy var row = ReplyTable.altcraft.row(for: exchange.outcome)
    private lazy var reply = response?.json
    private lazy var sent = exchange.request.json
    private var settings: AltcraftSettings { adapter.settings }
    private var isUnauthorised: Bool { response?.status == 401 || response?.status == 403 }
    private var asksAgain: Bool { endpoint == .unsuspend || pending.operation.action.kind == .readBack }

    /// Why the provider stops; nil if it goes on.
    var park: Finding? {
        isUnauthorised && settings.onUnauthorized == .park ? FindingRow.replyCredential.at() : nil
    }

    func verdict(_ memory: inout AltcraftMemory) -> Result {
        if case .registerDevice(let device) = pending.operation.action { memory.device = device }
        noteLeave(&memory)
        if exchange.mayHaveWorked { memory.doubt(endpoint, sentAddress, pending) }
        switch row.meaning {
        case .accepted: return success(&memory)
        case .retry: return asksAgain ? never(row) : again(&memory)
        case .refused, .park:
            if park != nil, !asksAgain { return .underway(pending.step, .woken) }
            return asksAgain && endpoint == .unsuspend ? never(row) : refused(row, &memory)
        }
    }

    /// Leaving is undone when the person comes back, unless the person has said something about the subscription since.
    private func noteLeave(_ memory: inout AltcraftMemory) {
        let (contact, isAccepted) = (pending.operation.contact, row.meaning == .accepted)
        switch (pending.operation.action, endpoint) {
        case (.farewell, .subscribe) where isAccepted:
            memory.leave = .init(contact: contact, sequence: pending.sequence)
        case (.changeSubscription(let word), _) where word.topic == nil && memory.leave(of: contact) != nil:
            memory.leave = nil
        case (.registerDevice, .subscribe) where isAccepted, (.switchContact, .unsuspend) where isAccepted:
            memory.leave = nil
        default: break
        }
    }

    // MARK: Yes

    private func success(_ memory: inout AltcraftMemory) -> Result {
        let answer = answer(\.success)
        if hasError, settings.errorInSuccess == .reject { return unsaid(answer, &memory) }
        switch endpoint {
        case .unsuspend: return released(answer, &memory)
        case .status: return told(answer, &memory)
        case .tokenUpdate:
            (memory.saved, memory.doubtful, memory.refused) = (sentAddress, nil, nil)
            // The update moved one person's subscription: what is known of another's was under the old token. Beside a role
            // token there is but one, which the push token finds.
            if settings.usedRoleToken == nil { memory.standing = memory.status(of: pending.operation.contact) }
            // Whoever comes back with a new token is asked about behind it.
            if isLeaving || memory.leave(of: pending.operation.contact, before: pending.sequence) != nil {
                return .underway(pending.step)
            }
        case .subscribe:
            RuleID.altcraft("T4").fire()
            if let address = sentAddress, address != memory.saved {
                (memory.saved, memory.doubtful, memory.refused) = (address, nil, nil)
            }
            // What becomes of a person who was left is not heard of here: whoever needs to know asks again.
            let isUnknown = isLater || pending.operation.action.kind == .farewell
            memory.standing = isUnknown ? nil : standing(answer.profile?.subscription, memory)
        case .profileUpdate, .pushEvent, .customEvent: break
        }
        if case .changeTags(let change) = pending.operation.action, adapter.needsSecondRequest(change, pending.step) {
            return .underway(.addTags)
        }
        return accepted(answer, memory)
    }

    /// What the vendor holds after a subscription request: what it shows, else what was asked for.
    private func standing(_ shown: AltcraftAnswer.Subscription?, _ memory: AltcraftMemory) -> AltcraftMemory.Standing {
        let contact = pending.operation.contact
        guard settings.categoryLists == .replace else {
            return .init(contact: contact, status: shown?.status ?? sentStatus)
        }
        let categories = shown?.categories.map(named) ?? Dictionary(sentCategories) { $1 }
        return .init(contact: contact, status: shown?.status ?? sentStatus, categories: categories)
    }

    private func named(_ categories: [AltcraftAnswer.Category]) -> [String: Bool] {
        Dictionary(categories.compactMap { one in one.name.map { ($0, one.isActive ?? true) } }) { $1 }
    }

    /// The subscription of this installation, as an answer about it shows it; none is an answer, too.
    private func seen(_ subscription: AltcraftAnswer.Subscription?) -> AltcraftMemory.Standing {
        let categories = settings.categoryLists == .replace ? named(subscription?.categories ?? []) : nil
        return .init(contact: pending.operation.contact, status: subscription?.status, categories: categories)
    }

    /// An answer to a question: the caller's, or the adapter's own before a change that must not guess.
    private func told(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        if answer.profile?.subscription == nil { RuleID.altcraft("S7").fire() }
        let isClear = reply?.object != nil && !hasError
        guard pending.operation.action.kind == .readBack else {
            guard isClear else { return .rejected(FindingRow.replyUnreadable.at(detail: detail), answer: answer.json) }
            memory.standing = seen(answer.profile?.subscription)
            return .underway(pending.step)
        }
        // Other questions may be answered with another device's subscription.
        if isClear, asksForThisDevice { memory.standing = seen(answer.profile?.subscription) }
        return accepted(answer, memory)
    }

    private var asksForThisDevice: Bool {
        guard case .readBack(let request) = pending.operation.action else { return false }
        return request.what == StatusQuestion.current.rawValue
    }

    private func released(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        guard answer.httpCode == 200 else { return never(row) }
        RuleID.altcraft("L7").fire()
        memory.standing = seen(answer.profile?.subscription)
        guard answer.profile?.subscription != nil else {
            RuleID.altcraft("L2").fire()
            return .underway(.subscribe)
        }
        for rule in ["L6", "L8"] { RuleID.altcraft(rule).fire() }
        return accepted(answer, memory)
    }

    private func accepted(_ answer: AltcraftAnswer, _ memory: AltcraftMemory) -> Result {
        .accepted(note(answer, memory), answer: answer.json)
    }

    /// A success that the configuration does not believe: nothing is taken for granted.
    private func unsaid(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        memory.standing = nil
        if let on = stay(&memory) { return on }
        return .rejected(FindingRow.replyErrorRefused.at(detail: detail), answer: answer.json)
    }

    /// Whether the answer carries an error number beside its success.
    private var hasError: Bool { (reply?["error"]?.integer ?? 0) != 0 }

    /// Whether the vendor was asked to answer before it has processed.
    private var isLater: Bool {
        guard endpoint == .subscribe else { return false }
        let sync = URLText.queryItems(of: exchange.request.url).last { $0.name == "sync" }?.value
        return sync == "false" || sync == "0"
    }

    /// What the caller should know about a success, the most important first.
    private func note(_ answer: AltcraftAnswer, _ memory: AltcraftMemory) -> Finding? {
        if hasError { return FindingRow.replyErrorInSuccess.at() }
        if let difference = difference(answer.profile?.subscription) { return difference }
        if let topic = topicUnderOptOut { return topic }
        if isLater { return FindingRow.replyLater.at() }
        if endpoint == .customEvent, memory.utcOffsetSeconds == nil { return FindingRow.eventZone.at() }
        return nil
    }

    /// What the vendor shows otherwise than it was asked for: a category that it does not let change.
    private func difference(_ shown: AltcraftAnswer.Subscription?) -> Finding? {
        guard let shown, let sentStatus else { return nil }
        RuleID.altcraft("S9").fire()
        if let status = shown.status, status != sentStatus { return FindingRow.replyDiffers.at(detail: "status") }
        let categories = named(shown.categories ?? [])
        let other = sentCategories.first { name, isActive in categories[name].map { $0 != isActive } ?? false }
        return other.map { FindingRow.replyDiffers.at(detail: "category \($0.0)") }
    }

    private var topicUnderOptOut: Finding? {
        guard case .changeSubscription(let subscription) = pending.operation.action, subscription.topic != nil,
            subscription.state == .subscribed, sentStatus != Subscription.State.subscribed.rawValue
        else { return nil }
        return FindingRow.topicUnderOptOut.at("action.subscription.topic")
    }

    // MARK: No

    /// A question that is not repeated by itself.
    private func never(_ row: ReplyRow) -> Result {
        RuleID.altcraft("R8").fire()
        let finding = endpoint == .unsuspend ? FindingRow.askAgain : row.finding ?? .replyRefused
        return .rejected(finding.at(detail: detail), answer: answer(\.final).json)
    }

    private func again(_ memory: inout AltcraftMemory) -> Result {
        guard response != nil, pending.refusals + 1 >= RetryLadder.attempts else {
            return .retry(RetryLadder.next(pending.failures, exchange))
        }
        if let on = stay(&memory) { return on }
        return .rejected(FindingRow.retryLimit.at(detail: detail), answer: answer(\.repeated).json)
    }

    /// A token whose update the vendor does not take is not offered again; whoever is leaving goes on under the old one.
    private func stay(_ memory: inout AltcraftMemory) -> Result? {
        guard endpoint == .tokenUpdate else { return nil }
        memory.refused = sentAddress
        guard isLeaving else { return nil }
        memory.doubtful = nil
        return .underway(pending.step)
    }

    private var isLeaving: Bool { pending.operation.action == .farewell }

    private func refused(_ row: ReplyRow, _ memory: inout AltcraftMemory) -> Result {
        if endpoint == .tokenUpdate { RuleID.altcraft("T3").fire() }
        if let on = stay(&memory) { return on }
        let finding = row.finding ?? .replyRefused
        return .rejected(finding.at(path, detail: detail), answer: answer(\.final).json)
    }

    /// An attempt that failed and will be repeated, for the app: `attempt` names the operation.
    var attempt: JSONValue {
        RuleID.altcraft("S8").fire()
        var content = answer(\.repeated).json.object ?? [:]
        content["attempt"] = .string(pending.id.rawValue)
        return .object(content)
    }

    // MARK: Parts

    private func answer(_ number: (EventCodes.Numbers) -> Int?) -> AltcraftAnswer {
        let codes = EventCodes.row(endpoint, status: sentStatus)
        let answer = AltcraftAnswer(status: response?.status, reply, codes, number)
        fire(answer)
        return answer
    }

    /// The rules about answers that this one follows.
    private func fire(_ answer: AltcraftAnswer) {
        guard let code = answer.httpCode else { return RuleID.altcraft("S4").fire() }
        guard (200...299).contains(code) else { return RuleID.altcraft("S3").fire() }
        if isLater { return RuleID.altcraft("S2").fire() }
        guard let subscription = answer.profile?.subscription else { return }
        RuleID.altcraft("S1").fire()
        if subscription.fields != nil { RuleID.altcraft("S5").fire() }
        if subscription.categories != nil { RuleID.altcraft("S6").fire() }
    }

    /// The field that the vendor complains about, else the status: names and numbers alone.
    private var detail: String? {
        guard let reply = response else { return nil }
        let field = ServerComplaint(reply)?.field.map { "field \($0), " } ?? ""
        return "\(field)HTTP \(reply.status)"
    }

    /// Where the field that the vendor complains about came from; empty if that is not known.
    private var path: String {
        guard let field = response.flatMap(ServerComplaint.init)?.field else { return "" }
        let options = pending.operation.options[AltcraftDevice.descriptor.id] ?? [:]
        for name in ["profileFields", "customFields"] where options[name]?[field] != nil {
            return "options.altcraft".dot(name).dot(field)
        }
        switch pending.operation.action {
        case .changeAttributes(let changes):
            let name = changes.keys.sorted().first { ProfileFields.name(of: $0, settings) == field }
            return name.map { "action.changes".dot($0.rawValue) } ?? ""
        case .changeSubscription(let subscription):
            if subscription.fields[AttributeName(rawValue: field)] != nil {
                return "action.subscription.fields".dot(field)
            }
            return field == "subscriptions.cats" && subscription.topic != nil ? "action.subscription.topic" : ""
        case .changeTags: return field == settings.tagsField ? "action.tags" : ""
        default: return ""
        }
    }

    private var sentCategories: [(String, Bool)] {
        guard endpoint == .subscribe else { return [] }
        return (sent?["subscription"]?["cats"]?.array ?? []).compactMap { category in
            category["name"]?.string.map { ($0, category["active"]?.bool ?? true) }
        }
    }

    private var sentStatus: String? {
        endpoint == .subscribe ? sent?["subscription"]?["status"]?.string : nil
    }

    /// The token that the request was about.
    private var sentAddress: PushAddress? {
        let body = sent
        let isUpdate = endpoint == .tokenUpdate
        let provider = isUpdate ? body?["new_provider"] : body?["subscription"]?["provider"]
        let token = isUpdate ? body?["new_token"] : body?["subscription"]?["subscription_id"]
        guard let provider = provider?.string, let token = token?.string else { return nil }
        return PushAddress(provider: provider, token: token)
    }
}

/// When the vendor is asked again.
enum RetryLadder {
    /// The answer that ends an operation; an outage does not count.
    static let attempts = 16
    /// 5.5 to the power of 0 to 5 seconds; exact, as the vendor's SDK counts.
    static let backoff = Backoff([1_000, 5_500, 30_250, 166_375, 915_063, 5_032_844].map { .milliseconds($0) })

    /// The next attempt: by the ladder, or when the server says if that is later. A wake comes first, unless the server
    /// named its time.
    static func next(_ failures: Int, _ exchange: Exchange<AltcraftDevice>) -> When {
        for rule in ["R5", "R6", "R7"] { RuleID.altcraft(rule).fire() }
        let asked = exchange.retryAfter
        return .at(backoff.next(after: failures, asked: asked, at: exchange.moment), orWoken: asked == nil)
    }
}
