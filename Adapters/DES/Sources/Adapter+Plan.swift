public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension DESDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        Planner(adapter: self, memory: memory, moment: moment, pending: pending).plan()
    }
}

extension Pending<DESDevice> {
    /// Where it stands, begun or not.
    var stage: DESDevice.Step { step ?? DESDevice.Step() }

    /// Whether it becomes part of a request with events.
    var isEvent: Bool { operation.action.kind == .track || step?.changedAt != nil }
}

/// Decides what leaves next for one installation. Held by reference: settings and memory are large to copy.
final class Planner {
    typealias Head = Pending<DESDevice>
    typealias Result = Plan<DESDevice>

    let adapter: DESDevice
    let memory: DESMemory
    let moment: Moment
    /// What waits, in order of capture; questions stand apart.
    private let stored: [Head]
    private let question: Head?
    /// Whether more waits than is shown.
    private let hasMore: Bool

    init(adapter: DESDevice, memory: DESMemory, moment: Moment, pending: PendingOperations<DESDevice>) {
        (self.adapter, self.memory, self.moment) = (adapter, memory, moment)
        let stored = pending.filter { !$0.isImmediate }
        let isInOrder = zip(stored, stored.dropFirst()).allSatisfy { $0.sequence <= $1.sequence }
        self.stored = isInOrder ? stored : stored.sorted { $0.sequence < $1.sequence }
        (question, hasMore) = (pending.first(where: \.isImmediate), pending.hasMore)
    }

    var settings: DESSettings { adapter.settings }
    private(set) lazy var writer = WireWriter(self)

    func plan() -> Result {
        settleLocally() ?? recordRows() ?? continueTalk() ?? question.map(ask) ?? deliver()
    }

    // MARK: Without a request

    /// What needs no request ends at once: consent, and whether messages may be shown.
    private func settleLocally() -> Result? {
        let local = stored.prefix { $0.operation.action != .erase }.filter {
            $0.queue == DESDevice.Queue.local.rawValue
        }
        guard !local.isEmpty else { return nil }
        var next = memory
        let verdicts = local.map { head -> (OperationID, Verdict<DESDevice>) in
            guard case .changeSubscription(let subscription) = head.operation.action else {
                return (head.id, .accepted(FindingRow.consentKept.at()))
            }
            let isPaused = subscription.state != .subscribed
            let isNew = next.isDisplayPaused != isPaused
            next.isDisplayPaused = isPaused
            return (head.id, isNew ? .accepted(FindingRow.displayNext.at("action.subscription")) : .unchanged())
        }
        return .settle(Dictionary(verdicts) { first, _ in first }, remembering: next)
    }

    /// Views and clicks have a store of their own, which outlives the events that report them.
    private func recordRows() -> Result? {
        guard stretch.contains(where: { !$0.stage.isRecorded && row(of: $0.operation) != nil }) else { return nil }
        var next = memory
        var verdicts: [OperationID: Verdict<DESDevice>] = [:]
        for head in stretch where !head.stage.isRecorded {
            guard let row = row(of: head.operation) else { continue }
            if row.buttonID == nil { next.views.append(row) } else { next.clicks.append(row) }
            var step = head.stage
            step.isRecorded = true
            verdicts[head.id] = .underway(step)
        }
        return .settle(verdicts, remembering: next)
    }

    private func row(of operation: EngagementOperation) -> EngagementRow? {
        switch operation.action {
        case .track(.messageViewed(let campaign)):
            EngagementRow(campaignID: campaign, at: operation.capturedAt)
        case .track(.messageClicked(let campaign, let button)):
            EngagementRow(campaignID: campaign, buttonID: button ?? "", at: operation.capturedAt)
        default: nil
        }
    }

    /// What waits before the next change of contact or application code: events are never merged past it.
    private var stretch: ArraySlice<Head> {
        let end = stored.firstIndex(where: isBoundary) ?? stored.endIndex
        if end < stored.endIndex { RuleID.des("R35").fire() }
        return stored[..<end]
    }

