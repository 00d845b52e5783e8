import Synchronization

/// The listeners of a stream of elements, each with its own buffer.
final class Listeners<Element: Sendable>: Sendable {
    private struct Listener {
        let continuation: AsyncStream<Element>.Continuation
        /// The number of elements in a row that were dropped because the buffer was full.
        var missed = 0
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var count = 0
        var isClosed = false
        /// The elements that were sent before there was a listener, kept for the first one.
        var kept: [Element] = []
    }

    private let state = Mutex(State())
    /// Held while an element is sent, so that all listeners receive the elements in the same order.
    private let telling = Mutex(())

    /// The maximum number of elements that are kept for the first listener.
    private static var capacity: Int { 64 }

    /// The number of current listeners.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Returns a stream of the elements that are sent from now on. A listener that stops reading is removed. After
    /// ``finish()``, the stream is empty.
    func listen(_ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let number: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.count += 1
            state.listeners[state.count] = Listener(continuation: continuation)
            for element in state.kept { continuation.yield(element) }
            state.kept = []
            listening.store(state.listeners.count, ordering: .releasing)
            return state.count
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            state.withLock { state in
                state.listeners[number] = nil
                self.listening.store(state.listeners.count, ordering: .releasing)
            }
        }
        return stream
    }

    /// The number of listeners, readable without the lock: elements are frequent, and listeners are rare.
    private let listening = Atomic<Int>(0)

    /// Sends an element to all listeners.
    ///
    /// - Parameters:
    ///   - isKept: Whether the element waits for the first listener if there has been none.
    ///   - make: Makes the element, given the number of elements that the listener missed just before.
    func tell(keeping isKept: Bool = false, _ make: (_ missed: Int) -> Element) {
        guard listening.load(ordering: .acquiring) > 0 else {
            if isKept { keep(make(0)) }
            return
        }
        telling.withLock { _ in
            // The lock for adding and removing listeners is not held here. A cancelled task holds its own lock while it
            // removes its listener, and `yield` takes that lock to resume the task: the two would deadlock.
            for (number, listener) in state.withLock({ $0.listeners }) {
                let result = listener.continuation.yield(make(listener.missed))
                let missed = if case .dropped = result { listener.missed + 1 } else { 0 }
                if missed != listener.missed { state.withLock { $0.listeners[number]?.missed = missed } }
            }
        }
    }

    private func keep(_ element: Element) {
        state.withLock { state in
            guard state.count == 0, !state.isClosed, state.kept.count < Self.capacity else { return }
            state.kept.append(element)
        }
    }

    /// Ends all streams.
    func finish() {
        let continuations = state.withLock { state in
            defer { state.listeners = [:] }
            state.isClosed = true
            listening.store(0, ordering: .releasing)
            return state.listeners.values.map(\.continuation)
        }
        for continuation in continuations { continuation.finish() }
    }
}
