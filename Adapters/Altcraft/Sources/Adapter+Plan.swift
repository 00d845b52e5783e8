public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let mark = AltcraftMemory.Signature.mark(of: settings)
        if let signing = Signing.plan(pending, mark, memory, moment.now) { return signing }
        let planner = Planner(adapter: self, pending: pending, memory: memory)
        var best: Plan<Self>?
        var closed: Set<String> = []
        var held: Set<Stream> = []
        for operation in pending {
            let stream = Stream(queue: operation.queue, contact: operation.operation.contact)
            guard operation.isImmediate || !closed.contains(stream.queue) && !held.contains(stream) else { continue }
            do {
                let next = try planner.plan(operation)
                guard case .wait = next else { return next }
                best = .sooner(best, next)
                if !operation.isImmediate { closed.insert(stream.queue) }
            } catch {
                best = .sooner(best, .wait(until: nil, because: error.finding))
                if !operation.isImmediate { held.insert(stream) }
            }
        }
        return best ?? .wait(until: nil, because: FindingRow.tokenMissing.at())
    }

    /// What one person wants in one queue.
    private struct Stream: Hashable {
        let queue: String
        let contact: String?
    }
}

/// What a changed role token ends: what is known, and what was captured under the old one.
private enum Signing {
    /// A plan that ends what is too old; nil if nothing is.
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
        RuleID.altcraft("T10").fire()
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

    /// Push events belong to the message, the rest to nobody at the vendor; all else is one person's.
    private static func isOfThePerson(_ action: Action) -> Bool {
        switch action {
        case .changeSubscription, .switchContact, .changeAttributes, .changeTags, .identify, .track(.custom): true
        default: false
        }
    }
}

/// Decides about the head of each stream, knowing the newest state of the installation.
struct Planner {
    typealias Head = Pending<AltcraftDevice>
    typealias Next = Plan<AltcraftDevice>

    let adapter: AltcraftDevice
    let memory: AltcraftMemory
    let pending: PendingOperations<AltcraftDevice>
    private let registrations: [Head]

    init(adapter: AltcraftDevice, pending: PendingOperations<AltcraftDevice>, memory: AltcraftMemory) {
        (self.adapter, self.memory, self.pending) = (adapter, memory, pending)
        registrations = pending.all(.registerDevice)
    }

    /// The newest registered installation: in the window, else remembered.
    var device: Device? {
        if case .registerDevice(let device) = registrations.last?.operation.action { device } else { memory.device }
    }

    /// Seconds east of UTC where that is; 0 as long as nobody knows.
    var utcOffsetSeconds: Int {
        (registrations.isEmpty ? memory.utcOffsetSeconds : device?.facts?.utcOffsetSeconds) ?? 0
    }

    /// Where the vendor reaches the installation now.
    var address: PushAddress? { PushAddress(device) }

    /// What to do about an operation.
    ///
    /// - Throws: why it is held; later operations of other people may go on.
    func plan(_ head: Head) throws(Held) -> Next {
        switch head.operation.action {
        case .registerDevice: return try register()
        case .changeSubscription(let subscription): return try change(subscription, head)
        case .switchContact: return try switchContact(head)
        case .changeAttributes, .identify:
            return try updateProfile(head, adapter.profileFields(of: head.operation).object)
        case .changeTags(let change): return try updateTags(change, head)
        case .track(let event): return try report(event, head)
        case .readBack(let request): return try ask(request, head)
        case .farewell: return try leave(head)
        case .setConsent(let consent): return keep(consent, head)
        case .erase: return .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: AltcraftMemory())
        @unknown default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    func maker(_ head: Head, part: String? = nil) throws(Held) -> RequestMaker {
        RequestMaker(
            adapter: adapter,
            authorization: try Authorization(head.credential, adapter),
            operation: head.id,
            part: part ?? head.step?.rawValue
        )
    }

    /// A request; with the token that it is about, if that is what it may change.
    func send(
        _ endpoint: AltcraftDevice.Endpoint,
        _ request: WireRequest,
        _ head: Head,
        at address: PushAddress? = nil
    ) -> Next {
        guard [.tokenUpdate, .subscribe, .unsuspend].contains(endpoint) else {
            return .send(Transmission(endpoint, request, carrying: [head]))
        }
        var doubting = memory
        doubting.doubt(endpoint, address, head)
        return .send(Transmission(endpoint, request, carrying: [head], doubting: doubting))
    }

    func flag(_ value: Bool) -> String {
        switch adapter.settings.flagText {
        case .words: value ? "true" : "false"
        case .digits: value ? "1" : "0"
        }
    }

    // MARK: The installation

    /// Remembers the newest of the registrations that wait; a token that changed is told to the vendor first.
    private func register() throws(Held) -> Next {
        guard let newest = registrations.last else { return .wait(until: nil, because: FindingRow.tokenMissing.at()) }
        if registrations.count > 1 {
            let older = registrations.dropLast().map { ($0.id, Verdict<AltcraftDevice>.superseded(by: newest.id)) }
            return .settle(Dictionary(older) { first, _ in first })
        }
        guard let address, let old = memory.outdated(by: address) else {
            if let back = try comeBack(newest) { return back }
            var next = memory
            next.device = device
            return .settle([newest.id: .accepted()], remembering: next)
        }
        return try move(from: old, to: address, newest)
    }

    /// Tells the vendor that a token took another's place.
    func move(from old: PushAddress, to address: PushAddress, _ head: Head) throws(Held) -> Next {
        RuleID.altcraft("T1").fire()
        let maker = try maker(head)
        let query = TokenUpdateQuery(
            provider: address.provider,
            token: old.token,
            sync: flag(adapter.settings.usedRoleToken != nil)
        )
        let call = TokenUpdateCall(old: old, new: address)
        let path = "/subscription/push/update/"
        let request = maker.post(path, TokenUpdateQuery.table, query, TokenUpdateCall.table, call)
        return send(.tokenUpdate, request, head, at: address)
    }

    /// Whether a token update must come first. One that can't be signed is not waited for: its person is gone.
    var awaitsTokenUpdate: Bool {
        guard memory.outdated(by: address) != nil else { return false }
        guard let update = registrations.last else { return true }
        return (try? Authorization(update.credential, adapter)) != nil
    }
}
