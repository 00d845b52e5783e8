public import Foundation
import PatchbayJSON
import PatchbayModel

/// Writes one line per record to a file or to standard error.
///
/// `2030-03-14T09:26:53.589Z warning Patchbay: provider fails code=engine.provider.outage provider=crm`
public struct LineLog: LogHandler {
    /// The minimum level that is written.
    public let level: LogLevel
    private let file: FileHandle

    /// Creates a log of all records at or above a level.
    public init(_ level: LogLevel = .info, to file: FileHandle = .standardError) {
        (self.level, self.file) = (level, file)
    }

    /// Writes a record.
    public func log(event: LogEvent) {
        let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        // One call writes the whole line; a full disk must not stop the delivery.
        try? file.write(contentsOf: Data((now.text + " " + Self.text(event) + "\n").utf8))
    }

    /// Returns the record as a line, without its time.
    static func text(_ event: LogEvent) -> String {
        let metadata = event.metadata.inOrder.map { " \($0.key)=\(quoted($0.value))" }.joined()
        return "\(event.level.rawValue) \(event.source): \(event.message)\(metadata)"
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0 != "\"" }
        return isPlain ? value : "\"\(value.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}
