import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The captures of one transaction on their way in: examined and placed for each route, folded into the mirrors.
struct CaptureBatch {
    private let context: EngineContext
    private let runners: [any ProviderRunner]
    private let routed: [Int]
    /// Which contacts each provider hears, by its position.
    private let shares: [Share]
    /// Providers that are rehearsed.
    private let shadows: [Int]
    /// Providers without a route: they take the pushes that they know as their own, and nothing else.
    private let unrouted: [Int]
    /// The states of the subjects that changed, read inside the transaction: another process may capture too.
    private var mirrors: [Subject: SubjectMirror] = [:]
    /// What entered each lane and is ready, by position of the runner; nothing where a lane is only to be looked at.
    private(set) var touched: [Int: [String: [LaneEntry]]] = [:]
    private var captured: [String: Int64] = [:]
    /// Whether the operation at hand is on its way to anybody.
    private var isRouted = false
    /// Lanes whose memory was emptied, by position of the runner, and people who said no to being asked about.
    private var forgotten: [(position: Int, lane: String)] = []
    private var unreadable: Set<Subject> = []

    init(context: EngineContext, runners: [any ProviderRunner], plan: RoutingPlan) {
        (self.context, self.runners) = (context, runners)
        routed = runners.indices.filter { plan.providers[$0].isRouted }
        shadows = runners.indices.filter { plan.providers[$0].mode == .shadow }
        unrouted = runners.indices.filter { plan.providers[$0].mode == nil }
        shares = plan.providers.map(\.share)
    }

    mutating func add(_ operation: EngagementOperation, since: Instant) throws {
        var mirror = try mirrors[operation.subject] ?? context.mirror(of: operation.subject)
        let before = mirror
        mirror.apply(operation)
        mirrors[operation.subject] = mirror
        switch operation.action {
        case .erase:
            try withdraw(operation.subject, as: .erased) { _ in true }
            try context.store.removeRejects(provider: nil, subject: operation.subject.rawValue)
        case .setConsent(let consent): try enforce(consent, of: operation, before, mirror)
        default: break
        }
        let sequence = try context.store.insert(OutboxOperation(operation, since: since))
        isRouted = false
        var examined: [[Finding]] = []
        for position in routed where shares[position].holds(operation.contact, on: operation.subject) {
            examined.append(try enter(operation, sequence, position, mirror))
        }
        for position in routed where !shares[position].isAll { try changeSides(operation, position, before, mirror) }
        for position in shadows { try rehearse(operation, sequence, position, mirror, examined) }
        if operation.action.isPush { for position in unrouted { try enterLate(operation, sequence, position, mirror) } }
        if !isRouted { try context.store.discardIfUnrouted(sequence) }
    }

    mutating func finish() throws {
        for (provider, count) in captured.sorted(by: { $0.key < $1.key }) {
            try context.store.count(provider: provider, term: "captured", code: "", by: count)
        }
        for (subject, mirror) in mirrors {
            try context.store.setMirror(subject: subject.rawValue, body: mirror.jsonBytes)
        }
    }

