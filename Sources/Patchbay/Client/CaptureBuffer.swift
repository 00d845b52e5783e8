import PatchbayModel
import Synchronization

/// Holds captures in memory until the delivery loop stores them.
///
/// A caller of `capture` waits for this buffer's lock only.
final class CaptureBuffer: Sendable {
    struct Entry: Sendable {
        let capture: Engine.Capture
        var receipt: Receipt

        init(capture: consuming Engine.Capture, receipt: consuming Receipt) {
            (self.capture, self.receipt) = (capture, receipt)
        }

        /// Whether the entry holds the only reference to the receipt, so that no caller can ask it.
        var isForgotten: Bool { mutating get { isKnownUniquelyReferenced(&receipt) } }
    }

    /// The call that the caller has to make after it appends a capture.
    enum Errand {
        case none
        /// Schedule a fetch: no fetch is scheduled yet.
        case fetch
        /// Fetch now: ``heap`` or more captures wait.
        case fetchNow
    }

    /// When the memory of stored captures has to be freed.
    enum Freeing {
        /// Later, when no caller waits.
        case later
        /// Soon, on an idle thread.
        case soon
        /// Now, before more captures are kept.
        case now
    }

    /// The number of captures at which a fetch starts at once, and at which an idle thread frees stored ones.
    private static let heap = 1_024
    /// The number of captures that are freed in one piece.
    private static let piece = 64

    private struct State {
        var entries: [Entry] = []
        /// An empty array with capacity, used as the next ``entries``, so that a caller rarely waits for an allocation.
        var spare: [Entry] = []
        var isClosed = false

        /// Returns the call that the appending caller has to make, given the number of captures that waited before.
        func errand(after before: Int) -> Errand {
            if before < CaptureBuffer.heap, entries.count >= CaptureBuffer.heap { return .fetchNow }
            return before == 0 && !entries.isEmpty ? .fetch : .none
        }
    }

    private struct Kept {
        var entries: [[Entry]] = []
        var count = 0
        /// Whether ``callForFreeing()`` has returned `soon` since the last freeing.
        var isCalled = false
    }

    private let state = Mutex(State())
    private let kept = Mutex(Kept())

    /// Appends a capture.
    func append(_ entry: consuming Entry) throws(CaptureError) -> Errand {
        var entry: Entry? = entry
        let errand: Errand? = state.withLock { state in
            guard !state.isClosed, let taken = entry.take() else { return nil }
            let before = state.entries.count
            state.entries.append(taken)
            return state.errand(after: before)
        }
        guard let errand else { throw .closed }
        return errand
    }

    /// Appends captures that stay together: no other capture comes between them.
    func append(contentsOf entries: [Entry]) throws(CaptureError) -> Errand {
        let errand: Errand? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let before = state.entries.count
            state.entries += entries
            return state.errand(after: before)
        }
        guard let errand else { throw .closed }
        return errand
    }

    /// Removes and returns all captures.
    func take() -> [Entry] {
        state.withLock { state in
            var taken: [Entry] = []
            swap(&taken, &state.spare)
            swap(&taken, &state.entries)
            return taken
        }
    }

    /// Keeps stored captures for later freeing.
    ///
    /// Freeing a capture takes half as long as storing it, and a caller may be waiting.
    func keep(_ taken: inout [Entry]) {
        kept.withLock { kept in
            kept.count += taken.count
            kept.entries.append([])
            swap(&kept.entries[kept.entries.count - 1], &taken)
        }
    }

    /// Returns when the kept captures have to be freed. Returns `soon` once per freeing.
    func callForFreeing() -> Freeing {
        kept.withLock { kept in
            if kept.count > 8 * Self.heap { return .now }
            if kept.isCalled || kept.count < Self.heap { return .later }
            kept.isCalled = true
            return .soon
        }
    }

    /// Frees the kept captures and reuses their memory. Call it from any thread.
    ///
    /// - Parameter giveWay: A closure to call between the pieces.
    func freeKept(_ giveWay: () -> Void = {}) {
        var freed = Kept()
        kept.withLock { swap(&$0, &freed) }
        for place in freed.entries.indices {
            var spare: [Entry] = []
            swap(&spare, &freed.entries[place])
            while spare.count > Self.piece {
                spare.removeLast(Self.piece)
                giveWay()
            }
            spare.removeAll(keepingCapacity: spare.capacity <= 4 * Self.heap)
            state.withLock { state in
                if state.spare.capacity < spare.capacity { swap(&spare, &state.spare) }
            }
        }
    }

    /// Closes the buffer and returns all captures. Later calls of ``append(_:)`` throw.
    func close() -> [Entry] {
        state.withLock { state in
            defer { state.entries = [] }
            state.isClosed = true
            return state.entries
        }
    }
}
