/// Something that takes long, with somebody who may give up: awaits `body`, and asks a few times a second.
///
/// - Parameters:
///   - isCancelled: whether to give up; asked on the caller's side, which may tell somebody meanwhile why it takes long.
///   - body: what takes long.
/// - Returns: what it came to.
/// - Throws: what it threw, `CancellationError` where the caller gave up.
nonisolated(nonsending) func patiently<Value: Sendable>(
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
