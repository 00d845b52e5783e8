#if canImport(Darwin)
import Dispatch
import Foundation
import PatchbayAdapterKit

/// Carries out requests by `URLSession`, on Apple platforms.
///
/// Headers that the system adds where a request has none (`Host`, `Content-Length`, `Accept` …) are its own affair, and it
/// decompresses a reply.
final class URLSessionClient: HTTPClient {
    private let session: URLSession
    private let exchanges = ExchangeDelegate()
    private let settings: HTTPSettings
    /// Runs the deadlines, so that no reply, however many parts it has, delays them.
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

    /// The proxy for `https`; an empty dictionary keeps the system's own proxies out.
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

    private func urlRequest(_ request: WireRequest, to url: URL, timeout: Duration) -> URLRequest {
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        // The system's own limit is for silence, not for the whole exchange; it stays behind ours.
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
