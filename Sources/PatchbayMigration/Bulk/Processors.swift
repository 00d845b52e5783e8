import Foundation

/// The machine's processors.
package enum Processors {
    /// How many this process may use: fewer than there are where it is kept to some of them. A share of
    /// their time, which a container may be given, is no matter of this.
    package static var usable: Int {
        let present = ProcessInfo.processInfo.activeProcessorCount
        let status = FileManager.default.contents(atPath: "/proc/self/status")
        return min(status.flatMap { allowed(by: String(decoding: $0, as: UTF8.self)) } ?? present, present)
    }

    /// How many Linux allows, in the words of its `/proc/self/status`: a bit for each, in groups of hexadecimal digits. Nil if
    /// nothing is said.
    static func allowed(by status: String) -> Int? {
        let mark = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(mark) }) else { return nil }
        let count = line.dropFirst(mark.count).reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
        return count > 0 ? count : nil
    }
}
