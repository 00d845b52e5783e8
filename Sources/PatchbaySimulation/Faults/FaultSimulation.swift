public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// A randomized run of the real engine and simulated vendors with faults.
///
/// A run has captures, slow, misleading and lost replies, crashes at every point of the storage, clock jumps, reboots, and
/// switches of the configuration. Then all faults are removed, and the invariants are checked.
///
/// The seed determines a list of steps before the run. The same steps give the same run.
public final class FaultSimulation {
    /// The configurations, vendors and limits of a run.
    public struct Setup {
        /// The name in reports.
        public var name = "run"
        /// The configurations, all with the same providers. The run begins with the first.
        public var plans: [RoutingPlan]
        /// The vendors behind the providers, by the provider's name.
        public var vendors: [String: SimulatedVendor]
        /// Returns the app's credential.
        public var credentials: (_ provider: String, _ contact: String?) -> Secret?
        /// Returns the next action of the app.
        public var action: (inout SeededGenerator, _ number: Int) -> Action
        /// The number of steps.
        public var steps: Int
        /// The number of installations.
        public var subjects = 1
        /// The number of processes that share the outbox, like an app and its extension.
        public var processes = 1
        /// The sandboxes of shadows that send, by the provider's name. A shadow without a sandbox here sends to its vendor.
        public var sandboxes: [String: SimulatedVendor] = [:]
        /// The queries to vendors, by the provider's name.
        public var questions: [String: ReadRequest] = [:]
        /// Two actions that reverse each other; empty for none.
        public var opposites: [Action] = []
        /// The provider of a vendor that never replies; nil for none. It must not delay the others.
        public var deadProvider: String?
        /// Whether vendors may send misleading replies.
        public var allowsMisleadingReplies = false
        /// The actions of the app after all faults were removed. None of them can be lost.
        public var closing: [Action]
        /// The expected vendor states, by the provider's name.
        public var expectedStates: [String: ExpectedState] = [:]
        /// The codes of waits that only an operation of the app releases, by the provider's name.
        public var waitsForApp: [String: Set<String>] = [:]
        /// The members and headers of the vendors' replies that contain a token for one installation, by the provider's
        /// name.
        public var handedOut: [String: Set<String>] = [:]
        /// The changing facts; nil for a run with fixed facts.
        var facts: ChangingFacts?
        /// The checks of the vendors' pacing and retry policies, by the provider's name.
        public var invariants: [String: (SceneStory, SimulatedVendor) -> [String]] = [:]

        /// Creates a setup.
        public init(
            plans: [RoutingPlan],
            vendors: [String: SimulatedVendor],
            credentials: @escaping (String, String?) -> Secret? = { _, _ in nil },
            steps: Int = 60,
            closing: Action? = nil,
            action: @escaping (inout SeededGenerator, Int) -> Action
        ) {
            (self.plans, self.vendors, self.credentials) = (plans, vendors, credentials)
            (self.steps, self.closing, self.action) = (steps, closing.map { [$0] } ?? [], action)
        }

        /// The purposes that need the person's consent.
        var requiredConsent: Set<Purpose> { Set(plans[0].requiredConsent.map(\.purpose)) }
    }

    /// The engine's environment.
    public let world: VirtualWorld
    /// The steps.
    public let steps: [FaultStep]
    /// The events, one line each; empty unless the run is traced.
    public private(set) var trace: [String] = []
    /// The problems; empty if all invariants hold.
    public private(set) var problems: [String] = []
    /// The operations whose capture was acknowledged, in order.
    public internal(set) var acknowledged: [EngagementOperation] = []
    /// The numbers of the requests in ``VirtualWorld/sent`` that a vendor processed.
    public internal(set) var processed: Set<Int> = []
    /// The counts.
    public internal(set) var tally = FaultTally()

