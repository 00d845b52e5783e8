import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What the adapter remembers.
extension Runner {
    /// What the adapter remembers; nil if that can't be read: then the provider is parked, and the bytes stay.
    func memory(lane key: String) throws -> Memory? {
        let key = descriptor.memory == .lane ? key : ""
        if let memory = memories[key] { return memory }
        let stored = try context.store.memory(provider: name, lane: key)
        guard let memory = try? desk.memory(stored?.body) else {
            try park(FindingRow.Engine.stateUnreadable.at())
            return nil
        }
        memories[key] = memory
        return memory
    }

    /// Forgets what is kept of memory if another process has committed since: a person's no, captured there, empties it.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    func forgetOutdated() throws -> Bool {
        guard descriptor.memory == .lane else { return false }
        let version = try context.store.foreignVersion()
        guard version != memoryVersion else { return false }
        (memoryVersion, memories) = (version, [:])
        return true
    }

    /// A person said no: what their vendor side is known to hold is forgotten, inside the caller's transaction, but for the
    /// vendor's pacing. False if there was nothing to forget; what can't be read stays as it is.
    func forget(lane key: String) throws -> Bool {
        guard descriptor.memory == .lane, let stored = try context.store.memory(provider: name, lane: key),
            let known = try? desk.memory(stored.body), case let rest = known.afterErase, known != rest
        else { return false }
        try save(rest, key: key)
        return true
    }

    /// Whether an erasure of that subject is on its way to this provider.
    func isBeingErased(_ subject: Subject) throws -> Bool {
        var isFound = false
        try context.store.forEachRow(provider: name, subject: subject.rawValue) { row in
            isFound = isFound || (try? EngagementOperation(jsonBytes: row.operation.body))?.action == .erase
        }
        return isFound
    }

    func save(_ memory: Memory, key: String) throws {
        try context.store.setMemory(
            provider: name,
            lane: key,
            version: descriptor.stateVersion,
            body: try memory.bytes()
        )
    }
}
