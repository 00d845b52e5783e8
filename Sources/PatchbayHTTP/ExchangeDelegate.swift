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
        case expected(limit: Int)
        /// Ended before it began: it must not begin any more.
        case forestalled(URLError.Code)
        /// Begun; the caller waits, these parts of the reply's body are there, and so many bytes more may come.
        case running(CheckedContinuation<Outcome, Never>, body: [Data], room: Int)
    }

    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])

    /// Knows a task from now on, whose reply's body may have that many bytes; ``start(_:_:)`` must follow.
    func expect(_ task: URLSessionDataTask, upTo limit: Int) {
        exchanges.withLock { $0[ObjectIdentifier(task)] = .expected(limit: limit) }
    }

    /// Begins a task; `continuation` hears how it ends, once.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<Outcome, Never>) {
        let key = ObjectIdentifier(task)
        let forestalled: URLError.Code? = exchanges.withLock { exchanges in
            switch exchanges.removeValue(forKey: key) {
            case .forestalled(let code): return code
            case .expected(let limit): exchanges[key] = .running(continuation, body: [], room: limit)
            case .running, nil: break
            }
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
            case .running(let continuation, _, _):
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

    /// Takes a part of a body. The system reads on meanwhile and keeps what it read, so this must be quick.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fits = exchanges.withLock { exchanges in
            let key = ObjectIdentifier(dataTask)
            guard case .running(let continuation, let body, let room) = exchanges[key] else { return true }
            guard data.count <= room else { return false }
            exchanges[key] = .running(continuation, body: body + [data], room: room - data.count)
            return true
        }
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
        let ended = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        guard case .running(let continuation, let body, _) = ended else { return }
        continuation.resume(returning: outcome(of: task, body, error))
    }

    private func outcome(of task: URLSessionTask, _ body: [Data], _ error: (any Error)?) -> Outcome {
        if let error { return .failed(FailureTable.failure(for: error)) }
        guard let response = task.response as? HTTPURLResponse else {
            return .failed(FailureTable.failure(for: .badServerResponse))
        }
        let headers = response.allHeaderFields.compactMap { name, value -> WireHeader? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return WireHeader(name, value)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.reduce(0) { $0 + $1.count })
        for part in body { part.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return .replied(WireResponse(response.statusCode, headers: headers, body: bytes))
    }
}
