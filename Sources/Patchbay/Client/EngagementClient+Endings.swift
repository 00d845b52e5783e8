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
                guard let term = OperationOutcome.Term(rawValue: ending.entry.term) else { continue }
                var finding = ending.finding.flatMap { try? Finding(jsonBytes: $0) }
                if finding == nil, !ending.entry.code.isEmpty {
                    finding = FindingRow.Engine.endedElsewhere.at(detail: ending.entry.code)
                }
                found[OperationID(rawValue: ending.entry.id)] = OperationOutcome(term, finding: finding)
            }
            last = end.number
        }
        return found
    }
}
