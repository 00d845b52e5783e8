public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let mark = AltcraftMemory.Signature.mark(of: settings)
        if let signing = Signing.plan(pending, mark, memory, moment.now) { return signing }
        let planner = Planner(adapter: self, pending: pending, memory: memory, now: moment.now)
        var best: Plan<Self>?
        var held: Set<Stream> = []
        // An unregistration is the last request to the vendor: all other requests that can be sent go first.
        for isLast in [false, true] {
            if isLast, planner.mustDelayUnregister { break }
            for operation in pending where (operation.operation.action == .unregister) == isLast {
                let stream = Stream(queue: operation.queue, contact: operation.operation.contact.map(ScalarString.init))
                guard operation.isImmediate || !held.contains(stream) else { continue }
                do {
                    return try planner.plan(operation)
                } catch {
                    best = .sooner(best, .wait(until: error.until, because: error.finding))
                    if !operation.isImmediate { held.insert(stream) }
                }
            }
        }
        return best ?? .wait(until: nil, because: FindingRow.unregisterLast.at())
    }

    /// The operations of one person in one queue.
    private struct Stream: Hashable {
        let queue: String
        let contact: ScalarString?
    }
}

/// Handles a changed role token: it invalidates the memory and the operations that were captured under the old token.
private enum Signing {
    /// Returns a plan that rejects outdated operations; nil if there are none.
    static func plan(
        _ pending: PendingOperations<AltcraftDevice>,
        _ mark: String,
        _ memory: AltcraftMemory,
        _ now: Instant
    ) -> Plan<AltcraftDevice>? {
        guard let known = memory.signature else {
            guard !mark.isEmpty else { return nil }
            // An installation that remembers nothing has nothing of another token's either.
            return memory == AltcraftMemory()
                ? begin(mark, memory, since: .beforeAll) : change(to: mark, pending, memory, now)
        }
        guard let old = known.mark else { return begin(mark, memory, since: .beforeAll) }
        guard old == mark else { return change(to: mark, pending, memory, now) }
        let verdicts = rejections(pending, before: known.since)
        return verdicts.isEmpty ? nil : .settle(verdicts)
    }

    private static func begin(_ mark: String, _ memory: AltcraftMemory, since: Instant) -> Plan<AltcraftDevice> {
        var next = memory
        next.signature = .init(mark: mark, since: since)
        return .settle([:], remembering: next)
    }

    private static func change(
        to mark: String,
        _ pending: PendingOperations<AltcraftDevice>,
        _ memory: AltcraftMemory,
        _ now: Instant
    ) -> Plan<AltcraftDevice> {
        let since = now + (.zero - AltcraftMemory.Signature.grace)
        let next = memory.signed(.init(mark: mark, since: since))
        return .settle(rejections(pending, before: since), remembering: next)
    }

    private static func rejections(_ pending: PendingOperations<AltcraftDevice>, before since: Instant)
        -> [OperationID: Verdict<AltcraftDevice>]
    {
        let old = pending.filter { !$0.isImmediate && $0.since < since && isOfThePerson($0.operation.action) }
        return Dictionary(old.map { ($0.id, .rejected(FindingRow.roleTokenChanged.at())) }) { first, _ in first }
    }

    /// Whether an action belongs to one person. Push events belong to a message; other actions concern no profile.
    private static func isOfThePerson(_ action: Action) -> Bool {
        switch action {
        case .changeSubscription, .switchContact, .changeAttributes, .changeTags, .identify, .track(.custom): true
        default: false
        }
    }
}

/// Plans the first operation of each stream from the newest state of the installation.
struct Planner {
    typealias Head = Pending<AltcraftDevice>
    typealias Next = Plan<AltcraftDevice>

    let adapter: AltcraftDevice
    let memory: AltcraftMemory
    let pending: PendingOperations<AltcraftDevice>
    private let now: Instant
    /// The newest registered installation, pending or hidden; otherwise the one in the memory.
    let device: Device?
    private let registrations: [Head]

    init(
        adapter: AltcraftDevice,
        pending: PendingOperations<AltcraftDevice>,
        memory: AltcraftMemory,
        now: Instant
    ) {
        (self.adapter, self.memory, self.pending, self.now) = (adapter, memory, pending, now)
        registrations = pending.all(.registerDevice)
        let hidden = pending.hidden.last(.registerDevice)
        let shown = registrations.last
        let newest = (hidden?.sequence ?? -1) > (shown?.sequence ?? -1) ? hidden?.operation : shown?.operation
        device = if case .registerDevice(let device) = newest?.action { device } else { memory.device }
    }

