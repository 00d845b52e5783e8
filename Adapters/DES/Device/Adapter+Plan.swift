public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension DESDevice {
    public func mustRegisterAgain(_ memory: Memory) -> Bool { memory.isOfAnotherApplication(than: settings) }

    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        Planner(adapter: self, memory: memory, moment: moment, pending: pending).plan()
    }
}

extension Pending<DESDevice> {
    /// The operation's step; a new step if it has not started.
    var stage: DESDevice.Step { step ?? DESDevice.Step() }

    /// Whether the adapter itself requested the registration, to set the push token again.
    var isRepeatedRegistration: Bool {
        guard case .registerDevice(let device) = operation.action else { return false }
        return device.identities[DESDevice.repeatedRegistration] != nil
    }

    /// Whether it is a view or a click.
    var isEngagement: Bool {
        switch operation.action {
        case .track(.messageViewed), .track(.messageClicked): true
        default: false
        }
    }

    /// Whether it ends the subscription to push.
    var isPushOptOut: Bool {
        guard case .changeSubscription(let subscription) = operation.action else { return false }
        return subscription.channel == .push && subscription.state != .subscribed
    }

    /// Whether the operation stops the vendor's push messages.
    var endsPush: Bool { isPushOptOut || operation.action.pushMessageConsent.map { $0 != .granted } ?? false }

    /// Whether the operation opts in to push.
    var isPushOptIn: Bool {
        guard case .changeSubscription(let subscription) = operation.action else { return false }
        return subscription.channel == .push && subscription.state == .subscribed
    }

    /// Whether it ends the registration of the installation.
    var isUnregister: Bool { operation.action == .unregister }

    /// Whether it changes the person, or removes the person.
    var changesContact: Bool { [.identify, .switchContact].contains(operation.action.kind) && step?.changedAt == nil }

    /// Whether it becomes part of a request with events.
    var isEvent: Bool { operation.action.kind == .track || step?.changedAt != nil }
}

/// Plans the next request of one installation. A class, because settings and memory are expensive to copy.
final class Planner {
    typealias Head = Pending<DESDevice>
    typealias Result = Plan<DESDevice>

    let adapter: DESDevice
    let memory: DESMemory
    let moment: Moment
    /// The pending operations in order of capture, without queries.
    private let stored: [Head]
    private let query: Head?
    /// Whether the vendor is being left, so that an operation that cannot proceed now never can.
    private let isLeaving: Bool
    private let pending: PendingOperations<DESDevice>

    init(adapter: DESDevice, memory: DESMemory, moment: Moment, pending: PendingOperations<DESDevice>) {
        (self.adapter, self.memory, self.moment) = (adapter, memory, moment)
        let stored = pending.filter { !$0.isImmediate }
        let isInOrder = zip(stored, stored.dropFirst()).allSatisfy { $0.sequence <= $1.sequence }
        self.stored = isInOrder ? stored : stored.sorted { $0.sequence < $1.sequence }
        (query, self.pending) = (pending.first(where: \.isImmediate), pending)
        isLeaving = pending.isLeaving || stored.contains(where: \.isUnregister)
    }

    var settings: DESSettings { adapter.settings }
    private(set) lazy var writer = WireWriter(self)

    func plan() -> Result {
        settleLocally() ?? endLeftBehind() ?? endForOthers() ?? recordRows() ?? continueRenewal() ?? planQuery()
            ?? deliver()
    }

    // MARK: Without a request

    /// Settles operations that need no request: consents, and the permission to show messages.
    private func settleLocally() -> Result? {
        let local = stored.prefix { $0.operation.action != .erase }.filter {
            $0.queue == DESDevice.Queue.local.rawValue
        }
        guard !local.isEmpty else { return nil }
        var next = memory
        let verdicts = Interpretation(local) { head in
            guard case .changeSubscription(let subscription) = head.operation.action else {
                return .accepted(FindingRow.consentKept.at())
            }
            let isPaused = subscription.state != .subscribed
            let isNew = next.isDisplayPaused != isPaused
            next.isDisplayPaused = isPaused
            return isNew ? .accepted(FindingRow.displayNext.at("action.subscription")) : .unchanged()
        }.verdicts
        return .settle(verdicts, remembering: next)
    }

