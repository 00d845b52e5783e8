import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The captures of one transaction on their way in: examined and placed for each route, folded into the mirrors.
struct CaptureBatch {
    private let context: EngineContext
    private let runners: [any ProviderRunner]
    private let routed: [Int]
    private let gate: ConsentGate
    /// The states of the subjects that changed, read inside the transaction: another process may capture too.
    private var mirrors: [Subject: SubjectMirror] = [:]
    /// The lanes that something entered, by position of the runner.
    private(set) var touched: [Int: Set<String>] = [:]
    /// What is told once the transaction has committed.
    private(set) var events: [EngineEvent] = []
    private var captured: [String: Int64] = [:]

    init(context: EngineContext, runners: [any ProviderRunner], plan: RoutingPlan) {
        (self.context, self.runners) = (context, runners)
        gate = ConsentGate(required: plan.requiredConsent)
        let routedNames = Set(plan.providers.filter(\.isRouted).map(\.name))
        routed = runners.indices.filter { routedNames.contains(runners[$0].name) }
    }

    mutating func add(_ operation: EngagementOperation, since: Instant) throws {
        var mirror = try mirrors[operation.subject] ?? stored(operation.subject)
        mirror.apply(operation)
        mirrors[operation.subject] = mirror
        switch operation.action {
        case .erase: try withdraw(operation.subject, as: .erased) { _ in true }
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

    private func stored(_ subject: Subject) throws -> SubjectMirror {
        try context.store.mirror(subject: subject.rawValue).map { try SubjectMirror(jsonBytes: $0) } ?? SubjectMirror()
    }

    private mutating func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ mirror: SubjectMirror
    ) throws {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return }
        captured[runner.name, default: 0] += 1
        let place = runner.place(operation)
        var hold: String?
        var end = findings.first { $0.severity == .error }.map { OperationOutcome(.rejected, finding: $0) }
        if end == nil {
            switch gate.decision(for: operation, mirror) {
            case .pass: break
            case .hold(let reason) where place.waitsForConsent: hold = reason
            case .hold: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentUnknown.at())
            case .deny: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentDenied.at())
            }
        }
        try context.store.enter(sequence, provider: runner.name, lane: place.lane, queue: place.queue, hold: hold)
        if let end {
            try context.store.end(
                provider: runner.name,
                sequence: sequence,
                term: end.term.rawValue,
                code: end.finding?.code ?? "",
                at: context.date.milliseconds,
                reject: end.term == .rejected ? end.finding?.jsonBytes : nil
            )
            events.append(.ended(operation.id, provider: runner.name, end))
        } else {
            touched[position, default: []].insert(place.lane)
        }
        for finding in findings where finding.severity != .error {
            events.append(.noticed(provider: runner.name, finding))
        }
    }

    /// A word on consent reaches what is pending: yes releases what waited for it, no ends it.
    private mutating func enforce(_ consent: Consent, for subject: Subject, _ mirror: SubjectMirror) throws {
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
                    touched[position, default: []].insert(lane)
                }
            }
        case .denied: try withdraw(subject, as: .dropped) { [gate] in gate.purpose(of: $0) == consent.purpose }
        case .unknown: break
        }
    }

    /// Ends what is pending of a subject, except what is in flight: its verdict is already on the way.
    private mutating func withdraw(
        _ subject: Subject,
        as term: OperationOutcome.Term,
        where test: (EngagementOperation) -> Bool
    ) throws {
        let finding = term == .dropped ? FindingRow.Engine.consentDenied.at() : nil
        for runner in runners {
            var ending: [(sequence: Int64, id: OperationID)] = []
            try context.store.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
                guard let operation = try? EngagementOperation(jsonBytes: row.operation.body), test(operation),
                    !runner.isCommitted(operation.id)
                else { return }
                ending.append((row.operation.sequence, operation.id))
            }
            for (sequence, id) in ending {
                try context.store.end(
                    provider: runner.name,
                    sequence: sequence,
                    term: term.rawValue,
                    code: finding?.code ?? "",
                    at: context.date.milliseconds
                )
                events.append(.ended(id, provider: runner.name, OperationOutcome(term, finding: finding)))
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
