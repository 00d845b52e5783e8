import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The captures of one transaction on their way in: examined and placed for each route, folded into the mirrors.
struct CaptureBatch {
    private let context: EngineContext
    private let runners: [any ProviderRunner]
    private let routed: [Int]
    /// The states of the subjects that changed, read inside the transaction: another process may capture too.
    private var mirrors: [Subject: SubjectMirror] = [:]
    /// What entered each lane and is ready, by position of the runner; nothing where a lane is only to be looked at.
    private(set) var touched: [Int: [String: [LaneEntry]]] = [:]
    private var captured: [String: Int64] = [:]

    init(context: EngineContext, runners: [any ProviderRunner], plan: RoutingPlan) {
        (self.context, self.runners) = (context, runners)
        let routedNames = Set(plan.providers.filter(\.isRouted).map(\.name))
        routed = runners.indices.filter { routedNames.contains(runners[$0].name) }
    }

    mutating func add(_ operation: EngagementOperation, since: Instant) throws {
        var mirror = try mirrors[operation.subject] ?? context.mirror(of: operation.subject)
        mirror.apply(operation)
        mirrors[operation.subject] = mirror
        switch operation.action {
        case .erase:
            try withdraw(operation.subject, as: .erased) { _ in true }
            try context.store.removeRejects(provider: nil, subject: operation.subject.rawValue)
        case .setConsent(let consent): try enforce(consent, for: operation.subject, mirror)
        default: break
        }
        let sequence = try context.store.insert(OutboxOperation(operation, since: since))
        for position in routed { try enter(operation, sequence, position, mirror) }
        try context.store.discardIfUnrouted(sequence)
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
    ) throws {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if let foreign = findings.first(where: { $0.severity == .foreign }) {
            return context.emit([.passedOver(operation.id, provider: runner.name, foreign)])
        }
        captured[runner.name, default: 0] += 1
        let entry = try context.enter(operation, sequence, runner, mirror, findings: findings, keepsRejects: true)
        if entry.end == nil {
            touched[position, default: [:]][entry.lane, default: []] += entry.ready.map { [$0] } ?? []
        }
        context.emit(
            findings.filter { $0.severity != .error }.map { .noticed(provider: runner.name, $0) }
        )
    }

    /// A word on consent reaches what is pending: yes releases what waited for it, no ends it.
    private mutating func enforce(_ consent: Consent, for subject: Subject, _ mirror: SubjectMirror) throws {
        let gate = context.gate
        guard gate.required.contains(consent.purpose) else { return }
        switch mirror.consent(for: consent.purpose) {
        case .granted:
            _ = try context.store.release(
                provider: nil,
                subject: subject.rawValue,
                hold: gate.hold(for: consent.purpose)
            )
            for position in routed {
                for lane in try context.store.lanes(provider: runners[position].name) {
                    touched[position, default: [:]][lane, default: []] += []
                }
            }
        case .denied:
            try withdraw(subject, as: .dropped) { $0.map(gate.purpose) == consent.purpose }
        case .unknown: break
        }
    }

    /// Ends what is pending of a subject, except what is in flight: its verdict is already on the way.
    ///
    /// Providers that the configuration no longer names hold work of the subject too. `test` is given nil for what this
    /// release can't read.
    private mutating func withdraw(
        _ subject: Subject,
        as term: OperationOutcome.Term,
        where test: (EngagementOperation?) -> Bool
    ) throws {
        let outcome = OperationOutcome(term, finding: term == .dropped ? FindingRow.Engine.consentDenied.at() : nil)
        let inFlight = Dictionary(runners.map { ($0.name, $0.isCommitted) }) { first, _ in first }
        for name in Set(try context.store.providers().map(\.name)).union(inFlight.keys).sorted() {
            try context.store.forEachRow(provider: name, subject: subject.rawValue) { row in
                let id = OperationID(rawValue: row.operation.id)
                guard test(try? EngagementOperation(jsonBytes: row.operation.body)), !(inFlight[name]?(id) ?? false)
                else { return }
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

/// Decides by the subject's consents whether an operation may be sent.
struct ConsentGate {
    enum Decision { case pass, hold(String), deny }

    let required: Set<Purpose>

    /// The purpose that an operation serves; nil for what needs no consent.
    func purpose(of operation: EngagementOperation) -> Purpose? {
        switch operation.action {
        case .track: .tracking
        case .changeSubscription: .messaging
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: .profile
        case .setConsent, .farewell, .erase, .readBack: nil
        }
    }

    func hold(for purpose: Purpose) -> String { "consent.\(purpose.rawValue)" }

    func decision(for operation: EngagementOperation, _ mirror: SubjectMirror) -> Decision {
        guard let purpose = purpose(of: operation), required.contains(purpose) else { return .pass }
        return switch mirror.consent(for: purpose) {
        case .granted: .pass
        case .unknown: .hold(hold(for: purpose))
        case .denied: .deny
        }
    }
}
