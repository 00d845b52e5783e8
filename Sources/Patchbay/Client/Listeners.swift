import Synchronization

/// Those who listen to a stream of news, each with a buffer of its own.
final class Listeners<Element: Sendable>: Sendable {
    private struct Listener {
        let continuation: AsyncStream<Element>.Continuation
        /// News in a row that found the buffer full.
        var missed = 0
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var count = 0
        var isClosed = false
        /// What was told before anybody listened, and is kept for the first who does.
        var kept: [Element] = []
    }

    private let state = Mutex(State())
    /// Held by whoever tells, so that everybody hears the news in one order.
    private let telling = Mutex(())

    /// So much is kept for the first listener.
    private static var capacity: Int { 64 }

    /// How many listen now.
    var count: Int { state.withLock { $0.listeners.count } }

    /// A stream of the news from now on. Who stops reading it is forgotten; after the end it is empty.
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

    /// How many there are, to be asked without the lock: mostly nobody listens, and there is much to tell.
    private let listening = Atomic<Int>(0)

    /// Tells everybody; `make` is given how many news the listener missed just before. What is to be kept waits for the first
    /// who listens, if nobody ever did.
    func tell(keeping isKept: Bool = false, _ make: (_ missed: Int) -> Element) {
        guard listening.load(ordering: .acquiring) > 0 else {
            if isKept { keep(make(0)) }
            return
        }
        telling.withLock { _ in
            // Not under the lock of who comes and goes: whoever is cancelled holds a lock of its task's, and wants that one; to wake
            // it takes the task's.
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

    /// Nothing is told any more.
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
