import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What the adapter remembers.
extension Runner {
    /// What the adapter remembers; nil if that can't be read: then the provider is suspended, and the bytes stay.
    func memory(of lane: Lane) throws -> Memory? {
        if DeliberateFault.memoryOfAnother.isPresent, let memory = lanes.values.first(where: { $0 !== lane })?.memory {
            return memory
        }
        if let memory = keptMemory(of: lane) { return memory }
        let stored = try storedMemory(of: descriptor.memory == .lane ? lane.key : "")
        lane.isErased = stored.map { descriptor.memory == .lane && $0.key != lane.key } ?? false
        guard var memory = try? driver.memory(stored?.body) else {
            try suspend(FindingRow.Engine.stateUnreadable.at())
            return nil
        }
        // Another process has committed something else than a no: what this one uncertain deliveries on the disk alone it knows still.
        if let uncertainty = lane.uncertainty, memory == uncertainty.stored, try denials() == uncertainty.denials {
            memory = uncertainty.full
        }
        keep(memory, of: lane)
        return memory
    }

    /// Where the outbox keeps the memory that a lane uses.
    func memoryKey(of lane: Lane) throws -> String {
        guard descriptor.memory == .lane else { return "" }
        return try lane.isErased ? context.erasedKey(lane.key) : lane.key
    }

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
        guard descriptor.memory == .lane, let stored = try storedMemory(of: key),
            let known = try? driver.memory(stored.body)
        else { return false }
        let rest = known.afterDenial(of: scopes)
        // While a request is in flight, more may be known in the process than is stored.
        let isKnownInFlight = lanes[key]?.uncertainty.map { $0.full.afterDenial(of: scopes) != $0.full } ?? false
        guard rest != known || isKnownInFlight else { return false }
        try context.store.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        if rest != known { try save(rest, key: stored.key) }
        return true
    }

    /// Removes everything of an erased person from a lane's memory, inside the caller's transaction. What may stay, such as the
    /// vendor's pacing, is stored under a digest of the lane's name, which is the subject's.
    ///
    /// - Returns: Whether anything was stored. Memory that cannot be read is removed.
    func erase(lane key: String) throws -> Bool {
        guard descriptor.memory == .lane, let stored = try storedMemory(of: key) else { return false }
        try context.store.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        try saveErased((try? driver.memory(stored.body))?.afterErase, lane: key)
        return true
    }

    /// Removes an erased contact from the memories of lanes that another person uses, inside the caller's transaction, and
    /// returns the lanes whose memory changed. `text` is the contact as stored memory has it.
    func forgetContact(_ contact: String, _ text: [UInt8]) throws -> [String] {
        guard descriptor.memory == .lane else { return [] }
        var lanes: [String] = []
        // A text inside a stored text has its quotes escaped.
        for stored in try context.store.memories(provider: name, mentioning: Array(text.dropFirst().dropLast())) {
            guard let known = try? driver.memory(stored.body), case let rest = known.withoutContact(contact),
                rest != known
            else { continue }
            try save(rest, key: stored.lane)
            lanes.append(stored.lane)
        }
        if !lanes.isEmpty {
            try context.store.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        }
        return lanes
    }

    /// Stores what may stay of an erased person's lane, and returns whether that is anything.
    @discardableResult
    func saveErased(_ memory: Memory?, lane key: String) throws -> Bool {
        let erased = try context.erasedKey(key)
        for stored in [key, erased] { try context.store.clearMemory(provider: name, lane: stored) }
        guard let memory, try memory != driver.memory(nil) else { return false }
        try save(memory, key: erased)
        return true
    }

    /// The stored memory of a lane, and the key under which it is: the lane's name, or the digest that an erasure left.
    private func storedMemory(of key: String) throws -> (key: String, body: [UInt8])? {
        let keys = [key, key.isEmpty ? nil : try ConsentTrail.erasedKey(key, in: context.store)].compactMap(\.self)
        for key in keys {
            if let stored = try context.store.memory(provider: name, lane: key) { return (key, stored.body) }
        }
        return nil
    }

    /// The contacts that the stored memory of a subject's lane names for an unregister.
    func registeredContacts(_ subject: Subject, _ snapshot: SubjectSnapshot) throws -> [String?] {
        try storedMemory(subject, snapshot)?.registeredContacts ?? []
    }

    /// Whether the stored memory of a subject's lane belongs to another account than the settings name.
    func mustRegisterAgain(_ subject: Subject, _ snapshot: SubjectSnapshot) throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        return try storedMemory(subject, snapshot).map(driver.mustRegisterAgain) ?? false
    }

    /// The stored memory of a subject's lane; nil without any, or if it cannot be read.
    private func storedMemory(_ subject: Subject, _ snapshot: SubjectSnapshot) throws -> Memory? {
        let unregister = EngagementOperation(
            id: "unregister",
            subject: subject,
            contact: snapshot.contact,
            capturedAt: context.date,
            action: .unregister
        )
        let stored = try storedMemory(of: place(unregister).lane)
        return stored.flatMap { try? driver.memory($0.body) }
    }

    /// How many opt-outs have emptied memories so far, in this outbox.
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
