public import Patchbay
import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// One random run of the real engine: captures, slow, lying and lost answers, crashes at every point of the storage, clock
/// jumps, reboots and switches of configuration; then everything heals and must come out right.
///
/// The same seed gives the same run.
public final class FaultSimulation {
    /// What is to be tried.
    public struct Setup {
        /// Configurations; the run begins with the first and goes on to the next at random.
        public var plans: [RoutingPlan]
        /// The vendors behind the providers, by the provider's name.
        public var vendors: [String: SimulatedVendor]
        /// Credentials.
        public var credentials: (_ provider: String, _ contact: String?) -> Secret?
        /// Makes the next thing that the app says.
        public var action: (inout SeededGenerator, _ number: Int) -> Action
        /// How many things happen.
        public var steps: Int
        /// What the app says once everything is well again; nothing of it can get lost.
        public var closing: Action?

        /// A setup.
        public init(
            plans: [RoutingPlan],
            vendors: [String: SimulatedVendor],
            credentials: @escaping (String, String?) -> Secret? = { _, _ in nil },
            steps: Int = 60,
            closing: Action? = nil,
            action: @escaping (inout SeededGenerator, Int) -> Action
        ) {
            (self.plans, self.vendors, self.credentials) = (plans, vendors, credentials)
            (self.steps, self.closing, self.action) = (steps, closing, action)
        }
    }

    /// The world, for checks of a vendor's own.
    public let world: VirtualWorld
    /// What happened, a line each.
    public private(set) var trace: [String] = []
    /// What came out wrong; empty if all is well.
    public private(set) var problems: [String] = []
    /// Operations whose capture was acknowledged, in order.
    public private(set) var acknowledged: [EngagementOperation] = []
    /// Requests that a vendor really processed, by number of ``VirtualWorld/sent``.
    public private(set) var processed: Set<Int> = []

    private let setup: Setup
    private var random: SeededGenerator
    private var position = 0
    private var isHealthy = false
    private var captureCount = 0
    private var stepsToDeath: Int?
    /// A storage point said that the process dies; whatever error reaches us is that.
    private var isDying = false
    private var contact: String?
    private static let subject: Subject = "9D2C5B7E-6A14-4E3B-8F6D-0C1A2B3D4E5F"

    private struct Death: Error {}

    /// A run that has not begun.
    public init(seed: UInt64, _ setup: Setup) throws {
        self.setup = setup
        random = SeededGenerator(seed: seed)
        world = try VirtualWorld(seed: seed)
        world.credentials = setup.credentials
        world.network = { [unowned self] in fate(of: $0) }
        world.onStorage { [unowned self] _ in
            guard let steps = stepsToDeath else { return }
            stepsToDeath = steps - 1
            guard steps <= 0 else { return }
            isDying = true
            throw Death()
        }
    }

    /// Plays the run, heals everything, and checks.
    ///
    /// - Returns: what came out wrong.
    @discardableResult
    public func run() throws -> [String] {
        try mortally { try world.start(setup.plans[0]) }
        for _ in 0..<setup.steps { try mortally { try step() } }
        try heal()
        try check()
        return problems
    }

    // MARK: What happens

    private func step() throws {
        switch random.below(24) {
        case 0..<10: try capture()
        case 10..<16: try advance(.milliseconds(1 + random.below(90_000)), "a while")
        case 16: try advance(.seconds(3600 + random.below(200_000)), "long")
        case 17:
            note("clock jumps")
            world.host.jump(by: .seconds(random.below(4_000_000) - 2_000_000))
        case 18:
            note("flush")
            try world.flush()
        case 19:
            note("wake")
            try world.wake()
        case 20:
            note("killed")
            try world.restart(plan)
        case 21:
            stepsToDeath = random.below(6)
            note("dies after \(stepsToDeath ?? 0) storage points")
        case 22:
            note("reboot")
            try world.reboot(after: .seconds(random.below(100_000)))
        default:
            guard position + 1 < setup.plans.count, random.below(3) == 0 else { return }
            position += 1
            note("configuration \(position)")
            try world.restart(plan)
        }
    }

    private var plan: RoutingPlan { setup.plans[position] }

    private func capture() throws {
        let count = 1 + random.below(4)
        try capture((0..<count).map { setup.action(&random, captureCount + $0 + 1) })
    }

    private func capture(_ actions: [Action]) throws {
        let operations = actions.map { action in
            captureCount += 1
            if case .switchContact(let change) = action { contact = change.identifiers.first?.value }
            return EngagementOperation(
                id: OperationID(rawValue: VirtualHost.id(1_000_000 + captureCount)),
                subject: Self.subject,
                contact: contact,
                capturedAt: world.host.date(),
                appState: .active,
                action: action
            )
        }
        note("captures \(operations.map { "\($0.id.rawValue.suffix(4)):\($0.action.kind)" }.joined(separator: " "))")
        do {
            try world.capture(operations)
        } catch  where isDying {
            // The commit may have been done although the process died before it could say so: the outbox knows.
            acknowledged += try operations.filter { try isStored($0.id) }
            throw Death()
        }
        acknowledged += operations
    }

