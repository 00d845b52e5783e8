import PatchbayJSON
public import PatchbayModel

/// The events between the engine and one vendor in a randomized run, for checking the vendor's own policies.
public struct SceneStory: Sendable {
    /// A request that was sent.
    public struct Request: Sendable {
        /// The number of the request over all vendors, from 1.
        public var number: Int
        /// The adapter's name for the endpoint.
        public var endpoint: String
        /// The request.
        public var request: WireRequest
        /// The operations that the request carried or was made for.
        public var operations: [OperationID]
        /// The time at which the request was sent, on the engine's timeline.
        public var now: Instant
        /// Whether the vendor processed it.
        public var isProcessed: Bool
        /// The outcome that the engine received and stored; nil if there was none.
        public var outcome: Outcome?
        /// The time at which the outcome was stored, on the engine's timeline.
        public var settledAt: Instant?
        /// Whether the process was restarted between the previous request and this one.
        public var isFirstOfProcess: Bool

        /// The delay that the reply asks for.
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

    /// An operation that was pending for this vendor.
    public struct Entry: Sendable {
        /// The operation.
        public var operation: EngagementOperation
        /// The outcome as the accounts name it; nil while the operation is pending.
        public var term: String?
        /// The finding code of the outcome; empty if there is none.
        public var code: String

        /// Whether the vendor has the operation's values according to the outcome: accepted, unchanged, or superseded by a
        /// later operation.
        public var isTaken: Bool { term.map { ["accepted", "unchanged", "superseded"].contains($0) } ?? false }

        package init(operation: EngagementOperation, term: String?, code: String) {
            (self.operation, self.term, self.code) = (operation, term, code)
        }
    }

    /// Every request to this vendor, in order.
    public var requests: [Request] = []
    /// Every operation that was pending for this vendor, in order: captured, or created by the engine.
    public var entries: [Entry] = []
    /// The times at which an event woke the engine: a capture, the network, the foreground, or a start.
    public var wakes: [Instant] = []
    /// The app's last values, combined.
    public var snapshot = SubjectSnapshot()
    /// Whether this vendor alone received everything from the beginning, and never confirmed anything that it had not done. If
    /// so, it has the app's values in the end.
    public var isWhole = true
    /// Whether the adapter was informed of everything that the vendor did. It is false if the process died during a request
    /// without a journal entry and its operations were completed in another way. The vendor may then have values that no
    /// outcome reports.
    public var isInformed = true

    /// Creates a story without events.
    public init() {}

    /// Checks a retry policy: after a stored outcome, no request to these endpoints may be sent for some time.
    ///
    /// - Parameters:
    ///   - endpoints: The endpoints that share a delay.
    ///   - isSame: Whether only requests that carry the same operation have to wait.
    ///   - wait: Returns the delay after a request's outcome; nil if there is none.
    /// - Returns: A sentence for each request that was sent too early.
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

    /// Checks the token policy: a token is requested again only after it has expired, or once after it was refused.
    ///
    /// - Parameters:
    ///   - isRefusal: Returns whether a reply refuses a token.
    ///   - isGood: Returns whether the vendor accepts a text as a token at an instant. It must return false for a text from a
    ///     misleading reply.
    /// - Returns: A sentence for each unnecessary request to the endpoint `token`.
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

    /// Whether an event woke the engine between two instants.
    public func isWoken(from start: Instant, to end: Instant) -> Bool {
        // Wakes are sorted by time, so the first one that is not before the start decides.
        var (low, high) = (0, wakes.count)
        while low < high {
            let middle = (low + high) / 2
            if wakes[middle] < start { low = middle + 1 } else { high = middle }
        }
        return low < wakes.count && wakes[low] <= end
    }

    /// The values that this vendor accepted last, by attribute. A value is nil if the last accepted change unset it. An
    /// attribute is missing if its last change was not confirmed.
    public var attributes: [AttributeName: AttributeValue?] { attributes { _ in true } }

    /// Returns the same values for a subset of the operations.
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

    /// Returns the last operation of these kinds for this vendor; nil if it was not confirmed.
    public func lastTaken(_ kinds: Set<Action.Kind>) -> EngagementOperation? {
        entries.last { kinds.contains($0.operation.action.kind) }.flatMap { $0.isTaken ? $0.operation : nil }
    }

    /// Compares the vendor's events with the ones that it confirmed. Every confirmed event must exist, and the first
    /// occurrences of each person's events must be in order.
    ///
    /// - Parameter names: The names of the vendor's events, in the order received.
    /// - Returns: A sentence for each difference.
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

    /// The names of the custom events that this vendor confirmed.
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
    /// Whether there was no reply, or one with one of these statuses.
    public func failed(or statuses: ClosedRange<Int>...) -> Bool {
        reply.map { reply in statuses.contains { $0.contains(reply.status) } } ?? true
    }
}
