import Foundation

/// Listens only on `::1`, reads one request, and closes without an answer.
struct SilentListener {
    struct Failed: Error {}

    let port: UInt16
    private let socket: Int32

    static var isPossible: Bool {
        guard let listener = try? SilentListener() else { return false }
        close(listener.socket)
        return true
    }

    init() throws {
        #if canImport(Glibc)
        socket = Foundation.socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket = Foundation.socket(AF_INET6, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let socket = socket
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 1) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isOpen else { throw Failed() }
        port = UInt16(bigEndian: address.sin6_port)
    }

    /// Waits for a request, reads it, closes the connection, and returns the number of bytes read.
    func readOneRequest() -> Int {
        let connection = accept(socket, nil, nil)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(connection, &bytes, bytes.count, 0)
        close(connection)
        close(socket)
        return count
    }
}
