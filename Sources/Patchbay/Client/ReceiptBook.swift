import PatchbayModel
import Synchronization

/// The receipts that callers still hold, by operation.
///
/// The loop adds receipts when it stores their captures. By then, most callers have released theirs.
final class ReceiptBook: Sendable {
    fileprivate struct Entry {
        weak var receipt: Receipt?
    }

    fileprivate struct State {
        var entries: [OperationID: Entry] = [:]
        /// Receipts of an id that was captured again while the first was held.
        var namesakes: [OperationID: [Entry]] = [:]
        var sweepsAt = 1024
    }

    private let state = Mutex(State())

    /// All receipts that are still held.
    var all: [Receipt] {
        state.withLock { (Array($0.entries.values) + $0.namesakes.values.joined()).compactMap(\.receipt) }
    }

    func add(_ receipt: Receipt) { state.withLock { $0.add(receipt) } }

    /// Adds the receipts of captures that callers still hold. The captures must not have an outcome yet.
    func add(heldIn captures: inout [CaptureBuffer.Entry]) {
        state.withLock { state in
            for place in captures.indices where !captures[place].isForgotten { state.add(captures[place].receipt) }
        }
    }

    /// Returns the receipts of an operation that are still held.
    func receipts(for id: OperationID) -> [Receipt] { state.withLock { $0.receipts(for: id) } }
}

extension ReceiptBook.State {
    fileprivate mutating func add(_ receipt: Receipt) {
        let entry = ReceiptBook.Entry(receipt: receipt)
        if let earlier = entries.updateValue(entry, forKey: receipt.id), earlier.receipt != nil {
            namesakes[receipt.id, default: []].append(earlier)
        }
        if entries.count >= sweepsAt { sweep() }
    }

    fileprivate func receipts(for id: OperationID) -> [Receipt] {
        let newest = entries[id]?.receipt
        guard !namesakes.isEmpty, let others = namesakes[id] else { return newest.map { [$0] } ?? [] }
        return ([newest] + others.map(\.receipt)).compactMap(\.self)
    }

    /// Removes the entries of released receipts. The next sweep follows when the number of entries has doubled.
    private mutating func sweep() {
        entries = entries.filter { $0.value.receipt != nil }
        namesakes = namesakes.mapValues { $0.filter { $0.receipt != nil } }.filter { !$0.value.isEmpty }
        sweepsAt = max(1024, 2 * entries.count)
    }
}