    let setup: Setup
    var random = SeededGenerator(seed: 0)
    var faultMode: [String: FaultMode] = [:]
    var isHealthy = false
    /// The providers whose vendors sent misleading replies.
    var deceived: Set<String> = []
    /// The vendor or the sandbox that processed a provider's last request.
    var lastVendor: [String: SimulatedVendor] = [:]
    /// The lane for which a vendor issued each token, by provider.
    var tokens: [String: [String: String]] = [:]
    /// The last correct reply of each vendor.
    var lastReply: [String: WireResponse] = [:]
    /// The requests that were sent after their process had died, or that a power failure erased. They do not count.
    var uncountedRequests: Set<Int> = []
    /// The first request of each process.
    var firsts: Set<Int> = []
    /// The operations that are allowed by a consent or need none. A grant at the capture or later adds an operation. A
    /// denial, or a consent that returns to unknown, removes it.
    var permitted: Set<OperationID> = []
    /// The operations that wait for a consent decision.
    private var unanswered: Set<OperationID> = []
    /// The purposes with a granted consent after a consent decision in the last capture.
    private var grantedNow: Set<Purpose> = []
    /// The vendors' states before an opt-out, by provider, for a mutation.
    var formerStates: [String: any Sendable] = [:]
    /// The expected subject snapshots.
    var snapshots: [Subject: SubjectSnapshot] = [:]
    /// The last snapshots of the former person, by subject.
    private var left: [Subject: SubjectSnapshot] = [:]
    /// The operations before the last change of person. Decisions of the next person do not apply to them.
    var past: Set<OperationID> = []
    /// The purposes that the person of an operation has denied, or whose consent the person has withdrawn.
    private(set) var refused: [OperationID: Set<Purpose>] = [:]
    /// All operations by id.
    var known: [OperationID: EngagementOperation] = [:]
    /// The providers that received each operation at its capture.
    var receivedBy: [OperationID: Set<String>] = [:]
    /// The providers that had a route at the capture of an operation, whether they received it or not.
    private var routedBy: [OperationID: Set<String>] = [:]
    /// The shadows of an operation at its capture.
    var shadowedBy: [OperationID: Set<String>] = [:]
    /// The further providers that may receive an operation later.
    var allowed: [OperationID: Set<String>] = [:]
    /// The staged captures at the last check.
    private var waiting: Set<OperationID> = []
    /// The operations that were routed after their capture, each with the sandboxes at the time of its routing. A
    /// sandbox that was added between capture and routing may lack the operation, because it started with the subject's
    /// state of that time.
    private(set) var placedLate: [OperationID: Set<String>] = [:]
    /// The number of times that each provider has become or ceased to be a shadow that sends to a sandbox.
    var phases: [String: Int] = [:]
    /// The value of `phases` for the provider of a request when the request was sent, by request number.
    var phaseOf: [Int: Int] = [:]
    /// The queries without an answer.
    var questions: [OperationID: Question] = [:]
    /// The number of answers to each query.
    var answers: [OperationID: Int] = [:]
    /// The number of reported events whose answers are processed.
    var processedEventCount = 0
    /// The ids of all operations, in the order in which the simulation learned them.
    var captureOrder: [OperationID] = []
    /// The operations before the last erasure of their person.
    var forgotten: Set<OperationID> = []
    var wakes: [Instant] = []
    /// The credentials that the app has provided, by provider, each with its contacts.
    private(set) var credentials: [String: [String: Set<String?>]] = [:]
    /// The people of each installation, in runs whose facts change.
    var people: [Subject: PersonHistory] = [:]
    /// The app's credentials that are not valid, by contact.
    var credentialStates: [String?: CredentialState] = [:]
    /// The owners of values who denied the profile, or had not answered although consent is required.
    var withoutProfile: Set<String> = []
    /// The reported problems about values in other people's records.
    var leaks: Set<String> = []
    /// The replayed operations.
    var replayed: Set<OperationID> = []
    /// The providers whose vendor processed a request without a clear answer.
    var uncertain: Set<String> = []
    /// The request numbers of the attempts in each outage, by provider. The last list belongs to the current outage.
    var outages: [String: [[Int]]] = [:]
    var lastFaultMode: [String: FaultMode] = [:]
    /// Whether the process is dying at a storage point. Errors that follow have this cause.
    var isDying = false
    var position = 0
    /// The configuration in force.
    private(set) var served: Int?
    private let isTraced: Bool
    var captureCount = 0
    private var questionCount = 0
    private var pointsToDeath: Int?
    /// The number of storage points since time last passed.
    private var pointsAtOnce = (at: Instant(milliseconds: 0), count: 0)
    private var storageFault: (points: Int, times: Int)?
    private var hasFailed = false
    /// The time of the last failure of the storage, on the engine's timeline.
    private(set) var failedAt: Instant?
    /// The processes that have sent no request.
    private var isFirst: Set<Int> = []
    static let subjects: [Subject] = [
        "9D2C5B7E-6A14-4E3B-8F6D-0C1A2B3D4E5F", "1B7E4C90-52D3-4A68-9C0B-77AA10E2F3C4",
    ]
    /// The maximum number of requests. A run that sends a request every half minute to a dead vendor for days needs
    /// 20,000.
    private static let limit = 100_000
    /// The maximum number of storage points, to detect an endless loop. Such a run needs 200,000.
    private static let pointLimit = 1_000_000
    /// The maximum number of storage points at one instant.
    private static let pointLimitAtOnce = 20_000

