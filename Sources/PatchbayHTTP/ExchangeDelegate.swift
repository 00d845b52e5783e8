import Foundation
import PatchbayAdapterKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gathers each task's reply and hands it, or the failure, to the caller who waits for it.
///
/// What is gathered is bounded, whatever a server does. What is not, on Linux: between the socket and here the system keeps
/// each part that it read until its turn comes, and asks nobody whether to read on; and what is no body (a chunk's extension,
/// an interim answer) never comes here. There the deadline alone ends an exchange.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private enum Stage {
        /// Made, not begun.
        case expected
        /// Ended before it began: it must not begin any more.
        case forestalled(URLError.Code)
        /// Begun; the caller waits.
        case running(CheckedContinuation<Outcome, Never>)
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
            parts += 1
            guard parts <= mostParts, data.count <= limit - body.count else { return false }
            data.withUnsafeBytes { body.append(contentsOf: $0) }
            return true
        }
    }

    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])
    /// Where tasks are cancelled: on Linux that waits until the system has read what it is reading.
    private let cancellations = DispatchQueue(
        label: "patchbay.http.cancellations",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Knows a task from now on, whose reply's body may have that many bytes; ``start(_:_:)`` must follow.
    func expect(_ task: URLSessionDataTask, upTo limit: Int) {
        exchanges.withLock { $0[ObjectIdentifier(task)] = Exchange(limit: limit) }
    }

    /// Begins a task; `continuation` hears how it ends, once.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<Outcome, Never>) {
        let key = ObjectIdentifier(task)
        let forestalled: URLError.Code? = exchanges.withLock { exchanges in
            switch exchanges[key]?.stage {
            case .forestalled(let code):
                exchanges[key] = nil
                return code
            case .expected: exchanges[key]?.stage = .running(continuation)
            case .running, nil: break
            }
            return nil
        }
        guard let forestalled else { return task.resume() }
        let word = FailureTable.failure(for: forestalled).code
        continuation.resume(returning: .failed(TransportFailure(.notSent, word)))
        cancellations.async { task.cancel() }
    }

    /// Ends a task from outside: its time is over, or nobody waits for it any more. Whoever waits hears it before the
    /// connection does.
    func end(_ task: URLSessionDataTask, with code: URLError.Code) {
        let key = ObjectIdentifier(task)
        let running = exchanges.withLock { exchanges -> CheckedContinuation<Outcome, Never>? in
            switch exchanges[key]?.stage {
            case .expected: exchanges[key]?.stage = .forestalled(code)
            case .running(let continuation):
                exchanges[key] = nil
                return continuation
            case .forestalled, nil: break
            }
            return nil
        }
        guard let running else { return }
        running.resume(returning: .failed(FailureTable.failure(for: code)))
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
        let ended = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        guard let ended, case .running(let continuation) = ended.stage else { return }
        continuation.resume(returning: outcome(of: task, ended.body, error))
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
