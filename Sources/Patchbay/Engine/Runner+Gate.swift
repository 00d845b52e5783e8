import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The limits on requests to the provider: its rate, which all lanes share, and its breaker.
extension Runner {
    /// The reason that no request may leave now, and the time of the next one (nil: after the requests in flight have ended).
    ///
    /// The breaker never holds a single lane: then only the vendor's retry policy applies.
    var gate: (until: Instant?, because: Finding)? {
        guard breaker.outage != nil || rateGate != nil else { return nil }
        let now = context.now
        if let outage = breaker.outage, outage.nextProbe > now || isBusy, wantingLanes > 1 {
            return (isBusy ? nil : outage.nextProbe, finding(of: outage))
        }
        guard let rateGate, rateGate.opensAt > now else { return nil }
        let next = context.date + (rateGate.opensAt - now)
        return (
            rateGate.opensAt, FindingRow.Engine.rateSpent.at(detail: "\(rateGate.rate), next request at \(next.text)")
        )
    }

    /// The number of lanes with work, now or later.
    var wantingLanes: Int {
        lanes.values.count { $0.due != nil || $0.flight != nil || $0.waits.closings.isAny || !$0.waits.reads.isEmpty }
    }

    /// Returns the instant at which a due lane can be planned; nil if it depends on an event.
    func pastGate(_ due: Instant?) -> Instant? {
        guard let due, let gate else { return due }
        return gate.until.map { max(due, $0) }
    }

    /// The reason that each lane waits: the provider's state, the adapter's reason, or the last failure.
    var reasons: [String: Finding] {
        let now = context.now
        let gate = gate
        let outage = breaker.outage.map(finding)
        let working: [String: Finding] = lanes.compactMapValues { lane in
            guard lane.flight == nil else { return nil }
            if let gate, let due = lane.due, due <= now { return gate.because }
            return lane.because ?? lane.failures.min { $0.key < $1.key }.map { outage ?? $0.value }
        }
        return working.merging(resting.reasons) { held, _ in held }
    }

    /// Spends a request of the rate and runs `body`, which stores what must be stored before the request leaves. If it
    /// throws, the rate is restored and the request must not leave.
    func spendingRate(_ now: Instant, _ body: () throws -> Void) throws {
        let before = rateGate
        rateGate?.take(at: now)
        do {
            try body()
        } catch {
            rateGate = before
            throw error
        }
    }

    /// Whether the rate is so slow that its use must be stored.
    var hasSlowRate: Bool { rateGate.map { $0.rate.interval >= .seconds(1) } ?? false }

    /// Stores the use of a slow rate in the current transaction.
    func storeRate() throws {
        guard let rateGate, hasSlowRate else { return }
        try context.store.state.setMeta("rate.\(name)", String(rateGate.fullAt.milliseconds))
    }

    /// Restores the rate and the outage that an earlier process stored.
    func restoreGates() throws {
        breaker = Breaker(text: try context.store.state.meta("breaker.\(name)"))
        guard let rate else { return }
        rateGate = RateGate(rate, at: context.now)
        guard rate.interval >= .seconds(1) else { return }
        // A slow rate is stored with each request. If none is stored, no request was sent.
        let stored = try context.store.state.meta("rate.\(name)").flatMap(Int64.init)
        rateGate?.fullAt = stored.map(Instant.init(milliseconds:)) ?? context.now
    }

    // MARK: The breaker

    /// Records the end of an exchange for the lane's reason and for the breaker.
    func note(_ ended: Ended, _ meaning: Meaning, in lane: Lane) throws {
        let isOpen = meaning.judgements.contains { $0?.isFinal != true }
        let isRepeated = isOpen && meaning.suspension == nil
        let outcome = ended.outcome
        // A successful reply that only leads to a retry after a time does not show that the failure is over.
        let confirms = meaning.judgements.contains {
            if case .retry(let when) = $0 { when == .woken } else { true }
        }
        let isGood = outcome.isGoodAnswer && (!isRepeated || (outcome.reply?.isSuccess ?? false) && confirms)
        let cause = isGood ? nil : failure(of: ended)
        for pending in ended.flight.operations {
            if isRepeated, let cause, lane.failures.count < Lane.explainedQueues || lane.failures[pending.queue] != nil
            {
                lane.failures[pending.queue] = cause
            } else {
                lane.failures[pending.queue] = nil
            }
        }
        let before = breaker
        if outcome.isOutage(isOpen: isOpen || ended.flight.operations.isEmpty), let cause {
            let asked = outcome.reply?.retryAfter(at: ended.moment.date)
            if breaker.fail(cause, asked: asked, at: ended.moment), let outage = breaker.outage {
                context.emit([.outage(provider: name, finding(of: outage))])
            }
        } else if outcome.isGoodAnswer, let outage = breaker.recover() {
            let finding = FindingRow.Engine.providerBack.at(detail: "it failed since \(outage.since.text)")
            context.emit([.recovered(provider: name, finding)])
        }
        if isRepeated { breaker.cause = cause ?? breaker.cause }
        try save(before)
    }