    /// The time zone's offset in seconds east of UTC; 0 while it is unknown.
    var utcOffsetSeconds: Int {
        (registrations.isEmpty ? memory.utcOffsetSeconds : device?.facts?.utcOffsetSeconds) ?? 0
    }

    /// The installation's present push address.
    var address: PushAddress? { PushAddress(device) }

    /// Returns the contact under which the vendor stores data; nil with a role token, because it stands for one person.
    func person(_ head: Head) -> String? { adapter.person(head.operation.contact) }

    /// Plans an operation.
    ///
    /// - Throws: The reason why the operation is held. Later operations of other people are not held.
    func plan(_ head: Head) throws(Held) -> Next {
        if mayOptIn(head), memory.leftAt.map({ $0 > head.sequence }) == true { return left(head, nil) }
        do {
            switch head.operation.action {
            case .registerDevice: return try register(head)
            case .changeSubscription(let subscription): return try change(subscription, head)
            case .switchContact: return try switchContact(head)
            case .changeAttributes, .identify:
                return try updateProfile(head, adapter.profileFields(of: head.operation).object)
            case .changeTags(let change): return try updateTags(change, head)
            case .track(let event): return try report(event, head)
            case .readBack(let request): return try ask(request, head)
            case .unregister: return try leave(head)
            case .setConsent(let consent): return try follow(consent, head)
            case .erase: return erase(head)
            @unknown default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
            }
        } catch {
            guard isLeft(head), mayOptIn(head) else { throw error }
            return left(head, error.finding.code)
        }
    }

    /// Rejects an operation that would subscribe a person at a provider that was left.
    private func left(_ head: Head, _ detail: String?) -> Next {
        .settle([head.id: .rejected(FindingRow.providerLeft.at(detail: detail))])
    }

    func maker(_ head: Head, part: String? = nil) throws(Held) -> RequestMaker {
        let authorization = try Authorization(head.credential, adapter)
        return RequestMaker(
            adapter: adapter,
            authorization: authorization,
            operation: head.id,
            part: part ?? head.step?.rawValue
        )
    }

    /// Sends a request. Until a reply arrives, the memory assumes that the vendor's state is uncertain.
    func send(_ endpoint: AltcraftDevice.Endpoint, _ request: WireRequest, _ head: Head) -> Next {
        guard [.tokenUpdate, .subscribe, .unsuspend].contains(endpoint) else {
            return .send(Transmission(endpoint, request, carrying: [head]))
        }
        var unacknowledged = memory
        if endpoint == .unsuspend {
            unacknowledged.beginPersonChange(.init(contact: person(head), sequence: head.sequence))
        }
        unacknowledged.markUncertain(endpoint, person(head), SentSubscription(endpoint, request.json), head)
        return .send(Transmission(endpoint, request, carrying: [head], unacknowledged: unacknowledged))
    }

    func flag(_ value: Bool) -> String {
        switch adapter.settings.flagText {
        case .words: value ? "true" : "false"
        case .digits: value ? "1" : "0"
        }
    }

    // MARK: Facts that change while work waits

    /// The last change of person, pending or in progress.
    private var newestPersonChange: AltcraftMemory.Mark? {
        let shown = pending.all(.switchContact).last.map { ($0.operation, $0.sequence) }
        let hidden = pending.hidden.last(.switchContact).map { ($0.operation, $0.sequence) }
        let known = [shown, hidden].compactMap(\.self)
            .map { AltcraftMemory.Mark(contact: adapter.person($0.0.contact), sequence: $0.1) }
        return (known + [memory.begunPersonChange].compactMap(\.self)).max { $0.sequence < $1.sequence }
    }

    /// Whether another person logged in after an operation was captured.
    func isOvertaken(_ head: Head) -> Bool {
        guard let last = newestPersonChange, last.sequence > head.sequence else { return false }
        return last.contact.map(ScalarString.init) != person(head).map(ScalarString.init)
    }

