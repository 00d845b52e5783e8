public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension DESDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        if let state = exchange.outcome.reply?[header: "X-Client-State"], !state.isEmpty {
            memory.clientState = state
        }
        return Interpreter(adapter: self, exchange: exchange).interpret(&memory)
    }
}

/// Interprets an exchange for the operations that it carried.
private struct Interpreter {
    typealias Head = Pending<DESDevice>
    typealias Result = Interpretation<DESDevice>

    let adapter: DESDevice
    let exchange: Exchange<DESDevice>

    private var settings: DESSettings { adapter.settings }
    private var heads: [Head] { exchange.operations }
    private var row: ReplyRow { ReplyTable.des.row(for: exchange.outcome) }
    private var isQuery: Bool { heads.contains(where: \.isImmediate) }
    private var body: JSONValue? { ReplyObject(exchange.request.body).json }

    func interpret(_ memory: inout DESMemory) -> Result {
        if exchange.endpoint == .contactToken { return renewed(&memory) }
        // Operations that an opt-out has overtaken wait for a wake.
        let optOuts = DESDevice.Queue.optOuts.rawValue
        let hasPassed = memory.stopped != optOuts && heads.allSatisfy { $0.queue == optOuts }
        if !isQuery, !hasPassed { memory.stopped = nil }
        if exchange.outcome.reply?.status == 401, let renewal = renewal(&memory) { return renewal }
        if exchange.mayHaveWorked { memory.markUnacknowledged(exchange.endpoint, exchange.operations) }
        switch row.meaning {
        case .accepted where lacksTokens:
            memory.markUnacknowledged(exchange.endpoint, exchange.operations)
            return kept(&memory)
        case .accepted: return success(&memory)
        case .retry: return isQuery || isGivenUp ? refused(row, &memory) : kept(&memory)
        case .refused, .suspend: return refused(row, &memory)
        }
    }

    // MARK: Renewal

    /// Renews the contact token after a 401, and repeats the request, if there is a refresh token.
    private func renewal(_ memory: inout DESMemory) -> Result? {
        let count = heads.compactMap { $0.step?.renewal?.count }.max() ?? 0
        guard Route.of(exchange.endpoint).isRenewable, memory.refreshToken != nil, count < DESDevice.Renewal.limit
        else {
            return nil
        }
        if memory.pushToken != nil { memory.owesPushToken = true }
        memory.forgetPushToken()
        let known = heads.compactMap { $0.step?.renewal }.first
        let renewal = DESDevice.Renewal(
            stage: .renew,
            count: count + 1,
            views: known?.views ?? rows("viewedMessages"),
            clicks: known?.clicks ?? rows("clicks")
        )
        return resumed { $0.renewal = renewal }
    }

    /// Whether the reply to a change of contact is unreadable. The owner of the contact token is then unknown.
    private var lacksTokens: Bool {
        guard [.contact, .anonymousContact, .contactToken].contains(exchange.endpoint) else { return false }
        return exchange.outcome.reply.map { ReplyObject($0.body).isDamaged } ?? false
    }

    /// Returns the number of views or clicks in the request.
    private func rows(_ name: String) -> Int { body?[name]?.array?.count ?? 0 }

    /// Handles the reply to a renewal: the first request is repeated after a pause, is kept, or is rejected.
    private func renewed(_ memory: inout DESMemory) -> Result {
        let row = row
        switch row.meaning {
        case .accepted where lacksTokens && !isQuery: return kept(&memory)
        case .accepted:
            keepTokens(&memory)
            let resumesAt = exchange.moment.now + DESDevice.Renewal.pause
            // A stored request blocks no queue. Queries carry operations that are captured during the pause.
            var result = Result(heads) { head in
                var step = head.stage
                step.renewal?.stage = .repeatRequest
                step.renewal?.resumesAt = resumesAt
                return .inProgress(step, isQuery ? .at(resumesAt) : .now)
            }
            if memory.owesPushToken { result.followUps = registrationFollowUps(&memory) }
            return result
        case .retry where !isQuery: return kept(&memory)
        default:
            if !isQuery { memory.stopped = nil }
            return continueDespiteRefusal(&memory) ?? rejected(FindingRow.renewalRefused.at(detail: detail), &memory)
        }
    }

