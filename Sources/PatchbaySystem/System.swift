/// The calls and constants that differ between Linux and Apple platforms. A port to another system changes this folder.
package enum System {
    // MARK: Files

    /// Writes what the system holds of a file to the disk.
    ///
    /// - Returns: Whether that succeeded; else `errno` says why.
    package static func syncToDisk(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        // `fsync` leaves the data in the drive's cache there. A file system without such a cache refuses F_FULLFSYNC.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    // MARK: Sockets

    /// The type of a TCP socket, as `socket` takes it.
    package static var streamSocket: Int32 {
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    // MARK: Clocks and processes

    /// The clock that never jumps and counts the time that the machine sleeps.
    package static var uptimeClock: clockid_t {
        #if os(Linux)
        CLOCK_BOOTTIME
        #else
        CLOCK_MONOTONIC
        #endif
    }

    /// An identifier of the running boot; nil if it cannot be read.
    package static func bootID() -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        #if os(Linux)
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "r") else { return nil }
        defer { fclose(file) }
        let count = fread(&bytes, 1, bytes.count, file)
        #else
        var count = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
        #endif
        return String(decoding: bytes[..<count].prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The digits that name the space in which process numbers hold: each container of a machine has its own. Nil if they
    /// cannot be read.
    package static func processNamespace() -> String? {
        #if os(Linux)
        // "pid:[4026531836]"
        var name = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &name, name.count)
        let digits = name.prefix(max(0, count)).map(UInt8.init(bitPattern:)).filter { (0x30...0x39).contains($0) }
        return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
        #else
        return "all"
        #endif
    }

    /// A number of the calling thread that no other running thread of the process has.
    package static var threadNumber: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    // MARK: Random numbers

    /// Returns random words of the system, at most 32: one call fetches them all where the system can do that.
    package static func randomWords(_ count: Int) -> [UInt64] {
        var generator = SystemRandomNumberGenerator()
        #if !canImport(Darwin)
        var words = [UInt64](repeating: 0, count: count)
        let isFilled = words.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getentropy($0, bytes.count) == 0 } ?? false
        }
        if isFilled { return words }
        #endif
        return (0..<count).map { _ in generator.next() }
    }
}

extension stat {
    /// When the file was changed last, in nanoseconds since 1970.
    package var changed: Int {
        #if canImport(Darwin)
        st_mtimespec.tv_sec * 1_000_000_000 + st_mtimespec.tv_nsec
        #else
        st_mtim.tv_sec * 1_000_000_000 + st_mtim.tv_nsec
        #endif
    }
}