    /// A query without an answer.
    struct Question {
        let process: Int
        let deadline: Instant
    }

    private struct Death: Error {}
    private struct Runaway: Error {}

    /// Creates a run of the steps that a seed determines.
    public convenience init(seed: UInt64, _ setup: Setup, isTraced: Bool = false) throws {
        try self.init(steps: FaultScript.steps(seed: seed, setup), seed: seed, setup, isTraced: isTraced)
    }

    /// Creates a run of given steps. The seed determines all random decisions.
    public init(steps: [FaultStep], seed: UInt64, _ setup: Setup, isTraced: Bool = false) throws {
        (self.steps, self.setup, self.isTraced) = (steps, setup, isTraced)
        world = try VirtualWorld(seed: seed, processes: setup.processes)
        // A run has few pending operations. Half of the runs use small limits, so that the code for many pending
        // operations also runs.
        if seed.isMultiple(of: 2) { (world.windowLimits.rowsPerRead, world.windowLimits.indexCapacity) = (2, 8) }
        world.credentials = { [unowned self] provider, contact in
            let credential = givenCredential(provider, contact)
            if let credential { credentials[provider, default: [:]][credential.value, default: []].insert(contact) }
            return credential
        }
        world.network = { [unowned self] in fate(of: $0) }
        world.onStorage { [unowned self] in try pass($0) }
        if steps.contains(where: \.isReboot) { try world.keepImage() }
    }

    /// Runs all steps, removes all faults, and checks the invariants.
    ///
    /// - Returns: The problems.
    @discardableResult
    public func run() throws -> [String] {
        do {
            for process in (0..<setup.processes).reversed() {
                world.turn(to: process)
                try restartingAfterDeath { try begin() }
            }
            for step in steps { try play(step) }
            try checkOtherProviders()
            try removeFaults()
            try check()
            try playEpilogue()
        } catch  where world.sent.count > Self.limit || isWritingWithoutEnd {
            problems.append(
                world.sent.count > Self.limit
                    ? "more than \(Self.limit) requests were sent" : "the outbox was written too often"
            )
        }
        tally.count(self)
        return problems
    }

    // MARK: Steps

    private func play(_ step: FaultStep) throws {
        random = SeededGenerator(seed: step.seed)
        note("\(step)")
        world.turn(to: step.process)
        try restartingAfterDeath {
            if !world.isAlive { try begin() }
            if world.isSuspended { try world.wakeUp() }
            // After a storage failure, a driver retries every few seconds.
            if hasFailed {
                hasFailed = false
                noteWake()
                try recover()
            }
            try perform(step.what)
        }
        if world.sent.count > Self.limit { throw Runaway() }
        try learnPlaces()
        processAnswers()
        // The captures of one process become visible to the other when it performs its maintenance.
        let hasLooked = if setup.processes > 1, case .pass = step.what { true } else { setup.processes == 1 }
        if !hasFailed, hasLooked { try checkReasons() }
    }

