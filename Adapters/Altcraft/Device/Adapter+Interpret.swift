public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var suspension: Finding?
        var verdicts: [OperationID: Verdict<Self>] = [:]
        var incoming: [JSONValue] = []
        for pending in exchange.operations {
            let reading = Reading(exchange: exchange, pending: pending, adapter: self)
            let verdict = reading.verdict(&memory)
            suspension = suspension ?? reading.suspension
            if case .retry = verdict { incoming.append(reading.attempt) }
            verdicts[pending.id] = verdict
        }
        return Interpretation(verdicts, incoming: incoming, suspension: suspension)
    }
}

/// The interpretation of an exchange for the operation that it carried. It parses the bodies at most once.
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
    private lazy var sent = SentSubscription(endpoint, exchange.request.json)
    private lazy var contact = adapter.person(pending.operation.contact)
    private var settings: AltcraftSettings { adapter.settings }
    private var isUnauthorised: Bool { response?.status == 401 || response?.status == 403 }
    private var isRead: Bool { pending.operation.action.kind == .readBack }
    private var isReleaseOrQuery: Bool { endpoint == .unsuspend || isRead }
    /// The meaning of the reply. A request that ends or releases a subscription is repeated if the vendor was unavailable.
    private var meaning: ReplyMeaning {
        let isBusy = response?.status == 408 || response?.status == 429
        return isBusy && (endsSubscription || endpoint == .unsuspend) ? .retry : row.meaning
    }

    /// The reason to suspend the provider; nil if there is none.
    var suspension: Finding? {
        isUnauthorised && settings.onUnauthorized == .suspend ? FindingRow.replyCredential.at() : nil
    }

    func verdict(_ memory: inout AltcraftMemory) -> Result {
        if case .registerDevice(let device) = pending.operation.action { memory.device = device }
        if endpoint == .unsuspend { memory.beginPersonChange(.init(contact: contact, sequence: pending.sequence)) }
        noteDecision(&memory)
        noteDeparture(&memory)
        if exchange.mayHaveWorked { memory.markUncertain(endpoint, contact, sent, pending) }
        if pending.operation.action == .erase, endpoint == .subscribe, meaning != .retry { return erased(&memory) }
        switch meaning {
        case .accepted: return success(&memory)
        case .retry: return isReleaseOrQuery ? failedReleaseOrQuery(memory) : repeated(&memory)
        case .refused, .suspend:
            if suspension != nil, !isReleaseOrQuery { return .inProgress(pending.step, .woken) }
            return endpoint == .unsuspend ? failedReleaseOrQuery(memory) : refused(&memory)
        }
    }

    /// Continues an erasure, whatever the reply: the device can't do more.
    private func erased(_ memory: inout AltcraftMemory) -> Result {
        if let address = sent.address {
            memory.change(contact, at: address) { ($0.status, $0.mayBeSubscribed) = (nil, false) }
        }
        return .inProgress(pending.step)
    }

    /// The vendor has a decision of the person. One against a subscription counts although the vendor refused it, or the query
    /// before it: no earlier opt-in may follow.
    private func noteDecision(_ memory: inout AltcraftMemory) {
        guard case .changeSubscription(let subscription) = pending.operation.action,
            let status = subscription.state.status,
            meaning == .accepted && endpoint == .subscribe
                || meaning == .refused && endpoint != .tokenUpdate && subscription.state != .subscribed
        else { return }
        memory.note(
            .init(
                contact: contact,
                topic: subscription.topic,
                status: status,
                operation: pending.id.rawValue,
                sequence: pending.sequence
            )
        )
    }

    /// Records an unregistration. It is reverted when the person comes back, unless the person has decided otherwise since.
    private func noteDeparture(_ memory: inout AltcraftMemory) {
        let isAccepted = row.meaning == .accepted
        switch (pending.operation.action, endpoint) {
        case (_, .subscribe)
        where isAccepted && memory.isUnrequestedSuspension(pending.operation.action, sent.status, contact):
            memory.noteDeparture(.init(contact: contact, sequence: pending.sequence))
        case (.changeSubscription(let subscription), .subscribe) where subscription.topic == nil:
            memory.forgetDepartures(of: contact)
        case (.registerDevice, .subscribe) where isAccepted, (.switchContact, .unsuspend) where isAccepted:
            memory.forgetDepartures(of: contact)
        default: break
        }
    }

    // MARK: Accepted requests

    private func success(_ memory: inout AltcraftMemory) -> Result {
        let answer = answer(\.success)
        if hasError, settings.errorInSuccess == .reject { return successWithError(answer, &memory) }
        switch endpoint {
        case .unsuspend: return released(answer, &memory)
        case .status: return queried(answer, &memory)
        case .tokenUpdate:
            if let old = sent.oldAddress, let new = sent.address { memory.moved(contact, from: old, to: new) }
            // The operation that needed the update follows. If the token has changed again, another update comes first.
            guard case .registerDevice(let device) = pending.operation.action,
                memory.move(of: contact, to: PushAddress(device)) == nil, !isOptingOut,
                memory.departure(of: contact, before: pending.sequence) == nil
            else { return .inProgress(pending.step) }
        case .subscribe:
            if let address = sent.address { subscribed(answer.profile?.subscription, at: address, &memory) }
            if isOptingOut, !memory.reachable(contact).isEmpty { return continued(after: answer) }
            if pending.step == .restore {
                // The release is retried while the vendor may reach a person who has logged out.
                guard memory.reachableOthers(than: contact).isEmpty else {
                    return .inProgress(nil, RetryLadder.next(pending.failures, exchange))
                }
                return .rejected(FindingRow.askAgain.at(detail: detail), answer: answer.json)
            }
            if [.switchContact, .setConsent].contains(pending.operation.action.kind) {
                guard pending.step == .subscribe || sent.status != SubscriptionStatus.unsubscribed else {
                    // It was ended so that the release does not resume it.
                    memory.owed = .init(contact: contact, isEnded: true)
                    return continued(after: answer)
                }
                memory.owed = nil
            }
            if pending.operation.action == .unregister { memory.completeUnregistration(at: pending.sequence) }
        case .profileUpdate, .pushEvent, .customEvent: break
        }
        if case .changeTags(let change) = pending.operation.action, adapter.needsSecondRequest(change, pending.step) {
            return .inProgress(.addTags)
        }
        return accepted(answer, memory)
    }

    /// Whether the operation ends every subscription of the person.
    private var isOptingOut: Bool {
        switch pending.operation.action {
        case .unregister: true
        case .registerDevice(let device): device.allowsPush == false
        case .setConsent: sent.status == SubscriptionStatus.suspended
        case .changeSubscription(let subscription): subscription.topic == nil && subscription.state != .subscribed
        default: false
        }
    }

    /// Records the vendor's state after a subscription request: the state in the reply, else the requested one.
    private func subscribed(
        _ shown: AltcraftAnswer.Subscription?,
        at address: PushAddress,
        _ memory: inout AltcraftMemory
    ) {
        let before = memory.holding(of: contact, at: address)
        var status = isLater ? nil : shown?.status ?? sent.status
        // The status is queried when the person comes back.
        if isOptingOut, pending.operation.action == .unregister { status = nil }
        var categories: [String: Bool]?
        if settings.categoryLists == .replace, !isLater {
            categories = shown?.categories.map(named) ?? Dictionary(sentCategories) { $1 }
        }
        let isSubscribed = (shown?.status ?? sent.status) == SubscriptionStatus.subscribed
        // A request to end a subscription counts as done even if the vendor processes it later.
        memory.note(
            .init(
                contact: contact,
                address: address,
                certainty: .held,
                status: status,
                categories: categories ?? (isLater ? nil : before?.categories),
                mayBeSubscribed: isSubscribed
            )
        )
        if memory.refused == address { memory.refused = nil }
        if sent.replaces { memory.changeOthers(than: contact, at: address) { $0.status = nil } }
    }

    private func named(_ categories: [AltcraftAnswer.Category]) -> [String: Bool] {
        Dictionary(categories.compactMap { one in one.name.map { ($0, one.isActive ?? true) } }) { $1 }
    }

    /// Records the subscription of this installation from a reply. A reply without a subscription also counts.
    private func noteSubscription(
        _ subscription: AltcraftAnswer.Subscription?,
        at address: PushAddress?,
        _ memory: inout AltcraftMemory
    ) {
        guard let address else { return }
        // An update without a clear reply has moved a subscription that is no longer under its old token.
        if subscription == nil, let update = memory.move(of: contact, to: address), update.old == address {
            return memory.moved(contact, from: update.old, to: update.new)
        }
        let categories = settings.categoryLists == .replace ? named(subscription?.categories ?? []) : nil
        memory.note(
            .init(
                contact: contact,
                address: address,
                certainty: subscription == nil ? .absent : .held,
                status: subscription?.status,
                categories: subscription == nil ? nil : categories,
                mayBeSubscribed: subscription.map {
                    $0.status.map { $0 == SubscriptionStatus.subscribed } ?? true
                } ?? false
            )
        )
    }

    /// Handles the reply to a query: the caller's, or the adapter's own before a change.
    private func queried(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        let isClear = reply?.object != nil && !hasError
        guard isRead else {
            guard isClear else { return .rejected(FindingRow.replyUnreadable.at(detail: detail), answer: answer.json) }
            noteSubscription(answer.profile?.subscription, at: queriedAddress, &memory)
            return .inProgress(pending.step)
        }
        // Other queries may return another device's subscription.
        if isClear, case .readBack(let request) = pending.operation.action,
            request.what == StatusQueryMode.current.rawValue
        {
            noteSubscription(answer.profile?.subscription, at: queriedAddress, &memory)
        }
        return accepted(answer, memory)
    }

    /// The token that a query named.
    private var queriedAddress: PushAddress? {
        let items = URLText.queryItems(of: exchange.request.url)
        guard let provider = items.last(where: { $0.name == "provider" })?.value,
            let token = items.last(where: { $0.name == "subscription_id" })?.value
        else { return nil }
        return PushAddress(provider: provider, token: token)
    }

    private func released(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        guard answer.httpCode == 200, let address = sent.address else { return failedReleaseOrQuery(memory) }
        memory.changeOthers(than: contact, at: address) {
            if $0.status == SubscriptionStatus.subscribed {
                $0.status = SubscriptionStatus.suspended
            }
            $0.mayBeSubscribed = false
        }
        let shown = answer.profile?.subscription
        noteSubscription(shown, at: address, &memory)
        // Under a token from before, only the others mattered.
        guard exchange.request[header: "Request-ID"] == RequestID.text(for: pending.id) else {
            return .inProgress(pending.step)
        }
        let isSubscribed = shown?.status == SubscriptionStatus.subscribed
        let decided = memory.optOutStatus(of: contact)
        let isEnded = memory.owed.map { $0.contact.isExactly(contact) && $0.isEnded } ?? false
        let isAllowed = memory.device?.allowsPush != false
        guard shown != nil, !isEnded, !isSubscribed || decided == nil && isAllowed else {
            return .inProgress(.subscribe)
        }
        memory.owed = nil
        return accepted(answer, memory)
    }

    /// Continues with the operation's next request. If the reply shows another status than the requested one, the next request
    /// may be the same one, so it waits.
    private func continued(after answer: AltcraftAnswer) -> Result {
        let shown = answer.profile?.subscription?.status ?? sent.status
        return shown == sent.status
            ? .inProgress(pending.step) : .retry(RetryLadder.next(pending.failures, exchange))
    }

    private func accepted(_ answer: AltcraftAnswer, _ memory: AltcraftMemory) -> Result {
        .accepted(note(answer, memory), answer: answer.json)
    }

    /// Handles a success that the settings do not trust: the vendor may have processed the request or not.
    private func successWithError(_ answer: AltcraftAnswer, _ memory: inout AltcraftMemory) -> Result {
        if endpoint == .tokenUpdate, let address = sent.address {
            // A refused update leaves the old token confirmed, but messages may reach the new one.
            let isReachable = memory.holding(of: contact, at: sent.oldAddress)?.mayBeSubscribed ?? true
            memory.change(contact, at: address) { holding in
                holding.status = nil
                holding.mayBeSubscribed = holding.mayBeSubscribed || isReachable
            }
        } else {
            memory.markUncertain(endpoint, contact, sent, pending)
        }
        if let next = withoutTokenUpdate(&memory) { return next }
        return .rejected(FindingRow.replyErrorRefused.at(detail: detail), answer: answer.json)
    }

    /// Whether the answer carries an error number beside its success.
    private var hasError: Bool { (reply?["error"]?.integer ?? 0) != 0 }

    /// Whether the request asked the vendor to reply before processing it.
    private var isLater: Bool {
        guard endpoint == .subscribe else { return false }
        let sync = URLText.queryItems(of: exchange.request.url).last { $0.name == "sync" }?.value
        return sync == "false" || sync == "0"
    }

    /// Returns the most important finding about a success.
    private func note(_ answer: AltcraftAnswer, _ memory: AltcraftMemory) -> Finding? {
        if hasError { return FindingRow.replyErrorInSuccess.at() }
        if let difference = difference(answer.profile?.subscription) { return difference }
        if let topic = topicUnderOptOut { return topic }
        if isLater { return FindingRow.replyLater.at() }
        if endpoint == .customEvent, memory.utcOffsetSeconds == nil { return FindingRow.eventZone.at() }
        return nil
    }

    /// Returns a finding if the reply shows another status or category than requested. Some categories can't be changed.
    private func difference(_ shown: AltcraftAnswer.Subscription?) -> Finding? {
        guard let shown, let sentStatus = sent.status else { return nil }
        if let status = shown.status, status != sentStatus { return FindingRow.replyDiffers.at(detail: "status") }
        let categories = named(shown.categories ?? [])
        let other = sentCategories.first { name, isActive in categories[name].map { $0 != isActive } ?? false }
        return other.map { FindingRow.replyDiffers.at(detail: "category \($0.0)") }
    }

    private var topicUnderOptOut: Finding? {
        guard case .changeSubscription(let subscription) = pending.operation.action, subscription.topic != nil,
            subscription.state == .subscribed, sent.status != SubscriptionStatus.subscribed
        else { return nil }
        return FindingRow.topicUnderOptOut.at("action.subscription.topic")
    }

    // MARK: Failed requests

    /// Handles a query or release that is not repeated automatically.
    private func failedReleaseOrQuery(_ memory: AltcraftMemory) -> Result {
        // The vendor may have subscribed a person who has decided otherwise.
        if endpoint == .unsuspend, exchange.mayHaveWorked, memory.optOutStatus(of: contact) != nil {
            return .inProgress(.restore)
        }
        // The release has no result yet, or the vendor may still reach a person who has logged out.
        if endpoint == .unsuspend, meaning == .retry,
            !exchange.mayHaveWorked || !memory.reachableOthers(than: contact).isEmpty
        {
            let next = RetryLadder.next(pending.failures, exchange)
            // The start of a process is a wake: after a crash, the release is not repeated at once.
            return .retry(When(until: next.until, orWoken: next.orWoken && !exchange.outcome.isInterrupted))
        }
        let unanswered = meaning == .retry ? FindingRow.readUnanswered : row.finding ?? .replyRefused
        let finding = endpoint == .unsuspend ? FindingRow.askAgain : unanswered
        return .rejected(finding.at(detail: detail), answer: answer(\.final).json)
    }

    /// Whether the operation ends a subscription that the vendor must not keep. It is repeated without a limit.
    private var endsSubscription: Bool {
        switch pending.operation.action {
        case .unregister, .erase: true
        case .registerDevice: endpoint == .subscribe && isOptingOut
        case .changeSubscription(let subscription): subscription.state != .subscribed
        case .setConsent: pending.operation.action.pushMessageConsent.map { $0 != .granted } ?? false
        // Before the release, the previous state is queried and ended.
        case .switchContact:
            endpoint == .status || endpoint == .subscribe && sent.status != SubscriptionStatus.subscribed
        default: false
        }
    }

    private func repeated(_ memory: inout AltcraftMemory) -> Result {
        guard response != nil, pending.refusals + 1 >= RetryLadder.attempts, !endsSubscription else {
            return .retry(RetryLadder.next(pending.failures, exchange))
        }
        if let next = withoutTokenUpdate(&memory) { return next }
        return .rejected(FindingRow.retryLimit.at(detail: detail), answer: answer(\.repeated).json)
    }

    /// Continues without a token update that the vendor refuses. The refused token is not offered again. An update whose reply
    /// was unclear counts as done, and the update to the newest token follows.
    private func withoutTokenUpdate(_ memory: inout AltcraftMemory) -> Result? {
        guard endpoint == .tokenUpdate, let address = sent.address else { return nil }
        let wasUncertain = memory.holding(of: contact, at: address)?.certainty == .updating
        if wasUncertain {
            memory.change(contact, at: address) { $0.certainty = .held }
            if let holding = memory.holding(of: contact, at: address) { memory.note(holding) }
        } else {
            memory.refused = address
        }
        if case .registerDevice(let device) = pending.operation.action, !wasUncertain || PushAddress(device) == address
        {
            return nil
        }
        return .inProgress(pending.step)
    }

    private func refused(_ memory: inout AltcraftMemory) -> Result {
        if let next = withoutTokenUpdate(&memory) { return next }
        let finding = row.finding ?? .replyRefused
        return .rejected(finding.at(path, detail: detail), answer: answer(\.final).json)
    }

    /// An attempt that failed and will be repeated, for the app: `attempt` names the operation.
    var attempt: JSONValue {
        var content = answer(\.repeated).json.object ?? [:]
        content["attempt"] = .string(pending.id.rawValue)
        return .object(content)
    }

    // MARK: Parts

    private func answer(_ number: (EventCodes.Numbers) -> Int?) -> AltcraftAnswer {
        let codes = EventCodes.row(endpoint, status: sent.status)
        return AltcraftAnswer(status: response?.status, reply, codes, number)
    }

    /// The field that the vendor complains about, else the status: names and numbers alone.
    private var detail: String? {
        guard let reply = response else { return nil }
        let field = reply.refusedField.map { "field \($0), " } ?? ""
        return "\(field)HTTP \(reply.status)"
    }

    /// The path of the field about which the vendor complains; empty if it is unknown.
    private var path: String {
        guard let field = response?.refusedField else { return "" }
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
        return (exchange.request.json?["subscription"]?["cats"]?.array ?? []).compactMap { category in
            category["name"]?.string.map { ($0, category["active"]?.bool ?? true) }
        }
    }
}

/// The retry policy.
enum RetryLadder {
    /// The number of refusals after which an operation is rejected. An outage does not count.
    static let attempts = 16
    /// 5.5 to the power of 0 to 5 seconds; exact, as the vendor's SDK counts.
    static let backoff = Backoff([1_000, 5_500, 30_250, 166_375, 915_063, 5_032_844].map { .milliseconds($0) })

    /// Returns the time of the next attempt: by the ladder, or as the server asks if that is later. A wake comes first, unless
    /// the server stated a time.
    static func next(_ failures: Int, _ exchange: Exchange<AltcraftDevice>) -> When {
        let asked = exchange.retryAfter
        return .at(backoff.next(after: failures, asked: asked, at: exchange.moment), orWoken: asked == nil)
    }
}
