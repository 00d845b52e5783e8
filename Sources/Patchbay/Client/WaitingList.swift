import Synchronization

/// Callers that wait for a value. Each waits until the value arrives or its task is cancelled.
final class WaitingList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Value, any Error>

    private struct State {
        var callers: [Key: [Int: Continuation]] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Waits for the value of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - known: Returns the result if it is known already. Called under the lock, so that no result is missed.
    /// - Returns: The value.
    /// - Throws: The error that the key was resumed with; `CancellationError` if the caller's task is cancelled.
    func value(
        for key: Key,
        unless known: @Sendable () -> Result<Value, any Error>?
    ) async throws -> Value {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    if let result = known() { return result }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.callers[key, default: [:]][number] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let caller = state.withLock { $0.callers[key]?.removeValue(forKey: number) }
            caller?.resume(throwing: CancellationError())
        }
    }

    /// Resumes all callers that wait for a key.
    func resume(_ key: Key, with result: Result<Value, any Error>) {
        let callers = state.withLock { $0.callers.removeValue(forKey: key) }
        for continuation in (callers ?? [:]).values { continuation.resume(with: result) }
    }

    /// Resumes all callers.
    func resumeAll(with result: Result<Value, any Error>) {
        let callers = state.withLock { state in
            defer { state.callers = [:] }
            return state.callers
        }
        for continuation in callers.values.flatMap(\.values) { continuation.resume(with: result) }
    }
}

extension Optional {
    /// Returns the list; creates it if there is none.
    mutating func made<Key, Value>() -> WaitingList<Key, Value> where Wrapped == WaitingList<Key, Value> {
        let list = self ?? WaitingList()
        self = list
        return list
    }
}