    private func perform(_ what: FaultStep.What) throws {
        switch what {
        case .capture(let actions, let subject, let isGroup): try capture(actions, subject: subject, isGroup: isGroup)
        case .ask(let provider, let question): try ask(question, plan.providers[provider].name)
        case .pass(let duration): try pass(duration)
        case .jump(let duration): world.host.jump(by: duration)
        case .epoch: world.host.jump(by: Instant(milliseconds: 0) - world.host.date())
        case .flush:
            noteWake()
            try world.flush()
        case .wake:
            noteWake()
            try world.wake()
        case .resume(let provider):
            noteWake()
            try world.resume(plan.providers[provider].name)
        case .kill: try kill()
        case .die(let points): pointsToDeath = points
        case .storageFails(let points, let times): storageFault = (points, times)
        case .reboot(let pause):
            end()
            try reboot(after: pause)
            noteWake()
        case .configure(let number):
            // The captures so far were routed by the old configuration.
            try learnPlaces()
            position = number
            try begin()
        case .reconfigure(let number): try reconfigure(number)
        case .suspend:
            noteWake()
            try world.suspend()
        case .credential(let contact, let state):
            credentialStates[contact] = state
            noteWake()
            try world.wake()
        case .replay(let provider): try replayRejects(of: plan.providers[provider].name)
        case .faultMode(let provider, let faultMode): self.faultMode[plan.providers[provider].name] = faultMode
        }
    }

    /// Reboots the machine. In half of the cases it loses the transactions that did not wait for the disk.
    private func reboot(after pause: Duration) throws {
        let losesPower = random.below(2) > 0
        if losesPower { note("    it loses power") }
        defer {
            for number in world.forgotten.subtracting(uncountedRequests) {
                let sent = world.sent[number - 1]
                let provider = plan.providers.first { $0.name == sent.provider }
                let isJournaled = provider?.adapter.journaledEndpoints.contains(sent.endpoint) ?? false
                expect(!isJournaled, "the journal has no entry for request \(number) to \(sent.provider)")
            }
            uncountedRequests.formUnion(world.forgotten)
            // Routed captures may be staged again.
            waiting = Set((try? world.stagedCaptures().map(OperationID.init(rawValue:))) ?? [])
        }
        try world.reboot(after: pause, losingPower: losesPower)
    }

    var plan: RoutingPlan { setup.plans[position] }

    /// Starts a process with the current configuration, or with the former one if the switch is refused.
    func begin() throws {
        end()
        noteWake()
        let before = served != position ? try standing() : [:]
        do {
            try switching { try world.restart(plan) }
        } catch let refusal as SwitchRefusal {
            note("    refused: \(refusal.reason)")
            if setup.facts == nil { try check(refusal, of: plan) }
            expect(try standing() == before, "a switch was refused, but the state changed")
            position = served ?? 0
            try world.restart(plan)
        }
        try learnPlaces()
        try learnWhatWasCreated()
        noteWake()
    }

    /// Updates the expected providers of staged captures that were routed meanwhile, by the configuration in force.
    ///
    /// The shadows are those at the time of routing. If a provider that had a route at the capture no longer exists,
    /// the current providers receive the operation.
    private func learnPlaces() throws {
        let stagedCaptures = Set(try world.stagedCaptures().map(OperationID.init(rawValue:)))
        let names = Set(plan.providers.map(\.name))
        let sandboxes = plan.providers.filter(\.isShadowed).map(\.name)
        for id in waiting.subtracting(stagedCaptures) {
            guard receivedBy[id] != nil, let routed = routedBy[id] else { continue }
            placedLate[id, default: []].formUnion(sandboxes)
            let shadows = Set(plan.providers.filter { $0.mode == .shadow }.map(\.name))
            if routed.isSubset(of: names) {
                shadowedBy[id] = shadows.subtracting(routed)
            } else {
                (receivedBy[id], shadowedBy[id]) = (Set(plan.providers.filter(\.isRouted).map(\.name)), shadows)
            }
        }
        waiting = stagedCaptures
    }

