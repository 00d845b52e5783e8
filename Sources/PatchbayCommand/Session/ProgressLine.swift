import PatchbayMigration

/// The line of progress: records, rate and time left, printed as often as the console allows.
@MainActor struct ProgressLine {
    private let console: Console
    private let total: Int?
    private let clock = ContinuousClock()
    private var start: ContinuousClock.Instant
    /// The preparatory part that is in progress, if any.
    private var part: Part?
    /// The progress of an earlier run.
    private var before: (records: Int, bytes: Int)?

    /// A part of the work before contacts are moved, with its number of bytes if it is known.
    struct Part: Equatable {
        let title: String
        let total: Int?

        static func hearing(of total: Int) -> Part {
            Part(title: "reading opt-outs of the source again", total: total)
        }

        static func secondPass(of total: Int?) -> Part { Part(title: "second pass", total: total) }

        static func columns(of total: Int?) -> Part {
            Part(title: "finding the columns that the source fills", total: total)
        }

        static let pages = Part(title: "reading what the vendor holds", total: nil)

        static func verifying(_ part: Verification.Part, of total: Int?) -> Part {
            let title =
                switch part {
                case .source: "mapping the source"
                case .target: "reading the target"
                }
            return Part(title: title, total: total)
        }

        static func journal(of total: Int) -> Part { Part(title: "reading the journal", total: total) }
    }

    /// Creates a progress line for a number of bytes; nil if it is not known.
    init(_ console: Console, total: Int?) {
        (self.console, self.total) = (console, total)
        start = clock.now
    }

    /// Shows the progress, and notes such as the reason for a wait, unless it was shown a moment ago.
    mutating func show(records: Int, bytes: Int, of part: Part? = nil, notes: [String] = []) {
        if part != self.part || before == nil {
            // The first line of a part appears after some of it is done.
            (self.part, before) = (part, part == nil ? (records, bytes) : (0, 0))
            if part != nil { start = clock.now }
        }
        console.show(progress: line(records, bytes, notes))
    }

    private func line(_ records: Int, _ bytes: Int, _ notes: [String]) -> String {
        let progress = Self.text(
            records: records,
            bytes: bytes,
            total: part == nil ? total : part?.total,
            elapsed: clock.now - start,
            before: before ?? (0, 0)
        )
        let titled = [part?.title, progress].compactMap(\.self).joined(separator: ": ")
        return notes.isEmpty ? titled : "\(titled); \(notes.joined(separator: ", "))"
    }

    /// The line's text.
    nonisolated static func text(
        records: Int,
        bytes: Int,
        total: Int?,
        elapsed: Duration,
        before: (records: Int, bytes: Int) = (0, 0)
    ) -> String {
        let seconds = max(0.001, elapsed / .seconds(1))
        var parts = ["\(records) records", "\(Int(Double(records - before.records) / seconds)) per second"]
        if let total, total > 0, bytes > before.bytes {
            let left = Int(seconds * Double(max(0, total - bytes)) / Double(bytes - before.bytes))
            parts.insert("\(min(100, bytes * 100 / total)) %", at: 0)
            parts.append("\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left")
        }
        return parts.joined(separator: ", ")
    }
}