    private func isStored(_ id: OperationID) throws -> Bool {
        for provider in try world.store.providers() {
            if try world.store.history(provider: provider.name, limit: .max).contains(where: { $0.id == id.rawValue }) {
                return true
            }
            var isPending = false
            try world.store.forEachRow(provider: provider.name, subject: nil) { row in
                if row.operation.id == id.rawValue { isPending = true }
            }
            if isPending { return true }
        }
        return false
    }

    private func advance(_ duration: Duration, _ name: String) throws {
        note("\(name): \(duration)")
        try world.advance(by: duration)
    }

    /// Runs something in which the process may die; then another begins.
    private func mortally(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch  where isDying {
            note("died")
            (stepsToDeath, isDying) = (nil, false)
            try world.restart(plan)
        }
    }

    private func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        let delay = Duration.milliseconds(1 + random.below(3000))
        guard !isHealthy else { return process(sent, after: .milliseconds(20)) }
        switch random.below(14) {
        case 0: return answer(500, after: delay)
        case 1: return answer(503, after: delay)
        case 2: return answer(429, [WireHeader("Retry-After", "\(1 + random.below(100))")], after: delay)
        case 3: return .outcome(.failed(TransportFailure(.notSent, "offline")), after: delay)
        case 4: return .outcome(.failed(TransportFailure(.lost, "connectionLost")), after: delay)
        case 5:
            _ = process(sent, after: delay)
            note("request \(sent.number): processed, answer lost")
            return .outcome(.failed(TransportFailure(.lost, "connectionLost")), after: delay)
        case 6: return .silence
        case 7:
            _ = process(sent, after: delay)
            note("request \(sent.number): processed, no answer ever")
            return .silence
        default: return process(sent, after: delay)
        }
    }

    private func process(_ sent: VirtualWorld.Sent, after delay: Duration) -> VirtualWorld.Fate {
        guard let vendor = setup.vendors[sent.provider] else { return answer(200, after: delay) }
        processed.insert(sent.number)
        let response = vendor.respond(to: sent.request, now: sent.now)
        note("request \(sent.number) to \(sent.provider) \(sent.request): \(response.status)")
        return .outcome(.replied(response), after: delay)
    }

    private func answer(_ status: Int, _ headers: [WireHeader] = [], after delay: Duration) -> VirtualWorld.Fate {
        .outcome(.replied(WireResponse(status, headers: headers)), after: delay)
    }

    private func heal() throws {
        note("everything heals")
        stepsToDeath = nil
        isHealthy = true
        if !world.isAlive { try world.start(plan) }
        try world.restart(plan)
        if let closing = setup.closing { try capture([closing]) }
        for provider in plan.providers { try world.resume(provider.name) }
        try world.drain(atMost: .seconds(90 * 86_400))
    }

    // MARK: What must be

    private func check() throws {
        for accounts in try world.accounts() {
            expect(
                accounts.balances,
                "\(accounts.provider): \(accounts.incoming) came in, \(accounts.ended) ended, \(accounts.pending) pending"
            )
            if plan.providers.contains(where: { $0.name == accounts.provider }) {
                let waits = accounts.waits.map(\.code).joined(separator: " ")
                expect(
                    accounts.pending == 0,
                    "\(accounts.provider): \(accounts.pending) still pending, waiting: \(waits)"
                )
                expect(accounts.parked == nil, "\(accounts.provider): stopped: \(accounts.parked?.code ?? "")")
            }
            try checkEndings(accounts.provider)
        }
        let report = try world.store.verify()
        for fault in report.faults { problems.append("outbox: \(fault.detail)") }
        try checkAcknowledged()
    }

    /// No operation ends twice on one route, unless it was moved away and came back.
    private func checkEndings(_ provider: String) throws {
        let endings = try world.store.history(provider: provider, limit: .max).filter { $0.term != "moved" }
        let twice = Dictionary(endings.map { ($0.id, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }
        expect(twice.isEmpty, "\(provider): ended more than once: \(twice.keys.sorted().joined(separator: " "))")
    }

    /// Everything that was acknowledged ended somewhere.
    private func checkAcknowledged() throws {
        let ended = Set(try world.store.history(provider: nil, limit: .max).map(\.id))
        let lost = acknowledged.map(\.id.rawValue).filter { !ended.contains($0) }
        expect(lost.isEmpty, "lost: \(lost.joined(separator: " "))")
    }

    /// Notes a problem unless a condition holds.
    public func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { problems.append(problem()) }
    }

    private func note(_ line: String) { trace.append("\(world.host.date().text) \(line)") }
}

@available(*, unavailable)
extension FaultSimulation: Sendable {}

@available(*, unavailable)
extension FaultSimulation.Setup: Sendable {}