    /// Performs the periodic maintenance of a driver, which also repeats a failed start.
    private func recover() throws {
        do {
            try switching { try world.performMaintenance() }
        } catch is SwitchRefusal {
            position = served ?? 0
            try begin()
        }
    }

    /// Continues with another configuration in the same process, or with the current one if the switch is refused.
    private func reconfigure(_ number: Int) throws {
        noteWake()
        try world.comeToRest()
        // The captures so far were routed by the old configuration.
        try learnPlaces()
        let former = position
        do {
            position = number
            try switching { try world.reconfigure(plan) }
        } catch let refusal as SwitchRefusal {
            note("    refused: \(refusal.reason)")
            if setup.facts == nil { try check(refusal, of: plan) }
            position = former
        } catch {
            // The old configuration stays in force unless the process dies. In that case the next process starts with
            // the new configuration.
            if !isDying { position = former }
            throw error
        }
        try learnPlaces()
        try learnWhatWasCreated()
        noteWake()
    }

    /// Runs `body`, which switches the configuration, and checks the pending operations afterwards.
    private func switching(_ body: () throws -> Void) throws {
        guard let served, served != position else {
            try body()
            if world.delivers { self.served = position }
            return
        }
        let old = setup.plans[served]
        let before = try pendingByProvider()
        allowMoves(from: old, to: plan, before)
        let formerPhases = phases
        for provider in plan.providers where provider.isShadowed != old.isShadowed(provider.name) {
            phases[provider.name, default: 0] += 1
        }
        do {
            try body()
        } catch let refusal as SwitchRefusal {
            phases = formerPhases
            throw refusal
        }
        // After a failed start, the first successful maintenance completes the switch.
        guard world.delivers else { return }
        self.served = position
        if setup.facts == nil { try checkSwitch(from: old, to: plan, before) }
    }

    /// Ends the process and starts another. If several processes share the outbox, in half of the cases the others
    /// perform their maintenance in between.
    private func kill() throws {
        let process = world.process
        if setup.processes > 1, random.below(2) > 0 {
            end()
            world.end()
            try performMaintenance()
            world.turn(to: process)
        }
        try begin()
    }

    /// Performs the periodic maintenance of every process.
    func performMaintenance() throws {
        let process = world.process
        for other in 0..<setup.processes where other != process || setup.processes > 1 {
            world.turn(to: other)
            noteWake()
            try world.performMaintenance()
        }
        world.turn(to: process)
    }

    /// Advances the time. Processes that share an outbox perform their maintenance meanwhile.
    private func pass(_ duration: Duration) throws {
        guard setup.processes > 1 else { return try world.advance(by: duration) }
        let portions = max(1, min(12, Int(duration / .seconds(10))))
        for _ in 0..<portions {
            try world.advance(by: duration / portions)
            try performMaintenance()
        }
    }

    private func end() {
        tally.crashes += 1
        isFirst.insert(world.process)
        questions = questions.filter { $0.value.process != world.process }
    }

    /// Records that the process of a request died.
    func noteDeath(of process: Int) {
        tally.crashes += 1
        isFirst.insert(process)
        questions = questions.filter { $0.value.process != process }
    }

    func noteWake() { if let now = world.now { wakes.append(now) } }

