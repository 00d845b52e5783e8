import Patchbay
package import PatchbayModel
import PatchbayOutbox

/// Access to the contents of the outbox, for tests of adapters.
extension VirtualWorld {
    /// An operation that a provider has not completed, as the outbox stores it.
    package struct StoredOperation {
        package let operation: EngagementOperation
        package let lane, queue: String
        package let step: [UInt8]?
        package let failures, refusals: Int
    }

    /// Returns the operations that a provider has not completed, in order of capture.
    package func storedOperations(of provider: String) throws -> [StoredOperation] {
        var operations: [StoredOperation] = []
        try store.queues.forEachRow(provider: provider, subject: nil) { row in
            operations.append(
                StoredOperation(
                    operation: try EngagementOperation(jsonBytes: row.operation.body),
                    lane: row.lane,
                    queue: row.queue,
                    step: row.step,
                    failures: row.failures,
                    refusals: row.refusals
                )
            )
        }
        return operations
    }

    /// Returns the memory of a lane as it is stored; nil if there is none.
    package func storedMemory(of provider: String, lane: String) throws -> [UInt8]? {
        try store.state.memory(provider: provider, lane: memoryKey(of: provider, lane: lane))?.body
    }

    /// Replaces the memory of a lane. Call it while no process runs: a process keeps what it has read.
    package func setStoredMemory(of provider: String, lane: String, version: Int, _ body: [UInt8]) throws {
        let key = try memoryKey(of: provider, lane: lane)
        try store.state.setMemory(provider: provider, lane: key, version: version, body: body)
    }

    /// The name under which a lane's memory is stored: the lane's own, or the digest that an erasure left.
    private func memoryKey(of provider: String, lane: String) throws -> String {
        guard !lane.isEmpty, try store.state.memory(provider: provider, lane: lane) == nil,
            let erased = try ConsentTrail.erasedKey(lane, in: store),
            try store.state.memory(provider: provider, lane: erased) != nil
        else { return lane }
        return erased
    }
}