    private func isBoundary(_ head: Head) -> Bool {
        guard head.step?.changedAt == nil else { return false }
        switch head.operation.action {
        case .identify, .switchContact, .farewell, .erase: return true
        case .registerDevice: return memory.isRegistered && memory.applicationCode != settings.applicationCode
        default: return false
        }
    }

    // MARK: Order

    private func deliver() -> Result {
        // What stopped may also be gone: moved to another provider, or erased. Then nothing is out of sight.
        if let stopped = memory.stopped, hasMore, !stored.contains(where: { $0.queue == stopped }) {
            return .wait(until: nil, because: FindingRow.stopped.at())
        }
        guard let head = stored.first else { return .wait(until: nil, because: FindingRow.stopped.at()) }
        guard memory.isRegistered else { return begin() }
        // A registration that has begun comes to its end first, also where it overtook what waited for it.
        let begun = stored.first { $0.operation.action.kind == .registerDevice && $0.step != nil }
        return plan(begun ?? head)
    }

    /// Nothing is known at the vendor: the registration comes before everything.
    private func begin() -> Result {
        if let head = stored.first(where: { $0.operation.action == .erase }) { return erase(head) }
        if let registration = stored.first(where: { $0.operation.action.kind == .registerDevice }) {
            return plan(registration)
        }
        guard let farewell = stored.first(where: { $0.operation.action == .farewell }) else {
            return .wait(until: nil, because: FindingRow.notRegistered.at())
        }
        var verdicts: [OperationID: Verdict<DESDevice>] = [:]
        for head in stored.prefix(while: { $0.sequence < farewell.sequence }) {
            verdicts[head.id] = .dropped(FindingRow.neverSent.at())
        }
        verdicts[farewell.id] = .unchanged(FindingRow.nothingToLeave.at())
        return .settle(verdicts)
    }

