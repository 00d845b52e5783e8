package import Patchbay

/// Tells a log when each phase of a run begins, and what it had seen when it ends.
package final class PhaseLog {
    /// What a run is at.
    package enum Phase: String {
        /// It reads the journal of an earlier run.
        case journal
        /// It reads again what an earlier run had read, for what people said no to in it.
        case hearing
        /// It reads all that the vendor holds.
        case pages
        /// It maps the source of a comparison.
        case source
        /// It reads the target of a comparison.
        case target
        /// It moves contacts.
        case moving
        /// It gives the files their names.
        case naming
    }

    private let log: Log
    private var phase: Phase?
    private var seen = (records: 0, bytes: 0)

    /// A log of no phase yet.
    package init(_ handler: (any LogHandler)?) { log = Log(handler: handler, source: "PatchbayMigration") }

    /// Takes note of how far a phase is; another one than before begins, and that one ends.
    package func note(_ phase: Phase, records: Int = 0, bytes: Int = 0) {
        if phase != self.phase {
            end()
            self.phase = phase
            log(.info, "phase began", [.phase(phase.rawValue)])
        }
        seen = (records, bytes)
    }

    /// Ends the phase that the run is at.
    package func end() {
        guard let phase else { return }
        log(.info, "phase ended", [.phase(phase.rawValue), .records(seen.records), .bytes(seen.bytes)])
        (self.phase, seen) = (nil, (0, 0))
    }
}

@available(*, unavailable)
extension PhaseLog: Sendable {}

extension Migration.Progress {
    /// The phase that a run between files is at.
    package var phase: PhaseLog.Phase { hearing == nil ? .moving : .hearing }
}

extension Verification.Part {
    /// The phase that a comparison is at.
    package var phase: PhaseLog.Phase {
        switch self {
        case .source: .source
        case .target: .target
        }
    }
}

extension ServerProgress.Part {
    /// The phase that a run through a server API is at.
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
