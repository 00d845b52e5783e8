public import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// The vendors' simulators behind real HTTP on the loopback interface.
///
/// Each simulator answers under its id (`http://127.0.0.1:port/<id>/…`), and sees the URL without that part. Under
/// `/sandbox/` stand health, states, log, faults and reset:
///
/// | request | does |
/// |---|---|
/// | `GET /sandbox/health` | the vendors, and the number of the newest line of the log |
/// | `GET /sandbox/state/<vendor>` | the simulator's state as JSON |
/// | `GET /sandbox/log?vendor=&after=n` | the lines of the log after number n |
/// | `PUT /sandbox/faults` | replaces the fault rules (``FaultRule/list(from:)``) |
/// | `DELETE /sandbox/faults` | removes them |
/// | `POST /sandbox/reset` | takes states and rules back to the start; the log goes on |
///
/// It is a tool for development, not for a network: it listens on the loopback interface alone, and refuses requests for
/// another host or from another site in a browser. ``Limits`` bounds connections, idle time and the memory of headers; the memory
/// of all bodies together is at most four times the limit of one.
public final class SandboxServer: Sendable {
    /// The limits of connections.
    public struct Limits: Sendable {
        /// The maximum number of connections at the same time: 256. Further ones are closed at once.
        public var connections = 256
        /// The time after which an idle connection is closed, in seconds: 60.
        public var idleSeconds = 60
        /// The memory of one connection for the request line and the headers, in bytes: 256 KiB. Longer headers are answered
        /// with 431, and longer request lines with 414.
        public var headerBytes = 256 << 10

        /// The default limits.
        public init() {}
    }

    /// Bytes of a request's body that are taken unless the caller says otherwise: 16 MiB.
    public static let defaultBodyLimit = 16 << 20

    /// The port that it listens on.
    public let port: UInt16
    private let daemon: Mutex<HTTPDaemon?>

    /// The token that a browser's request to a control endpoint needs, in the header `X-Sandbox-Token`.
    public let token: String

    private init(_ daemon: sending HTTPDaemon, token: String) {
        (port, self.token) = (daemon.port, token)
        self.daemon = Mutex(daemon)
    }

    /// Starts a server that answers until it is stopped or let go.
    ///
    /// - Parameters:
    ///   - simulators: The vendors, each once.
    ///   - port: The port on 127.0.0.1; 0 for any free one, told afterwards by ``port``.
    ///   - faults: The fault rules in force from the start, and again after a reset.
    ///   - logPath: The file that gets a line of JSON for each vendor request before its answer goes out. It is
    ///     appended to; nil keeps the lines for the control endpoint only.
    ///   - bodyLimit: The most bytes of a request's body; a longer one is answered with 413.
    ///   - limits: The limits of connections.
    ///   - clock: The time that the simulators and the log are told.
    /// - Returns: The server, which answers already.
    /// - Throws: ``SandboxError`` if the port or the log can't be opened, or two simulators share an id, or a rule
    ///   names a vendor that is not there.
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

    /// Where a vendor's API begins, without a slash at the end: the base for its adapter's settings.
    public func url(of vendor: String) -> String { "\(url)/\(vendor)" }

    /// Closes the port and every connection, also those that hang, and returns when it is done.
    ///
    /// A second call does nothing.
    public func stop() { daemon.withLock { $0 = nil } }
}
