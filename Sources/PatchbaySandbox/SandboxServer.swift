public import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// An HTTP server on the loopback interface for the vendors' simulators.
///
/// Each simulator is available under its id (`http://127.0.0.1:port/<id>/…`), and receives URLs without that part. The control
/// endpoints are under `/sandbox/`:
///
/// | request | does |
/// |---|---|
/// | `GET /sandbox/health` | the vendors, and the number of the newest line of the log |
/// | `GET /sandbox/state/<vendor>` | the simulator's state as JSON |
/// | `GET /sandbox/log?vendor=&after=n` | the lines of the log after number n |
/// | `PUT /sandbox/faults` | replaces the fault rules (``FaultRule/list(from:)``) |
/// | `DELETE /sandbox/faults` | removes them |
/// | `POST /sandbox/reset` | resets states and rules; the log continues |
///
/// The server is a development tool. It listens only on the loopback interface, and refuses requests for another host or from
/// another website in a browser. ``Limits`` limits connections, idle time, and the memory for headers. The memory for all
/// bodies together is at most four times the limit for one.
public final class SandboxServer: Sendable {
    /// The limits of connections.
    public struct Limits: Sendable {
        /// The maximum number of connections at the same time: 256. Further ones are closed at once.
        public var connections = 256
        /// The time after which an idle connection is closed, in seconds: 60.
        public var idleSeconds = 60
        /// The memory of one connection for the request line and the headers, in bytes: 256 KiB. The server replies to longer
        /// headers with 431, and to longer request lines with 414.
        public var headerBytes = 256 << 10

        /// Creates the default limits.
        public init() {}
    }

    /// The default maximum number of bytes in a request's body: 16 MiB.
    public static let defaultBodyLimit = 16 << 20

    /// The port on which the server listens.
    public let port: UInt16
    private let daemon: Mutex<HTTPDaemon?>

    /// The token that a browser's request to a control endpoint needs, in the header `X-Sandbox-Token`.
    public let token: String

    private init(_ daemon: sending HTTPDaemon, token: String) {
        (port, self.token) = (daemon.port, token)
        self.daemon = Mutex(daemon)
    }

    /// Starts a server that runs until it is stopped or deallocated.
    ///
    /// - Parameters:
    ///   - simulators: The vendors' simulators, with unique ids.
    ///   - port: The port on 127.0.0.1; 0 for any free one, which ``port`` then returns.
    ///   - faults: The initial fault rules, which also apply after a reset.
    ///   - logPath: The file to which a line of JSON for each vendor request is appended before the response is sent. If it is
    ///     nil, only the control endpoint provides the lines.
    ///   - bodyLimit: The maximum number of bytes in a request's body. The server replies to a longer one with 413.
    ///   - limits: The limits of connections.
    ///   - clock: Returns the time for the simulators and the log.
    /// - Returns: The running server.
    /// - Throws: ``SandboxError`` if the port or the log cannot be opened, two simulators have the same id, or a rule names an
    ///   unknown vendor.
    public static func start(
        _ simulators: [any VendorSimulator],
        port: UInt16 = 0,
        faults: [FaultRule] = [],
        logPath: String? = nil,
        bodyLimit: Int = defaultBodyLimit,
        limits: Limits = Limits(),
        clock: @escaping @Sendable () -> Instant
    ) throws(SandboxError) -> SandboxServer {
        let sandbox = try Sandbox(simulators, faults: faults, log: RequestLog(path: logPath), clock: clock)
        let daemon = try HTTPDaemon(port: port, bodyLimit: bodyLimit, limits: limits) { sandbox.answer(to: $0) }
        return SandboxServer(daemon, token: sandbox.token)
    }

    /// `http://127.0.0.1:port`, without a slash at the end.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Returns the base URL of a vendor's API for its adapter's settings, without a slash at the end.
    public func url(of vendor: String) -> String { "\(url)/\(vendor)" }

    /// Closes the port and every connection, including those that hang. Returns when this is done.
    ///
    /// A second call does nothing.
    public func stop() { daemon.withLock { $0 = nil } }
}
