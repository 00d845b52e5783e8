public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// A run of one adapter, one simulated vendor and one script through the real engine and the real outbox, with one fault.
///
/// After the death of a process another one starts, and captures again the operations that the first could not store.
/// After the script, time passes until no operation is pending.
public final class Trial {
    /// The adapter, the vendor and the script of a trial.
    public struct Play: Sendable {
        /// The adapter.
        public var adapter: any VendorAdapter
        /// The vendor: processes a request, changes its ledger, and returns a reply.
        public var vendor: @Sendable (WireRequest, inout VendorLedger) -> WireResponse
        /// The steps.
        public var script: [TrialStep]
        /// The consents that operations require.
        public var requiredConsent: Set<Consent.Scope>

        /// Creates a play.
        public init(
            adapter: any VendorAdapter,
            script: [TrialStep],
            requiredConsent: Set<Consent.Scope> = [],
            vendor: @escaping @Sendable (WireRequest, inout VendorLedger) -> WireResponse
        ) {
            (self.adapter, self.script) = (adapter, script)
            (self.requiredConsent, self.vendor) = (requiredConsent, vendor)
        }
    }

    /// A request that a running process sent.
    public struct Request: Sendable {
        /// Its number, from 1.
        public let number: Int
        /// The time on the engine's timeline.
        public let now: Instant
        /// The request.
        public let request: WireRequest
        /// Whether the vendor processed the request.
        public let isProcessed: Bool
        /// The number of operations that were on the disk when the request left.
        public let operationsBefore: Int
    }

    /// The outcome of an operation.
    public struct Outcome: Hashable, Sendable {
        /// The word of the operation: see ``EngagementOperation/word``.
        public let word: String
        /// The outcome's term.
        public let term: OperationOutcome.Term
        /// The finding's code; empty without one.
        public let code: String
    }

    /// The header with the ids of the operations that a request carries, joined by spaces.
    public static let operationsHeader = "Operations"
    /// The name of the only provider.
    public static let provider = "p"

    /// The fault.
    public let disturbance: Disturbance
    /// The vendor's effects and state.
    public private(set) var ledger = VendorLedger()
    /// The requests of running processes, in order.
    public private(set) var requests: [Request] = []
    /// The captured operations that are on the disk, in order.
    public private(set) var operations: [EngagementOperation] = []
    /// The problems.
    public private(set) var problems: [String] = []
    /// The number of storage points that were passed.
    public private(set) var storagePoints = 0
    /// The machine and the engine's events.
    public let world: VirtualWorld

    private let play: Play
    private let plan: RoutingPlan
    private var isDying = false
    private var isInterrupted = false
    private var questions = 0

    private struct Death: Error {}
    /// The error for more requests than any script needs.
    private struct Runaway: Error {}
    private static let limit = 500

    /// Creates a trial that has not started.
    public init(_ play: Play, _ disturbance: Disturbance = .none) throws {
        (self.play, self.disturbance) = (play, disturbance)
        plan = RoutingPlan(
            providers: [.init(name: Self.provider, adapter: play.adapter, mode: .live)],
            requiredConsent: play.requiredConsent
        )
        world = try VirtualWorld()
        world.credentials = { [unowned self] _, _ in ledger.credential.map { Secret($0) } }
        world.network = { [unowned self] in fate(of: $0) }
        world.onStorage { [unowned self] _ in
            storagePoints += 1
            if requests.count > Self.limit { throw Runaway() }
            if case .death(storagePoints) = disturbance { isDying = true }
            // A dead process stores nothing.
            if isDying || isInterrupted {
                isDying = true
                throw Death()
            }
        }
    }

    /// Runs the script, lets all operations complete, and checks the invariants that hold for every adapter.
    public func run() throws {
        do {
            try perform()
        } catch is Runaway {
            world.kill()
            return problems.append("more than \(Self.limit) requests were sent")
        }
        try checkAccounts()
    }

    private func perform() throws {
        try restartingAfterDeath { try world.start(plan) }
        for (number, step) in play.script.enumerated() {
            try perform(step)
            try disturb(after: number + 1)
        }
        var isOver = false
        while !isOver {
            try restartingAfterDeath {
                try world.drain(atMost: .seconds(400 * 86_400))
                isOver = true
            }
        }
    }

    // MARK: Steps

    private func perform(_ step: TrialStep) throws {
        switch step {
        case .capture(let actions, let subject, let contact): try capture(actions, subject, contact)
        case .ask(let what):
            try restartingAfterDeath { try world.read(question(what), from: Self.provider, timeout: .seconds(60)) }
        case .pass(let duration): try pass(duration)
        case .wake: try restartingAfterDeath { try world.wake() }
        case .flush: try restartingAfterDeath { try world.flush() }
        case .resume: try restartingAfterDeath { try world.resume(Self.provider) }
        case .credential(let credential): ledger.credential = credential
        case .vendor(let mode): ledger.mode = mode
        }
    }

    private func capture(_ actions: [Action], _ subject: Subject, _ contact: String?) throws {
        let captured = actions.map { action in
            EngagementOperation(
                id: world.host.makeID(),
                subject: subject,
                contact: contact,
                capturedAt: world.host.date(),
                appState: .active,
                action: action
            )
        }
        try restartingAfterDeath {
            // If the process died after the commit, the outbox already has the operations.
            if try !isStored(captured[0].id) { try world.capture(captured) }
        }
        if try !isStored(captured[0].id) { try world.capture(captured) }
        operations += captured
    }