    /// Returns another registration of the installation, which sets the push token for the new contact token or contact.
    private func registrationFollowUps(_ memory: inout DESMemory) -> [FollowUp] {
        memory.owesPushToken = false
        guard !memory.refusesPush, var device = memory.device, let cause = heads.first,
            cause.operation.action.kind != .registerDevice, !cause.isUnregister, cause.operation.action != .erase
        else { return [] }
        device.identities[DESDevice.repeatedRegistration] = "true"
        return [FollowUp(cause: cause.id, action: .registerDevice(device))]
    }

    /// Stores the tokens of a reply.
    ///
    /// - Returns: Whether one of them is a contact token.
    @discardableResult
    private func keepTokens(_ memory: inout DESMemory) -> Bool {
        let answer = exchange.outcome.reply.map { ReplyObject($0.body).json }
        if let token = answer?["refreshToken"]?.string, !token.isEmpty { memory.refreshToken = Secret(token) }
        guard let token = answer?["contactToken"]?.string, !token.isEmpty else { return false }
        memory.contactToken = Secret(token)
        return true
    }

    // MARK: Failures

    /// Keeps the request at the head of its queue. The queue waits for a wake.
    ///
    /// Only one queue is closed, preferably not that of a view or click. Views and clicks that are captured meanwhile must stay
    /// in the window, so that a query for an inline message carries them.
    private func kept(_ memory: inout DESMemory) -> Result {
        let views = DESDevice.Queue.views.rawValue
        let blocking = (heads.first { !$0.isEngagement } ?? heads.first { $0.queue == views } ?? heads.first)?.queue
        memory.stopped = blocking
        return Result(heads) { head in
            // After a renewal the request is composed again. A renewal itself is retried unchanged.
            let when: When = head.queue == blocking ? .woken : .now
            guard exchange.endpoint != .contactToken, var step = head.step, step.renewal != nil else {
                return when.isNow ? .inProgress(head.step) : .retry(when)
            }
            step.renewal = nil
            return .inProgress(step, when)
        }
    }

    /// Whether the host cannot be found and the settings reject the request in that case.
    private var isGivenUp: Bool {
        guard case .failed(let failure) = exchange.outcome, failure.delivery == .notSent else { return false }
        guard ["hostNotFound", "badURL", "unsupportedURL"].contains(failure.code) else { return false }
        return settings.onHostNotFound == .reject
    }

    private func refused(_ row: ReplyRow, _ memory: inout DESMemory) -> Result {
        let isSpent = exchange.outcome.reply?.status == 401 && heads.contains { $0.step?.renewal != nil }
        let finding = isGivenUp ? .hostNotFound : isSpent ? .renewalsSpent : row.finding ?? .replyRefused
        if let result = continueDespiteRefusal(&memory) { return result }
        return rejected(finding.at(detail: detail), &memory)
    }

    /// Handles a refusal that does not complete the operation: of a request that leaves the vendor or an old application, of an
    /// anonymous contact that the vendor does not have, and of a push token that another contact token can take back.
    private func continueDespiteRefusal(_ memory: inout DESMemory) -> Result? {
        guard let head = heads.first, !isQuery else { return nil }
        var step = head.stage
        step.renewal = nil
        let kind = head.operation.action.kind
        let isToBeLeft = leaves(head, memory)
        switch (exchange.endpoint == .contactToken ? renewedEndpoint(head, memory) : exchange.endpoint) {
        case .client where kind != .registerDevice:
            memory.mustRegister = nil
            return resumed { _ in }
        case .contact where step.recovery == .setContact, .anonymousContact where step.recovery == .setContact:
            guard isToBeLeft else { return nil }
            (step.recovery, step.leftToken) = (.done, true)
        case .anonymousContact where isToBeLeft: step.leftContact = true
        case .pushTokenRemoval where kind == .registerDevice && !isUnauthenticated: step.leftToken = true
        case .anonymousContact where kind == .registerDevice: (step.hasContact, step.isAnonymousRefused) = (true, true)
        case .pushTokenRemoval where isUnauthenticated && step.recovery == nil:
            (step.recovery, step.refusedToken) = (.setContact, memory.contactTokenMark)
        case .pushTokenRemoval where isToBeLeft: step.leftToken = true
        default: return nil
        }
        return next(head, at: step)
    }

