/// Awaits a long operation, and checks ten times a second whether the caller cancels it.
///
/// - Parameters:
///   - isCancelled: Whether to cancel. Called in the caller's context, which may report progress meanwhile.
///   - body: The long operation.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`; `CancellationError` if the caller cancels.
nonisolated(nonsending) func withCancellationPolling<Value: Sendable>(
    _ isCancelled: nonisolated(nonsending) () async -> Bool,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    // Nil is a tick.
    let (signals, continuation) = AsyncStream.makeStream(of: Result<Value, any Error>?.self)
    let work = Task {
        do {
            continuation.yield(.success(try await body()))
        } catch {
            continuation.yield(.failure(error))
        }
    }
    let ticker = Task {
        while (try? await Task.sleep(for: .milliseconds(100))) != nil { continuation.yield(nil) }
    }
    defer {
        ticker.cancel()
        work.cancel()
        continuation.finish()
    }
    for await signal in signals {
        if let signal { return try signal.get() }
        if await isCancelled() { throw CancellationError() }
    }
    throw CancellationError()
}
