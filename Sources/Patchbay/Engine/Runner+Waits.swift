import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// Explains pending operations: their number by kind, since when and why they wait, and the next attempt.
extension Runner {
    /// Returns the waits of pending operations and of callers' queries, the oldest first.
    func waits() throws -> [Wait] {
        var sum = WaitSum()
        var planned: [String: [String: PlannedWait]] = [:]
        let date = { [context] in context.date + ($0 - context.now) }
        try context.store.operations.forEachPendingGroup(provider: name) { group in
            let (until, reasons) = try explain(group, &planned)
            sum.add(
                group.kind,
                group.count,
                since: Instant(milliseconds: group.firstCapturedAt),
                nextAttempt: until.map(date),
                reasons
            )
        }
        for lane in lanes.values {
            for read in lane.waits.reads {
                let (until, reasons) = explain(read, lane)
                sum.add(
                    read.operation.action.kind.rawValue,
                    1,
                    since: date(read.since),
                    nextAttempt: until.map(date),
                    reasons
                )
            }
        }
        return sum.sorted
    }

    /// Stores the explanation in the outbox, for people who inspect the file while no process has it open.
    func keepWaits() throws {
        let pending = try context.store.operations.pendingCount(provider: name)
        guard (1...Self.explainedLimit).contains(pending) else { return }
        let waits = try waits().map(\.afterProcessEnd)
        let kept = KeptWaits(pending: pending, newest: try context.store.captures.newestSequence(), waits: waits)
        try store { try context.store.state.setMeta(waitsKey, kept.text) }
    }

    /// The maximum number of pending operations that are explained when the process stops.
    private static var explainedLimit: Int { 20_000 }

    var waitsKey: String { KeptWaits.key(of: name) }

    /// An adapter's wait for one queue.
    private typealias PlannedWait = (until: Instant?, reasons: [Finding])

    private func explain(_ group: PendingGroup, _ planned: inout [String: [String: PlannedWait]]) throws -> PlannedWait
    {
        if let hold = group.hold { return (nil, [FindingRow.Engine.consentAwaited.at(detail: hold)]) }
        if let stop = whyNothingLeaves { return (nil, [stop]) }
        let lane = lanes[group.lane]
        let failure = lane?.failures[group.queue]
        if let flight = lane?.flight, flight.operations.contains(where: { $0.queue == group.queue }) {
            return (nil, [inProgress(flight)] + [failure].compactMap(\.self))
        }
        if let closing = group.closing {
            let until = closing.until.map(Instant.init(milliseconds:))
            return (later(until), reasons(for: closing, failure ?? (group.hasFailed ? breaker.cause : nil)))
        }
        if planned[group.lane] == nil, let lane { planned[group.lane] = try plannedWaits(of: lane) }
        var wait = planned[group.lane]?[group.queue] ?? (nil, [])
        if let failure { wait.reasons.insert(failure, at: 0) }
        return completed(wait, in: group.lane)
    }

    /// Adds the reasons for which the whole provider or lane waits.
    private func completed(_ known: PlannedWait, in key: String) -> PlannedWait {
        var wait = known
        let lane = lanes[key]
        if let outage = breaker.outage, wantingLanes > 1 {
            wait.reasons.append(outage.finding(next: nil))
            wait.until = max(wait.until ?? outage.nextProbe, outage.nextProbe)
        } else if let gate, lane?.due.map({ $0 <= context.now }) ?? true {
            wait.reasons.append(gate.because)
            wait.until = wait.until ?? gate.until
        }
        if wait.reasons.isEmpty { wait.reasons = [lane?.because ?? resting.reasons[key]].compactMap(\.self) }
        if wait.until == nil, lane?.flight == nil { wait.until = lane?.due.flatMap { $0 > context.now ? $0 : nil } }
        if wait.reasons.isEmpty { wait.reasons = [FindingRow.Engine.queuesOpen.at()] }
        return wait
    }