    private mutating func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ mirror: SubjectMirror
    ) throws -> [Finding] {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if let foreign = findings.first(where: { $0.severity == .foreign }) {
            context.emit([.passedOver(operation.id, provider: runner.name, foreign)])
        } else {
            try enter(operation, sequence, position, mirror, findings)
        }
        return findings
    }

    /// A contact that a provider did not hear so far came to an installation, or one that it heard has left: the one side
    /// hears the whole state, the other its farewell.
    private mutating func changeSides(
        _ operation: EngagementOperation,
        _ position: Int,
        _ before: SubjectMirror,
        _ mirror: SubjectMirror
    ) throws {
        guard before != SubjectMirror() else { return }
        let (subject, runner, share) = (operation.subject, runners[position], shares[position])
        let (did, does) = (share.holds(before.contact, on: subject), share.holds(mirror.contact, on: subject))
        if does, !did {
            try context.takeBackFarewells(runner, of: subject)
            try tellAgain(position, operation, mirror, only: nil)
        } else if did, !does {
            let entry = try context.create(.farewell, for: subject, before, because: "farewell", runner)
            if let entry, let ready = entry.ready {
                touched[position, default: [:]][entry.lane, default: []] += [ready]
            }
        }
    }

    /// Notes how an operation would fare with a provider that is rehearsed, beside the live ones.
    private mutating func rehearse(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ mirror: SubjectMirror,
        _ live: [[Finding]]
    ) throws {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return }
        let lines = RehearsalLine.lines(of: operation, findings: findings, live: live)
        try context.rehearsals.add(lines, provider: runner.name)
        try enter(operation, sequence, position, mirror, findings)
    }

    /// A push whose route is gone is still tracked where it came from; what its vendor has no door for is told, not booked.
    private mutating func enterLate(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ mirror: SubjectMirror
    ) throws {
        let findings = runners[position].examine(operation)
        if let refusal = findings.first(where: { $0.severity == .foreign || $0.severity == .error }) {
            return context.emit([.passedOver(operation.id, provider: runners[position].name, refusal)])
        }
        let (runner, known) = (runners[position], try context.store.providers())
        if !known.contains(where: { $0.name == runner.name }) {
            // Its state has a version from now on, though it was never routed.
            try context.store.setProvider(
                ProviderRecord(
                    name: runner.name,
                    adapter: runner.descriptor.id.rawValue,
                    stateVersion: runner.descriptor.stateVersion,
                    state: "left",
                    parked: nil,
                    settingsDigest: ""
                )
            )
        }
        try enter(operation, sequence, position, mirror, findings)
    }

    private mutating func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ mirror: SubjectMirror,
        _ findings: [Finding]
    ) throws {
        let runner = runners[position]
        captured[runner.name, default: 0] += 1
        let entry = try context.enter(operation, sequence, runner, mirror, findings: findings, keepsRejects: true)
        if entry.end == nil {
            isRouted = true
            touched[position, default: [:]][entry.lane, default: []] += entry.ready.map { [$0] } ?? []
        }
        context.emit(
            findings.filter { $0.severity != .error }.map { .noticed(provider: runner.name, $0) }
        )
    }

    /// A word on consent reaches what is pending: yes releases what waited for it, no ends it.
    ///
    /// A no also empties what the adapters remember of the vendor's side; what is still allowed is told again after it,
    /// and so is, after a yes that takes back a no, what the person said meanwhile.
    private mutating func enforce(
        _ consent: Consent,
        of operation: EngagementOperation,
        _ before: SubjectMirror,
        _ mirror: SubjectMirror
    ) throws {
        let (gate, subject) = (context.gate, operation.subject)
        guard gate.required.contains(consent.purpose) else { return }
        let was = before.consent(for: consent.purpose)
        switch mirror.consent(for: consent.purpose) {
        case .granted:
            _ = try context.store.release(
                provider: nil,
                subject: subject.rawValue,
                hold: gate.hold(for: consent.purpose)
            )
            for position in runners.indices {
                for lane in try context.store.lanes(provider: runners[position].name) {
                    touched[position, default: [:]][lane, default: []] += []
                }
                if was == .denied, routed.contains(position) {
                    try tellAgain(position, operation, mirror, only: consent.purpose)
                }
            }
        case .denied:
            try withdraw(subject, as: .dropped) { $0.map { gate.purpose(of: $0) } == consent.purpose }
            if consent.purpose == .profile { unreadable.insert(subject) }
            guard was != .denied else { return }
            for position in runners.indices {
                let lane = runners[position].place(operation).lane
                guard try runners[position].forget(lane: lane) else { continue }
                forgotten.append((position, lane))
                if routed.contains(position) { try tellAgain(position, operation, mirror, only: nil) }
            }
        case .unknown: break
        }
    }

    /// What the mirror holds and the person allows goes to a provider once more.
    private mutating func tellAgain(
        _ position: Int,
        _ operation: EngagementOperation,
        _ mirror: SubjectMirror,
        only purpose: Purpose?
    ) throws {
        let (subject, runner) = (operation.subject, runners[position])
        for action in mirror.replay.flatMap({ context.portions(of: $0, for: subject, mirror, runner) }) {
            guard let served = context.gate.purpose(of: action), purpose.map({ $0 == served }) ?? true,
                context.gate.allows(served, mirror)
            else { continue }
            let entry = try context.create(action, for: subject, mirror, because: "mirror", runner)
            if let entry, let ready = entry.ready {
                touched[position, default: [:]][entry.lane, default: []] += [ready]
            }
        }
    }

    /// After the commit: what the runners keep of what has changed.
    func tellRunners() {
        for (position, lane) in forgotten { runners[position].reread(lane: lane) }
        for subject in unreadable {
            for runner in runners { runner.refuseReads(of: subject, because: FindingRow.Engine.consentDenied.at()) }
        }
    }

    /// Ends what is pending of a subject, also what is in flight: what the vendor says of that later changes nothing.
    ///
    /// Providers that the configuration no longer names hold work of the subject too. `test` is given nil for what this
    /// release can't read.
    private mutating func withdraw(
        _ subject: Subject,
        as term: OperationOutcome.Term,
        where test: (EngagementOperation?) -> Bool
    ) throws {
        let inFlight = Dictionary(runners.map { ($0.name, $0.isCommitted) }) { first, _ in first }
        for name in Set(try context.store.providers().map(\.name)).union(inFlight.keys).sorted() {
            try context.store.forEachRow(provider: name, subject: subject.rawValue) { row in
                let id = OperationID(rawValue: row.operation.id)
                guard test(try? EngagementOperation(jsonBytes: row.operation.body)) else { return }
                let reason = inFlight[name]?(id) ?? false ? FindingRow.Engine.consentWithdrawn : .Engine.consentDenied
                let outcome = OperationOutcome(term, finding: term == .dropped ? reason.at() : nil)
                try context.store.end(
                    provider: name,
                    sequence: row.operation.sequence,
                    term: term.rawValue,
                    code: outcome.finding?.code ?? "",
                    at: context.date.milliseconds
                )
                context.emit([.ended(id, provider: name, outcome)])
            }
        }
    }
}

