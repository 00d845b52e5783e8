public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// One random run of the real engine: captures, slow, lying and lost answers, crashes at every point of the storage and
/// between any two of its acts, clock jumps, reboots and switches of configuration; then everything heals and must come
/// out right.
///
/// What happens is a list of steps, made from the seed before the run. The same steps give the same run.
public final class FaultSimulation {
    /// What is to be tried.
    public struct Setup {
        /// What it is called in reports.
        public var name = "run"
        /// Configurations, all with the same providers; the run begins with the first.
        public var plans: [RoutingPlan]
        /// The vendors behind the providers, by the provider's name.
        public var vendors: [String: SimulatedVendor]
        /// Credentials.
        public var credentials: (_ provider: String, _ contact: String?) -> Secret?
        /// Makes the next thing that the app says.
        public var action: (inout SeededGenerator, _ number: Int) -> Action
        /// How many things happen.
        public var steps: Int
        /// How many installations there are.
        public var subjects = 1
        /// How many processes share the outbox, as an app and its extension do.
        public var processes = 1
        /// The vendors behind shadows that send, by the provider's name; without one a shadow speaks to the real one.
        public var sandboxes: [String: SimulatedVendor] = [:]
        /// What somebody asks a vendor, by the provider's name.
        public var questions: [String: ReadRequest] = [:]
        /// Two words of which each takes the other back; empty without such.
        public var opposites: [Action] = []
        /// A provider whose vendor is never there: it must not hold the others.
        public var deadProvider: String?
        /// Whether vendors may say yes to what they have not done.
        public var allowsLies = false
        /// What the app says once everything is well again; nothing of it can get lost.
        public var closing: [Action]
        /// What the adapters' memories claim, by the provider's name.
        public var expectedStates: [String: ExpectedState] = [:]
        /// The codes of waits that only an operation of the app releases, by the provider's name.
        public var waitsForApp: [String: Set<String>] = [:]
        /// Where the vendors' replies hand out tokens to one installation, by the provider's name.
        public var handedOut: [String: Set<String>] = [:]
        /// What changes beside the network, in runs whose facts change.
        var facts: ChangingFacts?
        /// The vendors' own laws, by the provider's name.
        public var laws: [String: (SceneStory, SimulatedVendor) -> [String]] = [:]

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
            (self.steps, self.closing, self.action) = (steps, closing.map { [$0] } ?? [], action)
        }

