import Patchbay
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let outboxClear = Command(
        "outbox clear",
        "Drop pending operations or delete rejects",
        task: .send,
        details: """
            Selects operations by an expression. Without --yes, only counts the matching operations by provider, state and kind. An expression is one or more
            terms separated by spaces; an operation must match all of them:

              provider=NAME, kind=track, subject=NAME, id=ID
              older=30d       captured longer ago, in s, m, h or d
              state=pending   or state=held (waits for consent)
              state=rejected  kept for replay
              code=CODE       rejected with this code

            Consent decisions and erasures match only if kind= names them. Cleared operations have the outcome "dropped" with
            the code "cleared". If an app has the outbox open, a request in flight may still reach the vendor.
            """,
        arguments: [.required("FILE", "Outbox file")],
        required: [.where],
        optional: [.yes],
        examples: [
            Example("Count the rejects", "patchbay outbox clear outbox.sqlite --where state=rejected"),
            Example(
                "Drop events that wait for more than 30 days",
                "patchbay outbox clear outbox.sqlite --where \"kind=track older=30d\" --yes"
            ),
        ]
    ) { session in
        let filter = try OutboxFilter(parsing: session.invocation.text(.where) ?? "", now: session.host().date())
        let path = session.invocation.argument(0) ?? ""
        let isInEarnest = session.invocation.has(.yes)
        // Opens the existing file for reading first: a wrong path must not create an outbox.
        var store = try session.outbox(at: path)
        if let provider = filter.provider { try session.requireKnown(provider, "--where: provider", store) }
        if isInEarnest { store = try session.outboxForWriting(path) }
        let clearing = Clearing(store: store, filter: filter, isInEarnest: isInEarnest, date: try session.host().date())
        let (counts, shared) = try clearing.run()
        for (what, count) in counts.inOrder {
            try session.console.data([
                "provider": .string(what.provider), "state": .string(what.state.rawValue),
                "kind": .string(what.kind), "count": .integer(count),
            ])
        }
        let sum = counts.values.reduce(0, +)
        session.console.say(
            isInEarnest
                ? "Cleared \(sum.counted("operation"))."
                : "\(sum.counted("operation")) would be cleared. Nothing was changed; add --yes to clear."
        )
        if shared > 0 {
            session.console.say(
                "\(shared.counted("capture")) for several providers stay. Run `patchbay send` once, then clear again."
            )
        }
        return .fine
    }
}

/// A filter that selects operations of an outbox.
struct OutboxFilter: Equatable {
    /// The state of an operation in the outbox.
    enum State: String, CaseIterable, Comparable {
        case pending, held, rejected

        static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var provider, code, subject, id: String?
    private(set) var kind: Action.Kind?
    private(set) var state: State?
    private(set) var before: Instant?

    private static let keys = ["provider", "kind", "code", "subject", "id", "older", "state"]
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Parses a filter expression.
    ///
    /// - Throws: ``UsageError`` with every problem of the expression.
    init(parsing text: String, now: Instant) throws(UsageError) {
        var (problems, seen): ([String], Set<String>) = ([], [])
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, Self.keys.contains(parts[0]), !parts[1].isEmpty else {
                let guess = parts[0].nearest(in: Self.keys).map { " Did you mean \($0)=?" } ?? ""
                problems.append(
                    "--where: \"\(parts[0])\" is not a term of the form key=value.\(guess) Keys: \(Self.keys.joined(separator: ", "))."
                )
                continue
            }
            guard seen.insert(parts[0]).inserted else {
                problems.append("--where: \(parts[0]) is given twice. Keep one.")
                continue
            }
            if let problem = take(parts[0], parts[1], now) { problems.append("--where: \(problem)") }
        }
        if seen.isEmpty, problems.isEmpty {
            problems.append("--where is empty. Select operations, for example with state=rejected.")
        }
        if code != nil, let state, state != .rejected {
            problems.append(
                "--where: only rejected operations have a code. Leave out state=\(state.rawValue) or the code."
            )
        }
        if !problems.isEmpty { throw UsageError(problems, command: "outbox clear") }
    }

