#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit
import Synchronization

/// Gathers each task's reply and hands it, or the failure, to the caller who waits for it.
///
/// What is gathered is bounded, whatever a server does. What is no body (a chunk's extension, an interim reply) never comes
/// here; there the deadline alone ends an exchange.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private enum Stage {
        /// Made, not begun.
        case expected
        /// Ended before it began: it must not begin any more.
        case forestalled(URLError.Code)
        /// Begun; the caller waits.
        case running(CheckedContinuation<Void, Never>)
        /// Over; the caller takes what came of it.
        case ended(Outcome)
    }

    private struct Exchange {
        var stage = Stage.expected
        /// How many bytes the reply's body may have.
        let limit: Int
        /// What of it is there, in one buffer that grows.
        var body: [UInt8] = []
        /// In how many parts it came.
        var parts = 0

        /// How many parts may come. Each costs the system as much as a hundred bytes, however short it is.
        var mostParts: Int { 4_096 + limit / 64 }

        /// Takes a part, if it still fits.
        mutating func take(_ data: Data) -> Bool {
            guard case .running = stage else { return true }
            parts += 1
            guard parts <= mostParts, data.count <= limit - body.count else { return false }
            data.withUnsafeBytes { body.append(contentsOf: $0) }
            return true
        }
    }

    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])
    /// Where tasks are cancelled, so that the caller does not wait for it.
    private let cancellations = DispatchQueue(
        label: "patchbay.http.cancellations",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Knows a task from now on, whose reply's body may have that many bytes; ``start(_:_:)`` must follow.
    func expect(_ task: URLSessionDataTask, upTo limit: Int) {
        exchanges.withLock { $0[ObjectIdentifier(task)] = Exchange(limit: limit) }
    }

    /// Begins a task; `continuation` hears that it has ended, once, and ``outcome(of:)`` says how.
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

    /// How a task ended whose continuation was resumed; it is forgotten then.
    ///
    /// What one thread has put together is handed to another under the lock.
    func outcome(of task: URLSessionDataTask) -> Outcome {
        let ended = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        guard case .ended(let outcome)? = ended?.stage else { return .failed(TransportFailure(.lost, "unknown")) }
        return outcome
    }

    /// Ends a task from outside: its time is over, or nobody waits for it any more. Whoever waits hears it before the
    /// connection does.
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

    /// Takes a part of a body. The system reads on meanwhile and keeps what it read, so this must be quick.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fits = exchanges.withLock { $0[ObjectIdentifier(dataTask)]?.take(data) ?? true }
        if !fits { end(dataTask, with: .dataLengthExceedsMaximum) }
    }

    /// Keeps a redirect from being followed: it is the reply.
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
