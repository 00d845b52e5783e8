import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The reasons for waiting that are stored in the outbox file.
///
/// A process that stops properly stores its explanation in the file. Without one, the file shows which operations are
/// postponed, until when, and why the last request failed.
extension ProviderAccounts {
    static func storedWaits(of record: ProviderRecord, isUnnamed: Bool, in store: OutboxStore) throws -> [Wait] {
        let date = Timeline.dates(after: try store.state.meta("timeline"))
        let breaker = Breaker(text: try store.state.meta("breaker.\(record.name)"))
        let suspended = record.suspended.flatMap { try? Finding(jsonBytes: $0) }
        var sum = WaitSum()
        try store.operations.forEachPendingGroup(provider: record.name) { group in
            var (until, reasons): (Instant?, [Finding]) = (nil, [])
            if let hold = group.hold {
                reasons = [FindingRow.Engine.consentAwaited.at(detail: hold)]
            } else if isUnnamed {
                reasons = [FindingRow.Engine.providerGone.at()]
            } else if let suspended {
                reasons = [suspended]
            } else {
                until = group.closing?.until.flatMap { date(Instant(milliseconds: $0)) }
                if let outage = breaker.outage {
                    reasons.append(outage.finding(next: date(outage.nextProbe)))
                } else if group.hasFailed, let cause = breaker.cause {
                    reasons.append(cause)
                } else if let closing = group.closing {
                    reasons.append(
                        (closing.until == nil ? FindingRow.Engine.queuesUnwoken : FindingRow.Engine.queuesClosed).at()
                    )
                } else {
                    let row = group.hasFailed ? FindingRow.Engine.queuesFailed : FindingRow.Engine.queuesOpen
                    reasons.append(row.at())
                }
            }
            let since = Instant(milliseconds: group.firstCapturedAt)
            sum.add(group.kind, group.count, since: since, nextAttempt: until, reasons)
        }
        return sum.sorted
    }
}
