import Foundation

/// The machine's processors.
package enum Processors {
    /// How many this process may use: fewer than there are where it, or its container, is kept to some of them.
    package static var usable: Int {
        let present = ProcessInfo.processInfo.activeProcessorCount
        return min(allowed ?? present, present)
    }

    /// What Linux tells of it: a bit for each, in groups of hexadecimal digits.
    private static var allowed: Int? {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else { return nil }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let mark = "Cpus_allowed:"
        guard let line = lines.first(where: { $0.hasPrefix(mark) }) else { return nil }
        let count = line.dropFirst(mark.count).reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
        return count > 0 ? count : nil
    }
}
