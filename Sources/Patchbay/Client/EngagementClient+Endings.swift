import PatchbayAdapterKit
package import PatchbayModel
import PatchbayOutbox

/// How very many operations ended, most of them in one of a few ways: some thirty bytes for each that was not rejected. What is
/// kept of its id is a fingerprint.
package struct Endings: Sendable {
    /// The term of an ending that has no finding of its own, and its code.
    private struct Way: Hashable {
        let term: String
        let code: String
    }

    /// Where the outcome of an operation stands, by the fingerprint of its id.
    private var places: [UInt128: Int32] = [:]
    private var outcomes: [OperationOutcome] = []
    /// Where the outcome of each way stands.
    private var ways: [Way: Int32] = [:]

    package init() {}

    /// Notes how an operation ended, as this process was told.
    package mutating func note(_ outcome: OperationOutcome, of id: OperationID) {
        places[TextMark(id.rawValue).bits] = place(of: outcome)
    }

    /// Notes how an operation ended, as the outbox remembers it.
    fileprivate mutating func note(_ ending: Ending) {
        let way = ending.finding == nil ? Way(term: ending.entry.term, code: ending.entry.code) : nil
        if let way, let known = ways[way] {
            places[TextMark(ending.entry.id).bits] = known
        } else if let outcome = OperationOutcome(ending) {
            let place = place(of: outcome)
            places[TextMark(ending.entry.id).bits] = place
            if let way { ways[way] = place }
        }
    }

    /// How an operation ended, which is forgotten then; nil where nothing is known of it.
    package mutating func take(_ id: OperationID) -> OperationOutcome? {
        places.removeValue(forKey: TextMark(id.rawValue).bits).map { outcomes[Int($0)] }
    }

    private mutating func place(of outcome: OperationOutcome) -> Int32 {
        outcomes.append(outcome)
        return Int32(outcomes.count - 1)
    }
}

extension EngagementClient {
    /// Everything that has ended on a provider's route, as far back as the outbox remembers: for whoever goes on with the work
    /// of a process that died. What ends from now on comes as ``events()``; listen to them first.
    ///
    /// - Returns: outcomes by operation; of what was not rejected the finding has the code alone.
    package func endings(on provider: String) async throws -> Endings {
        try await loop.withEngine { engine in try engine.endings(on: provider) }
    }
}

extension Engine {
    /// What has ended on a provider's route, by operation.
    fileprivate func endings(on provider: String) throws -> Endings {
        var found = Endings()
        var last: Int64 = 0
        while case let page = try store.endings(behind: last, limit: 1_024), let end = page.last {
            for ending in page where ending.entry.provider == provider { found.note(ending) }
            last = end.number
        }
        return found
    }
}

extension OperationOutcome {
    /// How an operation ended, as the outbox remembers it: the whole reason of what was rejected, the code of any other. Nil
    /// for an ending that this release does not know.
    init?(_ ending: Ending) {
        guard let term = Term(rawValue: ending.entry.term) else { return nil }
        var finding = ending.finding.flatMap { try? Finding(jsonBytes: $0) }
        // What moved has where it went in the code's place.
        if finding == nil, !ending.entry.code.isEmpty, term != .moved {
            finding = FindingRow.Engine.endedElsewhere.at(detail: ending.entry.code)
        }
        self.init(term, finding: finding)
    }
}
