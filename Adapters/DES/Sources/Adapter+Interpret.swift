public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension DESDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if let state = exchange.outcome.reply?[header: "X-Client-State"], !state.isEmpty {
            RuleID.des("R4").fire()
            memory.clientState = state
        }
        return Reading(adapter: self, exchange: exchange).interpret(&memory)
    }
}

/// What one exchange means for the operations it carried.
private struct Reading {
    typealias Head = Pending<DESDevice>
    typealias Result = Interpretation<DESDevice>

    let adapter: DESDevice
    let exchange: Exchange<DESDevice>

    private var settings: DESSettings { adapter.settings }
    private var heads: [Head] { exchange.operations }
    private var row: ReplyRow { ReplyTable.des.row(for: exchange.outcome) }
    private var isQuestion: Bool { heads.contains(where: \.isImmediate) }
    private var body: JSONValue? { exchange.request.json }

    func interpret(_ memory: inout DESMemory) -> Result {
        if exchange.endpoint == .contactToken { return renewed(&memory) }
        if !isQuestion { memory.stopped = nil }
        if exchange.outcome.reply?.status == 401, let renewal = renewal(&memory) { return renewal }
        if exchange.mayHaveWorked { memory.doubt(exchange.endpoint) }
        switch row.meaning {
        case .accepted: return success(&memory)
        case .retry: return isQuestion || isGivenUp ? refused(row, &memory) : kept(&memory)
        case .refused, .park: return refused(row, &memory)
        }
    }

    // MARK: Renewal

    /// A 401 leads to a new token and a repeat, as long as there is something to renew with.
    private func renewal(_ memory: inout DESMemory) -> Result? {
        let count = heads.compactMap { $0.step?.talk?.count }.max() ?? 0
        guard Route.of(exchange.endpoint).isRenewable, memory.refreshToken != nil, count < DESDevice.Talk.most else {
            return nil
        }
        RuleID.des("R33").fire()
        if memory.pushToken != nil { memory.owesPushToken = true }
        memory.forgetPushToken()
        let known = heads.compactMap { $0.step?.talk }.first
        let talk = DESDevice.Talk(
            stage: .renew,
            count: count + 1,
            views: known?.views ?? rows("viewedMessages"),
            clicks: known?.clicks ?? rows("clicks")
        )
        return Result(heads) { head in
            var step = head.stage
            step.talk = talk
            return .underway(step)
        }
    }

    /// How many views or clicks the request carried.
    private func rows(_ name: String) -> Int { body?[name]?.array?.count ?? 0 }

    /// What a renewal means: the first request goes again a little later, is kept, or is given up.
    private func renewed(_ memory: inout DESMemory) -> Result {
        RuleID.des("R33").fire()
        let row = row
        switch row.meaning {
        case .accepted:
            keepTokens(&memory)
            memory.stopped = isQuestion ? memory.stopped : heads.first?.queue
            var result = Result(heads) { head in
                var step = head.stage
                step.talk?.stage = .repeatRequest
                return .underway(step, .at(exchange.moment.now + DESDevice.Talk.pause))
            }
            if memory.owesPushToken { result.followUps = registerAnew(&memory) }
            return result
        case .retry where !isQuestion: return kept(&memory)
        default:
            memory.stopped = isQuestion ? memory.stopped : nil
            return rejected(FindingRow.renewalRefused.at(detail: detail), &memory)
        }
    }

    /// The installation is looked at once more, so that its push token is registered for the new token or contact.
    private func registerAnew(_ memory: inout DESMemory) -> [FollowUp] {
        memory.owesPushToken = false
        guard !memory.refusesPush, let device = memory.device, let cause = heads.first,
            cause.operation.action.kind != .registerDevice
        else { return [] }
        return [FollowUp(cause: cause.id, action: .registerDevice(device))]
    }

    private func keepTokens(_ memory: inout DESMemory) {
        RuleID.des("A4").fire()
        let answer = exchange.outcome.reply?.json?.withoutNulls
        if let token = answer?["contactToken"]?.string, !token.isEmpty { memory.contactToken = Secret(token) }
        if let token = answer?["refreshToken"]?.string, !token.isEmpty { memory.refreshToken = Secret(token) }
    }

    // MARK: No

    /// The request stays at the head, and the queue stops until something happens.
    private func kept(_ memory: inout DESMemory) -> Result {
        RuleID.des("R27").fire()
        memory.stopped = heads.first?.queue
        return Result(heads) { head in
            // What comes after a renewal is made anew; a renewal itself is tried again as it is.
            guard exchange.endpoint != .contactToken, var step = head.step, step.talk != nil else {
                return .retry(.woken)
            }
            step.talk = nil
            return .underway(step, .woken)
        }
    }