extension Action {
    /// Whether a person did something with a push notification: its payload says whose it is.
    var isPush: Bool { if case .track(.push) = self { true } else { false } }
}

/// Decides by the subject's consents whether an operation may be sent.
struct ConsentGate {
    enum Decision { case pass, hold(String), deny }

    let required: Set<Purpose>

    /// The purpose that an operation serves; nil for what needs no consent.
    func purpose(of operation: EngagementOperation) -> Purpose? { purpose(of: operation.action) }

    /// The purpose that an action serves; nil for what needs no consent.
    func purpose(of action: Action) -> Purpose? {
        switch action {
        case .track: .tracking
        case .changeSubscription: .messaging
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: .profile
        case .setConsent, .farewell, .erase, .readBack: nil
        }
    }

    func hold(for purpose: Purpose) -> String { "consent.\(purpose.rawValue)" }

    /// Whether something that serves the purpose may be sent now.
    func allows(_ purpose: Purpose, _ mirror: SubjectMirror) -> Bool {
        !required.contains(purpose) || mirror.consent(for: purpose) == .granted
    }

    /// Why nobody may be asked about the person now; nil if they may. An answer is part of the profile.
    func refusal(toRead mirror: SubjectMirror) -> Finding? {
        guard !allows(.profile, mirror) else { return nil }
        let isDenied = mirror.consent(for: .profile) == .denied
        return (isDenied ? FindingRow.Engine.consentDenied : .Engine.consentUnknown).at()
    }

    func decision(for operation: EngagementOperation, _ mirror: SubjectMirror) -> Decision {
        guard let purpose = purpose(of: operation), required.contains(purpose) else { return .pass }
        return switch mirror.consent(for: purpose) {
        case .granted: .pass
        case .unknown: .hold(hold(for: purpose))
        case .denied: .deny
        }
    }
}