    func capture(_ actions: [Action], subject number: Int, isGroup: Bool) throws {
        let subject = setup.facts?.contact(number) ?? Self.subjects[number]
        var contact = setup.facts?.contact(number)?.rawValue ?? snapshots[subject]?.contact
        let formerPeople = people
        let operations = withIdentities(actions).map { action in
            captureCount += 1
            if case .switchContact(let change) = action { contact = change.identifiers.first?.value }
            let action = setup.facts == nil ? action : personal(action, contact, subject)
            let operation = EngagementOperation(
                id: OperationID(rawValue: VirtualHost.id(1_000_000 + captureCount)),
                subject: subject,
                contact: contact,
                group: isGroup ? "group-\(captureCount - captureCount % 4)" : nil,
                capturedAt: world.host.date(),
                appState: .active,
                action: action
            )
            if action == .erase { contact = nil }
            return operation
        }
        noteWake()
        let before = (snapshots, permitted, forgotten, unanswered, left, past, refused)
        grantedNow = []
        for operation in operations { enroll(operation) }
        do {
            try world.capture(operations)
            acknowledged += operations
            noteProfile(subject, contact)
        } catch {
            // The commit may have succeeded although the process died before it returned. The outbox shows that.
            if try isStored(operations) {
                acknowledged += operations
            } else {
                (snapshots, permitted, forgotten, unanswered, left, past, refused) = before
                people = formerPeople
            }
            throw error
        }
        let creating: Set<Action.Kind> = [.setConsent, .switchContact, .identify]
        if actions.contains(where: { creating.contains($0.kind) }) { try learnWhatWasCreated() }
    }

    /// Records a captured operation, and the effect of a consent decision on earlier operations.
    private func enroll(_ operation: EngagementOperation) {
        let subject = operation.subject
        var snapshot = snapshots[subject] ?? SubjectSnapshot()
        let before = snapshot
        snapshot.apply(operation)
        snapshots[subject] = snapshot
        people[subject]?.noteRefusal(in: snapshot)
        switch operation.action {
        case .erase:
            // An earlier erasure is not forgotten: it is still sent to the vendor.
            let before = known.values.filter { $0.subject == subject && $0.action.kind != .erase }
            forgotten.formUnion(before.map(\.id))
        case .switchContact where before.isAnotherPerson(after: operation.action),
            .identify where before.isAnotherPerson(after: operation.action):
            left[subject] = before
            past.formUnion(known.values.filter { $0.subject == subject }.map(\.id))
            // A grant by the next person does not apply to a person who left.
            unanswered = unanswered.filter {
                known[$0]?.subject != subject || known[$0]?.action.kind == .registerDevice
            }
        case .setConsent(let consent):
            grantedNow.formUnion(setup.requiredConsent.filter { snapshot.consent(for: $0) == .granted })
            for (id, other) in known where other.subject == subject && !isOfAnother(other, snapshot) {
                if consent.state != .granted { refused[id, default: []].insert(consent.purpose) }
                guard Self.purposes(of: other.action).contains(consent.purpose) else { continue }
                switch consent.state {
                case .granted where unanswered.contains(id) && answer(to: other.action, snapshot) == .granted:
                    unanswered.remove(id)
                    permitted.insert(id)
                case .granted: break
                case .denied where Self.isOptOut(other.action): permitted.insert(id)
                case .denied:
                    permitted.remove(id)
                    unanswered.remove(id)
                // A consent of a former person no longer applies, so it cannot be withdrawn.
                case .unknown where before.consent(for: consent.purpose) == .granted && !Self.isOptOut(other.action):
                    if permitted.remove(id) != nil { unanswered.insert(id) }
                default: break
                }
            }
        default: break
        }
        let receivers = plan.providers.filter { $0.isRouted && $0.isSide(of: operation) }
        receivedBy[operation.id] = Set(receivers.map(\.name))
        routedBy[operation.id] = Set(plan.providers.filter(\.isRouted).map(\.name))
        shadowedBy[operation.id] = Set(plan.providers.filter { $0.mode == .shadow }.map(\.name))
        note(operation)
    }