    private func explain(_ read: Lane.Read, _ lane: Lane) -> PlannedWait {
        if let stop = whyNothingLeaves { return (nil, [stop]) }
        let failure = lane.failures[place(read.operation).queue]
        if let flight = lane.flight, flight.operations.contains(where: { $0.id == read.operation.id }) {
            return (nil, [inProgress(flight)] + [failure].compactMap(\.self))
        }
        return completed((read.block.until, [failure].compactMap(\.self)), in: lane.key)
    }

    /// The reason that this process sends nothing for this provider; nil if it does send.
    private var whyNothingLeaves: Finding? {
        if let suspended { return suspended }
        if isPaused { return FindingRow.Engine.providerPaused.at() }
        return context.epoch == nil ? FindingRow.Engine.deliveredElsewhere.at() : nil
    }

    private func inProgress(_ flight: Flight) -> Finding {
        FindingRow.Engine.requestInProgress.at(detail: flight.request.host)
    }

    /// Returns the later of a queue's opening and the next request that an outage allows.
    private func later(_ until: Instant?) -> Instant? {
        guard let until, let outage = breaker.outage, wantingLanes > 1 else { return until }
        return max(until, outage.nextProbe)
    }

    private func reasons(for closing: PendingGroup.Closing, _ failure: Finding?) -> [Finding] {
        let outage = wantingLanes > 1 ? breaker.outage?.finding(next: nil) : nil
        let known = [failure, outage].compactMap(\.self)
        if !known.isEmpty { return known }
        return [(closing.until == nil ? FindingRow.Engine.queuesUnwoken : FindingRow.Engine.queuesClosed).at()]
    }

    /// Asks the adapter about each queue of a lane separately. In a plan of all queues, the shortest wait would hide the
    /// others.
    private func plannedWaits(of lane: Lane) throws -> [String: PlannedWait] {
        guard lane.flight == nil, lane.unsettled == nil, let shown = lane.window?.shown, !shown.operations.isEmpty,
            let memory = keptMemory(of: lane)
        else { return [:] }
        var waits: [String: PlannedWait] = [:]
        let moment = Moment(now: context.now, date: context.date, flush: false, chance: 0.5)
        for queue in Set(shown.operations.map(\.queue)) {
            var window = shown
            let operations = shown.operations.filter { $0.queue == queue }
            (window.operations, window.views) = (operations[...], operations.map { $0.view as AnyObject }[...])
            guard case .wait(let until, let because) = try driver.plan(window, memory: memory, at: moment) else {
                continue
            }
            waits[queue] = (until, [because] + credentialProblems(operations, because))
        }
        return waits
    }

    /// Returns why there is no usable credential, if the adapter waits for one.
    private func credentialProblems(_ operations: [Waiting], _ because: Finding) -> [Finding] {
        guard descriptor.delivery.usesCredentials, because.error == .unauthenticated else { return [] }
        let contacts = Set(
            operations.filter { $0.credential == nil }.map { $0.operation.contact.map(ScalarString.init) }
        )
        let problems = contacts.compactMap { contact in
            context.credentials.problem(of: name, for: contact?.text, at: context.date)
        }
        return Set(problems.map(\.finding)).sorted { $0.reason < $1.reason }
    }
}

/// The stored waits of a provider whose process has stopped. They are valid while the same operations are pending.
struct KeptWaits {
    let pending: Int
    let newest: Int64
    let waits: [Wait]

    static func key(of provider: String) -> String { "waits.\(provider)" }

    var text: String {
        let json: JSONValue = [
            "pending": .integer(pending), "newest": .integer(newest), "waits": .array(waits.map(\.json)),
        ]
        return json.text
    }

    /// Returns the stored waits of a provider; nil if there are none, or if the outbox has changed since.
    static func read(_ provider: String, pending: Int, in store: OutboxStore) throws -> [Wait]? {
        guard let json = try store.state.meta(key(of: provider)).flatMap({ try? JSONValue(parsing: $0) }),
            json["pending"]?.integer == Int64(pending), json["newest"]?.integer == (try store.captures.newestSequence())
        else { return nil }
        return try? json["waits"]?.array?.map(Wait.init(json:))
    }
}

