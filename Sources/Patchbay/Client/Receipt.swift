public import PatchbayModel
import Synchronization

/// What a capture gives back at once: it answers for the operation from then on.
public final class Receipt: Sendable {
    /// The operation.
    public let id: OperationID
    private let state = Mutex(State())

    private struct State {
        var durability: Result<Void, CaptureError>?
        var outcomes: [String: OperationOutcome] = [:]
        var awaitsDurability: [CheckedContinuation<Void, any Error>] = []
        var awaitsOutcome: [(provider: String, CheckedContinuation<OperationOutcome, any Error>)] = []
        var isClosed = false
    }

    init(id: OperationID) { self.id = id }

    /// Returns once the operation is on the disk.
    ///
    /// - Throws: ``CaptureError`` if it could not be stored, or if the client was closed before.
    public func durable() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let known: Result<Void, CaptureError>? = state.withLock { state in
                if state.durability == nil, !state.isClosed { state.awaitsDurability.append(continuation) }
                return state.durability ?? (state.isClosed ? .failure(.closed) : nil)
            }
            if let known { continuation.resume(with: known.mapError { $0 as any Error }) }
        }
    }

    /// Returns what became of the operation on a provider's route, with the vendor's answer if it has one.
    ///
    /// It may take as long as the vendor's law says: a day, or until consent is given.
    ///
    /// - Parameter provider: the provider's name in the configuration.
    /// - Returns: the outcome.
    /// - Throws: ``CaptureError`` of code `closed` if the client is closed before; the operation stays stored.
    public func outcome(on provider: String) async throws -> OperationOutcome {
        try await withCheckedThrowingContinuation { continuation in
            let known: Result<OperationOutcome, any Error>? = state.withLock { state in
                if let outcome = state.outcomes[provider] { return .success(outcome) }
                if state.isClosed { return .failure(CaptureError.closed) }
                state.awaitsOutcome.append((provider, continuation))
                return nil
            }
            if let known { continuation.resume(with: known) }
        }
    }

    func settleDurability(_ result: Result<Void, CaptureError>) {
        let waiting = state.withLock { state in
            state.durability = result
            defer { state.awaitsDurability = [] }
            return state.awaitsDurability
        }
        for continuation in waiting { continuation.resume(with: result.mapError { $0 as any Error }) }
    }

    func settle(_ outcome: OperationOutcome, on provider: String) {
        let waiting = state.withLock { state in
            state.outcomes[provider] = outcome
            let waiting = state.awaitsOutcome.filter { $0.provider == provider }
            state.awaitsOutcome.removeAll { $0.provider == provider }
            return waiting
        }
        for (_, continuation) in waiting { continuation.resume(returning: outcome) }
    }

    func close() {
        let (durability, outcomes) = state.withLock { state in
            defer {
                state.isClosed = true
                state.awaitsDurability = []
                state.awaitsOutcome = []
            }
            return (state.awaitsDurability, state.awaitsOutcome)
        }
        for continuation in durability { continuation.resume(throwing: CaptureError.closed) }
        for (_, continuation) in outcomes { continuation.resume(throwing: CaptureError.closed) }
    }
}

/// Why something could not be captured: what no vendor could help with.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What sort of reason.
    public enum Code: String, Hashable, Sendable {
        /// The operation itself is malformed.
        case malformed
        /// The id was captured before and has not ended.
        case duplicate
        /// The outbox could not store it.
        case storage
        /// The client was closed.
        case closed
    }

    /// What sort of reason.
    public let code: Code
    /// What is the case.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    static let closed = CaptureError(
        code: .closed,
        reason: "The client was closed.",
        remedy: "What was durable is delivered by the next client on the same outbox."
    )

    /// One line with both.
    public var description: String { "\(reason) \(remedy)" }
}
