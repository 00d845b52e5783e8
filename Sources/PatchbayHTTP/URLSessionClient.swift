#if canImport(Darwin)
import Dispatch
import Foundation
import PatchbayAdapterKit

/// Performs requests with `URLSession`, on Apple platforms.
///
/// The system adds headers that a request does not have (`Host`, `Content-Length`, `Accept`, …), and decompresses replies.
final class URLSessionClient: HTTPClient {
    private let session: URLSession
    private let exchanges = ExchangeDelegate()
    private let settings: HTTPSettings
    /// The queue for deadlines, so that even a reply with many parts does not delay them.
    private let deadlines = DispatchQueue(label: "patchbay.http.deadlines", qos: .userInitiated)

    init(_ settings: HTTPSettings) {
        self.settings = settings
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.connectionProxyDictionary = Self.proxies(settings.proxy)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: queue)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Returns the proxy for `https`. An empty dictionary disables the system's own proxies.
    private static func proxies(_ proxy: String?) -> [AnyHashable: Any] {
        guard let url = proxy.flatMap(URL.init(string:)), let host = url.host else { return [:] }
        let port = url.port ?? 80
        return [
            "HTTPSEnable": true, "HTTPSProxy": host, "HTTPSPort": port,
            "ExceptionsList": ["localhost", "127.*", "::1"],
        ]
    }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        guard let url = URL(string: request.url) else { return .failed(TransportFailure(.badURL)) }
        let task = session.dataTask(with: urlRequest(request, to: url, timeout: timeout))
        exchanges.expect(task, upTo: request.replyLimit)
        // A timer instead of a task, because the task pool may be busy for longer than the timeout.
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

    private func urlRequest(_ request: WireRequest, to url: URL, timeout: Duration) -> URLRequest {
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        // The system's own timeout applies to inactivity, not to the whole exchange, so it is longer than ours.
        urlRequest.timeoutInterval = timeout / .seconds(1) + 60
        for header in request.headers { urlRequest.addValue(header.value, forHTTPHeaderField: header.name) }
        if request[header: "User-Agent"] == nil {
            urlRequest.setValue(settings.userAgent, forHTTPHeaderField: "User-Agent")
        }
        if !request.body.isEmpty { urlRequest.httpBody = Data(request.body) }
        return urlRequest
    }
}
#endif