    /// Completes operations without a request.
    private func settle(_ heads: some Sequence<Head>, _ verdict: (Head) -> Verdict<DESDevice>) -> Result {
        .settle(Interpretation(heads, verdict).verdicts)
    }

    /// Completes operations from before a complete unregistration that a consent or a replay has released since, and a repeated
    /// registration at a vendor that is left.
    private func endLeftBehind() -> Result? {
        let leftAt = memory.leftAt ?? .min
        let isLeft = isLeaving || memory.isLeft == true
        guard isLeft || memory.leftAt != nil else { return nil }
        // A provider that is used again gets the current person before that person's operations.
        let isBack = !isLeaving && (memory.isLeft != true || mayRegister)
        let late = stored.filter { head in
            let isPerson = isBack && head.changesContact
            return head.operation.action != .erase && head.sequence < leftAt && !isPerson
                || isLeft && head.isRepeatedRegistration
        }
        guard !late.isEmpty else { return nil }
        return settle(late, endAfterLeaving)
    }

    /// Whether a registration is pending that was captured after the last unregistration.
    private var mayRegister: Bool {
        let isShown = stored.contains {
            $0.operation.action.kind == .registerDevice && $0.sequence > memory.leftAt ?? .min
        }
        return isShown || pending.hidden.last(.registerDevice).map { $0.sequence > memory.leftAt ?? .min } ?? false
    }

    /// Returns the verdict of an operation that the vendor can never receive because it is left.
    private func endAfterLeaving(_ head: Head) -> Verdict<DESDevice> {
        if head.operation.action.kind == .setConsent { return .accepted(FindingRow.consentKept.at()) }
        return head.isPushOptOut || head.isUnregister || head.isRepeatedRegistration
            ? .unchanged(FindingRow.nothingToLeave.at()) : .rejected(FindingRow.notSent.at())
    }

    /// Completes events of a person for whom the vendor's contact was never set, because it is set for another person.
    private func endForOthers() -> Result? {
        guard memory.identity != nil && memory.person != nil || memory.overtaken != nil else { return nil }
        let others = mergeable.filter { isForAnother($0) && !mayChangeContact(before: $0) }
        guard !others.isEmpty else { return nil }
        return settle(others) { _ in .rejected(FindingRow.contactOfAnother.at("contact")) }
    }

    private func isForAnother(_ head: Head) -> Bool {
        head.operation.action.kind == .track && memory.holdsContact(ofAnotherThan: head.operation.contact)
    }

    /// Whether a change of contact outside the window may precede an operation. It waits for a consent, or is in the queue
    /// `requests`, which is closed or longer than the window.
    private func mayChangeContact(before head: Head) -> Bool {
        let requests = DESDevice.Queue.requests.rawValue
        if pending.hasMore, head.queue != requests {
            let last = stored.last { $0.queue == requests }?.sequence
            if last.map({ $0 < head.sequence }) ?? (memory.stopped == requests) { return true }
        }
        return !isLeaving && hidesContactChange(before: head)
    }

    private func hidesContactChange(before head: Head) -> Bool {
        [.identify, .switchContact].contains { kind in
            pending.hidden.first(kind).map { $0.sequence < head.sequence } ?? false
        }
    }

    /// Records views and clicks: they outlive the events that report them, and go with requests for inline messages.
    private func recordRows() -> Result? {
        guard memory.isRegistered else { return nil }
        let engagements = mergeable.filter(\.isEngagement)
        guard !engagements.isEmpty else { return nil }
        let known = Set((memory.views + memory.clicks).compactMap(\.operation) + (memory.counted ?? []))
        let rows = engagements.filter { !known.contains($0.id.rawValue) && !isForAnother($0) }.compactMap(row)
        guard !rows.isEmpty else { return nil }
        var next = memory
        next.views += rows.filter { $0.buttonID == nil }
        next.clicks += rows.filter { $0.buttonID != nil }
        return .settle([:], remembering: next)
    }

    private func row(of head: Head) -> EngagementRow? {
        let (campaign, button): (String, String?)
        switch head.operation.action {
        case .track(.messageViewed(let id)): (campaign, button) = (id, nil)
        case .track(.messageClicked(let id, let name)): (campaign, button) = (id, name ?? "")
        default: return nil
        }
        return EngagementRow(
            campaignID: campaign,
            buttonID: button,
            at: head.operation.capturedAt,
            operation: head.id.rawValue,
            person: Person(head.operation.contact)
        )
    }

