import PatchbayModel
import Synchronization

/// Captures on their way to the disk: the only thing that a caller of `capture` ever waits for is this lock.
final class CaptureBuffer: Sendable {
    struct Entry: Sendable {
        let capture: Engine.Capture
        let receipt: Receipt
    }

    private struct State {
        var entries: [Entry] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Appends a capture. True if nobody was told to fetch yet, and the caller should.
    func append(_ entry: Entry) throws(CaptureError) -> Bool {
        let isFirst: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.entries.append(entry)
            return state.entries.count == 1
        }
        guard let isFirst else { throw .closed }
        return isFirst
    }

    /// Takes everything that waits.
    func take() -> [Entry] {
        state.withLock { state in
            defer { state.entries = [] }
            return state.entries
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
