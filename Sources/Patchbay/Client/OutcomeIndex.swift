import PatchbayAdapterKit
package import PatchbayModel
import PatchbayOutbox

/// The outcomes of a large number of operations, in about 30 bytes each.
///
/// Equal outcomes are stored once. A rejected operation keeps its own finding. Ids are stored as fingerprints.
package struct OutcomeIndex: Sendable {
    /// The term and code of an outcome that has no finding of its own.
    private struct Key: Hashable {
        let term: String
        let code: String
    }

    /// The index of each operation's outcome in ``outcomes``, by the fingerprint of its id.
    private var places: [UInt128: Int32] = [:]
    private var outcomes: [OperationOutcome] = []
    /// The index of each shared outcome in ``outcomes``.
    private var keys: [Key: Int32] = [:]

    package init() {}

    /// Records the outcome of an operation that this process reported.
    package mutating func note(_ outcome: OperationOutcome, of id: OperationID) {
        places[TextMark(id.rawValue).bits] = place(of: outcome)
    }

    /// Records an outcome from the outbox's history.
    fileprivate mutating func note(_ stored: NumberedOutcome) {
        let key = stored.finding == nil ? Key(term: stored.entry.term, code: stored.entry.code) : nil
        if let key, let known = keys[key] {
            places[TextMark(stored.entry.id).bits] = known
        } else if let outcome = OperationOutcome(stored) {
            let place = place(of: outcome)
            places[TextMark(stored.entry.id).bits] = place
            if let key { keys[key] = place }
        }
    }

    /// Removes and returns the outcome of an operation; nil if none is known.
    package mutating func take(_ id: OperationID) -> OperationOutcome? {
        places.removeValue(forKey: TextMark(id.rawValue).bits).map { outcomes[Int($0)] }
    }

    private mutating func place(of outcome: OperationOutcome) -> Int32 {
        outcomes.append(outcome)
        return Int32(outcomes.count - 1)
    }
}

extension EngagementClient {
    /// Returns all outcomes on a provider's route that the outbox's history holds, for a process that resumes the work of
    /// one that died.
    ///
    /// Later outcomes arrive through ``events()``; start listening to them first.
    ///
    /// - Returns: Outcomes by operation. The finding of an operation that was not rejected has a code only.
    package func outcomes(on provider: String) async throws -> OutcomeIndex {
        try await loop.withEngine { engine in try engine.outcomes(on: provider) }
    }
}

extension Engine {
    /// Returns the outcomes on a provider's route, by operation.
    fileprivate func outcomes(on provider: String) throws -> OutcomeIndex {
        var found = OutcomeIndex()
        var last: Int64 = 0
        while case let page = try store.history.outcomes(after: last, limit: 1_024), let end = page.last {
            for stored in page where stored.entry.provider == provider { found.note(stored) }
            last = end.number
        }
        return found
    }
}

extension OperationOutcome {
    /// Creates an outcome from the history: with the full finding for a rejected operation, and with the code for any other.
    /// Nil if this release does not know the term.
    init?(_ stored: NumberedOutcome) {
        guard let term = Term(rawValue: stored.entry.term) else { return nil }
        var finding = stored.finding.flatMap { try? Finding(jsonBytes: $0) }
        // For a moved operation, the code lists the providers that took over.
        if finding == nil, !stored.entry.code.isEmpty, term != .moved {
            finding = FindingRow.Engine.endedElsewhere.at(detail: stored.entry.code)
        }
        self.init(term, finding: finding)
    }
}
