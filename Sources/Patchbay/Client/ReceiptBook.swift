import PatchbayModel

/// The receipts that callers still hold, by operation.
struct ReceiptBook {
    private struct Entry {
        weak var receipt: Receipt?
    }

    private var entries: [OperationID: Entry] = [:]
    /// Receipts of an id that was captured again while the first was held.
    private var namesakes: [OperationID: [Entry]] = [:]
    private var sweepsAt = 1024

    /// Every receipt that is still held.
    var all: [Receipt] { (Array(entries.values) + namesakes.values.joined()).compactMap(\.receipt) }

    mutating func add(_ receipt: Receipt) {
        let entry = Entry(receipt: receipt)
        if let earlier = entries.updateValue(entry, forKey: receipt.id), earlier.receipt != nil {
            namesakes[receipt.id, default: []].append(earlier)
        }
        if entries.count >= sweepsAt { sweep() }
    }

    /// The receipts of an operation that are still held.
    func receipts(for id: OperationID) -> [Receipt] {
        let newest = entries[id]?.receipt
        guard !namesakes.isEmpty, let others = namesakes[id] else { return newest.map { [$0] } ?? [] }
        return ([newest] + others.map(\.receipt)).compactMap(\.self)
    }

    /// Forgets what nobody holds; the next time when as much has come again as was kept.
    private mutating func sweep() {
        entries = entries.filter { $0.value.receipt != nil }
        namesakes = namesakes.mapValues { $0.filter { $0.receipt != nil } }.filter { !$0.value.isEmpty }
        sweepsAt = max(1024, 2 * entries.count)
    }
}
