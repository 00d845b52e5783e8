import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What the adapter remembers.
extension Runner {
    /// What the adapter remembers; nil if that can't be read: then the provider is parked, and the bytes stay.
    func memory(of lane: Lane) throws -> Memory? {
        if DeliberateFault.memoryOfAnother.isPresent, let memory = lanes.values.first(where: { $0 !== lane })?.memory {
            return memory
        }
        if let memory = keptMemory(of: lane) { return memory }
        let stored = try context.store.memory(provider: name, lane: memoryKey(of: lane))
        guard var memory = try? desk.memory(stored?.body) else {
            try park(FindingRow.Engine.stateUnreadable.at())
            return nil
        }
        // Another process has committed something else than a no: what this one doubts on the disk alone it knows still.
        if let doubt = lane.doubt, memory == doubt.stored, try denials() == doubt.denials { memory = doubt.full }
        keep(memory, of: lane)
        return memory
    }

    /// Where the outbox keeps the memory that a lane uses.
    func memoryKey(of lane: Lane) -> String { descriptor.memory == .lane ? lane.key : "" }

    func keptMemory(of lane: Lane) -> Memory? { descriptor.memory == .lane ? lane.memory : sharedMemory }

    func keep(_ memory: Memory, of lane: Lane) {
        if descriptor.memory == .lane { lane.memory = memory } else { sharedMemory = memory }
    }

    func forgetMemories() {
        sharedMemory = nil
        for lane in lanes.values { lane.memory = nil }
    }

    /// Forgets what is kept of memory if another process has committed since: a person's no, captured there, empties it.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    func forgetOutdated() throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        let version = try context.store.foreignVersion()
        guard version != memoryVersion else { return false }
        memoryVersion = version
        forgetMemories()
        return true
    }

    /// Removes from a lane's memory what newly denied scopes cover, inside the caller's transaction.
    ///
    /// - Returns: Whether the memory changed, so that what is still allowed must be sent again. Memory that cannot be read
    ///   stays as it is.
    func forget(lane key: String, denied scopes: [Consent.Scope]) throws -> Bool {
        guard descriptor.memory == .lane, let stored = try context.store.memory(provider: name, lane: key),
            let known = try? desk.memory(stored.body)
        else { return false }
        let rest = known.afterDenial(of: scopes)
        // While a request is in flight, more may be known in the process than is stored.
        let isKnownInFlight = lanes[key]?.doubt.map { $0.full.afterDenial(of: scopes) != $0.full } ?? false
        guard rest != known || isKnownInFlight else { return false }
        try context.store.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        if rest != known { try save(rest, key: key) }
        return true
    }

    /// The contacts that the stored memory of a subject's lane names for an unregister.
    func registeredContacts(_ subject: Subject, _ mirror: SubjectSnapshot) throws -> [String?] {
        try storedMemory(subject, mirror)?.registeredContacts ?? []
    }

    /// Whether the stored memory of a subject's lane belongs to another account than the settings name.
    func mustRegisterAgain(_ subject: Subject, _ mirror: SubjectSnapshot) throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        return try storedMemory(subject, mirror).map(desk.mustRegisterAgain) ?? false
    }

    /// The stored memory of a subject's lane; nil without any, or if it cannot be read.
    private func storedMemory(_ subject: Subject, _ mirror: SubjectSnapshot) throws -> Memory? {
        let unregister = EngagementOperation(
            id: "unregister",
            subject: subject,
            contact: mirror.contact,
            capturedAt: context.date,
            action: .farewell
        )
        let stored = try context.store.memory(provider: name, lane: place(unregister).lane)
        return stored.flatMap { try? desk.memory($0.body) }
    }

    /// How many noes have emptied memories so far, in this outbox.
    func denials() throws -> String? { try context.store.meta(Self.denialsKey) }

    private static let denialsKey = "denials"

    func save(_ memory: Memory, key: String) throws {
        try context.store.setMemory(
            provider: name,
            lane: key,
            version: descriptor.stateVersion,
            body: try memory.bytes()
        )
    }
}