extension Wait {
    /// The wait after the process has ended: its requests are no longer in progress.
    fileprivate var afterProcessEnd: Wait {
        var wait = self
        for (place, reason) in reasons.enumerated() where reason.code == FindingRow.Engine.requestInProgress.code {
            wait.reasons[place] = FindingRow.Engine.requestUnanswered.at()
        }
        return wait
    }
}

extension CredentialCache.Problem {
    /// The problem as a finding.
    var finding: Finding {
        switch self {
        case .missing: FindingRow.Engine.credentialMissing.at()
        case .requested: FindingRow.Engine.credentialRequested.at()
        case .failed(let error): FindingRow.Engine.credentialFailed.at(detail: error)
        case .expired(let instant): FindingRow.Engine.credentialExpired.at(detail: "at \(instant.text)")
        case .refused(let refusal):
            FindingRow.Engine.credentialRefused.at(
                detail: "\(refusal.host): HTTP \(refusal.status.map(String.init) ?? "?") at \(refusal.date.text)"
            )
        }
    }
}

extension FindingRow.Engine {
    static let consentAwaited = FindingRow(
        .note("engine.consent.awaited", .consent),
        reason: "A consent that the configuration requires has not been answered",
        remedy: "Ask the person and capture the answer with setConsent."
    )
    static let providerPaused = FindingRow(
        .note("engine.provider.paused"),
        reason: "The configuration pauses the provider",
        remedy: "Set the mode of its route to \"live\" to resume delivery."
    )
    static let deliveredElsewhere = FindingRow(
        .note("engine.process.delivers"),
        reason: "Another process delivers from this outbox",
        remedy: "No action is needed; look for the reason in that process."
    )
    static let requestInProgress = FindingRow(
        .note("engine.request.inProgress"),
        reason: "A request is in progress",
        remedy: "No action is needed."
    )
    static let requestUnanswered = FindingRow(
        .note("engine.request.unanswered", .outcomeUnknown),
        reason: "The process ended before the vendor replied to the request",
        remedy: "Run `patchbay send`, or the app: the process that delivers repeats the request."
    )
    static let queuesFailed = FindingRow(
        .note("engine.queue.failed"),
        reason: "An earlier attempt failed",
        remedy: "Run `patchbay send`, or the app: the process that delivers repeats it and reports the cause."
    )
    static let queuesOpen = FindingRow(
        .note("engine.queue.open"),
        reason: "Operations wait for their turn",
        remedy: "Run `patchbay send`, or the app, to deliver them."
    )
    static let queuesClosed = FindingRow(
        .note("engine.queue.closed"),
        reason: "The adapter postponed the queue",
        remedy: "No action is needed while a process delivers."
    )
    static let queuesUnwoken = FindingRow(
        .note("engine.queue.unwoken"),
        reason: "The adapter postponed the queue until something changes",
        remedy: "A start, the network, the foreground, a flush or a new credential resumes it."
    )
    static let credentialMissing = FindingRow(
        .note("engine.credential.missing", .unauthenticated),
        reason: "The credential source has no credential for the contact",
        remedy: "Provide one and call credentialDidChange(for:)."
    )
    static let credentialRequested = FindingRow(
        .note("engine.credential.requested", .unauthenticated),
        reason: "The credential source has not answered yet",
        remedy: "No action is needed."
    )
    static let credentialFailed = FindingRow(
        .warning("engine.credential.failed", .unauthenticated),
        reason: "The credential source failed",
        remedy: "Correct the error that it throws; the client asks again."
    )
    static let credentialExpired = FindingRow(
        .warning("engine.credential.expired", .unauthenticated),
        reason: "The contact's token has expired",
        remedy: "Provide a new token and call credentialDidChange(for:)."
    )
    static let credentialRefused = FindingRow(
        .warning("engine.credential.refused", .unauthenticated),
        reason: "The vendor refused the contact's credential, and the credential source gave no other",
        remedy: "Provide a new credential and call credentialDidChange(for:)."
    )
}
