public import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// The receipt of a captured operation. Use it to wait until the operation is stored or has an outcome.
public final class Receipt: Sendable {
    /// The operation.
    public let id: OperationID
    private let providers: Set<String>
    private let state = Mutex(State())

    private struct State {
        /// The callers that wait for the disk and for an outcome. Most receipts have none.
        var awaitsDurability: WaitingList<Bool, Void>?
        var awaitsOutcome: WaitingList<String, OperationOutcome>?
        var durability: Result<Void, any Error>?
        var outcomes: [String: OperationOutcome] = [:]
        /// The reason that no further outcome will be received.
        var end: CaptureError?
    }

    /// Stores captures because a caller waits for the disk.
    private let store: @Sendable () -> Void

    init(id: OperationID, providers: Set<String>, store: @escaping @Sendable () -> Void = {}) {
        (self.id, self.providers, self.store) = (id, providers, store)
    }

    /// Returns once the operation is on the disk.
    ///
    /// - Throws: ``CaptureError`` if the operation could not be stored, or if the client was closed before.
    ///   `CancellationError` if the caller's task is cancelled; this does not affect the operation.
    public func durable() async throws {
        if atDisk == nil, !Task.isCancelled { store() }
        if let known = atDisk { return try known.get() }
        let waiting = state.withLock { $0.awaitsDurability.made() }
        try await waiting.value(for: true) { atDisk }
    }

    /// The result of storing the operation; nil while it is not known.
    private var atDisk: Result<Void, any Error>? {
        state.withLock { $0.durability ?? $0.end.map { .failure($0) } }
    }

    /// Waits for the outcome of the operation on a provider's route, and returns it with the vendor's answer if there is one.
    ///
    /// The wait lasts as long as the vendor's retry policy allows (a day, for example), or until a consent is given. For a
    /// push, a provider without a route may be named, too. If that provider does not recognize the push as its own, the
    /// outcome is `dropped`, with a finding.
    ///
    /// - Parameter provider: The provider's name in the configuration.
    /// - Returns: The outcome.
    /// - Throws: ``CaptureError`` if the configuration has no route to that provider, or if the operation could not be
    ///   stored. ``CaptureError`` of code `closed` if the client is closed before; the operation stays stored.
    ///   `CancellationError` if the caller's task is cancelled; this does not affect the operation.
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
        // An operation that was never stored has no outcome either.
        if case .failure(let error as CaptureError) = result { end(error) }
    }

    func settle(_ outcome: OperationOutcome, on provider: String) {
        let waiting = state.withLock { state in
            state.outcomes[provider] = outcome
            return state.awaitsOutcome
        }
        waiting?.resume(provider, with: .success(outcome))
    }

    /// Returns the outcome at a provider; nil while it is not known.
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

/// The error of a capture that failed. It concerns the client or its outbox, not a vendor.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The category of the error.
    public enum Code: String, Hashable, Sendable {
        /// The operation itself is malformed.
        case malformed
        /// The id was captured before and has no outcome yet.
        case duplicate
        /// The outbox could not store it.
        case storage
        /// The client was closed.
        case closed
    }

    /// The category.
    public let code: Code
    /// The reason.
    public let reason: String
    /// The remedy.
    public let remedy: String
    /// All problems of the operation itself.
    public let findings: [Finding]

    init(code: Code, reason: String, remedy: String, findings: [Finding] = []) {
        (self.code, self.reason, self.remedy, self.findings) = (code, reason, remedy, findings)
    }

    /// Creates the error for an operation that breaks the attribute catalogue.
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

    /// The reason and the remedy on one line.
    public var description: String { "\(reason) \(remedy)" }
}