    private func save(_ before: Breaker) throws {
        guard breaker.outage != before.outage || breaker.cause != before.cause else { return }
        try store { try context.store.state.setMeta("breaker.\(name)", breaker.text) }
    }

    /// Returns the reason that an exchange failed: host, status or cause, and the remedy.
    private func failure(of ended: Ended) -> Finding {
        let outcome = ended.outcome
        let failure = RequestFailure(outcome, to: ended.flight.request)
        // A row that ends the operation is not the reason for waiting: the adapter then repeats by its own policy.
        let reply: ReplyRow? = descriptor.tables.replies.index(for: outcome).map { descriptor.tables.replies.rows[$0] }
        let isRepeated = reply.map { $0.meaning == .retry || $0.meaning == .suspend } ?? false
        let row: FindingRow? = isRepeated && reply?.finding?.error != nil ? reply?.finding : nil
        // The adapter explains a vendor's reply; the transport's cause explains a failed connection.
        let vendor = descriptor.tables.replies.vendorReply(outcome, to: ended.flight.request)
        guard let row else {
            var finding = FindingRow.Engine.requestFailed.at(remedy: failure.remedy)
            (finding.error, finding.reason, finding.vendor) = (failure.error, failure.reason, vendor)
            return finding
        }
        let isAnswer = outcome.reply != nil
        return Finding(
            code: row.code,
            severity: row.severity,
            error: row.error,
            rule: row.rule,
            reason: isAnswer ? "\(row.reason) (\(failure.brief))." : failure.reason,
            remedy: isAnswer ? row.remedy : failure.remedy,
            vendor: vendor
        )
    }

    /// Returns the outage as a finding: the cause, since when, and the next attempt.
    private func finding(of outage: Breaker.Outage) -> Finding {
        let next = context.date + max(.zero, outage.nextProbe - context.now)
        return outage.finding(next: wantingLanes > 1 ? next : nil)
    }
}

extension Outcome {
    /// Whether the vendor answered with a status that concerns neither its own state nor the credentials.
    fileprivate var isGoodAnswer: Bool {
        guard let reply, !reply.isDetour else { return false }
        return reply.status < 500 && ![401, 403, 408, 429].contains(reply.status)
    }

    /// Whether the outcome indicates an outage: no reply, a 5xx without a final verdict, a page or redirect from a machine in
    /// between, or a refusal of the credentials. An interrupted process does not count. `isOpen` is true if an operation has
    /// no outcome.
    fileprivate func isOutage(isOpen: Bool) -> Bool {
        switch self {
        case .failed: !isInterrupted
        case .replied(let reply):
            [401, 403].contains(reply.status)
                || isOpen && (reply.status >= 500 || reply.status == 408 || reply.isDetour)
        }
    }
}

extension FindingRow.Engine {
    static let providerOutage = FindingRow(
        .warning("engine.provider.outage", .unavailable),
        reason: "The provider has failed repeatedly",
        remedy: "The engine retries by itself. If the cause is the network, a certificate or a credential, correct it."
    )
    static let providerBack = FindingRow(
        .note("engine.provider.back"),
        reason: "The provider answers again",
        remedy: "No action is needed."
    )
    static let rateSpent = FindingRow(
        .note("engine.provider.rate", .throttled),
        reason: "The request rate of the provider is used up",
        remedy: "No action is needed. Raise \"rate\" in the configuration if the vendor allows more."
    )
    static let requestFailed = FindingRow(
        .warning("engine.request.failed", .unavailable),
        reason: "The last request failed",
        remedy: "The engine repeats it."
    )
}
