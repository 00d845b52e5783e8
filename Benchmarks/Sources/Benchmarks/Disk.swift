import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The floor under everything durable: one page appended and synced, again and again.
enum Disk {
    static func syncs(at path: String, count: Int) -> Spread {
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 7, count: 4096)
        return Spread(
            (0..<count).map { _ in
                microseconds {
                    _ = write(file, page, page.count)
                    #if canImport(Darwin)
                    _ = fcntl(file, F_FULLFSYNC)
                    #else
                    _ = fdatasync(file)
                    #endif
                }
            }
        )
    }
}