    /// The request for which the contact token was renewed.
    private func renewedEndpoint(_ head: Head, _ memory: DESMemory) -> DESDevice.Endpoint? {
        if leaves(head, memory) {
            return memory.mayHavePushToken && !head.stage.leftToken ? .pushTokenRemoval : .anonymousContact
        }
        return switch head.operation.action.kind {
        case .changeSubscription where head.isPushOptOut: .pushTokenRemoval
        case .setConsent where memory.mayHavePushToken: .pushTokenRemoval
        // Before some changes of contact the push token is taken back. It is then not to be registered again.
        case .identify, .switchContact:
            memory.mayHavePushToken && memory.pushToken == nil && !memory.owesPushToken ? .pushTokenRemoval : .contact
        default: nil
        }
    }

    /// Whether the vendor refused the contact token or the ID token.
    private var isUnauthenticated: Bool { exchange.outcome.reply?.status == 401 || exchange.endpoint == .contactToken }

    private func isLeaving(_ memory: DESMemory) -> Bool { memory.isOfAnotherApplication(than: settings) }

    /// Whether an operation takes push token and contact back from the vendor or from the old application.
    private func leaves(_ head: Head, _ memory: DESMemory) -> Bool {
        switch head.operation.action.kind {
        case .unregister, .erase: true
        case .registerDevice: isLeaving(memory)
        default: false
        }
    }

    private func rejected(_ finding: Finding, _ memory: inout DESMemory) -> Result {
        if heads.contains(where: \.isEvent) {
            // The session continues whether or not the vendor receives the event.
            memory.session = heads.reduce(memory.session) { Session.running($0, after: $1) }
        }
        return Result(heads) { _ in .rejected(finding) }
    }

    /// The status, as text for findings.
    private var detail: String? { exchange.outcome.reply.map { "HTTP \($0.status)" } }

    // MARK: Successes

    private func success(_ memory: inout DESMemory) -> Result {
        guard let head = heads.first else { return Result() }
        switch exchange.endpoint {
        case .client: return registered(head, &memory)
        case .pushToken:
            (memory.pushToken, memory.isPushUncertain) = (body?["pushToken"]?.string, false)
            memory.refusesPush = false
            if head.isPushOptIn { memory.decide(.subscribed, in: head) }
            return continued(head) { $0.hasToken = true }
        case .pushTokenRemoval:
            (memory.pushToken, memory.isPushUncertain) = (nil, false)
            return continued(head) { $0.leftToken = true }
        case .contact, .anonymousContact: return contactChanged(head, &memory)
        case .events: return reported(&memory)
        default: return answered(head, &memory)
        }
    }

    /// Continues all operations at once, each at its step with this change.
    private func resumed(_ change: (inout DESDevice.Step) -> Void) -> Result {
        Result(heads) { head in
            var step = head.stage
            change(&step)
            return .inProgress(step)
        }
    }

    private var isAboutPush: Bool { [.pushToken, .pushTokenRemoval].contains(exchange.endpoint) }

    private func next(_ head: Head, at step: DESDevice.Step) -> Result { Result([head.id: .inProgress(step)]) }

    /// Continues an operation of several requests at its step with this change. Accepts any other operation.
    private func continued(_ head: Head, _ change: (inout DESDevice.Step) -> Void) -> Result {
        switch head.operation.action.kind {
        case .registerDevice, .unregister, .erase: break
        case .identify where isAboutPush, .switchContact where isAboutPush: break
        default: guard head.step?.recovery == .setContact else { return Result([head.id: .accepted()]) }
        }
        var step = head.stage
        step.renewal = nil
        change(&step)
        if step.recovery == .setContact { step.recovery = .repeatRequest }
        return next(head, at: step)
    }

    private func registered(_ head: Head, _ memory: inout DESMemory) -> Result {
        memory.clientID = exchange.request[header: "X-Client-Id"]
        // The request went to the application in the memory; only the first one goes to that of the settings.
        (memory.applicationCode, memory.isRegistered) = (memory.applicationCode ?? settings.applicationCode, true)
        memory.registration = body
        memory.mustRegister = nil
        if case .registerDevice(let device) = head.operation.action { memory.device = device }
        guard head.operation.action.kind == .registerDevice else {
            return resumed { $0.renewal = nil }
        }
        return continued(head) { $0.isRegistered = true }
    }

