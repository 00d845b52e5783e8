package import Patchbay

/// Logs when each phase of a run begins, and the counts when it ends.
package final class PhaseLog {
    /// A phase of a run.
    package enum Phase: String {
        /// Reading the journal of an earlier run.
        case journal
        /// Reading the opt-outs again in the part of the source that an earlier run had read.
        case hearing
        /// Reading all contacts of the vendor.
        case pages
        /// Mapping the source of a comparison.
        case source
        /// Reading the target of a comparison.
        case target
        /// Moving contacts.
        case moving
        /// Renaming the files.
        case naming
    }

    private let log: Log
    private var phase: Phase?
    private var seen = (records: 0, bytes: 0)

    /// Creates a log without a phase.
    package init(_ handler: (any LogHandler)?) { log = Log(handler: handler, source: "PatchbayMigration") }

    /// Records the progress of a phase. If the phase is new, the previous one ends.
    package func note(_ phase: Phase, records: Int = 0, bytes: Int = 0) {
        if phase != self.phase {
            end()
            self.phase = phase
            log(.info, "phase began", [.phase(phase.rawValue)])
        }
        seen = (records, bytes)
    }

    /// Ends the present phase.
    package func end() {
        guard let phase else { return }
        log(.info, "phase ended", [.phase(phase.rawValue), .records(seen.records), .bytes(seen.bytes)])
        (self.phase, seen) = (nil, (0, 0))
    }
}

@available(*, unavailable)
extension PhaseLog: Sendable {}

extension Migration.Progress {
    /// The phase of a migration between files.
    package var phase: PhaseLog.Phase { hearing == nil ? .moving : .hearing }
}

extension Verification.Part {
    /// The phase of a comparison.
    package var phase: PhaseLog.Phase {
        switch self {
        case .source: .source
        case .target: .target
        }
    }
}

extension ServerProgress.Part {
    /// The phase of a migration to a server API.
    var phase: PhaseLog.Phase {
        switch self {
        case .moving: .moving
        case .pages: .pages
        case .hearing: .hearing
        case .journal: .journal
        case .verifying(let part, _): part.phase
        }
    }
}
