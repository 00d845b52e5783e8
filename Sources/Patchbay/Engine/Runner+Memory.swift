import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The adapter's memory.
extension Runner {
    /// Returns the adapter's memory for a lane; nil if it cannot be read. The provider is then suspended, and the bytes stay.
    func memory(of lane: Lane) throws -> Memory? {
        if let memory = keptMemory(of: lane) { return memory }
        let stored = try storedMemory(of: descriptor.memory == .lane ? lane.key : "")
        lane.isErased = stored.map { descriptor.memory == .lane && $0.key != lane.key } ?? false
        guard var memory = try? driver.memory(stored?.body) else {
            try suspend(FindingRow.Engine.stateUnreadable.at())
            return nil
        }
        // If no opt-out was committed by another process, the full memory of the request in flight still applies.
        if let uncertainty = lane.uncertainty, memory == uncertainty.stored, try denials() == uncertainty.denials {
            memory = uncertainty.full
        }
        keep(memory, of: lane)
        return memory
    }

    /// Returns the key under which the outbox stores the memory that a lane uses.
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

    /// Forgets cached memory if another process has committed since: an opt-out captured there changes it.
    ///
    /// - Returns: Whether it was forgotten.
    @discardableResult
    func forgetOutdated() throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        let version = try context.store.foreignVersion()
        guard version != memoryVersion else { return false }
        memoryVersion = version
        forgetMemories()
        return true
    }

    /// Removes the parts of a lane's memory that newly denied scopes cover, inside the caller's transaction.
    ///
    /// - Returns: Whether the memory changed, so that the state that is still allowed must be sent again. Unreadable memory
    ///   is not changed.
    func forget(lane key: String, denied scopes: [Consent.Scope]) throws -> Bool {
        guard descriptor.memory == .lane, let stored = try storedMemory(of: key),
            let known = try? driver.memory(stored.body)
        else { return false }
        let rest = known.afterDenial(of: scopes)
        // While a request is in flight, the process may know more than is stored.
        let isKnownInFlight = lanes[key]?.uncertainty.map { $0.full.afterDenial(of: scopes) != $0.full } ?? false
        guard rest != known || isKnownInFlight else { return false }
        try context.store.state.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        if rest != known { try save(rest, key: stored.key) }
        return true
    }

    /// Removes an erased person's data from a lane's memory, inside the caller's transaction. The rest, such as the vendor's
    /// pacing, is stored under a digest of the lane's name, because that name is the subject's.
    ///
    /// - Returns: Whether anything is stored. Unreadable memory is removed.
    func erase(lane key: String) throws -> Bool {
        guard descriptor.memory == .lane, let stored = try storedMemory(of: key) else { return false }
        try context.store.state.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        try saveErased((try? driver.memory(stored.body))?.afterErase, lane: key)
        return true
    }

    /// Removes an erased contact from the memories of lanes that another person uses, inside the caller's transaction.
    /// Returns the changed lanes. `text` is the contact in the form of stored memory.
    func forgetContact(_ contact: String, _ text: [UInt8]) throws -> [String] {
        guard descriptor.memory == .lane else { return [] }
        var lanes: [String] = []
        // Inside a stored text, the contact's quotes are escaped.
        for stored in try context.store.state.memories(provider: name, mentioning: Array(text.dropFirst().dropLast())) {
            guard let known = try? driver.memory(stored.body), case let rest = known.withoutContact(contact),
                rest != known
            else { continue }
            try save(rest, key: stored.lane)
            lanes.append(stored.lane)
        }
        if !lanes.isEmpty {
            try context.store.state.setMeta(Self.denialsKey, String((denials().flatMap { Int($0) } ?? 0) + 1))
        }
        return lanes
    }

    /// Stores the part of an erased person's memory that may be kept. Returns whether there is any.
    @discardableResult
    func saveErased(_ memory: Memory?, lane key: String) throws -> Bool {
        let erased = try context.erasedKey(key)
        for stored in [key, erased] { try context.store.state.clearMemory(provider: name, lane: stored) }
        guard let memory, try memory != driver.memory(nil) else { return false }
        try save(memory, key: erased)
        return true
    }

    /// Returns the stored memory of a lane and its key: the lane's name, or the digest after an erasure.
    private func storedMemory(of key: String) throws -> (key: String, body: [UInt8])? {
        let keys = [key, key.isEmpty ? nil : try ConsentTrail.erasedKey(key, in: context.store)].compactMap(\.self)
        for key in keys {
            if let stored = try context.store.state.memory(provider: name, lane: key) { return (key, stored.body) }
        }
        return nil
    }

    /// Returns the contacts for which the stored memory of a subject's lane requires an unregistration.
    func registeredContacts(_ subject: Subject, _ snapshot: SubjectSnapshot) throws -> [String?] {
        try storedMemory(subject, snapshot)?.registeredContacts ?? []
    }

    /// Returns whether the stored memory of a subject's lane belongs to another account than the settings name.
    func mustRegisterAgain(_ subject: Subject, _ snapshot: SubjectSnapshot) throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        return try storedMemory(subject, snapshot).map(driver.mustRegisterAgain) ?? false
    }

    /// Returns the stored memory of a subject's lane; nil if there is none, or if it cannot be read.
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

    /// Returns the number of opt-outs that have changed memories in this outbox.
    func denials() throws -> String? { try context.store.state.meta(Self.denialsKey) }

    private static let denialsKey = "denials"

    func save(_ memory: Memory, key: String) throws {
        try context.store.state.setMemory(
            provider: name,
            lane: key,
            version: descriptor.stateVersion,
            body: try memory.bytes()
        )
    }
}
