import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Whether the provider may be asked at all now: its rate, which all lanes share, and its breaker.
extension Runner {
    /// Why nothing may leave now, and when something may again (nil: when what is in flight has ended).
    ///
    /// The breaker never holds a lane that is alone: there the vendor's law decides, and nothing else.
    var gate: (until: Instant?, because: Finding)? {
        guard breaker.outage != nil || rateGate != nil else { return nil }
        let now = context.now
        if let outage = breaker.outage, outage.nextProbe > now || isBusy, wantingLanes > 1 {
            return (isBusy ? nil : outage.nextProbe, finding(of: outage))
        }
        guard let rateGate, rateGate.opensAt > now else { return nil }
        let next = context.date + (rateGate.opensAt - now)
        return (rateGate.opensAt, FindingRow.Engine.rateSpent.at(detail: "\(rateGate.rate), the next at \(next.text)"))
    }

    /// Lanes with something to do, now or later.
    private var wantingLanes: Int {
        lanes.values.count { $0.due != nil || $0.flight != nil || $0.waits.closings.isAny || !$0.waits.reads.isEmpty }
    }

    /// The instant at which a due lane can be planned; nil is not before something happens.
    func pastGate(_ due: Instant?) -> Instant? {
        guard let due, let gate else { return due }
        return gate.until.map { max(due, $0) }
    }

    /// Why each lane waits: for the provider, for what the adapter said, or for the repeat of what failed.
    var reasons: [String: Finding] {
        let now = context.now
        let gate = gate
        let outage = breaker.outage.map(finding)
        let working: [String: Finding] = lanes.compactMapValues { lane in
            guard lane.flight == nil else { return nil }
            if let gate, let due = lane.due, due <= now { return gate.because }
            return lane.because ?? lane.failure.map { outage ?? $0 }
        }
        return working.merging(resting.reasons) { held, _ in held }
    }

    /// A request leaves once `body` has stored what must be stored before its bytes go. If that fails, nothing has left and
    /// nothing is spent.
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

    /// Whether what is spent must be stored.
    var hasSlowRate: Bool { rateGate.map { $0.rate.interval >= .seconds(1) } ?? false }

    /// Stores what is spent of a slow rate, in the transaction at hand.
    func storeRate() throws {
        guard let rateGate, hasSlowRate else { return }
        try context.store.setMeta("rate.\(name)", String(rateGate.fullAt.milliseconds))
    }

    /// Goes on with the rate and the outage that an earlier process left.
    func restoreGates() throws {
        breaker = Breaker(text: try context.store.meta("breaker.\(name)"))
        guard let rate else { return }
        rateGate = RateGate(rate, at: context.now)
        guard rate.interval >= .seconds(1) else { return }
        // A slow rate is stored with each request, so an outbox that knows of none has sent nothing.
        let stored = try context.store.meta("rate.\(name)").flatMap(Int64.init)
        rateGate?.fullAt = stored.map(Instant.init(milliseconds:)) ?? context.now
    }

    // MARK: The breaker

    /// Notes how an exchange ended: for the lane's reason, and for the breaker.
    func note(_ ended: Ended, _ meaning: Meaning, in lane: Lane) throws {
        let isOpen = meaning.judgements.contains { $0?.isFinal != true }
        let outcome = ended.outcome
        let cause = outcome.isGoodAnswer ? nil : failure(of: ended)
        lane.failure = isOpen && meaning.park == nil ? cause : nil
        let before = breaker
        if outcome.isOutage(isOpen: isOpen || ended.flight.operations.isEmpty), let cause {
            let asked = outcome.reply?.retryAfter(at: ended.moment.date)
            guard breaker.fail(cause, asked: asked, at: ended.moment) else {
                return try save(before)
            }
            if let outage = breaker.outage { context.emit([.outage(provider: name, finding(of: outage))]) }
        } else if outcome.isGoodAnswer, let outage = breaker.recover() {
            let finding = FindingRow.Engine.providerBack.at(detail: "it failed since \(outage.since.text)")
            context.emit([.recovered(provider: name, finding)])
        }
        try save(before)
    }