    /// Returns whether an operation belongs to another person than the current one. The computation is independent of
    /// the engine.
    private func isOfAnother(_ operation: EngagementOperation, _ snapshot: SubjectSnapshot) -> Bool {
        guard past.contains(operation.id), operation.action.kind != .registerDevice else { return false }
        let names = snapshot.identifiers.map(\.value) + [snapshot.contact].compactMap(\.self)
        return operation.contact.map { !names.contains($0) } ?? true
    }

    /// Returns the most restrictive of a person's decisions about the purposes of an action.
    private func answer(to action: Action, _ person: SubjectSnapshot?) -> Consent.State {
        let states = Self.purposes(of: action).intersection(setup.requiredConsent).map {
            person?.consent(for: $0) ?? .unknown
        }
        return states.contains(.denied) ? .denied : states.contains(.unknown) ? .unknown : .granted
    }

    /// Records a new operation.
    private func note(_ operation: EngagementOperation) {
        known[operation.id] = operation
        captureOrder.append(operation.id)
        let needed = Self.purposes(of: operation.action).intersection(setup.requiredConsent)
        // The engine may have created operations for a person who logged in and left within one capture. The decisions
        // of that person apply to them.
        let now = snapshots[operation.subject]
        let before = left[operation.subject].flatMap { $0.contact == operation.contact ? $0 : nil }
        let person = now?.contact == operation.contact ? now : before ?? now
        let state = answer(to: operation.action, person)
        let denied = person?.consents.filter { $0.state == .denied }.map(\.purpose) ?? []
        refused[operation.id, default: []].formUnion(denied)
        // Operations that the engine creates because of a grant are allowed, even if another person logs in within the
        // same capture.
        let isMade = isCreated(operation.id) && !needed.isEmpty && needed.isSubset(of: grantedNow)
        // Operations that the engine created for a person who has left belong to that person.
        if receivedBy[operation.id] == nil, before != nil, now?.contact != operation.contact {
            past.insert(operation.id)
        }
        if state == .granted || isMade || Self.isOptOut(operation.action) {
            permitted.insert(operation.id)
        } else if state == .unknown {
            unanswered.insert(operation.id)
        }
    }

    /// Returns whether the engine created an operation.
    func isCreated(_ id: OperationID) -> Bool { receivedBy[id] == nil }

    /// Returns whether an action is an opt-out, which is sent without consent.
    static func isOptOut(_ action: Action) -> Bool {
        guard case .changeSubscription(let subscription) = action else { return false }
        return subscription.state.isOptOut
    }

    /// Returns whether the outbox has any of these operations. Operations that are captured together are stored
    /// together or not at all.
    private func isStored(_ operations: [EngagementOperation]) throws -> Bool {
        let ids = Set(operations.map(\.id.rawValue))
        if try world.store.history.entries(provider: nil, limit: .max).contains(where: { ids.contains($0.id) }) {
            return true
        }
        if try !ids.isDisjoint(with: world.stagedCaptures()) { return true }
        var isPending = false
        for provider in try world.store.state.providers() {
            try world.store.queues.forEachRow(provider: provider.name, subject: nil) { row in
                if ids.contains(row.operation.id) { isPending = true }
            }
        }
        return isPending
    }

    /// Records the operations that the engine created: parts of the subject snapshot, unregistrations, and follow-ups.
    func learnWhatWasCreated() throws {
        for provider in try world.store.state.providers() {
            try world.store.queues.forEachRow(provider: provider.name, subject: nil) { row in
                let id = OperationID(rawValue: row.operation.id)
                guard known[id] == nil else { return }
                note(try EngagementOperation(jsonBytes: row.operation.body))
            }
        }
    }

    private func ask(_ question: ReadRequest, _ provider: String) throws {
        questionCount += 1
        let subject = Self.subjects[0]
        let operation = EngagementOperation(
            id: OperationID(rawValue: VirtualHost.id(2_000_000 + questionCount)),
            subject: subject,
            contact: snapshots[subject]?.contact,
            capturedAt: world.host.date(),
            appState: .active,
            action: .readBack(question)
        )
        note(operation)
        noteWake()
        guard let now = world.now else { return }
        questions[operation.id] = Question(process: world.process, deadline: now + .seconds(30))
        try world.read(operation, from: provider, timeout: .seconds(30))
    }

