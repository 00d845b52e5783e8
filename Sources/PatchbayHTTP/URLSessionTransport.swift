import Foundation
public import Patchbay
public import PatchbayAdapterKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests by the system's `URLSession`, once each and as the adapter made them.
///
/// A request with a `WireFault` does not leave: only `https` does, and `http` to this machine itself. A reply's body is
/// taken up to the request's limit and no further, however long it says that it is.
///
/// No cookies, no cache, no stored credentials, and no redirect is followed: a 3xx comes back as the reply it is.
/// Headers that the system adds where a request has none (`Host`, `Content-Length`, `Accept` …) stay its business, and
/// it unpacks a compressed reply.
///
/// On Linux each request keeps one processor busy until its answer is there: the system goes on asking whether its socket can
/// be written to. And each has a connection of its own. There a reused connection that the server has closed makes the
/// system send a request without a body a second time, unseen, and lets one with a body wait until its time is over;
/// both would break the promise that ``send(_:timeout:)`` sends once.
public final class URLSessionTransport: Transport {
    private let configuration: URLSessionConfiguration
    private let exchanges = ExchangeDelegate()
    private let userAgent: String
    /// Where deadlines strike: no reply, however many parts it has, stands in line before them.
    private let deadlines = DispatchQueue(label: "patchbay.http.deadlines", qos: .userInitiated)
    #if !canImport(FoundationNetworking)
    private let sharedSession: URLSession
    #endif

    /// A transport.
    ///
    /// - Parameters:
    ///   - userAgent: The `User-Agent` of a request that has none.
    ///   - connectionsPerHost: The most connections to one host at once, where connections are shared; requests above
    ///     it wait, and their time runs.
    public init(userAgent: String = "Patchbay", connectionsPerHost: Int = 64) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        self.configuration = configuration
        self.userAgent = userAgent
        #if !canImport(FoundationNetworking)
        sharedSession = URLSession(
            configuration: configuration,
            delegate: exchanges,
            delegateQueue: URLSessionTransport.queue()
        )
        #endif
    }

    /// A queue for the parts of a session's replies. It has threads of its own, so that a flood of bytes, which the system
    /// reads on the usual ones, can't keep the delegate from ending it.
    private static func queue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.underlyingQueue = threads
        return queue
    }

    /// Never let go: a queue only borrows it.
    private static let threads = DispatchQueue(label: "patchbay.http", qos: .userInitiated, attributes: .concurrent)

    #if !canImport(FoundationNetworking)
    deinit { sharedSession.finishTasksAndInvalidate() }
    #endif

    /// Sends a request once and waits for the whole reply, at most `timeout` from now.
    ///
    /// When the calling task is cancelled, so is the request; it counts as lost if it has begun. A request that is given up
    /// ends for the caller at once; its connection may go on until the system has read what it is reading.
    public func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        if let fault = request.fault { return .failed(TransportFailure(fault)) }
        guard let url = URL(string: request.url) else { return .failed(TransportFailure(.badURL)) }
        let task = task(for: urlRequest(request, to: url, timeout: timeout))
        exchanges.expect(task, upTo: request.replyLimit)
        // No task: the pool may be busy for longer than that.
        let deadline = DispatchSource.makeTimerSource(queue: deadlines)
        deadline.setEventHandler { [exchanges] in exchanges.end(task, with: .timedOut) }
        deadline.schedule(deadline: .now() + timeout / .seconds(1))
        deadline.activate()
        defer { deadline.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { exchanges.start(task, $0) }
        } onCancel: {
            exchanges.end(task, with: .cancelled)
        }
        return exchanges.outcome(of: task)
    }

    private func task(for request: URLRequest) -> URLSessionDataTask {
        #if canImport(FoundationNetworking)
        let session = URLSession(
            configuration: configuration,
            delegate: exchanges,
            delegateQueue: URLSessionTransport.queue()
        )
        defer { session.finishTasksAndInvalidate() }
        #else
        let session = sharedSession
        #endif
        return session.dataTask(with: request)
    }

    private func urlRequest(_ request: WireRequest, to url: URL, timeout: Duration) -> URLRequest {
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        // The system's own limit is for silence, not for the whole exchange; it stays behind ours.
        urlRequest.timeoutInterval = timeout / .seconds(1) + 60
        for header in request.headers { urlRequest.addValue(header.value, forHTTPHeaderField: header.name) }
        if request[header: "User-Agent"] == nil { urlRequest.setValue(userAgent, forHTTPHeaderField: "User-Agent") }
        if !request.body.isEmpty { urlRequest.httpBody = Data(request.body) }
        return urlRequest
    }
}
