public import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// What a capture gives back at once: it answers for the operation from then on.
public final class Receipt: Sendable {
    /// The operation.
    public let id: OperationID
    private let providers: Set<String>
    private let state = Mutex(State())

    private struct State {
        /// Who waits for the disk, and who for an outcome; most receipts are never waited for.
        var awaitsDurability: WaitingList<Bool, Void>?
        var awaitsOutcome: WaitingList<String, OperationOutcome>?
        var durability: Result<Void, any Error>?
        var outcomes: [String: OperationOutcome] = [:]
        /// Why nothing will be heard any more.
        var end: CaptureError?
    }

    /// Stores what was captured, or tells whoever does that somebody waits.
    private let store: @Sendable () -> Void

    init(id: OperationID, providers: Set<String>, store: @escaping @Sendable () -> Void = {}) {
        (self.id, self.providers, self.store) = (id, providers, store)
    }

    /// Returns once the operation is on the disk.
    ///
    /// - Throws: ``CaptureError`` if it could not be stored, or if the client was closed before; `CancellationError` if the
    ///   caller's task is cancelled, which changes nothing for the operation.
    public func durable() async throws {
        if atDisk == nil, !Task.isCancelled { store() }
        if let known = atDisk { return try known.get() }
        let waiting = state.withLock { $0.awaitsDurability.made() }
        try await waiting.value(for: true) { atDisk }
    }

    /// What is known of the disk; nil while that is nothing.
    private var atDisk: Result<Void, any Error>? {
        state.withLock { $0.durability ?? $0.end.map { .failure($0) } }
    }

    /// Returns what became of the operation on a provider's route, with the vendor's answer if it has one.
    ///
    /// It may take as long as the vendor's law says: a day, or until consent is given. For a push, a provider without a
    /// route may be asked too; one that does not know the push as its own says so (`dropped`, with its finding).
    ///
    /// - Parameter provider: the provider's name in the configuration.
    /// - Returns: the outcome.
    /// - Throws: ``CaptureError`` if the configuration routes nothing to that name, if the operation could not be stored, or
    ///   of code `closed` if the client is closed before: then the operation stays stored. `CancellationError` if the
    ///   caller's task is cancelled, which changes nothing for the operation.
    public func outcome(on provider: String) async throws -> OperationOutcome {
        guard providers.contains(provider) else { throw CaptureError.unknownProvider }
        let waiting = state.withLock { $0.awaitsOutcome.made() }
        return try await waiting.value(for: provider) {
            state.withLock { state in
                state.outcomes[provider].map { .success($0) } ?? state.end.map { .failure($0) }
            }
        }
    }

    func settleDurability(_ result: Result<Void, CaptureError>) {
        let result = result.mapError { $0 as any Error }
        let waiting = state.withLock { state in
            state.durability = result
            return state.awaitsDurability
        }
        waiting?.resume(true, with: result)
        // What was never stored has no outcome either.
        if case .failure(let error as CaptureError) = result { end(error) }
    }

    func settle(_ outcome: OperationOutcome, on provider: String) {
        let waiting = state.withLock { state in
            state.outcomes[provider] = outcome
            return state.awaitsOutcome
        }
        waiting?.resume(provider, with: .success(outcome))
    }

    /// What became of the operation there, as far as it has been told.
    func known(on provider: String) -> OperationOutcome? { state.withLock { $0.outcomes[provider] } }

    func close() { end(.closed) }

    private func end(_ error: CaptureError) {
        let (forDisk, forOutcome) = state.withLock { state in
            state.end = state.end ?? error
            return (state.awaitsDurability, state.awaitsOutcome)
        }
        forDisk?.resumeAll(with: .failure(error))
        forOutcome?.resumeAll(with: .failure(error))
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
    /// Every problem of the operation itself.
    public let findings: [Finding]

    init(code: Code, reason: String, remedy: String, findings: [Finding] = []) {
        (self.code, self.reason, self.remedy, self.findings) = (code, reason, remedy, findings)
    }

    /// An operation that breaks the attribute catalogue.
    init(_ findings: [Finding]) {
        let (first, more) = (findings.first, findings.count - 1)
        self.init(
            code: .malformed,
            reason: "\(first?.path ?? ""): \(first?.reason ?? "")" + (more > 0 ? " (and \(more) more)" : ""),
            remedy: first?.remedy ?? "",
            findings: findings
        )
    }

    static let closed = CaptureError(
        code: .closed,
        reason: "The client was closed.",
        remedy: "The next client on the same outbox delivers what is stored."
    )

    static let tooLarge = CaptureError(
        code: .malformed,
        reason: "The operation is larger than 4 MiB as JSON, or nested deeper than 512.",
        remedy: "Split it into several operations, or leave out what no vendor needs."
    )

    static let unknownProvider = CaptureError(
        code: .malformed,
        reason: "The configuration has no route to a provider of this name.",
        remedy: "Use the name of a provider in the configuration."
    )

    /// One line with both.
    public var description: String { "\(reason) \(remedy)" }
}