    /// Runs a closure in which the process may die or the storage may fail. After a death another process starts.
    func restartingAfterDeath(_ body: () throws -> Void) throws {
        do {
            try body()
            // The process also dies if the engine ignored the error.
            if isDying { throw Death() }
        } catch  where isDying {
            note("    the process died")
            (pointsToDeath, storageFault, isDying) = (nil, nil, false)
            try begin()
        } catch let error as OutboxError where error.code == .full {
            note("    the storage failed")
            (hasFailed, failedAt) = (true, world.now)
        }
    }

    private var isWritingWithoutEnd: Bool {
        tally.storagePoints > Self.pointLimit || pointsAtOnce.count > Self.pointLimitAtOnce
    }

    /// Handles a storage point: the process may die there, or the write may fail.
    private func pass(_ point: StoragePoint) throws {
        tally.storagePoints += 1
        let now = world.host.uptime()
        pointsAtOnce = (now, pointsAtOnce.at == now ? pointsAtOnce.count + 1 : 1)
        if isWritingWithoutEnd { throw Runaway() }
        if isDying { throw Death() }
        if let points = pointsToDeath {
            pointsToDeath = points - 1
            if points <= 0 {
                isDying = true
                throw Death()
            }
        }
        guard let fault = storageFault else { return }
        if fault.points > 0 { return storageFault = (fault.points - 1, fault.times) }
        if case .afterCommit = point { return }
        storageFault = fault.times > 1 ? (0, fault.times - 1) : nil
        throw OutboxError(.full, "The volume has no room left.")
    }

    /// Records a request. Returns whether a running process sent it.
    func enroll(_ sent: VirtualWorld.Sent) -> Bool {
        guard !isDying else {
            uncountedRequests.insert(sent.number)
            return false
        }
        if isFirst.remove(sent.process) != nil { firsts.insert(sent.number) }
        phaseOf[sent.number] = phases[sent.provider] ?? 0
        return true
    }

    private func removeFaults() throws {
        if setup.facts != nil { return try removeFaultsAndProvideEverything() }
        note("all faults are removed")
        cancelStorageFaults()
        isHealthy = true
        world.host.jump(by: world.host.trueDate - world.host.date())
        for process in (0..<setup.processes).reversed() {
            world.turn(to: process)
            if process > 0 { world.end() }
        }
        try begin()
        try close()
        for provider in plan.providers { try world.resume(provider.name) }
        try world.drain(atMost: .seconds(90 * 86_400))
        try learnWhatWasCreated()
    }

    /// Cancels the planned failures of the storage.
    func cancelStorageFaults() { (pointsToDeath, storageFault) = (nil, nil) }

    /// Captures the closing actions, which release all waits.
    func close() throws {
        let asked = setup.requiredConsent.sorted { $0.rawValue < $1.rawValue }
            .map { Action.setConsent(Consent(purpose: $0, state: .granted)) }
        for subject in 0..<setup.subjects where !setup.closing.isEmpty {
            try capture(asked + setup.closing, subject: subject, isGroup: false)
        }
    }

    /// Records a problem unless a condition holds.
    public func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        guard !condition, problems.count < 20 else { return }
        problems.append(problem())
        note("!!! \(problems[problems.count - 1])")
    }

    func note(_ line: @autoclosure () -> String) {
        if isTraced { trace.append("\(world.host.date().text) \(line())") }
    }
}

extension VendorAdapter {
    /// The endpoints whose requests are journaled.
    var journaledEndpoints: Set<String> {
        Set(Endpoint.allCases.filter(\.isJournaled).map(\.rawValue))
    }
}

@available(*, unavailable)
extension FaultSimulation: Sendable {}

@available(*, unavailable)
extension FaultSimulation.Setup: Sendable {}