    /// The operations before the next change of contact or application code. Events after it are never merged with them.
    private lazy var mergeable: ArraySlice<Head> = {
        let end = stored.firstIndex(where: isBoundary) ?? stored.endIndex
        return stored[..<end]
    }()

    private func isBoundary(_ head: Head) -> Bool {
        guard head.step?.changedAt == nil else { return false }
        switch head.operation.action {
        case .identify, .switchContact, .unregister, .erase: return true
        case .registerDevice: return memory.isOfAnotherApplication(than: settings)
        default: return false
        }
    }

    /// The sequence up to which the window contains all pending events. Each queue has only a share of the window, and events
    /// keep their order.
    private var horizon: Int64 {
        guard pending.hasMore else { return .max }
        let requests = DESDevice.Queue.requests.rawValue
        let last = [
            stored.last { $0.queue == requests }, stored.last { $0.isEngagement && row(of: $0)?.buttonID == nil },
            stored.last { $0.isEngagement && row(of: $0)?.buttonID != nil },
        ]
        return last.compactMap { $0?.sequence }.min() ?? .max
    }

    // MARK: Order

    /// Whether a queue is closed after a failure. The failed operation may also be gone: moved to another provider, or erased.
    private var isStopped: Bool {
        memory.stopped.map { stopped in pending.hasMore && !stored.contains { $0.queue == stopped } } ?? false
    }

    private func deliver() -> Result {
        if let head = stored.first(where: { $0.operation.action == .erase }) { return erase(head) }
        // An opt-out does not wait for operations that were captured before it.
        if memory.isRegistered, let optOut = stored.first(where: \.endsPush) { return plan(optOut) }
        // Nor does an unregistration. The overtaken operations are completed when they are next planned.
        if memory.isRegistered, isStopped, let unregister = stored.first(where: \.isUnregister) {
            return plan(unregister)
        }
        guard let first = stored.first, !isStopped else {
            return .wait(until: nil, because: FindingRow.stopped.at())
        }
        guard memory.isRegistered else { return begin() }
        // A registration in progress is completed first, even if it overtook other operations.
        if let begun = stored.first(where: { $0.operation.action.kind == .registerDevice && $0.step != nil }) {
            return plan(begun)
        }
        let wait = plan(first)
        guard case .wait = wait else { return wait }
        for head in stored.dropFirst() where passes(head) {
            let next = plan(head)
            guard case .wait = next else { return next }
        }
        return wait
    }

    /// Whether an operation overtakes a log-in that waits for its credential: it reduces the vendor's messages, or concerns the
    /// installation.
    private func passes(_ head: Head) -> Bool {
        head.endsPush || head.isUnregister || [.registerDevice, .erase].contains(head.operation.action.kind)
    }

    /// Plans the first request. Nothing is registered at the vendor, so the registration comes first, and no opt-out waits.
    private func begin() -> Result {
        if let optOut = stored.first(where: \.isPushOptOut) { return changePush(isOn: false, optOut) }
        if let consent = stored.first(where: { $0.operation.action.kind == .setConsent }) {
            return .settle([consent.id: .accepted(FindingRow.consentKept.at())])
        }
        let unregister = stored.first(where: \.isUnregister)
        if let registration = stored.first(where: { $0.operation.action.kind == .registerDevice }),
            registration.sequence < unregister?.sequence ?? .max
        {
            return plan(registration)
        }
        guard isLeaving, unregister != nil || pending.hidden.first(.registerDevice) == nil else {
            return .wait(until: nil, because: FindingRow.notRegistered.at())
        }
        let end = unregister?.sequence ?? .max
        var verdicts: [OperationID: Verdict<DESDevice>] = [:]
        for head in stored where head.sequence < end { verdicts[head.id] = endAfterLeaving(head) }
        var next = memory
        if let unregister {
            verdicts[unregister.id] = .unchanged(FindingRow.nothingToLeave.at())
            (next.leftAt, next.isLeft) = (unregister.sequence, true)
        }
        return .settle(verdicts, remembering: next)
    }

