import PatchbayJSON
public import PatchbayModel

/// What happened between the engine and one vendor in a random run, for the vendor's own laws.
public struct SceneStory: Sendable {
    /// A request that left.
    public struct Request: Sendable {
        /// Its number over all vendors, from 1.
        public var number: Int
        /// The adapter's word for what it asks.
        public var endpoint: String
        /// The request.
        public var request: WireRequest
        /// What it carried, or on whose behalf it went.
        public var operations: [OperationID]
        /// When it left, on the engine's timeline.
        public var now: Instant
        /// Whether the vendor processed it.
        public var isProcessed: Bool
        /// What the engine was told of it and stored; nil if it never was.
        public var outcome: Outcome?
        /// When that was, on the engine's timeline.
        public var settledAt: Instant?
        /// Whether a process ended between this request and the one before it.
        public var isFirstOfProcess: Bool

        /// How long the answer asked to wait.
        public var retryAfter: Duration? { outcome?.reply?.retryAfter(at: settledAt ?? now) }

        package init(
            number: Int,
            endpoint: String,
            request: WireRequest,
            operations: [OperationID],
            now: Instant,
            isProcessed: Bool,
            outcome: Outcome?,
            settledAt: Instant?,
            isFirstOfProcess: Bool
        ) {
            (self.number, self.endpoint, self.request, self.operations) = (number, endpoint, request, operations)
            (self.now, self.isProcessed, self.outcome, self.settledAt) = (now, isProcessed, outcome, settledAt)
            self.isFirstOfProcess = isFirstOfProcess
        }
    }

    /// An operation on its way to this vendor.
    public struct Entry: Sendable {
        /// The operation.
        public var operation: EngagementOperation
        /// How it ended, in the word of the accounts; nil while it is pending.
        public var term: String?
        /// The code of the reason; empty without one.
        public var code: String

        /// Whether the vendor holds it, as far as anybody said: taken, known already, or replaced by what came later.
        public var isTaken: Bool { term.map { ["accepted", "unchanged", "superseded"].contains($0) } ?? false }

        package init(operation: EngagementOperation, term: String?, code: String) {
            (self.operation, self.term, self.code) = (operation, term, code)
        }
    }

    /// Every request to this vendor, in order.
    public var requests: [Request] = []
    /// Every operation that came this vendor's way, in order: captured, or made by the engine.
    public var entries: [Entry] = []
    /// When something woke the engine: a capture, the network, the foreground, a start.
    public var wakes: [Instant] = []
    /// What the app said last, folded.
    public var snapshot = SubjectSnapshot()
    /// Whether this vendor alone heard everything from the beginning, and never said yes to what it had not done: then it
    /// holds in the end what the app said.
    public var isWhole = true
    /// Whether the adapter was told of all that the vendor did. If not, a process died of a request that no journal knows, and
    /// the operations that it carried ended otherwise: then the vendor may hold what it is not said to have taken.
    public var isTold = true

    /// Creates a story in which nothing happened.
    public init() {}

    /// What the laws of waiting say: after an outcome that was stored, nothing of these endpoints may leave for a time.
    ///
    /// - Parameters:
    ///   - endpoints: the endpoints that wait for one another.
    ///   - isSame: whether only a request that carries the same operation has to wait.
    ///   - wait: how long after the request's outcome; nil if it need not be waited for.
    /// - Returns: a sentence for each request that left too early.
    public func early(
        _ endpoints: Set<String>,
        carryingTheSame isSame: Bool = false,
        after wait: (Request) -> Duration?
    ) -> [String] {
        var problems: [String] = []
        var last: [Request] = []
        for request in requests where endpoints.contains(request.endpoint) {
            let former = last.last { !isSame || !Set($0.operations).isDisjoint(with: request.operations) }
            if let former, let settledAt = former.settledAt, let wait = wait(former), request.now < settledAt + wait {
                problems.append(
                    "request \(request.number) left \(request.now - settledAt) after request \(former.number) failed, not \(wait)"
                )
            }
            if isSame { last.append(request) } else { last = [request] }
        }
        return problems
    }

