import Foundation
import PatchbaySystem

/// A TCP socket that listens on the loopback interface.
struct ListeningSocket {
    /// The socket's descriptor.
    let descriptor: Int32
    /// The port that it listens on.
    let port: UInt16

    /// Opens a port; 0 for any free one.
    init(port wanted: UInt16) throws(SandboxError) {
        descriptor = socket(AF_INET, System.streamSocket, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isOpen = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isOpen else {
            let reason = String(cString: strerror(errno))
            _ = close(descriptor)
            throw SandboxError(
                .portUnavailable,
                at: "127.0.0.1:\(wanted)",
                "cannot be opened (\(reason))",
                remedy: "Choose another port, or 0 for any free one."
            )
        }
    }
}