    /// Sets the condition of one term.
    ///
    /// - Returns: The problem of the term; nil if it is valid.
    private mutating func take(_ key: String, _ value: String, _ now: Instant) -> String? {
        switch key {
        case "provider": provider = value
        case "code": code = value
        case "subject": subject = value
        case "id": id = value
        case "kind":
            kind = Action.Kind(rawValue: value)
            if kind == nil { return unknown(value, key, Action.Kind.allCases.map(\.rawValue)) }
        case "state":
            state = State(rawValue: value)
            if state == nil { return unknown(value, key, State.allCases.map(\.rawValue)) }
        default:
            guard let unit = value.last.flatMap({ Self.units[$0] }), let number = Int(value.dropLast()),
                (0...1_000_000).contains(number)
            else { return "older needs a whole number and a unit, such as 30d, 12h, 90m or 45s." }
            before = now + (.zero - .seconds(number * unit))
        }
        return nil
    }

    private func unknown(_ value: String, _ key: String, _ known: [String]) -> String {
        let guess = value.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
        return "unknown \(key) \"\(value)\".\(guess) Values: \(known.joined(separator: ", "))."
    }

    /// Whether the filter can select operations in a state.
    func covers(_ other: State) -> Bool { state.map { $0 == other } ?? (code == nil || other == .rejected) }

    /// Whether the filter selects an operation. `kind` is nil for an operation that this release cannot read.
    func fits(_ operation: OutboxOperation, _ kind: Action.Kind?, code: String?) -> Bool {
        let isMeant = self.kind.map { $0 == kind } ?? (kind != .setConsent && kind != .erase)
        func fits(_ wanted: String?, _ found: String) -> Bool { wanted.map { ScalarString.equal($0, found) } ?? true }
        return isMeant && fits(subject, operation.subject) && fits(id, operation.id) && fits(self.code, code ?? "")
            && before.map { Instant(milliseconds: operation.capturedAt) < $0 } ?? true
    }
}

/// One run of `outbox clear`, in memory that does not grow with the outbox.
private struct Clearing {
    /// The key by which cleared operations are counted.
    struct Heap: Hashable, Comparable {
        let provider: String
        let state: OutboxFilter.State
        let kind: String

        static func < (left: Heap, right: Heap) -> Bool {
            (left.provider, left.state, left.kind) < (right.provider, right.state, right.kind)
        }
    }

    let store: OutboxStore
    let filter: OutboxFilter
    let isInEarnest: Bool
    let date: Instant

    /// Clears the selected operations, or only counts them if this is not in earnest.
    ///
    /// - Returns: The counts, and the number of staged captures that stay because other providers are to receive them, too.
    func run() throws -> (counts: [Heap: Int], shared: Int) {
        var counts: [Heap: Int] = [:]
        for provider in try filter.provider.map({ [$0] }) ?? store.state.providers().map(\.name) {
            if filter.covers(.pending) || filter.covers(.held) { try clearPending(provider, &counts) }
            if filter.covers(.rejected) { try clearRejects(provider, &counts) }
        }
        guard filter.covers(.pending) else { return (counts, 0) }
        let shared = try clearStagedCaptures(&counts)
        return (counts, shared)
    }

    /// Clears staged captures, one batch at a time.
    private func clearStagedCaptures(_ counts: inout [Heap: Int]) throws -> Int {
        var shared = 0
        for number in try store.captures.stagedNumbers() {
            if isInEarnest {
                try store.transaction(.normal) { shared += try clearStagedCapture(number, &counts) }
            } else {
                shared += try clearStagedCapture(number, &counts)
            }
        }
        return shared
    }