    /// The position of the last pending unregistration; nil without one.
    private var unregister: Int64? {
        let shown = pending.all(.leave).last { $0.operation.action == .unregister }?.sequence
        return [shown, pending.hidden.last(.unregister)?.sequence].compactMap(\.self).max()
    }

    /// Whether the provider was removed after an operation was captured.
    func isLeft(_ head: Head) -> Bool {
        guard pending.isLeaving || unregister != nil else { return false }
        return unregister.map { $0 > head.sequence } ?? true
    }

    /// Whether an operation must wait for an unregistration that was captured before it, which would otherwise revert it.
    func followsUnregister(_ head: Head) -> Bool {
        let shown = pending.all(.leave).first { $0.operation.action == .unregister }?.sequence
        let first = [shown, pending.hidden.first(.unregister)?.sequence].compactMap(\.self).min()
        return first.map { $0 < head.sequence } ?? false
    }

    /// Whether the unregistration waits for operations outside the window that may still be sent. It does not wait for another
    /// person's unregistration, which can fail for long.
    var mustDelayUnregister: Bool { pending.hasMore && pending.hidden.first(.unregister) == nil }

    /// Whether an operation may subscribe a person.
    private func mayOptIn(_ head: Head) -> Bool {
        switch head.operation.action {
        case .switchContact: true
        case .changeSubscription(let subscription): subscription.state == .subscribed
        default: false
        }
    }

    // MARK: The installation

    /// Stores the newest of the pending registrations. A changed token is sent to the vendor first.
    private func register(_ head: Head) throws(Held) -> Next {
        let hidden = pending.hidden.last(.registerDevice)
        let shown = registrations.last
        if let newest = (hidden?.sequence ?? -1) > (shown?.sequence ?? -1) ? hidden?.operation.id : shown?.id,
            newest != head.id
        {
            let older = registrations.filter { $0.id != newest }
            return .settle(Dictionary(older.map { ($0.id, .superseded(by: newest)) }) { first, _ in first })
        }
        if followsUnregister(head) { throw Held(finding: FindingRow.unregisterPending.at()) }
        // The unregistration reaches every token anyway.
        if !isLeft(head) {
            if let move = memory.move(of: person(head), to: address) {
                return try self.move(from: move.old, to: move.new, head)
            }
            if let pause = try pause(head) { return pause }
            if let back = try comeBack(head) { return back }
        }
        var next = memory
        next.device = device
        return .settle([head.id: .unchanged(FindingRow.deviceKept.at())], remembering: next)
    }

    /// Reports to the vendor that a token replaced another.
    func move(from old: PushAddress, to address: PushAddress, _ head: Head) throws(Held) -> Next {
        // The newest token's update has the operation's own id, and one that it must wait for another.
        let isOwn = head.operation.action.kind == .registerDevice && address == self.address
        let maker = try maker(head, part: isOwn ? nil : "update/\(RequestID.mark(of: address.token))")
        let query = TokenUpdateQuery(
            provider: address.provider,
            token: old.token,
            sync: flag(adapter.settings.usedRoleToken != nil)
        )
        let call = TokenUpdateCall(old: old, new: address)
        let path = "/subscription/push/update/"
        return send(.tokenUpdate, maker.post(path, TokenUpdateQuery.table, query, TokenUpdateCall.table, call), head)
    }

    /// Returns the token update that must precede a person's subscription; nil if it needs none.
    ///
    /// - Throws: The reason to wait, if a registration of the same person carries the update.
    func updateFirst(_ head: Head) throws(Held) -> Next? {
        guard let move = memory.move(of: person(head), to: address) else { return nil }
        func isOfPerson(_ operation: EngagementOperation) -> Bool {
            adapter.person(operation.contact).map(ScalarString.init) == person(head).map(ScalarString.init)
        }
        if registrations.contains(where: { isOfPerson($0.operation) })
            || pending.hidden.last(.registerDevice).map({ isOfPerson($0.operation) }) == true
        {
            throw Held(finding: FindingRow.tokenUpdatePending.at())
        }
        return try self.move(from: move.old, to: move.new, head)
    }
}

extension AltcraftDevice {
    /// Returns the contact under which the vendor stores data; nil with a role token, whose profile the push token identifies.
    func person(_ contact: String?) -> String? { settings.usedRoleToken == nil ? contact : nil }
}

extension Secret {
    /// Enough to see that it changed, too little to find it.
    var mark: String { RequestID.mark(of: value) }
}