    /// Whether the host can't be found, and that is final.
    private var isGivenUp: Bool {
        guard case .failed(let failure) = exchange.outcome, failure.doubt == .notSent else { return false }
        guard ["hostNotFound", "badURL", "unsupportedURL"].contains(failure.code) else { return false }
        RuleID.des("T5").fire()
        return settings.onHostNotFound == .reject
    }

    private func refused(_ row: ReplyRow, _ memory: inout DESMemory) -> Result {
        let isSpent = exchange.outcome.reply?.status == 401 && heads.contains { $0.step?.talk != nil }
        let finding = isGivenUp ? .hostNotFound : isSpent ? .renewalsSpent : row.finding ?? .replyRefused
        if let result = passedOver(&memory) { return result }
        return rejected(finding.at(detail: detail), &memory)
    }

    /// A refusal that does not end the operation: what is left behind, and an anonymous contact that a vendor does not have.
    private func passedOver(_ memory: inout DESMemory) -> Result? {
        guard let head = heads.first, !isQuestion else { return nil }
        var step = head.stage
        step.talk = nil
        switch (exchange.endpoint, head.operation.action.kind) {
        case (.anonymousContact, .registerDevice) where isLeaving(memory): step.leftContact = true
        case (.anonymousContact, .registerDevice): (step.hasContact, step.isAnonymousRefused) = (true, true)
        case (.anonymousContact, .farewell): step.leftContact = true
        case (.pushTokenRemoval, .registerDevice), (.pushTokenRemoval, .farewell): step.leftToken = true
        default: return nil
        }
        return Result([head.id: .underway(step)])
    }

    private func isLeaving(_ memory: DESMemory) -> Bool {
        memory.isRegistered && memory.applicationCode != settings.applicationCode
    }

    private func rejected(_ finding: Finding, _ memory: inout DESMemory) -> Result {
        if heads.count > 1 { RuleID.des("R32").fire() }
        if exchange.endpoint == .contact || exchange.endpoint == .anonymousContact { RuleID.des("R11").fire() }
        if heads.contains(where: \.isEvent) {
            RuleID.des("R27").fire()
            // The session went on, whether the vendor hears of it or not.
            memory.session = heads.reduce(memory.session) { Session.running($0, after: $1) }
        }
        return Result(heads) { _ in .rejected(finding) }
    }

    /// The status, for people.
    private var detail: String? { exchange.outcome.reply.map { "HTTP \($0.status)" } }

    // MARK: Yes

    private func success(_ memory: inout DESMemory) -> Result {
        RuleID.des("R21").fire()
        guard let head = heads.first else { return Result() }
        switch exchange.endpoint {
        case .client: return registered(head, &memory)
        case .pushToken:
            (memory.pushToken, memory.isPushDoubtful) = (body?["pushToken"]?.string, false)
            memory.refusesPush = false
            RuleID.des("R6").fire()
            return goOn(head) { $0.hasToken = true }
        case .pushTokenRemoval:
            (memory.pushToken, memory.isPushDoubtful) = (nil, false)
            return goOn(head) { $0.leftToken = true }
        case .contact, .anonymousContact: return contactChanged(head, &memory)
        case .events: return reported(&memory)
        default: return answered(head, &memory)
        }
    }

    /// The operation's next request, or its end if it is one of a single request.
    private func goOn(_ head: Head, _ change: (inout DESDevice.Step) -> Void) -> Result {
        switch head.operation.action.kind {
        case .registerDevice, .farewell:
            var step = head.stage
            step.talk = nil
            change(&step)
            return Result([head.id: .underway(step)])
        default: return Result([head.id: .accepted()])
        }
    }

    private func registered(_ head: Head, _ memory: inout DESMemory) -> Result {
        memory.clientID = exchange.request[header: "X-Client-Id"]
        (memory.applicationCode, memory.isRegistered) = (settings.applicationCode, true)
        memory.registration = body
        if case .registerDevice(let device) = head.operation.action { memory.device = device }
        RuleID.des("R5").fire()
        return goOn(head) { $0.isRegistered = true }
    }

    private func contactChanged(_ head: Head, _ memory: inout DESMemory) -> Result {
        keepTokens(&memory)
        memory.isIdentityDoubtful = false
        memory.identity = exchange.endpoint == .contact ? sentIdentity(head) : nil
        var followUps: [FollowUp] = []
        if exchange.endpoint == .anonymousContact, memory.pushToken != nil {
            memory.forgetPushToken()
            followUps = registerAnew(&memory)
        }
        let isLeaving = isLeaving(memory) || head.operation.action.kind == .farewell
        var result = goOn(head) { step in
            if isLeaving { step.leftContact = true } else { step.hasContact = true }
        }
        if result.verdicts[head.id] == .accepted(), memory.session != nil {
            RuleID.des("R11").fire()
            var step = head.stage
            (step.talk, step.changedAt) = (nil, exchange.moment.date)
            result.verdicts[head.id] = .underway(step)
        }
        result.followUps = followUps
        return result
    }

