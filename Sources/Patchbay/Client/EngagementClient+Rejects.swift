public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox
import Synchronization

/// An operation that a provider rejected and the outbox keeps for replay.
public struct RejectedOperation: Hashable, Sendable {
    /// The provider that rejected it.
    public let provider: String
    /// The operation's id.
    public let id: OperationID
    /// The operation, which may be corrected before it is replayed; nil if this release cannot read it.
    public var operation: EngagementOperation?
    /// Why it was rejected; nil if this release cannot read the reason.
    public let finding: Finding?
    /// When it was rejected.
    public let rejectedAt: Instant
    /// Its position among the rejects of the outbox.
    let number: Int64
}

extension EngagementClient {
    /// Lists the rejected operations that the outbox keeps, the newest first.
    ///
    /// - Parameters:
    ///   - provider: The provider that rejected them; nil for all.
    ///   - code: The code of the finding; nil for all.
    ///   - last: The last operation of the previous page; nil for the first page.
    ///   - limit: The maximum number of operations to return.
    /// - Returns: The operations, the newest first.
    /// - Throws: ``CaptureError`` if the client is closed or suspended, or an error of the outbox.
    public func rejects(
        on provider: String? = nil,
        code: String? = nil,
        after last: RejectedOperation? = nil,
        limit: Int = 100
    ) async throws -> [RejectedOperation] {
        try await loop.withEngine { engine in
            var (found, number) = ([RejectedOperation](), last?.number ?? .max)
            while found.count < limit {
                let page = try engine.store.rejects.list(provider: provider, before: number, limit: 256)
                guard let end = page.last else { break }
                number = end.number
                let wanted = page.filter { code == nil || $0.code == code }
                found += wanted.prefix(limit - found.count).map(RejectedOperation.init)
            }
            return found
        }
    }

    /// Sends rejected operations again, in one transaction, and removes their copies from the rejects.
    ///
    /// Each operation keeps its id, so that a vendor that recognizes ids counts it once. The engine examines it again, holds
    /// it again if a consent is missing, and sends it behind everything that is pending.
    ///
    /// - Parameter rejects: The operations, as they were or corrected.
    /// - Returns: The result for each operation, in the same order.
    /// - Throws: ``CaptureError`` if the client is closed or the outbox fails.
    @discardableResult
    public func replay(_ rejects: [RejectedOperation]) async throws -> [ReplayResult] {
        var results = rejects.map { _ in ReplayResult.refused(FindingRow.Engine.replayUnreadable.at()) }
        var replays: [(place: Int, replay: Engine.Replay)] = []
        for (place, reject) in rejects.enumerated() {
            guard let operation = reject.operation else { continue }
            let (admitted, findings) = audience.withLock { $0.admit(operation) }
            if let finding = findings.first {
                results[place] = .refused(finding)
            } else {
                replays.append((place, Engine.Replay(admitted, on: reject.provider)))
            }
        }
        let admitted = replays.map(\.replay)
        let replayed: [ReplayResult]
        do {
            replayed = try await loop.withEngine { try $0.replay(admitted) }
        } catch {
            throw error as? CaptureError ?? CaptureError(storing: error)
        }
        for ((place, _), result) in zip(replays, replayed) { results[place] = result }
        return results
    }
}

extension RejectedOperation {
    fileprivate init(_ record: RejectRecord) {
        self.init(
            provider: record.provider,
            id: OperationID(rawValue: record.operation.id),
            operation: try? EngagementOperation(jsonBytes: record.operation.body),
            finding: try? Finding(jsonBytes: record.finding),
            rejectedAt: Instant(milliseconds: record.at),
            number: record.number
        )
    }
}
