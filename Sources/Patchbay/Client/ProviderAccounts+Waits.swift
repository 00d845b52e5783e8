import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Why things wait, as far as the outbox's file tells by itself: an outage, what failed before, and queues that are closed.
///
/// What an adapter said of it is known to the process that delivers, and to nobody else.
extension ProviderAccounts {
    static func storedWaits(of provider: String, in store: OutboxStore) throws -> [Finding] {
        let date = Timeline.dates(after: try store.meta("timeline"))
        let outage = Breaker(text: try store.meta("breaker.\(provider)")).outage.map { outage in
            var words = "\(outage.cause.code), since \(outage.since.text)"
            if let next = date(outage.nextProbe) { words += ", the next request at \(next.text)" }
            var finding = FindingRow.Engine.providerOutage.at(detail: words)
            (finding.error, finding.vendor) = (outage.cause.error ?? .unavailable, outage.cause.vendor)
            return finding
        }
        let closed = try store.closedQueues(provider: provider).map { queues in
            let row = queues.until == nil ? FindingRow.Engine.queuesUnwoken : FindingRow.Engine.queuesClosed
            return row.at(detail: queues.words(date))
        }
        let open = try store.openOperations(provider: provider)
        let rest = [(FindingRow.Engine.queuesFailed, open.failed), (FindingRow.Engine.queuesOpen, open.fresh)]
            .filter { $0.1 > 0 }.map { $0.at(detail: count($1, "operation", "operations")) }
        return [outage].compactMap(\.self) + rest + closed
    }
}

private func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
}

extension ClosedQueues {
    /// How many operations, in how many queues, and until when.
    fileprivate func words(_ date: (Instant) -> Instant?) -> String {
        let waiting = "\(count(operations, "operation", "operations")) in \(count(queues, "queue", "queues"))"
        guard let until else { return waiting }
        let instant = date(Instant(milliseconds: until)).map { "until \($0.text)" } ?? "until an instant"
        return "\(waiting), \(instant)\(orWoken ? " or a wake" : "")"
    }
}

extension FindingRow.Engine {
    static let queuesFailed = FindingRow(
        "engine.queue.failed",
        .note,
        reason: "What was sent in vain is sent again by the vendor's law",
        remedy: "Nothing, or run `patchbay send`: it delivers, and tells what an adapter waits for."
    )
    static let queuesOpen = FindingRow(
        "engine.queue.open",
        .note,
        reason: "What waits for its turn goes while a process delivers",
        remedy: "Nothing, or run `patchbay send`: it delivers, and tells what an adapter waits for."
    )
    static let queuesClosed = FindingRow(
        "engine.queue.closed",
        .note,
        reason: "What waits in closed queues is not sent yet",
        remedy: "Nothing; it goes on by itself while a process delivers."
    )
    static let queuesUnwoken = FindingRow(
        "engine.queue.unwoken",
        .note,
        reason: "What waits in closed queues is sent after a wake",
        remedy: "Nothing; a start, the network, the foreground or a new credential wakes it."
    )
}
