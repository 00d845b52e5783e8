import CMicroHTTPD
import Foundation
import PatchbayAdapterKit
import PatchbaySystem
import Synchronization

/// An HTTP/1.1 server on the loopback interface, based on GNU libmicrohttpd. Each connection has its own thread, so that a
/// waiting request does not block others.
///
/// This is the only file that calls the library.
final class HTTPDaemon {
    /// The maximum number of bytes in all bodies being read, as a multiple of the limit for one.
    private static let bodiesAtOnce = 4

    /// The immutable state that the callbacks access while the daemon runs.
    fileprivate final class Context: Sendable {
        let origin: String
        let bodyLimit: Int
        let stopSignal: StopSignal
        /// The number of bytes in all bodies being read.
        let bodyBytes = Atomic(0)
        let answer: @Sendable (HTTPRequest) -> HTTPAnswer

        init(
            origin: String,
            bodyLimit: Int,
            stopSignal: StopSignal,
            answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
        ) {
            self.origin = origin
            self.bodyLimit = bodyLimit
            self.stopSignal = stopSignal
            self.answer = answer
        }
    }

    /// A request that is being received. Only its connection's thread accesses it.
    fileprivate final class Incoming {
        let target: String
        var isBegun = false
        var body: [UInt8] = []
        var isTooLarge = false
        private weak var context: Context?

        init(target: String, _ context: Context?) { (self.target, self.context) = (target, context) }
        deinit { context?.bodyBytes.subtract(body.count, ordering: .relaxed) }

        /// Stores a part of the body. Discards the body if it or all bodies together exceed their limit.
        func take(_ piece: UnsafeRawBufferPointer) {
            guard !isTooLarge, let context else { return }
            let all = context.bodyBytes.add(piece.count, ordering: .relaxed).newValue
            body += piece
            isTooLarge = body.count > context.bodyLimit || all > context.bodyLimit * HTTPDaemon.bodiesAtOnce
            guard isTooLarge else { return }
            context.bodyBytes.subtract(body.count, ordering: .relaxed)
            body = []
        }
    }

    /// The port on which the server listens.
    let port: UInt16
    private let daemon: OpaquePointer
    private let context: Unmanaged<Context>
    private let stopSignal: StopSignal