    private func plan(_ head: Head) -> Result {
        if head.isEvent { return report(head) }
        switch head.operation.action {
        case .registerDevice(let device): return register(device, head)
        case .identify(let identifiers): return setContact(identifiers, head)
        case .switchContact(let change):
            return setContact(change.direction == .logIn ? change.identifiers : [], head)
        case .changeSubscription(let subscription): return changePush(subscription, head)
        case .farewell:
            RuleID.des("N3").fire()
            return leave(head)
                ?? .settle([head.id: head.step == nil ? .unchanged(FindingRow.nothingToLeave.at()) : .accepted()])
        case .erase: return erase(head)
        default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    private func erase(_ head: Head) -> Result {
        .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: DESMemory())
    }

    // MARK: Requests

    /// The installation's id at the vendor: once taken it stays.
    private func clientID(_ head: Head) -> String {
        if let known = memory.clientID { return known }
        var adopted: String?
        if case .registerDevice(let device) = head.operation.action {
            adopted = device.identities[DESDevice.adoptedClient]
        }
        return adopted ?? UUIDText.named(head.operation.subject.rawValue)
    }

    func maker(_ head: Head) -> RequestMaker {
        RequestMaker(planner: self, clientID: clientID(head))
    }

    func send(_ endpoint: DESDevice.Endpoint, _ request: WireRequest, _ head: Head) -> Result {
        var doubting = memory
        doubting.doubt(endpoint)
        return .send(Transmission(endpoint, request, carrying: [head], doubting: doubting))
    }

    // MARK: A token that is renewed

    /// A request that was answered with 401 goes on before anything else.
    private func continueTalk() -> Result? {
        let talking = stored.filter { $0.step?.talk != nil }
        guard let head = talking.first, let talk = head.step?.talk else { return nil }
        switch talk.stage {
        case .renew: return renew(talking)
        case .repeatRequest: return head.isEvent ? events(talking.filter(\.isEvent), talk) : plan(head)
        }
    }

    private func renew(_ heads: [Head]) -> Result? {
        guard let head = heads.first, let token = memory.refreshToken else { return nil }
        let request = maker(head).request(.contactToken, RenewalCall.table, RenewalCall(refreshToken: token.value))
        return .send(Transmission(.contactToken, request, carrying: heads))
    }

    // MARK: The installation

    /// Brings the vendor to what the device is: leaves an old application, registers, asks for an anonymous contact, sets
    /// the push token; a request at a time.
    private func register(_ device: Device, _ head: Head) -> Result {
        var step = head.stage
        if memory.isRegistered, memory.applicationCode != settings.applicationCode {
            RuleID.des("R39").fire()
            if let leaving = leave(head) { return leaving }
            var next = memory
            next.forgetApplication(keepingState: settings.keepsStateOnNewCode)
            (step.leftToken, step.leftContact) = (false, false)
            return .settle([head.id: .underway(step)], remembering: next)
        }
        let given = adapter.options(head.operation)["pushSettings"] ?? memory.pushSettings
        guard let call = ClientCall(device, settings, given: given?.object ?? [:]) else {
            return .settle([head.id: .rejected(FindingRow.factsMissing.at("action.device.facts"))])
        }
        RuleID.des("R5").fire()
        let body = ClientCall.table.object(call)
        let isKnown = memory.clientState != nil && memory.registration == .object(body)
        if !isKnown, !step.isRegistered { return send(.client, maker(head).request(.client, body: body), head) }
        if memory.contactToken == nil, memory.identity == nil, !step.hasContact {
            RuleID.des("R8").fire()
            return send(.anonymousContact, maker(head).request(.anonymousContact, body: [:]), head)
        }
        if let token = device.pushToken.flatMap(PushAddress.text), !memory.refusesPush {
            RuleID.des("R6").fire()
            if token != memory.pushToken, !step.hasToken { return setPushToken(token, head) }
        }
        var next = memory
        (next.device, next.pushSettings, next.owesPushToken) = (device, given, false)
        let finding = step.isAnonymousRefused ? FindingRow.anonymousRefused.at() : nil
        let isNew = step.isRegistered || step.hasContact || step.hasToken
        return .settle([head.id: isNew ? .accepted(finding) : .unchanged()], remembering: next)
    }

    private func setPushToken(_ token: String, _ head: Head) -> Result {
        send(.pushToken, maker(head).request(.pushToken, PushTokenCall.table, PushTokenCall(token: token)), head)
    }

    /// Takes the push token back, then becomes anonymous; nil when there is nothing left to leave.
    private func leave(_ head: Head) -> Result? {
        let step = head.stage
        if memory.mayHavePushToken, !step.leftToken { return removePushToken(head) }
        if memory.identity != nil || memory.isIdentityDoubtful, !step.leftContact {
            return send(.anonymousContact, maker(head).request(.anonymousContact, body: [:]), head)
        }
        return nil
    }

    private func removePushToken(_ head: Head) -> Result {
        guard memory.pushToken == nil else {
            var next = memory
            next.forgetPushToken()
            return .settle([head.id: .underway(head.step)], remembering: next)
        }
        return send(.pushTokenRemoval, maker(head).request(.pushTokenRemoval, body: [:]), head)
    }

    private func changePush(_ subscription: Subscription, _ head: Head) -> Result {
        guard subscription.state == .subscribed else {
            guard memory.refusesPush else {
                var next = memory
                next.refusesPush = true
                next.forgetPushToken()
                return .settle([head.id: .underway(head.stage)], remembering: next)
            }
            return memory.mayHavePushToken ? removePushToken(head) : .settle([head.id: .unchanged()])
        }
        guard let token = memory.device?.pushToken.flatMap(PushAddress.text) else {
            var next = memory
            next.refusesPush = false
            return .settle([head.id: .accepted(FindingRow.tokenLater.at("action.subscription"))], remembering: next)
        }
        if !memory.refusesPush, token == memory.pushToken {
            RuleID.des("R6").fire()
            return .settle([head.id: .unchanged()])
        }
        return setPushToken(token, head)
    }

    // MARK: The contact

    private func setContact(_ identifiers: [Identifier], _ head: Head) -> Result {
        let value = identifiers.first(IdentifierKind(rawValue: settings.contactIdentifier)) ?? ""
        let isByToken = settings.contactProof == .openIDToken && !isLogOut(head)
        guard isByToken || !value.trimmed.isEmpty else { return becomeAnonymous(head) }
        var call = ContactCall(field: settings.contactFieldID)
        var identity = Identity(field: settings.contactFieldID)
        if isByToken {
            guard let token = head.credential, !token.value.isEmpty else {
                return .wait(until: nil, because: FindingRow.credentialMissing.at())
            }
            (call.idToken, identity.tokenMark) = (token.value, TextMark(token.value).digits)
        } else {
            (call.value, identity.value) = (value, value)
        }
        RuleID.des("R9").fire()
        if memory.identity == identity, !memory.isIdentityDoubtful {
            return .settle([head.id: .unchanged()])
        }
        return send(.contact, maker(head).request(.contact, ContactCall.table, call), head)
    }

    private func isLogOut(_ head: Head) -> Bool {
        if case .switchContact(let change) = head.operation.action { change.direction == .logOut } else { false }
    }

    private func becomeAnonymous(_ head: Head) -> Result {
        if memory.contactToken != nil, memory.identity == nil, !memory.isIdentityDoubtful {
            RuleID.des("R10").fire()
            return .settle([head.id: .unchanged()])
        }
        RuleID.des("R8").fire()
        return send(.anonymousContact, maker(head).request(.anonymousContact, body: [:]), head)
    }

    // MARK: Events

    /// All events that wait leave together, as far as the next change of contact.
    private func report(_ head: Head) -> Result {
        let batch = stretch.filter(\.isEvent)
        if batch.count > 1 { RuleID.des("R34").fire() }
        return events(batch, nil)
    }

    /// A request with these operations' events; a repeat carries as many views and clicks as the first time.
    private func events(_ heads: [Head], _ talk: DESDevice.Talk?) -> Result {
        let batch = EventBatch(heads, self)
        if !batch.settled.isEmpty, talk == nil { return .settle(batch.settled) }
        guard let first = heads.first, !batch.events.isEmpty else {
            return .settle(Dictionary(heads.map { ($0.id, batch.settled[$0.id] ?? .accepted()) }) { first, _ in first })
        }
        let maker = maker(first)
        let facts = settings.deviceFieldsInEvents ? memory.eventFacts : nil
        if talk == nil { RuleID.des("R36").fire() }
        let call = EventsCall(
            views: RowCall.list(memory.views.prefix(talk?.views ?? .max), writer),
            clicks: RowCall.list(memory.clicks.prefix(talk?.clicks ?? .max), writer),
            events: batch.events,
            isDisplayPaused: memory.isDisplayPaused ? true : settings.alwaysSendsDND ? false : nil,
            eventState: maker.usesV4 ? memory.eventState : nil,
            language: facts?.language,
            sdkVersion: facts.map { _ in settings.sdkVersion },
            appVersion: facts?.appVersion
        )
        return .send(
            Transmission(
                .events,
                maker.request(.events, EventsCall.table, call, expecting: 256 * heads.count),
                carrying: heads
            )
        )
    }

    // MARK: Questions

    private func ask(_ head: Head) -> Result {
        RuleID.des("R38").fire()
        if head.step?.talk?.stage == .renew, let renewal = renew([head]) { return renewal }
        guard case .readBack(let read) = head.operation.action, let question = Question(rawValue: read.what) else {
            return .settle([head.id: .rejected(FindingRow.questionUnknown.at("action.read.what"))])
        }
        guard memory.isRegistered || question.isOpenToAll else {
            return .settle([head.id: .rejected(FindingRow.notRegistered.at("action.read"))])
        }
        let maker = maker(head)
        switch question {
        case .inline:
            let call = InlineCall(
                viewIDs: [.string(read.arguments["viewId"]?.string ?? "")],
                clicks: RowCall.list(memory.clicks, writer),
                views: settings.inlineViews ? .some(RowCall.list(memory.views, writer)) : .none,
                eventState: maker.usesV4 ? memory.eventState : nil
            )
            return send(.inlineMessages, maker.request(.inlineMessages, InlineCall.table, call), head)
        case .pushMessage:
            return send(.pushMessage, maker.request(.pushMessage, at: read.arguments["url"]?.string), head)
        default: return send(question.endpoint, maker.request(question.endpoint), head)
        }
    }
}
