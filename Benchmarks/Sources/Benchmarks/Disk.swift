import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The floor under everything durable: bytes appended and synced.
struct Disk {
    private let file: Int32

    init(_ path: String) { file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600) }

    func close() { _ = Foundation.close(file) }

    func append(_ bytes: [UInt8]) { _ = write(file, bytes, bytes.count) }

    func sync() {
        #if canImport(Darwin)
        _ = fcntl(file, F_FULLFSYNC)
        #else
        _ = fdatasync(file)
        #endif
    }

    /// Microseconds of appending a page and syncing it, again and again.
    static func syncs(at path: String, count: Int) -> Spread {
        let disk = Disk(path)
        defer { disk.close() }
        let page = [UInt8](repeating: 7, count: 4096)
        return Spread(
            (0..<count).map { _ in
                microseconds {
                    disk.append(page)
                    disk.sync()
                }
            }
        )
    }

    /// Returns the number of records per second if each group of records is appended one by one, and then synced.
    static func recordsPerSecond(at path: String, _ record: [UInt8], group: Int, groups: Int) -> Double {
        let disk = Disk(path)
        defer { disk.close() }
        let took = microseconds {
            for _ in 0..<groups {
                for _ in 0..<group { disk.append(record) }
                disk.sync()
            }
        }
        return Double(group * groups) / took * 1e6
    }
}
