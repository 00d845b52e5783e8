import PatchbayModel
import Synchronization

/// Captures on their way to the disk: the only thing that a caller of `capture` ever waits for is this lock.
final class CaptureBuffer: Sendable {
    struct Entry: Sendable {
        let capture: Engine.Capture
        var receipt: Receipt

        init(capture: consuming Engine.Capture, receipt: consuming Receipt) {
            (self.capture, self.receipt) = (capture, receipt)
        }

        /// Whether nobody but this entry knows the receipt: then nobody will ever ask it.
        var isForgotten: Bool { mutating get { isKnownUniquelyReferenced(&receipt) } }
    }

    /// What the caller has to do after a capture.
    enum Errand {
        case none
        /// Nobody was told to fetch yet.
        case fetch
        /// So many wait that they should be fetched now.
        case fetchNow
    }

    /// When captures that are stored have to be freed.
    enum Freeing {
        /// When nobody waits.
        case later
        /// By a thread that has nothing else to do.
        case soon
        /// Before there are more.
        case now
    }

    /// So many captures make it worth while to fetch them at once, and to wake somebody who frees them.
    private static let heap = 1_024
    /// So many are freed in one piece.
    private static let piece = 64

    private struct State {
        var entries: [Entry] = []
        /// Room that has held entries before: a caller never waits for memory.
        var spare: [Entry] = []
        var isClosed = false

        /// What whoever appended has to do, given how many waited before.
        func errand(after before: Int) -> Errand {
            if before < CaptureBuffer.heap, entries.count >= CaptureBuffer.heap { return .fetchNow }
            return before == 0 && !entries.isEmpty ? .fetch : .none
        }
    }

    private struct Kept {
        var entries: [[Entry]] = []
        var count = 0
        /// Whether somebody was told to free it.
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

    /// Appends captures that nothing may come between.
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

    /// Takes everything that waits.
    func take() -> [Entry] {
        state.withLock { state in
            var taken: [Entry] = []
            swap(&taken, &state.spare)
            swap(&taken, &state.entries)
            return taken
        }
    }

    /// Keeps what was taken and is stored: to free a capture takes half as long as to store it, and somebody may wait.
    func keep(_ taken: inout [Entry]) {
        kept.withLock { kept in
            kept.count += taken.count
            kept.entries.append([])
            swap(&kept.entries[kept.entries.count - 1], &taken)
        }
    }

    /// When what is kept has to be freed; somebody is told so once.
    func callForFreeing() -> Freeing {
        kept.withLock { kept in
            if kept.count > 8 * Self.heap { return .now }
            if kept.isCalled || kept.count < Self.heap { return .later }
            kept.isCalled = true
            return .soon
        }
    }

    /// Frees what is kept; its room is used again. Called from any thread.
    ///
    /// - Parameter giveWay: called between the pieces.
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

    /// Takes everything that waits; nothing is accepted any more.
    func close() -> [Entry] {
        state.withLock { state in
            defer { state.entries = [] }
            state.isClosed = true
            return state.entries
        }
    }
}