    /// Opens the port and starts the server.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for any free one.
    ///   - bodyLimit: The maximum number of bytes in a body. A longer body is discarded, and ``HTTPRequest/isTooLarge`` is set.
    ///   - limits: The limits of connections.
    ///   - answer: Called on the thread of the request's connection.
    /// - Throws: ``SandboxError`` if the port cannot be opened or the server cannot start.
    init(
        port: UInt16,
        bodyLimit: Int,
        limits: SandboxServer.Limits,
        answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
    ) throws(SandboxError) {
        let stopSignal = try StopSignal()
        let socket = try ListeningSocket(port: port)
        let context = Unmanaged.passRetained(
            Context(
                origin: "http://127.0.0.1:\(socket.port)",
                bodyLimit: bodyLimit,
                stopSignal: stopSignal,
                answer: answer
            )
        )
        let flags =
            MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_THREAD_PER_CONNECTION.rawValue
            | MHD_USE_POLL.rawValue | MHD_USE_ITC.rawValue
        var options = [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(socket.descriptor), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.headerBytes, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleSeconds, ptr_value: nil),
            MHD_OptionItem(
                option: .URI_LOG_CALLBACK,
                value: unsafeBitCast(Self.began, to: Int.self),
                ptr_value: context.toOpaque()
            ),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED,
                value: unsafeBitCast(Self.completed, to: Int.self),
                ptr_value: nil
            ),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        guard let daemon = Self.start(flags, options: &options, context: context.toOpaque()) else {
            // The socket may already be closed, because the library owns it from the start.
            context.release()
            throw SandboxError(
                .serverFailed,
                at: "port \(socket.port)",
                "the HTTP server did not start (\(String(cString: strerror(errno))))",
                remedy: "Look for a limit on threads or open files."
            )
        }
        self.port = socket.port
        self.daemon = daemon
        self.context = context
        self.stopSignal = stopSignal
    }

    /// Closes the port and every connection. Returns when all threads of the daemon have ended.
    deinit {
        stopSignal.raise()
        MHD_stop_daemon(daemon)
        context.release()
    }

    private static func start(
        _ flags: UInt32,
        options: UnsafeMutablePointer<MHD_OptionItem>,
        context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        withVaList([MHD_OPTION.ARRAY.rawValue, options, MHD_OPTION.END.rawValue]) { list in
            MHD_start_daemon_va(flags, 0, nil, nil, access, context, list)
        }
    }

    /// Called when the request line has been read. Returns the context of the request.
    private static let began:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            context,
            target,
            _ in
            let context = context.map { Unmanaged<Context>.fromOpaque($0).takeUnretainedValue() }
            return Unmanaged.passRetained(Incoming(target: target.map(String.init(cString:)) ?? "", context)).toOpaque()
        }

    /// Called when the request is completed or aborted.
    private static let completed:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_RequestTerminationCode
        ) -> Void = { _, _, place, _ in
            guard let place, let incoming = place.pointee else { return }
            Unmanaged<Incoming>.fromOpaque(incoming).release()
            place.pointee = nil
        }

    /// Called once after the headers, then for each part of the body, then once without data.
    private static let access: MHD_AccessHandlerCallback = {
        context,
        connection,
        _,
        method,
        _,
        piece,
        pieceSize,
        place in
        guard let context, let connection, let method, let pieceSize, let incoming = place?.pointee else {
            return .NO
        }
        let daemon = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
        let request = Unmanaged<Incoming>.fromOpaque(incoming).takeUnretainedValue()
        guard request.isBegun else {
            request.isBegun = true
            return .YES
        }
        if pieceSize.pointee > 0 {
            request.take(UnsafeRawBufferPointer(start: piece, count: pieceSize.pointee))
            pieceSize.pointee = 0
            return .YES
        }
        let answer = daemon.answer(
            HTTPRequest(
                method: String(cString: method),
                origin: daemon.origin,
                target: RequestTarget(request.target),
                headers: headers(of: connection),
                body: request.body,
                isTooLarge: request.isTooLarge
            )
        )
        return give(answer, on: connection, stopSignal: daemon.stopSignal)
    }

    private static func headers(of connection: OpaquePointer) -> [WireHeader] {
        var headers: [WireHeader] = []
        withUnsafeMutablePointer(to: &headers) { headers in
            let add: MHD_KeyValueIterator = { headers, _, nameText, valueText in
                guard let headers, let nameText else { return .NO }
                let name = String(cString: nameText)
                let value = valueText.map(String.init(cString:)) ?? ""
                let header = WireHeader(name, value, isSecret: Redaction.isSecret(name))
                headers.assumingMemoryBound(to: [WireHeader].self).pointee.append(header)
                return .YES
            }
            _ = MHD_get_connection_values(connection, .HEADER_KIND, add, headers)
        }
        return headers
    }

    /// Performs the answer on the connection; `MHD_NO` closes it.
    private static func give(
        _ answer: HTTPAnswer,
        on connection: OpaquePointer,
        stopSignal: StopSignal
    ) -> MHD_Result {
        let socket = CMicroHTTPD_socket(connection)
        switch answer {
        case .reply(let response, let delay):
            if delay > 0 { stopSignal.wait(milliseconds: delay, orHangUpOf: socket) }
            return send(response, on: connection)
        case .close: return .NO
        case .reset:
            reset(socket)
            return .NO
        case .hang:
            stopSignal.wait(milliseconds: nil, orHangUpOf: socket)
            return .NO
        }
    }

    /// The statuses that can complete a request.
    private static let sendable = 200...599
    /// The headers that the library writes itself.
    private static let framing: Set = ["content-length", "transfer-encoding"]

    private static func send(_ response: WireResponse, on connection: OpaquePointer) -> MHD_Result {
        guard sendable.contains(response.status) else { return send(.unsendable("status"), on: connection) }
        var body = response.body
        let message = body.withUnsafeMutableBytes { bytes in
            MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
        }
        guard let message else { return .NO }
        defer { MHD_destroy_response(message) }
        for header in response.headers where !framing.contains(header.name.lowercased()) {
            guard MHD_add_response_header(message, header.name, header.value) == .YES else {
                return send(.unsendable(header.name), on: connection)
            }
        }
        return MHD_queue_response(connection, UInt32(response.status), message)
    }

    /// Resets the connection at once: closing a socket with a linger time of zero sends RST. The library remains responsible
    /// for closing the descriptor.
    private static func reset(_ descriptor: Int32) {
        var noTime = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &noTime, socklen_t(MemoryLayout<linger>.size))
        let unused = socket(AF_INET, System.streamSocket, 0)
        guard unused >= 0 else { return }
        dup2(unused, descriptor)
        close(unused)
    }
}
