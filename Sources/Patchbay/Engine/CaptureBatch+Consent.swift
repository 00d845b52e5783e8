import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What a person's word does to what is pending.
extension CaptureBatch {
    /// A word on consent reaches what is pending: yes releases what waited for it, no ends it.
    ///
    /// A no also empties what the adapters remember of the vendor's side; what is still allowed is told again after it,
    /// and so is, after a yes that takes back a no, what the person said meanwhile.
    mutating func enforce(
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

    /// Ends what is pending of a subject, also what is in flight: what the vendor says of that later changes nothing.
    ///
    /// Providers that the configuration no longer names hold work of the subject too. `test` is given nil for what this
    /// release can't read.
    mutating func withdraw(
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