    private func plan(_ head: Head) -> Result {
        if head.isEvent { return report(head) }
        switch head.operation.action {
        case .registerDevice(let device):
            // The vendor may have accepted a newer registration since this one was requested.
            return register(head.isRepeatedRegistration ? memory.device ?? device : device, head)
        case .identify(let identifiers): return setContact(identifiers, head)
        case .switchContact(let change):
            return setContact(change.direction == .logIn ? change.identifiers : [], head)
        case .changeSubscription(let subscription): return changePush(isOn: subscription.state == .subscribed, head)
        case .setConsent: return followConsent(head)
        case .unregister:
            if let leaving = leave(head) { return leaving }
            var next = memory
            (next.leftAt, next.isLeft) = (head.sequence, true)
            return .settle([head.id: leftVerdict(head)], remembering: next)
        case .erase: return erase(head)
        default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    private func leftVerdict(_ head: Head) -> Verdict<DESDevice> {
        guard let step = head.step else { return .unchanged(FindingRow.nothingToLeave.at()) }
        // The vendor refused to take the push token back, or to make the contact anonymous.
        let isRefused = step.leftToken && memory.mayHavePushToken || step.leftContact && memory.identity != nil
        return isRefused ? .rejected(FindingRow.leavingRefused.at()) : .accepted()
    }

    /// Takes the push token back and makes the contact anonymous, so that the vendor cannot reach the device. Then deletes the
    /// memory.
    private func erase(_ head: Head) -> Result {
        if memory.clientID != nil, let leaving = leave(head) { return leaving }
        return .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: memory.afterErase)
    }

    // MARK: Requests

    /// Returns the installation's id at the vendor, which never changes after the first registration.
    private func clientID(_ head: Head) -> String {
        if let known = memory.clientID { return known }
        var adopted: String?
        if case .registerDevice(let device) = head.operation.action {
            adopted = device.identities[DESDevice.adoptedClient]
        }
        return adopted ?? UUIDText.named(head.operation.subject.rawValue)
    }

    private func maker(_ head: Head) -> RequestMaker { RequestMaker(planner: self, clientID: clientID(head)) }

    private func send(_ endpoint: DESDevice.Endpoint, _ request: WireRequest, _ heads: [Head]) -> Result {
        var unacknowledged = memory
        unacknowledged.markUnacknowledged(endpoint, heads)
        return .send(Transmission(endpoint, request, carrying: heads, unacknowledged: unacknowledged))
    }

    private func send(_ endpoint: DESDevice.Endpoint, _ request: WireRequest, _ head: Head) -> Result {
        send(endpoint, request, [head])
    }

    // MARK: Renewal of the contact token

    /// Continues a request whose reply was 401, before any other. Only a query is sent in the pause before the repeat.
    private func continueRenewal() -> Result? {
        let renewing = stored.filter { $0.step?.renewal != nil }
        guard let head = renewing.first, let renewal = head.step?.renewal else { return nil }
        switch renewal.stage {
        // The repeat of a failed renewal waits, because a queue with its operations is closed.
        case .renew where isStopped: return nil
        case .renew: return renew(renewing)
        case .repeatRequest:
            if let pause = renewal.resumesAt, pause > moment.now {
                return planQuery() ?? .wait(until: pause, because: FindingRow.renewed.at())
            }
            return head.isEvent ? events(renewing.filter(\.isEvent), renewal) : plan(head)
        }
    }

    private func renew(_ heads: [Head]) -> Result? {
        guard let head = heads.first, let token = memory.refreshToken else { return nil }
        let request = maker(head).request(.contactToken, RenewalCall.table, RenewalCall(refreshToken: token.value))
        return send(.contactToken, request, heads)
    }

    // MARK: The installation

    /// Brings the vendor up to date with the device, one request at a time: leaves an old application, registers, sets an
    /// anonymous contact, sets the push token.
    private func register(_ device: Device, _ head: Head) -> Result {
        let step = head.stage
        if memory.isOfAnotherApplication(than: settings) {
            if let leaving = leave(head) { return leaving }
            var next = memory
            next.forgetApplication(keepingState: settings.keepsStateOnNewCode)
            // The registration starts again at the new application.
            return resume(head, at: DESDevice.Step(), remembering: next)
        }
        let given = adapter.options(head.operation)["pushSettings"] ?? memory.pushSettings
        guard let call = ClientCall(device, settings, given: given?.object ?? [:]) else {
            return .settle([head.id: .rejected(FindingRow.factsMissing.at("action.device.facts"))])
        }
        let body = ClientCall.table.object(call)
        let isKnown = memory.clientState != nil && memory.registration == .object(body)
        if !isKnown, !step.isRegistered { return send(.client, maker(head).request(.client, body: body), head) }
        if memory.contactToken == nil, memory.identity == nil, !step.hasContact {
            return setAnonymous(head)
        }
        if !allowsPush, memory.mayHavePushToken, !step.leftToken {
            return removePushToken(head)
        }
        // A log-in that is still pending sets the token.
        if !isOfAnother(head), let token = missingToken(of: device), !step.hasToken {
            return setPushToken(token, head)
        }
        var next = memory
        (next.device, next.pushSettings, next.owesPushToken, next.isLeft) = (device, given, false, nil)
        let finding = step.isAnonymousRefused ? FindingRow.anonymousRefused.at() : nil
        let isNew = step.isRegistered || step.hasContact || step.hasToken
        return .settle([head.id: isNew ? .accepted(finding) : .unchanged()], remembering: next)
    }

    /// Registers again after a denial of tracking, which deleted the device event state. Only after another registration does
    /// the vendor accept a request without that state.
    private func registerAgain(_ heads: [Head]) -> Result? {
        guard let head = heads.first, let device = memory.device,
            let call = ClientCall(device, settings, given: memory.pushSettings?.object ?? [:])
        else { return nil }
        let request = maker(head).request(.client, body: ClientCall.table.object(call))
        return send(.client, request, heads)
    }

    private func setPushToken(_ token: String, _ head: Head) -> Result {
        send(.pushToken, maker(head).request(.pushToken, PushTokenCall.table, PushTokenCall(token: token)), head)
    }

    /// Takes the push token back, then sets the anonymous contact; nil if nothing is left to do.
    private func leave(_ head: Head) -> Result? {
        let step = head.stage
        if memory.mayHavePushToken, !step.leftToken { return removePushToken(head) }
        if memory.mayHaveContact, !step.leftContact { return setAnonymous(head) }
        return nil
    }

    /// Continues an operation at a step, without a request.
    private func resume(_ head: Head, at step: DESDevice.Step, remembering next: DESMemory? = nil) -> Result {
        .settle([head.id: .inProgress(step)], remembering: next)
    }

    private func removePushToken(_ head: Head) -> Result {
        guard memory.pushToken == nil else {
            var next = memory
            next.forgetPushToken()
            return resume(head, at: head.stage, remembering: next)
        }
        if var step = head.step, step.recovery == .setContact {
            guard memory.contactTokenMark != step.refusedToken, memory.contactToken != nil else { return recover(head) }
            // Another operation has set the contact since.
            (step.recovery, step.refusedToken) = (.repeatRequest, nil)
            return resume(head, at: step)
        }
        return send(.pushTokenRemoval, maker(head).request(.pushTokenRemoval, body: [:]), head)
    }

    /// Sets the present contact again, to get a contact token with which the push token can be taken back.
    private func recover(_ head: Head) -> Result {
        guard let identity = memory.identity else { return setAnonymous(head) }
        let isOwn = identity.value == nil && memory.person == Person(head.operation.contact)
        let credential = isOwn ? usableToken(of: head)?.value : nil
        guard identity.value != nil || credential != nil else { return setAnonymous(head) }
        let call = ContactCall(field: identity.field, value: identity.value, idToken: credential)
        return send(.contact, maker(head).request(.contact, ContactCall.table, call), head)
    }

    /// Sets or takes back the push token after a consent to messages. The vendor has no record of the consent itself.
    private func followConsent(_ head: Head) -> Result {
        let kept = Result.settle([head.id: .accepted(FindingRow.consentKept.at())])
        let state = head.operation.action.pushMessageConsent
        guard allowsPush, state != .denied else {
            return memory.mayHavePushToken ? removePushToken(head) : kept
        }
        guard state == .granted, !isLeaving, hasContact, let token = missingToken(of: memory.device) else {
            return kept
        }
        return setPushToken(token, head)
    }

    /// Whether the current person and the person of the vendor's contact both allow push messages. A person who was only
    /// identified is known by the field's value.
    private var allowsPush: Bool {
        allowsPush(to: memory.mayHaveContact ? [memory.person?.contact, memory.identity?.value] : [])
    }

    /// Whether the current person and the person with these names both allow push messages.
    private func allowsPush(to names: [String?]) -> Bool {
        pending.allowsPushMessages(to: nil) && names.allSatisfy { pending.allowsPushMessages(to: $0) }
    }

    /// Whether the vendor has, or may have, a contact of the installation for a push token.
    private var hasContact: Bool { memory.contactToken != nil || memory.isIdentityUncertain }

    /// Returns the push token that the vendor lacks; nil if there is none, or if no person may be reached.
    private func missingToken(of device: Device?, refusesPush: Bool? = nil) -> String? {
        guard allowsPush, !(refusesPush ?? memory.refusesPush), let token = device?.pushToken.flatMap(PushAddress.text)
        else { return nil }
        return token == memory.pushToken ? nil : token
    }

    /// Takes the push token back before a change to a person who refuses or does not allow push messages; nil if not needed.
    private func endPush(before head: Head, _ names: [String]) -> Result? {
        var next = memory
        let state = next.restorePush(of: names, at: head.sequence)
        let isRefused = !allowsPush(to: names) || state.map { $0 != .subscribed } ?? false
        guard memory.mayHavePushToken, isRefused else { return nil }
        return removePushToken(head)
    }

    /// Whether an operation was captured for another person than that of the vendor's contact.
    private func isOfAnother(_ head: Head) -> Bool {
        guard memory.identity != nil, let person = memory.person, person.contact != nil else { return false }
        return head.operation.contact != nil && person != Person(head.operation.contact)
    }

    private func changePush(isOn: Bool, _ head: Head) -> Result {
        guard isOn else { return endPush(head) }
        if isOfAnother(head) {
            return .settle([head.id: .rejected(FindingRow.contactOfAnother.at("contact"))])
        }
        var decided = memory
        decided.decide(.subscribed, in: head)
        // An opt-in of a person who has logged out is rejected, too, while the current person allows no push messages.
        if memory.isOvertaken(head) || isOfFormer(head) && !allowsPush {
            let verdict = Verdict<DESDevice>.rejected(FindingRow.optInOvertaken.at("action.subscription"))
            return .settle([head.id: verdict], remembering: head.operation.contact == nil ? nil : decided)
        }
        guard allowsPush, hasContact, let token = memory.device?.pushToken.flatMap(PushAddress.text) else {
            decided.refusesPush = false
            return .settle([head.id: .accepted(FindingRow.tokenLater.at("action.subscription"))], remembering: decided)
        }
        if !memory.refusesPush, token == memory.pushToken {
            return .settle([head.id: .unchanged()], remembering: decided == memory ? nil : decided)
        }
        return setPushToken(token, head)
    }

    /// Plans an opt-out of push. It is stored before anything is sent, and replaces an earlier opt-in that is still pending.
    private func endPush(_ head: Head) -> Result {
        let replaced = stored.filter {
            // A statement without a known person is about the whole installation.
            let people = [head.operation.contact, $0.operation.contact].map(Person.init)
            return $0.isPushOptIn && $0.sequence < head.sequence
                && (people.contains(Person(nil)) || people[0] == people[1])
        }
        var next = memory
        for other in replaced { next.decide(.subscribed, in: other) }
        next.decide(.unsubscribed, in: head)
        // A statement of a person who has logged out counts when the person comes back. Until then, the next person's
        // opt-in counts.
        let isToCome =
            stored.contains { $0.changesContact && $0.sequence < head.sequence } || hidesContactChange(before: head)
        let isKept = isOfAnother(head) && !isToCome && memory.wantsPush([memory.person?.contact].compactMap(\.self))
        if !isKept {
            next.refusesPush = true
            next.forgetPushToken()
        }
        guard next == memory, replaced.isEmpty, !isKept else {
            let kept = Verdict<DESDevice>.accepted(FindingRow.optOutKept.at("action.subscription"))
            var verdicts = [head.id: isKept ? kept : .inProgress(head.stage)]
            for other in replaced { verdicts[other.id] = .superseded(by: head.id) }
            return .settle(verdicts, remembering: next)
        }
        return memory.mayHavePushToken ? removePushToken(head) : .settle([head.id: .unchanged()])
    }

    // MARK: The contact

    /// Whether another person has logged in since an operation.
    private func isOfFormer(_ head: Head) -> Bool { pending.cameAfter.map { head.sequence <= $0 } ?? false }

    /// Whether another person has logged in since an operation, although no pending change of person shows it, because that
    /// change is held for a consent.
    private func isOvertakenByHeld(_ head: Head) -> Bool {
        guard isOfFormer(head) else { return false }
        let isShown = stored.contains { $0.changesContact && $0.sequence > head.sequence }
        let hidden = [.identify, .switchContact].compactMap { pending.hidden.last($0) }
        return !isShown && !hidden.contains { $0.sequence > head.sequence }
    }

    /// Rejects a log-in that a later change of person has overtaken. It is kept for replay.
    private func overtaken(_ head: Head) -> Result {
        var next = memory
        next.noteOvertaken(Person(head.operation.contact))
        return .settle([head.id: .rejected(FindingRow.contactOvertaken.at("action"))], remembering: next)
    }

    private func setContact(_ identifiers: [Identifier], _ head: Head) -> Result {
        if !isLogOut(head), isOvertakenByHeld(head) { return overtaken(head) }
        let isByToken = settings.contactProof == .openIDToken && !isLogOut(head)
        if isByToken { return setContactByToken(head) }
        guard
            let value = identifiers.first(IdentifierKind(rawValue: settings.contactIdentifier))
                ?? (isLogOut(head) ? "" : nil)
        else {
            return .settle([head.id: .rejected(FindingRow.identifierMissing.at("action"))])
        }
        guard !value.trimmed.isEmpty else { return becomeAnonymous(head) }
        return set(
            Identity(field: settings.contactFieldID, value: value),
            ContactCall(field: settings.contactFieldID, value: value),
            head
        )
    }

    private func setContactByToken(_ head: Head) -> Result {
        guard let token = usableToken(of: head) else { return awaitToken(head) }
        return set(
            Identity(field: settings.contactFieldID, tokenMark: TextMark(token.value).digits),
            ContactCall(field: settings.contactFieldID, idToken: token.value),
            head
        )
    }

    /// Returns the credential of an operation; nil if it has none, or an expired one.
    private func usableToken(of head: Head) -> Secret? {
        head.credential.flatMap { $0.value.isEmpty || IDToken.hasExpired($0, at: moment.date) ? nil : $0 }
    }

    /// A log-in waits for its credential, unless a later change of person or an unregistration has overtaken it.
    private func awaitToken(_ head: Head) -> Result {
        let isOvertaken =
            stored.contains { $0.changesContact && $0.sequence > head.sequence }
            || pending.hidden.last(.switchContact).map { $0.sequence > head.sequence } ?? false
        guard !isLeaving, !isOvertaken else { return overtaken(head) }
        let row: FindingRow = (head.credential?.value ?? "").isEmpty ? .credentialMissing : .credentialExpired
        return .wait(until: nil, because: row.at())
    }

    private func set(_ identity: Identity, _ call: ContactCall, _ head: Head) -> Result {
        let names = [head.operation.contact, identity.value].compactMap(\.self)
        if memory.identity == identity, !memory.isIdentityUncertain {
            var next = memory
            next.arrive(Person(head.operation.contact), names, at: head.sequence)
            if let token = missingToken(of: memory.device, refusesPush: next.refusesPush) {
                return setPushToken(token, head)
            }
            return .settle([head.id: .unchanged()], remembering: next == memory ? nil : next)
        }
        return endPush(before: head, names)
            ?? send(.contact, maker(head).request(.contact, ContactCall.table, call), head)
    }

    private func setAnonymous(_ head: Head) -> Result {
        send(.anonymousContact, maker(head).request(.anonymousContact, body: [:]), head)
    }

    private func isLogOut(_ head: Head) -> Bool {
        if case .switchContact(let change) = head.operation.action { change.direction == .logOut } else { false }
    }

    private func becomeAnonymous(_ head: Head) -> Result {
        if memory.contactToken != nil, memory.identity == nil, !memory.isIdentityUncertain {
            var next = memory
            next.setPerson(Person(head.operation.contact))
            return .settle([head.id: .unchanged()], remembering: next == memory ? nil : next)
        }
        return endPush(before: head, []) ?? setAnonymous(head)
    }

    // MARK: Events

    /// Sends all pending events up to the next change of contact.
    private func report(_ head: Head) -> Result {
        let horizon = max(horizon, head.sequence)
        let batch = mergeable.filter { $0.isEvent && $0.sequence <= horizon && !isForAnother($0) }
        guard !batch.isEmpty else { return .wait(until: nil, because: FindingRow.contactLater.at()) }
        return events(batch, nil)
    }

    /// Returns a request with these operations' events. A repeat carries as many views and clicks as the first request.
    private func events(_ heads: [Head], _ renewal: DESDevice.Renewal?) -> Result {
        if memory.mustRegister == true, let registration = registerAgain(heads) { return registration }
        let batch = EventBatch(heads, self)
        if !batch.settled.isEmpty, renewal == nil { return .settle(batch.settled) }
        guard let first = heads.first, !batch.events.isEmpty else {
            return settle(heads) { batch.settled[$0.id] ?? .accepted() }
        }
        let maker = maker(first)
        let facts = settings.deviceFieldsInEvents ? memory.eventFacts : nil
        let call = EventsCall(
            views: RowCall.list(memory.views.filter(memory.maySend).prefix(renewal?.views ?? .max), writer),
            clicks: RowCall.list(memory.clicks.filter(memory.maySend).prefix(renewal?.clicks ?? .max), writer),
            events: batch.events,
            isDisplayPaused: memory.isDisplayPaused ? true : settings.alwaysSendsDND ? false : nil,
            eventState: maker.usesV4 ? memory.eventState : nil,
            language: facts?.language,
            sdkVersion: facts.map { _ in settings.sdkVersion },
            appVersion: facts?.appVersion
        )
        return send(.events, maker.request(.events, EventsCall.table, call, expecting: 256 * heads.count), heads)
    }

    // MARK: Queries

    /// Plans a query. A query about a person whose log-in is pending follows the log-in if that can be sent now.
    private func planQuery() -> Result? {
        guard let query else { return nil }
        guard case .readBack(let read) = query.operation.action, Query.named(read.what)?.needsRegistration == true,
            memory.holdsContact(ofAnotherThan: query.operation.contact)
        else { return send(query: query) }
        if stored.contains(where: \.changesContact), query.step?.renewal == nil {
            let next = deliver()
            guard case .wait = next else { return next }
        }
        return .settle([query.id: .rejected(FindingRow.contactOfAnother.at("contact"))])
    }

    private func send(query head: Head) -> Result {
        if head.step?.renewal?.stage == .renew, let renewal = renew([head]) { return renewal }
        guard case .readBack(let read) = head.operation.action, let query = Query.named(read.what) else {
            return .settle([head.id: .rejected(FindingRow.queryUnknown.at("action.read.what"))])
        }
        guard memory.isRegistered || !query.needsRegistration else {
            return .settle([head.id: .rejected(FindingRow.notRegistered.at("action.read"))])
        }
        let maker = maker(head)
        switch query.endpoint {
        case .inlineMessages:
            if memory.mustRegister == true, let registration = registerAgain([head]) { return registration }
            let call = InlineCall(
                viewIDs: [.string(read.arguments["viewId"]?.string ?? "")],
                clicks: RowCall.list(memory.clicks.filter(memory.maySend), writer),
                views: settings.inlineViews ? RowCall.list(memory.views.filter(memory.maySend), writer) : nil,
                eventState: maker.usesV4 ? memory.eventState : nil
            )
            return send(.inlineMessages, maker.request(.inlineMessages, InlineCall.table, call), head)
        case .pushMessage:
            return send(.pushMessage, maker.request(.pushMessage, at: read.arguments["url"]?.string), head)
        default: return send(query.endpoint, maker.request(query.endpoint), head)
        }
    }
}
