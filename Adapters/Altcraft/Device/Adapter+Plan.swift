public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        if let plan = planRoleToken(pending, memory, moment.now) { return plan }
        let planner = Planner(adapter: self, pending: pending, memory: memory)
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
                    best = .sooner(best, .wait(until: nil, because: error.finding))
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

extension AltcraftDevice {
    /// Handles a changed role token: it invalidates the memory and the operations that were captured under the old token.
    ///
    /// - Returns: A plan that records the token or rejects outdated operations; nil if there is nothing to do.
    private func planRoleToken(_ pending: PendingOperations<Self>, _ memory: Memory, _ now: Instant) -> Plan<Self>? {
        let mark = AltcraftMemory.Signature.mark(of: settings)
        if let known = memory.signature, known.mark == mark {
            let rejections = rejections(pending, before: known.since)
            return rejections.isEmpty ? nil : .settle(rejections)
        }
        if memory.signature == nil, mark.isEmpty { return nil }
        // Neither an empty memory nor one of an older release holds state under another token.
        let isFirst = memory.signature.map { $0.mark == nil } ?? (memory == AltcraftMemory())
        if isFirst {
            let signature = AltcraftMemory.Signature(mark: mark, since: .beforeAll)
            return .settle([:], remembering: memory.changing { $0.signature = signature })
        }
        let since = now + (.zero - AltcraftMemory.Signature.grace)
        return .settle(
            rejections(pending, before: since),
            remembering: memory.signed(.init(mark: mark, since: since))
        )
    }

    private func rejections(
        _ pending: PendingOperations<Self>,
        before since: Instant
    ) -> [OperationID: Verdict<Self>] {
        let old = pending.filter { !$0.isImmediate && $0.since < since && concernsOnePerson($0.operation.action) }
        return Dictionary(old.map { ($0.id, .rejected(FindingRow.roleTokenChanged.at())) }) { first, _ in first }
    }

    /// Whether an action belongs to one person. Push events belong to a message; other actions concern no profile.
    private func concernsOnePerson(_ action: Action) -> Bool {
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
    /// The newest registered installation, pending or hidden; otherwise the one in the memory.
    let device: Device?
    private let registrations: [Head]

    init(adapter: AltcraftDevice, pending: PendingOperations<AltcraftDevice>, memory: AltcraftMemory) {
        (self.adapter, self.memory, self.pending) = (adapter, memory, pending)
        registrations = pending.all(.registerDevice)
        let newest = pending.last(.registerDevice, in: .registerDevice)?.operation
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

    /// Whether an operation is of the person of another one.
    func isSamePerson(_ operation: EngagementOperation, _ head: Head) -> Bool {
        adapter.person(operation.contact).isExactly(person(head))
    }

    /// Plans an operation.
    ///
    /// - Throws: The reason why the operation is held. Later operations of other people are not held.
    func plan(_ head: Head) throws(Held) -> Next {
        if mayOptIn(head), memory.leftAt.map({ $0 > head.sequence }) == true { return rejectOptIn(head, nil) }
        do {
            switch head.operation.action {
            case .registerDevice: return try register(head)
            case .changeSubscription(let subscription): return try changeSubscription(subscription, head)
            case .switchContact: return try switchContact(head)
            case .changeAttributes, .identify:
                return try updateProfile(head, adapter.profileFields(of: head.operation).object)
            case .changeTags(let change): return try updateTags(change, head)
            case .track(let event): return try report(event, head)
            case .readBack(let request): return try query(request, head)
            case .unregister: return try unregister(head)
            case .setConsent(let consent): return try apply(consent, head)
            case .erase: return erase(head)
            @unknown default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
            }
        } catch {
            guard isLeft(head), mayOptIn(head) else { throw error }
            return rejectOptIn(head, error.finding.code)
        }
    }

    /// Rejects an operation that would subscribe a person at a provider that was left.
    private func rejectOptIn(_ head: Head, _ detail: String?) -> Next {
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
        let last = pending.last(.switchContact, in: .switchContact)
            .map { AltcraftMemory.Mark(contact: adapter.person($0.operation.contact), sequence: $0.sequence) }
        return [last, memory.begunPersonChange].compactMap(\.self).max { $0.sequence < $1.sequence }
    }

    /// Whether another person logged in after an operation was captured.
    func isOvertaken(_ head: Head) -> Bool {
        guard let last = newestPersonChange, last.sequence > head.sequence else { return false }
        return !last.contact.isExactly(person(head))
    }

    /// Whether the provider was removed after an operation was captured.
    func isLeft(_ head: Head) -> Bool {
        pending.last(.unregister, in: .leave).map { $0.sequence > head.sequence } ?? pending.isLeaving
    }

    /// Whether an operation must wait for an unregistration that was captured before it, which would otherwise revert it.
    func followsUnregister(_ head: Head) -> Bool {
        let shown = pending.captured(.unregister, in: .leave).map(\.sequence).min() ?? .max
        return min(shown, pending.hidden.first(.unregister)?.sequence ?? .max) < head.sequence
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
        if let newest = pending.last(.registerDevice, in: .registerDevice)?.operation.id, newest != head.id {
            let older = registrations.filter { $0.id != newest }
            return .settle(Dictionary(older.map { ($0.id, .superseded(by: newest)) }) { first, _ in first })
        }
        if followsUnregister(head) { throw Held(.unregisterPending) }
        // The unregistration reaches every token anyway.
        if !isLeft(head) {
            if let move = memory.move(of: person(head), to: address) {
                return try self.move(from: move.old, to: move.new, head)
            }
            if let suspension = try suspendWithoutPermission(head) { return suspension }
            if let subscription = try subscribeAgain(head) { return subscription }
        }
        return .settle(
            [head.id: .unchanged(FindingRow.deviceKept.at())],
            remembering: memory.changing { $0.device = device }
        )
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
        return send(.tokenUpdate, maker.post("/subscription/push/update/", query, call), head)
    }

    /// Returns the token update that must precede a person's subscription; nil if it needs none.
    ///
    /// - Throws: The reason to wait, if a registration of the same person carries the update.
    func updateFirst(_ head: Head) throws(Held) -> Next? {
        guard let move = memory.move(of: person(head), to: address) else { return nil }
        let captured = pending.captured(.registerDevice, in: .registerDevice)
        if captured.contains(where: { isSamePerson($0.operation, head) }) { throw Held(.tokenUpdatePending) }
        return try self.move(from: move.old, to: move.new, head)
    }
}

extension AltcraftDevice {
    /// Returns the contact under which the vendor stores data; nil with a role token, whose profile the push token identifies.
    func person(_ contact: String?) -> String? { settings.usedRoleToken == nil ? contact : nil }
}

extension PendingOperations<AltcraftDevice> {
    /// Returns the pending operations of a kind: the last one that the window does not show, then those of the window.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - kinds: The group of kinds to which it belongs.
    /// - Returns: The operations.
    func captured(_ kind: Action.Kind, in kinds: ActionKinds) -> [HiddenOperations.Entry] {
        let shown = all(kinds).filter { $0.operation.action.kind == kind }
        return (hidden.last(kind).map { [$0] } ?? []) + shown.map { .init($0.operation, sequence: $0.sequence) }
    }

    /// Returns the pending operation of a kind that was captured last; nil if there is none.
    func last(_ kind: Action.Kind, in kinds: ActionKinds) -> HiddenOperations.Entry? {
        let captured = captured(kind, in: kinds)
        guard let first = captured.first, let last = captured.last else { return nil }
        return first.sequence > last.sequence ? first : last
    }
}
