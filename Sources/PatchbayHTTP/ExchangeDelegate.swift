import Foundation
import PatchbayAdapterKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gathers each task's reply and hands it, or the failure, to the caller who waits for it.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private enum Exchange {
        /// Made, not begun.
        case expected
        /// Ended before it began: it must not begin any more.
        case forestalled(URLError.Code)
        /// Begun; the caller waits, and this much of the reply's body is there.
        case running(CheckedContinuation<Outcome, Never>, body: [UInt8])
    }

    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])

    /// Knows a task from now on; ``start(_:_:)`` must follow.
    func expect(_ task: URLSessionDataTask) { exchanges.withLock { $0[ObjectIdentifier(task)] = .expected } }

    /// Begins a task; `continuation` hears how it ends, once.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<Outcome, Never>) {
        let key = ObjectIdentifier(task)
        let forestalled: URLError.Code? = exchanges.withLock { exchanges in
            if case .forestalled(let code) = exchanges.removeValue(forKey: key) { return code }
            exchanges[key] = .running(continuation, body: [])
            return nil
        }
        guard let forestalled else { return task.resume() }
        task.cancel()
        let word = FailureTable.failure(for: forestalled).code
        continuation.resume(returning: .failed(TransportFailure(.notSent, word)))
    }

    /// Ends a task from outside: its time is over, or nobody waits for it any more.
    func end(_ task: URLSessionDataTask, with code: URLError.Code) {
        let key = ObjectIdentifier(task)
        let running = exchanges.withLock { exchanges -> CheckedContinuation<Outcome, Never>? in
            switch exchanges[key] {
            case .expected: exchanges[key] = .forestalled(code)
            case .running(let continuation, _):
                exchanges[key] = nil
                return continuation
            case .forestalled, nil: break
            }
            return nil
        }
        guard let running else { return }
        task.cancel()
        running.resume(returning: .failed(FailureTable.failure(for: code)))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges.withLock { exchanges in
            let key = ObjectIdentifier(dataTask)
            guard case .running(let continuation, var body) = exchanges.removeValue(forKey: key) else { return }
            body.append(contentsOf: data)
            exchanges[key] = .running(continuation, body: body)
        }
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
        let ended = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        guard case .running(let continuation, let body) = ended else { return }
        continuation.resume(returning: outcome(of: task, body, error))
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