    private func sentIdentity(_ head: Head) -> Identity {
        Identity(
            field: settings.contactFieldID,
            value: body?["contactFieldValue"]?.string,
            tokenMark: body?["openIdToken"]?.string.map { TextMark($0).digits }
        )
    }

    // MARK: Events and inline messages

    /// What a successful answer of the event service changes: state first, then what is done with.
    private func settle(_ answer: EventAnswer, _ memory: inout DESMemory) {
        RuleID.des("R28").fire()
        let isV4 = URLText.path(of: exchange.request.url).utf8.split(separator: UInt8(ascii: "/")).dropLast()
            .contains { $0.elementsEqual("v4".utf8) }
        guard isV4 else {
            RuleID.des("R26").fire()
            let old = answer.oldCampaigns
            guard !old.isEmpty else { return }
            RuleID.des("R29").fire()
            memory.views.removeAll { old.contains($0.campaignID) }
            memory.clicks.removeAll { old.contains($0.campaignID) }
            return
        }
        RuleID.des("R26").fire()
        if let state = answer.eventState {
            RuleID.des("R23").fire()
            memory.eventState = state
        } else {
            RuleID.des("R24").fire()
        }
        RuleID.des("R25").fire()
        // Rows are appended only, so those that left stand in front.
        if !memory.views.isEmpty { memory.views.removeFirst(min(rows("viewedMessages"), memory.views.count)) }
        if !memory.clicks.isEmpty { memory.clicks.removeFirst(min(rows("clicks"), memory.clicks.count)) }
    }

    private func reported(_ memory: inout DESMemory) -> Result {
        guard let reply = exchange.outcome.reply else { return Result() }
        let answer = EventAnswer(reply)
        settle(answer, &memory)
        memory.session = heads.reduce(memory.session) { Session.running($0, after: $1) }
        if memory.inbox != nil { tagInbox(&memory) }
        var result = Result(heads) { _ in .accepted() }
        result.incoming = [answer.message].compactMap(\.self)
        if let asked = OnEventAction(answer.body), let cause = heads.first {
            result.incoming += asked.incoming
            result.followUps = asked.captured.map { FollowUp(cause: cause.id, action: $0) }
        }
        return result
    }

    private func tagInbox(_ memory: inout DESMemory) {
        for head in heads {
            guard case .track(.custom(let name, let attributes)) = head.operation.action,
                let change = InboxTag(name, attributes), let tags = memory.inbox?[change.message]
            else { continue }
            memory.inbox?[change.message] = change.applied(to: tags)
        }
    }

    // MARK: Questions

    private func answered(_ head: Head, _ memory: inout DESMemory) -> Result {
        guard let reply = exchange.outcome.reply else { return Result() }
        func end(_ answer: JSONValue) -> Result { Result([head.id: .accepted(answer: answer)]) }
        RuleID.des("R40").fire()
        let body = (reply.json ?? .null).withoutNulls
        switch exchange.endpoint {
        case .inlineMessages:
            let answer = EventAnswer(reply)
            settle(answer, &memory)
            guard case .readBack(let read) = head.operation.action,
                let message = answer.inlineMessage(
                    for: read.arguments["viewId"]?.string ?? "",
                    choice: settings.inlineChoice
                )
            else { return Result([head.id: .rejected(FindingRow.noContent.at("action.read.arguments.viewId"))]) }
            return end(message)
        case .inbox:
            guard body.object != nil else { return unreadable(head) }
            let messages = Inbox.messages(body)
            memory.inbox = Inbox.tags(messages)
            return end(["messages": .array(messages)])
        case .geofences: return body.object == nil ? unreadable(head) : end(Geofences.answer(body))
        case .remoteConfig:
            guard body.object != nil else { return unreadable(head) }
            memory.remote = RemoteConfig(body)
            return end(body)
        case .remoteConfigSignature:
            return end(["signature": .string(String(decoding: reply.body, as: UTF8.self))])
        default: return end(reply.json ?? .string(String(decoding: reply.body, as: UTF8.self)))
        }
    }

    private func unreadable(_ head: Head) -> Result {
        Result([head.id: .rejected(FindingRow.replyUnreadable.at(detail: detail))])
    }
}
