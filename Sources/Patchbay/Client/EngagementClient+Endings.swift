import PatchbayAdapterKit
package import PatchbayModel
import PatchbayOutbox

extension EngagementClient {
    /// Everything that has ended on a provider's route, as far back as the outbox remembers: for whoever goes on with the work
    /// of a process that died. What ends from now on comes as ``events()``; listen to them first.
    ///
    /// - Returns: outcomes by operation; of what was not rejected the finding has the code alone.
    package func endings(on provider: String) async throws -> [OperationID: OperationOutcome] {
        try await loop.withEngine { engine in try engine.endings(on: provider) }
    }
}

extension Engine {
    /// What has ended on a provider's route, by operation.
    fileprivate func endings(on provider: String) throws -> [OperationID: OperationOutcome] {
        var found: [OperationID: OperationOutcome] = [:]
        var last: Int64 = 0
        while case let page = try store.endings(behind: last, limit: 1_024), let end = page.last {
            for ending in page where ending.entry.provider == provider {
                guard let outcome = OperationOutcome(ending) else { continue }
                found[OperationID(rawValue: ending.entry.id)] = outcome
            }
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
