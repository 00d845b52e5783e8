import Foundation
import PatchbayJSON
import Testing

/// A TCP connection to the sandbox that, unlike an HTTP library, reports how it ends.
final class Connection {
    /// How a connection ended.
    enum End: Equatable {
        case closed, reset
    }

    struct Reply {
        let status: Int
        let headers: [String]
        let body: [UInt8]

        var json: JSONValue { get throws { try JSONValue(parsing: body) } }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Failed: Error { let reason: String }

    private let socket: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16) throws {
        #if canImport(Glibc)
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard status == 0 else { throw Failed(reason: "not connected: \(errno)") }
    }

    deinit { close(socket) }

    /// Sends one request without waiting for its answer.
    func send(_ method: String, _ target: String, headers: [String] = [], body: [UInt8] = []) throws {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for header in headers { head += header + "\r\n" }
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        try write(Array((head + "\r\n").utf8) + body)
    }

    /// Sends bytes as they are.
    func write(_ bytes: [UInt8]) throws {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { throw Failed(reason: "not sent: \(errno)") }
            sent += count
        }
    }

    /// Sends one request and reads its answer.
    func exchange(
        _ method: String,
        _ target: String,
        headers: [String] = [],
        body: [UInt8] = []
    ) throws -> Reply {
        try send(method, target, headers: headers, body: body)
        return try reply(hasBody: method != "HEAD")
    }

    /// Reads one answer by its Content-Length.
    func reply(hasBody: Bool = true) throws -> Reply {
        let separator = Array("\r\n\r\n".utf8)
        while !buffer.contains(separator) {
            if let ended = readMore() { throw Failed(reason: "no answer: \(ended)") }
        }
        let end = try #require(buffer.firstRange(of: separator))
        let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let length =
            head.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) } ?? 0
        buffer.removeSubrange(..<end.upperBound)
        let expected = hasBody ? length : 0
        while buffer.count < expected {
            if let ended = readMore() { throw Failed(reason: "an incomplete answer: \(ended)") }
        }
        defer { buffer.removeSubrange(..<expected) }
        return Reply(
            status: try #require(Int(head[0].split(separator: " ")[1])),
            headers: Array(head.dropFirst()),
            body: Array(buffer[..<expected])
        )
    }

    /// Reads until the connection ends and returns how it ended.
    func end() throws -> End {
        while true {
            if let end = readMore() {
                guard buffer.isEmpty else { throw Failed(reason: "an unexpected answer") }
                return end
            }
        }
    }

    /// Whether an answer has arrived.
    var isAnswered: Bool {
        var byte: UInt8 = 0
        return !buffer.isEmpty || recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    private func readMore() -> End? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &chunk, chunk.count, 0)
        if count > 0 {
            buffer += chunk[..<count]
            return nil
        }
        return count == 0 ? .closed : .reset
    }
}
