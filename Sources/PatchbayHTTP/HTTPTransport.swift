public import Patchbay
public import PatchbayAdapterKit

/// Sends HTTP requests, each once and exactly as the adapter created it.
///
/// It uses libcurl on Linux and `URLSession` on Apple platforms. A request with a `WireFault` is not sent: only `https` is
/// allowed, and `http` to this machine. A reply is read up to the request's limit for its body.
///
/// It keeps no cookies, cache or credentials, answers no authentication challenge and follows no redirect: every status is a
/// reply. The environment variables for proxies have no effect; a proxy is used only if one is given. A request to this
/// machine itself is always sent directly.
///
/// On Linux each request has its own connection. With reused connections, libcurl would repeat a request if the server has
/// closed the connection, but ``send(_:timeout:)`` guarantees to send it once.
public final class HTTPTransport: Transport {
    private let client: any HTTPClient

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - userAgent: The `User-Agent` of a request that has none.
    ///   - proxy: The proxy for every request, for example `http://proxy.example:3128`; nil sends directly.
    public convenience init(userAgent: String = Sender.name, proxy: String? = nil) {
        self.init(HTTPSettings(userAgent: userAgent, proxy: proxy))
    }

    /// Creates a transport that uses the proxy of a configuration, if it names one.
    public convenience init(_ configuration: Configuration) { self.init(proxy: configuration.proxy) }

    /// Creates a transport with settings for tests.
    package init(_ settings: HTTPSettings) {
        #if canImport(Darwin)
        client = URLSessionClient(settings)
        #else
        client = CurlClient(settings)
        #endif
    }

    /// Sends a request once and waits for the complete reply, at most `timeout` from now.
    ///
    /// If the calling task is cancelled, the request is cancelled too. It counts as lost if a part of it was sent.
    public func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        if let fault = request.fault { return .failed(TransportFailure(fault)) }
        return await client.send(request, timeout: timeout)
    }
}

/// The settings of a transport.
package struct HTTPSettings: Sendable {
    /// The `User-Agent` of a request that has none.
    package var userAgent: String
    /// The proxy's address; nil sends directly.
    package var proxy: String?
    /// A PEM file with the trusted certificate authorities; nil trusts those of the system. Only on Linux.
    package var certificateAuthorities: String?

    /// Creates settings.
    package init(userAgent: String = Sender.name, proxy: String? = nil, certificateAuthorities: String? = nil) {
        (self.userAgent, self.proxy) = (userAgent, proxy)
        self.certificateAuthorities = certificateAuthorities
    }
}

/// The platform's implementation for performing requests.
protocol HTTPClient: Sendable {
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome
}