    private func save(_ before: Breaker) throws {
        guard breaker.outage != before.outage else { return }
        try store { try context.store.setMeta("breaker.\(name)", breaker.text) }
    }

    /// What a failed exchange was, in the words of the adapter's reply table.
    private func failure(of ended: Ended) -> Finding {
        // A row that refuses is no reason to wait: then the adapter repeats by a law of its own.
        let outcome = ended.outcome
        let row = descriptor.replies.index(for: outcome).map { descriptor.replies.rows[$0] }
            .flatMap { $0.meaning == .retry || $0.meaning == .park ? $0.finding : nil }
        let vendor = descriptor.replies.vendorReply(outcome, to: ended.flight.request)
        guard let row, row.error != nil else {
            var finding = FindingRow.Engine.requestFailed.at(detail: outcome.word)
            (finding.error, finding.vendor) = (outcome.cause, vendor)
            return finding
        }
        return Finding(
            code: row.code,
            severity: row.severity,
            error: row.error,
            rule: row.rule,
            reason: "\(row.reason) (\(outcome.word)).",
            remedy: row.remedy,
            vendor: vendor
        )
    }

    /// The outage as a person reads it: the normalised cause, the vendor's own words, since when, the next try.
    private func finding(of outage: Breaker.Outage) -> Finding {
        var words = "\(outage.cause.code), since \(outage.since.text)"
        if wantingLanes > 1 {
            let next = context.date + max(.zero, outage.nextProbe - context.now)
            words += ", one request at a time, the next at \(next.text)"
        }
        var finding = FindingRow.Engine.providerOutage.at(detail: words)
        (finding.error, finding.vendor) = (outage.cause.error ?? .unavailable, outage.cause.vendor)
        return finding
    }
}

extension Outcome {
    /// Whether the vendor answered, and not with a word on its own state or on who is asking.
    fileprivate var isGoodAnswer: Bool {
        guard let reply, !reply.isDetour else { return false }
        return reply.status < 500 && ![401, 403, 408, 429].contains(reply.status)
    }

    /// Whether it tells of a provider that is down: no answer, a 5xx that decides nothing, a page or a redirect of something on the way,
    /// or a word on who is asking. A process that died tells nothing. `isOpen`: some operation of it has not ended.
    fileprivate func isOutage(isOpen: Bool) -> Bool {
        switch self {
        case .failed(let failure): failure.doubt != .interrupted
        case .replied(let reply):
            [401, 403].contains(reply.status)
                || isOpen && (reply.status >= 500 || reply.status == 408 || reply.isDetour)
        }
    }

    /// The outcome in a word or two: a status, or the transport's word.
    fileprivate var word: String {
        switch self {
        case .replied(let response): "HTTP \(response.status)"
        case .failed(let failure): "\(failure.doubt.rawValue): \(failure.code)"
        }
    }

    /// The normalised cause where the adapter names none.
    fileprivate var cause: ErrorCode {
        switch reply?.status {
        case nil: .unreachable
        case 401: .unauthenticated
        case 403: .forbidden
        case 429: .throttled
        default: .unavailable
        }
    }
}

extension FindingRow.Engine {
    static let providerOutage = FindingRow(
        "engine.provider.outage",
        .warning,
        .unavailable,
        reason: "The provider fails again and again",
        remedy: "Nothing is lost, and attempts go on. Mend the network or the credential if it is that."
    )
    static let providerBack = FindingRow(
        "engine.provider.back",
        .note,
        reason: "The provider answers again",
        remedy: "Nothing."
    )
    static let rateSpent = FindingRow(
        "engine.provider.rate",
        .note,
        .throttled,
        reason: "The provider may not be asked more often",
        remedy: "Nothing; it goes on by itself. Raise \"rate\" in the configuration if the vendor allows more."
    )
    static let requestFailed = FindingRow(
        "engine.request.failed",
        .warning,
        .unavailable,
        reason: "The last request was not answered with a yes",
        remedy: "Nothing; it is repeated as the vendor's law says."
    )
}