    private func isStored(_ id: OperationID) throws -> Bool {
        if try world.store.history.entries(provider: nil, limit: .max).contains(where: { $0.id == id.rawValue }) {
            return true
        }
        if try world.stagedCaptures().contains(id.rawValue) { return true }
        var isPending = false
        try world.store.queues.forEachRow(provider: Self.provider, subject: nil) { row in
            if row.operation.id == id.rawValue { isPending = true }
        }
        return isPending
    }

    private func question(_ what: String) -> EngagementOperation {
        questions += 1
        return EngagementOperation(
            id: OperationID(rawValue: "question-\(questions)"),
            subject: "s-1",
            capturedAt: world.host.date(),
            action: .readBack(ReadRequest(what))
        )
    }

    private func pass(_ duration: Duration) throws {
        let end = world.host.uptime() + duration
        while world.host.uptime() < end {
            try restartingAfterDeath { try world.advance(by: end - world.host.uptime()) }
        }
    }

    private func disturb(after step: Int) throws {
        switch disturbance {
        case .restart(step): try world.restart()
        case .reboot(step): try world.reboot(after: .seconds(20))
        case .jump(step, let seconds): world.host.jump(by: .seconds(seconds))
        default: break
        }
    }

    /// Runs a closure in which the process may die. After a death, starts another process.
    private func restartingAfterDeath(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch  where isDying {
            try revive()
        }
    }

    private func revive() throws {
        (isDying, isInterrupted) = (false, false)
        try world.restart(plan)
    }

    private func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        // The engine attempts the other lanes although the simulated process is already dead. Those requests do not
        // count.
        guard !isDying, !isInterrupted else { return .silence }
        let number = requests.count + 1
        (ledger.now, ledger.request, ledger.delay) = (sent.now, number, .milliseconds(100))
        let isProcessed = disturbance != .interrupted(request: number) && disturbance != .unsent(request: number)
        requests.append(
            Request(
                number: number,
                now: sent.now,
                request: sent.request,
                isProcessed: isProcessed,
                operationsBefore: operations.count
            )
        )
        checkIsPending(sent.request, number)
        guard isProcessed else {
            isInterrupted = disturbance == .interrupted(request: number)
            let failure = TransportFailure(isInterrupted ? .lost : .notSent, "hostNotFound")
            return .outcome(.failed(failure), after: .milliseconds(100))
        }
        let response = play.vendor(sent.request, &ledger)
        if disturbance == .lost(request: number) {
            return .outcome(.failed(TransportFailure(.lost, "connectionLost")), after: ledger.delay)
        }
        return .outcome(.replied(response), after: ledger.delay)
    }

    // MARK: Expectations

    /// Records a problem unless a condition holds.
    public func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { problems.append(problem()) }
    }

    /// Checks that a request carries no completed operation.
    private func checkIsPending(_ request: WireRequest, _ number: Int) {
        let ended = Set(((try? world.store.history.entries(provider: Self.provider, limit: .max)) ?? []).map(\.id))
        for id in (request[header: Self.operationsHeader] ?? "").split(separator: " ").map(String.init) {
            expect(!ended.contains(id), "request \(number) carries an operation whose verdict is known")
        }
    }

    private func checkAccounts() throws {
        for account in try world.accounts() {
            expect(account.balances, "the accounts do not balance")
            expect(account.pending == 0, "\(account.pending) pending: \(account.waits.flatMap(\.reasons).map(\.code))")
            expect(account.suspended == nil, "suspended: \(account.suspended?.code ?? "")")
        }
        for fault in try world.store.maintenance.verify().faults { problems.append("outbox: \(fault.detail)") }
        let history = try world.store.history.entries(provider: Self.provider, limit: .max)
        expect(Set(history.map(\.id)).count == history.count, "an operation has two outcomes")
        let lost = Set(operations.map(\.id.rawValue)).subtracting(history.map(\.id))
        expect(lost.isEmpty, "\(lost.count) operations were lost")
    }

    /// Returns all outcomes in order. The word of an operation that was not captured, such as a follow-up, is `created`.
    public func outcomes() throws -> [Outcome] {
        let words = Dictionary(operations.map { ($0.id.rawValue, $0.word) }) { first, _ in first }
        return try world.store.history.entries(provider: Self.provider, limit: .max).reversed().map { entry in
            Outcome(
                word: words[entry.id] ?? "created",
                term: OperationOutcome.Term(rawValue: entry.term) ?? .quarantined,
                code: entry.code
            )
        }
    }

    /// Returns the outcome of the operation with a word; nil if it has none.
    public func outcome(of word: String) throws -> Outcome? { try outcomes().first { $0.word == word } }

    /// Returns the answer to the n-th query, from 1; nil if there is none.
    public func answer(to question: Int = 1) -> OperationOutcome? {
        world.outcome(of: OperationID(rawValue: "question-\(question)"), on: Self.provider)
    }

    /// Records a problem unless the vendor had exactly these effects, in this order.
    ///
    /// If the delivery of a request was uncertain, up to `repeats` effects may occur twice. The first of each must be
    /// in order.
    public func expectEffects(_ expected: [String], repeats: Int = 1) {
        let texts = ledger.texts
        guard disturbance.leavesUncertainDelivery else {
            return expect(texts == expected, "the vendor did \(texts), not \(expected)")
        }
        var seen: Set<String> = []
        let firsts = texts.filter { seen.insert($0).inserted }
        expect(firsts == expected, "the vendor did \(texts); without repeats that is not \(expected)")
        expect(texts.count <= expected.count + repeats, "the vendor did \(texts): repeated more than \(repeats)")
    }
}

@available(*, unavailable)
extension Trial: Sendable {}
