import Foundation

/// The processors of the machine.
package enum Processors {
    /// The number of processors that this process may use, according to its affinity. Limits of processor time, such as
    /// those of a container, are not considered.
    package static var usable: Int {
        let present = ProcessInfo.processInfo.activeProcessorCount
        let status = FileManager.default.contents(atPath: "/proc/self/status")
        return min(status.flatMap { allowed(by: String(decoding: $0, as: UTF8.self)) } ?? present, present)
    }

    /// The number of processors that Linux allows, according to the text of `/proc/self/status`: a bit for each, in groups
    /// of hexadecimal digits. Nil if the text has no such line.
    static func allowed(by status: String) -> Int? {
        let mark = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(mark) }) else { return nil }
        let count = line.dropFirst(mark.count).reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
        return count > 0 ? count : nil
    }
}