        /// Purposes that need the person's consent.
        var requiredConsent: Set<Purpose> { Set(plans[0].requiredConsent.map(\.purpose)) }
    }

    /// The world, for checks of a vendor's own.
    public let world: VirtualWorld
    /// What happens.
    public let steps: [FaultStep]
    /// What happened, a line each; empty unless it is asked for.
    public private(set) var trace: [String] = []
    /// What came out wrong; empty if all is well.
    public private(set) var problems: [String] = []
    /// Operations whose capture was acknowledged, in order.
    public internal(set) var acknowledged: [EngagementOperation] = []
    /// Requests that a vendor really processed, by number of ``VirtualWorld/sent``.
    public internal(set) var processed: Set<Int> = []
    /// What was counted.
    public internal(set) var tally = FaultTally()

    let setup: Setup
    var random = SeededGenerator(seed: 0)
    var faultMode: [String: FaultMode] = [:]
    var isHealthy = false
    /// Providers that said yes to what they had not done, or something that was not so.
    var deceived: Set<String> = []
    /// Who processed a provider's last request: its vendor, or its sandbox.
    var lastVendor: [String: SimulatedVendor] = [:]
    /// For which lane a vendor handed a token out, by provider.
    var tokens: [String: [String: String]] = [:]
    /// The last true reply of each vendor.
    var lastReply: [String: WireResponse] = [:]
    /// Requests that left although the process was dead by then: they never were.
    var ghosts: Set<Int> = []
    /// Requests that were the first of their process.
    var firsts: Set<Int> = []
    /// What a person allowed, or nobody has to allow: captured or made under a yes, or waiting when one came, and since
    /// then neither forbidden nor in uncertain delivery again.
    var permitted: Set<OperationID> = []
    /// What waits for the person's word.
    private var unanswered: Set<OperationID> = []
    /// What was allowed in the last thing that was said.
    private var grantedNow: Set<Purpose> = []
    /// By provider, the vendor's state before an opt-out, for a mutation.
    var formerStates: [String: any Sendable] = [:]
    /// What is said and stored, by subject.
    var snapshots: [Subject: SubjectSnapshot] = [:]
    /// What was said and stored of the person who was there before, by subject.
    private var left: [Subject: SubjectSnapshot] = [:]
    /// What was done before the last change of person: the words of who came then are not about it.
    var past: Set<OperationID> = []
    /// The purposes that the person of an operation has denied, or whose consent the person has withdrawn.
    private(set) var refused: [OperationID: Set<Purpose>] = [:]
    /// Everything that was ever on its way, by id, with the providers that heard it at capture.
    var known: [OperationID: EngagementOperation] = [:]
    var heardBy: [OperationID: Set<String>] = [:]
    /// The providers that had a route then, whether they heard it or not.
    private var routedBy: [OperationID: Set<String>] = [:]
    /// The shadows that saw an operation at capture, and the providers that may get it beside those that heard it.
    var shadowedBy: [OperationID: Set<String>] = [:]
    var allowed: [OperationID: Set<String>] = [:]
    /// What was stored and had no place on a route yet when last seen.
    private var waiting: Set<OperationID> = []
    /// What got its places later, and the sandboxes of that moment: one that began meanwhile may not have it, because it began
    /// with the state as it was.
    private(set) var placedLate: [OperationID: Set<String>] = [:]
    /// Of each provider, how often it has become or ceased to be a shadow; and when a request left, how often by then.
    var phases: [String: Int] = [:]
    var phaseOf: [Int: Int] = [:]
    /// Questions that wait for an answer, and what came of all that were asked.
    var questions: [OperationID: Question] = [:]
    var answers: [OperationID: Int] = [:]
    var heardTold = 0
    /// The same in the order in which it became known.
    var captureOrder: [OperationID] = []
    /// What came before the last word of a person to be forgotten.
    var forgotten: Set<OperationID> = []
    var wakes: [Instant] = []
    /// What the app gave as credential, by provider, and for whom.
    private(set) var credentials: [String: [String: Set<String?>]] = [:]
    /// Who used an installation when, in runs whose facts change.
    var people: [Subject: PersonHistory] = [:]
    /// The app's credentials that are not valid, by contact.
    var credentialStates: [String?: CredentialState] = [:]
    /// The owners of values who denied the profile, or had not answered where an answer is required.
    var withoutProfile: Set<String> = []
    /// What was reported of values in other people's records.
    var leaks: Set<String> = []
    /// The operations that were replayed.
    var replayed: Set<OperationID> = []
    /// The providers whose vendor processed a request without a clear answer.
    var uncertain: Set<String> = []
    /// The attempts of each outage, by provider; the last list is the outage that lasts.
    var outages: [String: [[Int]]] = [:]
    var lastFaultMode: [String: FaultMode] = [:]
    /// A storage point said that the process dies; whatever error reaches us is that.
    var isDying = false
    var position = 0
    /// The configuration that was carried out last.
    private(set) var served: Int?
    private let isTraced: Bool
    var captureCount = 0
    private var questionCount = 0
    private var pointsToDeath: Int?
    /// The points of the storage that were passed since time last passed.
    private var pointsAtOnce = (at: Instant(milliseconds: 0), count: 0)
    private var storageFault: (points: Int, times: Int)?
    private var hasFailed = false
    /// When the storage failed last, on the engine's timeline.
    private(set) var failedAt: Instant?
    /// Processes whose next request is their first.
    private var isFirst: Set<Int> = []
    static let subjects: [Subject] = [
        "9D2C5B7E-6A14-4E3B-8F6D-0C1A2B3D4E5F", "1B7E4C90-52D3-4A68-9C0B-77AA10E2F3C4",
    ]
    /// More requests than any run calls for: days before a vendor that is dead and asked every half minute are 20,000.
    private static let limit = 100_000
    /// So many points of the storage are passed where an engine comes to no end; such days pass 200,000.
    private static let pointLimit = 1_000_000
    /// The same without time passing in between.
    private static let pointLimitAtOnce = 20_000

    /// A question that waits for its answer.
    struct Question {
        let process: Int
        let deadline: Instant
    }

    private struct Death: Error {}
    private struct Runaway: Error {}

    /// A run that has not begun, of the steps that the seed makes.
    public convenience init(seed: UInt64, _ setup: Setup, isTraced: Bool = false) throws {
        try self.init(steps: FaultScript.steps(seed: seed, setup), seed: seed, setup, isTraced: isTraced)
    }

    /// A run of these steps that has not begun; the seed decides chance.
    public init(steps: [FaultStep], seed: UInt64, _ setup: Setup, isTraced: Bool = false) throws {
        (self.steps, self.setup, self.isTraced) = (steps, setup, isTraced)
        world = try VirtualWorld(seed: seed, processes: setup.processes)
        // Few things wait here: half of the runs look at so little at once that what is done for crowds is done for them.
        if seed.isMultiple(of: 2) { (world.looks.portion, world.looks.kept) = (2, 8) }
        world.credentials = { [unowned self] provider, contact in
            let credential = givenCredential(provider, contact)
            if let credential { credentials[provider, default: [:]][credential.value, default: []].insert(contact) }
            return credential
        }
        world.network = { [unowned self] in fate(of: $0) }
        world.onStorage { [unowned self] in try pass($0) }
        if steps.contains(where: \.isReboot) { try world.keepImage() }
    }

    /// Plays the run, heals everything, and checks.
    ///
    /// - Returns: what came out wrong.
    @discardableResult
    public func run() throws -> [String] {
        do {
            for process in (0..<setup.processes).reversed() {
                world.turn(to: process)
                try mortally { try begin() }
            }
            for step in steps { try play(step) }
            try checkTheLiving()
            try heal()
            try check()
            try playEpilogue()
        } catch  where world.sent.count > Self.limit || isWritingWithoutEnd {
            problems.append(
                world.sent.count > Self.limit
                    ? "more than \(Self.limit) requests left" : "the outbox was written without end"
            )
        }
        tally.count(self)
        return problems
    }

    // MARK: What happens

    private func play(_ step: FaultStep) throws {
        random = SeededGenerator(seed: step.seed)
        note("\(step)")
        world.turn(to: step.process)
        try mortally {
            if !world.isAlive { try begin() }
            if world.isSuspended { try world.wakeUp() }
            // What a driver does every few seconds, once the storage has failed: it tries again.
            if hasFailed {
                hasFailed = false
                noteWake()
                try recover()
            }
            try perform(step.what)
        }
        if world.sent.count > Self.limit { throw Runaway() }
        try learnPlaces()
        hear()
        // What one process captured, the other sees when it looks after the outbox.
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
            // What has its places by now got them by the configuration that goes.
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

    /// The machine dies; half the time its power goes, and it forgets what its disk was not waited for with.
    private func reboot(after pause: Duration) throws {
        let losesPower = random.below(2) > 0
        if losesPower { note("    its power goes") }
        defer {
            for number in world.forgotten.subtracting(ghosts) {
                let sent = world.sent[number - 1]
                let provider = plan.providers.first { $0.name == sent.provider }
                let isJournaled = provider?.adapter.journaledEndpoints.contains(sent.endpoint) ?? false
                expect(!isJournaled, "no journal remembers request \(number) to \(sent.provider)")
            }
            ghosts.formUnion(world.forgotten)
            // What had its places may wait for them again.
            waiting = Set((try? world.stagedCaptures().map(OperationID.init(rawValue:))) ?? [])
        }
        try world.reboot(after: pause, losingPower: losesPower)
    }

    var plan: RoutingPlan { setup.plans[position] }

    /// A process begins, with the configuration at hand; if that is refused, with the one before it.
    func begin() throws {
        end()
        noteWake()
        let before = served != position ? try standing() : [:]
        do {
            try switching { try world.restart(plan) }
        } catch let refusal as SwitchRefusal {
            note("    refused: \(refusal.reason)")
            if setup.facts == nil { try check(refusal, of: plan) }
            expect(try standing() == before, "a switch was refused, and something changed all the same")
            position = served ?? 0
            try world.restart(plan)
        }
        try learnPlaces()
        try learnWhatWasCreated()
        noteWake()
    }

    /// What waited for its places got them by the configuration that is in force then, where that makes a difference: shadows
    /// are those of that moment, and if somebody was to hear it who is gone, whoever is there hears it.
    private func learnPlaces() throws {
        let stagedCaptures = Set(try world.stagedCaptures().map(OperationID.init(rawValue:)))
        let names = Set(plan.providers.map(\.name))
        let sandboxes = plan.providers.filter(\.isShadowed).map(\.name)
        for id in waiting.subtracting(stagedCaptures) {
            guard heardBy[id] != nil, let routed = routedBy[id] else { continue }
            placedLate[id, default: []].formUnion(sandboxes)
            let shadows = Set(plan.providers.filter { $0.mode == .shadow }.map(\.name))
            if routed.isSubset(of: names) {
                shadowedBy[id] = shadows.subtracting(routed)
            } else {
                (heardBy[id], shadowedBy[id]) = (Set(plan.providers.filter(\.isRouted).map(\.name)), shadows)
            }
        }
        waiting = stagedCaptures
    }

    /// What a driver does every few seconds; a start that failed is tried again.
    private func recover() throws {
        do {
            try switching { try world.keepHouse() }
        } catch is SwitchRefusal {
            position = served ?? 0
            try begin()
        }
    }

    /// The process goes on with another configuration, or with its own if that is refused.
    private func reconfigure(_ number: Int) throws {
        noteWake()
        try world.comeToRest()
        // What got its place by now got it by the configuration so far.
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
            // The old configuration goes on; only a process that dies is followed by one with the new.
            if !isDying { position = former }
            throw error
        }
        try learnPlaces()
        try learnWhatWasCreated()
        noteWake()
    }

    /// Carries out a change of the configuration, and looks where pending work is then.
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
        // A start that failed is made up for by the first look after the outbox that succeeds.
        guard world.delivers else { return }
        self.served = position
        if setup.facts == nil { try checkSwitch(from: old, to: plan, before) }
    }

    /// The process ends, and another begins; where two share the outbox, the other one may notice first.
    private func kill() throws {
        let process = world.process
        if setup.processes > 1, random.below(2) > 0 {
            end()
            world.end()
            try keepHouse()
            world.turn(to: process)
        }
        try begin()
    }

    /// What every process does every few seconds.
    func keepHouse() throws {
        let process = world.process
        for other in 0..<setup.processes where other != process || setup.processes > 1 {
            world.turn(to: other)
            noteWake()
            try world.keepHouse()
        }
        world.turn(to: process)
    }

    /// Lets time pass. Processes that share an outbox look after it meanwhile.
    private func pass(_ duration: Duration) throws {
        guard setup.processes > 1 else { return try world.advance(by: duration) }
        let portions = max(1, min(12, Int(duration / .seconds(10))))
        for _ in 0..<portions {
            try world.advance(by: duration / portions)
            try keepHouse()
        }
    }

    private func end() {
        tally.crashes += 1
        isFirst.insert(world.process)
        questions = questions.filter { $0.value.process != world.process }
    }

    /// The process that sent a request died of it.
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
            // The commit may have been done although the process died before it could say so: the outbox knows.
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

    /// Notes an operation that is captured, and what a person's word means for those before it.
    private func enroll(_ operation: EngagementOperation) {
        let subject = operation.subject
        var snapshot = snapshots[subject] ?? SubjectSnapshot()
        let before = snapshot
        snapshot.apply(operation)
        snapshots[subject] = snapshot
        people[subject]?.noteRefusal(in: snapshot)
        switch operation.action {
        case .erase:
            // An earlier word to be forgotten still goes to the vendor.
            let before = known.values.filter { $0.subject == subject && $0.action.kind != .erase }
            forgotten.formUnion(before.map(\.id))
        case .switchContact where before.isAnotherPerson(after: operation.action),
            .identify where before.isAnotherPerson(after: operation.action):
            left[subject] = before
            past.formUnion(known.values.filter { $0.subject == subject }.map(\.id))
            // The next person's yes is not the word of the one who left.
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
                // An answer that was another person's, and is none any more, can't be taken back.
                case .unknown where before.consent(for: consent.purpose) == .granted && !Self.isOptOut(other.action):
                    if permitted.remove(id) != nil { unanswered.insert(id) }
                default: break
                }
            }
        default: break
        }
        let hears = plan.providers.filter { $0.isRouted && $0.isSide(of: operation) }
        heardBy[operation.id] = Set(hears.map(\.name))
        routedBy[operation.id] = Set(plan.providers.filter(\.isRouted).map(\.name))
        shadowedBy[operation.id] = Set(plan.providers.filter { $0.mode == .shadow }.map(\.name))
        note(operation)
    }

    /// Whether somebody else did it than the person who is there now: written down apart from the engine.
    private func isOfAnother(_ operation: EngagementOperation, _ snapshot: SubjectSnapshot) -> Bool {
        guard past.contains(operation.id), operation.action.kind != .registerDevice else { return false }
        let names = snapshot.identifiers.map(\.value) + [snapshot.contact].compactMap(\.self)
        return operation.contact.map { !names.contains($0) } ?? true
    }

    /// A person's answer to what an action needs consent for: the most restrictive one.
    private func answer(to action: Action, _ person: SubjectSnapshot?) -> Consent.State {
        let states = Self.purposes(of: action).intersection(setup.requiredConsent).map {
            person?.consent(for: $0) ?? .unknown
        }
        return states.contains(.denied) ? .denied : states.contains(.unknown) ? .unknown : .granted
    }

    /// Notes an operation that is new.
    private func note(_ operation: EngagementOperation) {
        known[operation.id] = operation
        captureOrder.append(operation.id)
        let needed = Self.purposes(of: operation.action).intersection(setup.requiredConsent)
        // Who came and went in one capture may have had things made for them: their own word counts.
        let now = snapshots[operation.subject]
        let before = left[operation.subject].flatMap { $0.contact == operation.contact ? $0 : nil }
        let person = now?.contact == operation.contact ? now : before ?? now
        let state = answer(to: operation.action, person)
        let denied = person?.consents.filter { $0.state == .denied }.map(\.purpose) ?? []
        refused[operation.id, default: []].formUnion(denied)
        // What the engine makes at a yes is allowed, whoever comes after it in the same breath.
        let isMade = isCreated(operation.id) && !needed.isEmpty && needed.isSubset(of: grantedNow)
        // What was made for a person who has left since is as old as what that person did.
        if heardBy[operation.id] == nil, before != nil, now?.contact != operation.contact { past.insert(operation.id) }
        if state == .granted || isMade || Self.isOptOut(operation.action) {
            permitted.insert(operation.id)
        } else if state == .unknown {
            unanswered.insert(operation.id)
        }
    }

    /// Whether the engine created an operation.
    func isCreated(_ id: OperationID) -> Bool { heardBy[id] == nil }

    /// Whether it is an opt-out, which no consent holds back.
    static func isOptOut(_ action: Action) -> Bool {
        guard case .changeSubscription(let subscription) = action else { return false }
        return subscription.state.isOptOut
    }

    /// Whether any of these is in the outbox; of what is captured together all is, or nothing.
    private func isStored(_ operations: [EngagementOperation]) throws -> Bool {
        let ids = Set(operations.map(\.id.rawValue))
        if try world.store.history(provider: nil, limit: .max).contains(where: { ids.contains($0.id) }) { return true }
        if try !ids.isDisjoint(with: world.stagedCaptures()) { return true }
        var isPending = false
        for provider in try world.store.providers() {
            try world.store.forEachRow(provider: provider.name, subject: nil) { row in
                if ids.contains(row.operation.id) { isPending = true }
            }
        }
        return isPending
    }

    /// The engine makes operations too: parts of the subject snapshot, unregisters, what a reply asks for.
    func learnWhatWasCreated() throws {
        for provider in try world.store.providers() {
            try world.store.forEachRow(provider: provider.name, subject: nil) { row in
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

    /// Runs something in which the process may die, or the storage fail; after a death another process begins.
    func mortally(_ body: () throws -> Void) throws {
        do {
            try body()
            // Whoever died where an error is passed over is dead all the same.
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

    /// A point of the storage is passed: the process may die there, or the write fail.
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

    /// Numbers a request, and says whether it is real.
    func enroll(_ sent: VirtualWorld.Sent) -> Bool {
        guard !isDying else {
            ghosts.insert(sent.number)
            return false
        }
        if isFirst.remove(sent.process) != nil { firsts.insert(sent.number) }
        phaseOf[sent.number] = phases[sent.provider] ?? 0
        return true
    }

    private func heal() throws {
        if setup.facts != nil { return try healChanging() }
        note("everything heals")
        letStorageBe()
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

    /// What was to happen to the storage happens no more.
    func letStorageBe() { (pointsToDeath, storageFault) = (nil, nil) }

    /// The app says what nothing has to wait for any more.
    func close() throws {
        let asked = setup.requiredConsent.sorted { $0.rawValue < $1.rawValue }
            .map { Action.setConsent(Consent(purpose: $0, state: .granted)) }
        for subject in 0..<setup.subjects where !setup.closing.isEmpty {
            try capture(asked + setup.closing, subject: subject, isGroup: false)
        }
    }

    /// Notes a problem unless a condition holds.
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
    /// The kinds of request that leave with a line in the journal.
    var journaledEndpoints: Set<String> {
        Set(Endpoint.allCases.filter(\.isJournaled).map(\.rawValue))
    }
}

@available(*, unavailable)
extension FaultSimulation: Sendable {}

@available(*, unavailable)
extension FaultSimulation.Setup: Sendable {}