    private func contactChanged(_ head: Head, _ memory: inout DESMemory) -> Result {
        let earlier = memory.identity
        let hasToken = keepTokens(&memory)
        memory.isIdentityUncertain = false
        memory.identity = exchange.endpoint == .contact ? sentIdentity(head) : nil
        var owesToken = false
        let recovers = head.step?.recovery == .setContact
        let isRecovery = recovers && (exchange.endpoint == .contact || memory.identity == earlier)
        if !isRecovery {
            let names = [.identify, .switchContact].contains(head.operation.action.kind)
            let value = body?["contactFieldValue"]?.string
            let former = memory.person
            memory.arrive(
                Person(names ? head.operation.contact : nil),
                names ? [head.operation.contact, value].compactMap(\.self) : [],
                at: head.sequence
            )
            // The anonymous contact only takes the push token back. It gets no data of the person who had logged in.
            if recovers, let former, former.contact != nil { memory.noteOvertaken(former) }
            owesToken = names && memory.lacksPushToken
        }
        if memory.identity != earlier {
            memory.inbox = nil
            // The stored tokens belong to the earlier person.
            if !hasToken, earlier != nil, memory.contactToken != nil {
                (memory.contactToken, memory.refreshToken, memory.isIdentityUncertain) = (nil, nil, true)
            }
        }
        var followUps: [FollowUp] = []
        if exchange.endpoint == .anonymousContact && memory.pushToken != nil || owesToken && !memory.refusesPush {
            memory.forgetPushToken()
            followUps = registrationFollowUps(&memory)
        }
        let isLeaving = isLeaving(memory) || head.isUnregister
        var result = continued(head) { step in
            if isLeaving { step.leftContact = true } else { step.hasContact = true }
        }
        if result.verdicts[head.id] == .accepted(), memory.session != nil {
            var step = head.stage
            (step.renewal, step.changedAt) = (nil, exchange.moment.date)
            result.verdicts[head.id] = .inProgress(step)
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

    /// Applies a successful reply of the event service: the state first, then its actions.
    private func settle(_ reply: ReplyObject, _ memory: inout DESMemory) {
        guard settings.usesV4(memory) else { return memory.removeRows(of: reply.oldCampaigns) }
        if let state = reply.eventState { memory.eventState = state }
        // The state contains the counts. If it is lost, the next request counts the same rows on top of the earlier state.
        guard !reply.lacksState else { return }
        memory.removeCounted(views: rows("viewedMessages"), clicks: rows("clicks"))
    }

    private func reported(_ memory: inout DESMemory) -> Result {
        guard let reply = exchange.outcome.reply else { return Result() }
        let content = ReplyObject(reply.body)
        settle(content, &memory)
        memory.noteReported(Set(heads.map(\.id.rawValue)))
        memory.session = heads.reduce(memory.session) { Session.running($0, after: $1) }
        if memory.inbox != nil { tagInbox(&memory) }
        let damage = content.isDamaged ? FindingRow.replyDamaged.at(detail: detail) : nil
        var result = Result(heads) { _ in .accepted(damage) }
        result.incoming = [content.message].compactMap(\.self)
        if let required = OnEventAction(content.json), let cause = heads.first {
            result.incoming += required.incoming
            result.followUps = required.captured.map { FollowUp(cause: cause.id, action: $0) }
        }
        return result
    }

    private func tagInbox(_ memory: inout DESMemory) {
        for head in heads {
            guard let change = InboxTag(of: head.operation), let tags = memory.inbox?[change.message] else { continue }
            memory.inbox?[change.message] = change.applied(to: tags)
            memory.uncertainTags?.removeAll { $0 == change.place }
        }
    }

    // MARK: Queries

    private func answered(_ head: Head, _ memory: inout DESMemory) -> Result {
        guard let reply = exchange.outcome.reply else { return Result() }
        func end(_ answer: JSONValue) -> Result { Result([head.id: .accepted(answer: answer)]) }
        let content = ReplyObject(reply.body)
        let body: JSONValue = content.isObject && !content.isDamaged ? content.json : .null
        switch exchange.endpoint {
        case .inlineMessages:
            settle(content, &memory)
            guard case .readBack(let read) = head.operation.action,
                let message = content.inlineMessage(
                    for: read.arguments["viewId"]?.string ?? "",
                    choice: settings.inlineChoice
                )
            else {
                return content.isDamaged
                    ? unreadable(head)
                    : Result([head.id: .rejected(FindingRow.noContent.at("action.read.arguments.viewId"))])
            }
            return end(message)
        case .inbox:
            guard body.object != nil else { return unreadable(head) }
            let messages = Inbox.messages(body)
            (memory.inbox, memory.uncertainTags) = (Inbox.tags(messages), nil)
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