    /// What the law of tokens says: one is asked for again when it has ended, or once after it was refused.
    ///
    /// - Parameters:
    ///   - isRefusal: whether an answer refuses a token.
    ///   - isGood: whether a text is a token that the vendor takes at an instant; what was said falsely to be one is none.
    /// - Returns: a sentence for each question of the endpoint `token` that nobody needed.
    public func needlessTokens(
        isRefusal: (WireResponse) -> Bool = { $0.status == 401 },
        isGood: (_ text: String, _ now: Instant) -> Bool = { _, _ in true }
    ) -> [String] {
        var problems: [String] = []
        var asked: Request?
        var wasRefused = false
        for request in requests {
            if request.outcome?.reply.map(isRefusal) ?? false { wasRefused = true }
            guard request.endpoint == "token" else { continue }
            if let former = asked, let reply = former.outcome?.reply, reply.status == 200, !wasRefused,
                let body = reply.json, let life = body["expires_in"]?.integer, let text = body["access_token"]?.string,
                request.now < former.now + .seconds(life), isGood(text, request.now)
            {
                problems.append("request \(request.number) asks for a token while another is good")
            }
            (asked, wasRefused) = (request, false)
        }
        return problems
    }

    /// Whether something woke the engine between two instants.
    public func isWoken(from start: Instant, to end: Instant) -> Bool {
        // Wakes are in order of time: the first that is not before the start decides.
        var (low, high) = (0, wakes.count)
        while low < high {
            let middle = (low + high) / 2
            if wakes[middle] < start { low = middle + 1 } else { high = middle }
        }
        return low < wakes.count && wakes[low] <= end
    }

    /// The values that this vendor took last, by attribute; nil inside where the last word was to unset it, and without a
    /// row where the last change did not end with a clear yes.
    public var attributes: [AttributeName: AttributeValue?] { attributes { _ in true } }

    /// The same of what certain operations say.
    public func attributes(where isMeant: (EngagementOperation) -> Bool) -> [AttributeName: AttributeValue?] {
        var values: [AttributeName: AttributeValue?] = [:]
        for entry in entries where isMeant(entry.operation) {
            guard case .changeAttributes(let changes) = entry.operation.action else { continue }
            for (name, change) in changes {
                guard entry.isTaken else {
                    values.removeValue(forKey: name)
                    continue
                }
                if case .set(let value) = change { values[name] = .some(value) } else { values[name] = .some(nil) }
            }
        }
        return values
    }

    /// The last word of these kinds that came this vendor's way; nil if it did not end with a clear yes.
    public func lastTaken(_ kinds: Set<Action.Kind>) -> EngagementOperation? {
        entries.last { kinds.contains($0.operation.action.kind) }.flatMap { $0.isTaken ? $0.operation : nil }
    }

    /// What the vendor's events say against those that it said yes to: each is there, and the first of each of one person came
    /// in order.
    ///
    /// - Parameter names: the names of the vendor's events, in the order received.
    /// - Returns: a sentence for each difference.
    public func differences(inEvents names: [String]) -> [String] {
        var first: [String: Int] = [:]
        for (place, name) in names.enumerated() where first[name] == nil { first[name] = place }
        let lost = takenEvents.filter { first[$0] == nil }.map { "the vendor has no event \($0)" }
        let people = Dictionary(grouping: entries) { $0.operation.contact }.sorted { $0.key ?? "" < $1.key ?? "" }
        let disorder = people.flatMap { _, own in
            let places = Self.takenEvents(of: own).compactMap { first[$0] }
            return zip(places, places.dropFirst()).filter { $0 > $1 }
        }
        return lost + disorder.map { "the vendor has the event \(names[$1]) before \(names[$0])" }
    }

    /// The names of the custom events that this vendor said yes to.
    public var takenEvents: [String] { Self.takenEvents(of: entries) }

    private static func takenEvents(of entries: [Entry]) -> [String] {
        entries.compactMap { entry in
            guard entry.term == "accepted", case .track(.custom(let name, _)) = entry.operation.action else {
                return nil
            }
            return name
        }
    }
}

extension Outcome {
    /// Whether there was no answer, or one of those statuses.
    public func failed(or statuses: ClosedRange<Int>...) -> Bool {
        reply.map { reply in statuses.contains { $0.contains(reply.status) } } ?? true
    }
}