    private func clearStagedCapture(_ number: Int64, _ counts: inout [Heap: Int]) throws -> Int {
        guard let row = try store.captures.arrived(number) else { return 0 }
        var (rest, shared): ([StagedCapture], Int) = ([], 0)
        for capture in row.captures {
            guard let stored = capture.stored, isMeant(capture, stored) else {
                rest.append(capture.stagedCapture)
                continue
            }
            if filter.provider != nil, capture.providers.count > 1 {
                rest.append(capture.stagedCapture)
                shared += 1
                continue
            }
            let kind = capture.operation?.action.kind.rawValue ?? "unreadable"
            for provider in capture.providers {
                counts[Heap(provider: provider, state: .pending, kind: kind), default: 0] += 1
            }
            if isInEarnest { try book(stored, capture.providers) }
        }
        if isInEarnest, rest.count < row.captures.count {
            try store.captures.replaceStaged(number, with: rest, routes: row.routes)
        }
        return shared
    }

    private func isMeant(_ capture: ArrivedCapture, _ stored: OutboxOperation) -> Bool {
        filter.fits(stored, capture.operation?.action.kind, code: nil)
            && filter.provider.map { capture.providers.contains($0) } ?? true
    }

    /// Records a staged capture as if it had been routed to the providers and then cleared there.
    private func book(_ operation: OutboxOperation, _ providers: [String]) throws {
        // A file that was edited by hand may hold an operation twice; an operation that is known is already recorded.
        guard try !store.deliveryMarks.knows(operation.id) else { return }
        let sequence = try store.captures.insert(operation)
        for provider in providers {
            try store.accounts.count(provider: provider, term: "captured", code: "", by: 1)
            try store.captures.enter(sequence, provider: provider, lane: "", queue: "", hold: nil)
        }
        for provider in providers { try drop(sequence, provider) }
        try store.operations.discardIfUnrouted(sequence)
    }

    private func drop(_ sequence: Int64, _ provider: String) throws {
        try store.settlement.complete(
            provider: provider,
            sequence: sequence,
            term: OperationOutcome.Term.dropped.rawValue,
            code: "cleared",
            at: date.milliseconds
        )
    }

    private func clearPending(_ provider: String, _ counts: inout [Heap: Int]) throws {
        var meant: [Int64] = []
        try store.queues.forEachRow(provider: provider, subject: filter.subject) { row in
            let state = row.hold == nil ? OutboxFilter.State.pending : .held
            let kind = Self.kind(of: row.operation)
            guard filter.covers(state), filter.fits(row.operation, kind, code: nil) else { return }
            counts[Heap(provider: provider, state: state, kind: kind?.rawValue ?? "unreadable"), default: 0] += 1
            meant.append(row.operation.sequence)
            if meant.count >= 1_000 { try end(&meant, provider) }
        }
        try end(&meant, provider)
    }

    private func end(_ sequences: inout [Int64], _ provider: String) throws {
        defer { sequences = [] }
        guard isInEarnest, !sequences.isEmpty else { return }
        try store.transaction(.normal) {
            for sequence in sequences { try drop(sequence, provider) }
        }
    }

    private func clearRejects(_ provider: String, _ counts: inout [Heap: Int]) throws {
        var meant: [Int64] = []
        func remove() throws {
            defer { meant = [] }
            guard isInEarnest, !meant.isEmpty else { return }
            try store.transaction(.normal) { for number in meant { try store.rejects.remove(number) } }
        }
        try store.rejects.forEach(provider: provider) { reject in
            let kind = Self.kind(of: reject.operation)
            guard filter.fits(reject.operation, kind, code: reject.code) else { return }
            counts[Heap(provider: provider, state: .rejected, kind: kind?.rawValue ?? "unreadable"), default: 0] += 1
            meant.append(reject.number)
            if meant.count >= 1_000 { try remove() }
        }
        try remove()
    }

    private static func kind(of operation: OutboxOperation) -> Action.Kind? {
        (try? EngagementOperation(jsonBytes: operation.body))?.action.kind
    }
}
