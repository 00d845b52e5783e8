#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit
import Synchronization

/// Collects each task's reply and returns it, or the failure, to the waiting caller.
///
/// The amount of collected data is limited, regardless of the server. Data outside the body (a chunk extension, an interim
/// reply) is not reported to the delegate; only the deadline limits it.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private enum Stage {
        /// Created, but not started.
        case expected
        /// Ended before it was started, so it must not start any more.
        case forestalled(URLError.Code)
        /// Started; the caller waits.
        case running(CheckedContinuation<Void, Never>)
        /// Completed; the caller reads the outcome.
        case ended(Outcome)
    }

    private struct Exchange {
        var stage = Stage.expected
        /// The maximum number of bytes in the reply's body.
        let limit: Int
        /// The received part of the body.
        var body: [UInt8] = []
        /// The number of received parts.
        var parts = 0

        /// The maximum number of parts. Even a short part costs the system as much as a hundred bytes.
        var mostParts: Int { 4_096 + limit / 64 }

        /// Adds a part. Returns false if it exceeds a limit.
        mutating func take(_ data: Data) -> Bool {
            guard case .running = stage else { return true }
            parts += 1
            guard parts <= mostParts, data.count <= limit - body.count else { return false }
            data.withUnsafeBytes { body.append(contentsOf: $0) }
            return true
        }
    }

    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])
    /// The queue on which tasks are cancelled, so that the caller does not have to wait.
    private let cancellations = DispatchQueue(
        label: "patchbay.http.cancellations",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Registers a task with the maximum number of bytes in its reply's body. ``start(_:_:)`` must follow.
    func expect(_ task: URLSessionDataTask, upTo limit: Int) {
        exchanges.withLock { $0[ObjectIdentifier(task)] = Exchange(limit: limit) }
    }

    /// Starts a task. `continuation` is resumed once when the task has ended; ``outcome(of:)`` then returns the outcome.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<Void, Never>) {
        let key = ObjectIdentifier(task)
        let isForestalled = exchanges.withLock { exchanges in
            guard case .forestalled(let code) = exchanges[key]?.stage else {
                exchanges[key]?.stage = .running(continuation)
                return false
            }
            let word = FailureTable.failure(for: code).code
            exchanges[key]?.stage = .ended(.failed(TransportFailure(.notSent, word)))
            return true
        }
        guard isForestalled else { return task.resume() }
        continuation.resume()
        cancellations.async { task.cancel() }
    }

    /// Returns the outcome of a task whose continuation was resumed, and removes the task.
    ///
    /// The lock transfers data collected on one thread to another.
    func outcome(of task: URLSessionDataTask) -> Outcome {
        let ended = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        guard case .ended(let outcome)? = ended?.stage else { return .failed(TransportFailure(.lost, "unknown")) }
        return outcome
    }

    /// Ends a task because its deadline has passed or its caller no longer waits. The waiting caller is resumed before the
    /// connection is cancelled.
    func end(_ task: URLSessionDataTask, with code: URLError.Code) {
        let key = ObjectIdentifier(task)
        let running = exchanges.withLock { exchanges -> CheckedContinuation<Void, Never>? in
            switch exchanges[key]?.stage {
            case .expected: exchanges[key]?.stage = .forestalled(code)
            case .running(let continuation):
                exchanges[key]?.stage = .ended(.failed(FailureTable.failure(for: code)))
                return continuation
            case .forestalled, .ended, nil: break
            }
            return nil
        }
        guard let running else { return }
        running.resume()
        cancellations.async { task.cancel() }
    }

    /// Receives a part of a body. It must be quick, because the system continues to read and buffers the data.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fits = exchanges.withLock { $0[ObjectIdentifier(dataTask)]?.take(data) ?? true }
        if !fits { end(dataTask, with: .dataLengthExceedsMaximum) }
    }

    /// Prevents a redirect from being followed, so that the redirect is the reply.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let key = ObjectIdentifier(task)
        let running = exchanges.withLock { exchanges -> CheckedContinuation<Void, Never>? in
            guard let exchange = exchanges[key], case .running(let continuation) = exchange.stage else { return nil }
            exchanges[key]?.stage = .ended(outcome(of: task, exchange.body, error))
            return continuation
        }
        running?.resume()
    }

    private func outcome(of task: URLSessionTask, _ body: [UInt8], _ error: (any Error)?) -> Outcome {
        if let error { return .failed(FailureTable.failure(for: error)) }
        guard let response = task.response as? HTTPURLResponse else {
            return .failed(FailureTable.failure(for: .badServerResponse))
        }
        let headers = response.allHeaderFields.compactMap { name, value -> WireHeader? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return WireHeader(name, value)
        }
        return .replied(WireResponse(response.statusCode, headers: headers, body: body))
    }
}
#endif
