import Foundation

/// Listens on 127.0.0.1, reads one request, and writes arbitrary bytes until the client closes the connection.
final class RawServer: Sendable {
    struct Failed: Error {}

    let port: UInt16
    private let socket: Int32

    init() throws {
        #if canImport(Glibc)
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 1) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isOpen else { throw Failed() }
        port = UInt16(bigEndian: address.sin_port)
    }

    var url: String { "http://127.0.0.1:\(port)/x" }

    /// Reads one request, writes `head`, and then repeats `piece` with a pause before each, until the other side closes
    /// the connection or `limit` bytes are written. Returns the number of bytes written.
    func answer(_ head: String, then piece: [UInt8], pause: UInt32 = 0, limit: Int, seconds: Double = 3_600) async
        -> Int
    {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [socket] in
                let connection = accept(socket, nil, nil)
                var request = [UInt8](repeating: 0, count: 1 << 16)
                _ = recv(connection, &request, request.count, 0)
                let end = Date(timeIntervalSinceNow: seconds)
                var written = 0
                var next = Array(head.utf8)
                while written < limit, Date() < end, RawServer.write(next, to: connection) {
                    written += next.count
                    next = piece
                    if pause > 0 { usleep(pause) }
                }
                close(connection)
                close(socket)
                continuation.resume(returning: written)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
