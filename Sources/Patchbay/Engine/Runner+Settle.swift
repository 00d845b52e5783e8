import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Outcomes, verdicts, and what is stored of them.
extension Runner {
    /// Takes the outcome of a request that this provider sent.
    func finish(_ ticket: Int, _ outcome: Outcome) throws -> Bool {
        guard let key = flights.removeValue(forKey: ticket), let flight = lanes[key]?.flight else { return false }
        if flight.operations.isEmpty { choresInFlight.remove(flight.endpoint) }
        let moment = context.moment(flush: lanes[key]?.flush ?? false)
        let known = DeliberateFault.doubtForgotten.isPresent ? outcome.withoutDoubt : outcome
        let ended = Ended(flight: flight, outcome: known, moment: moment)
        update(key) { lane in (lane.flight, lane.unsettled) = (nil, ended) }
        do {
            try settle(ended, lane: key)
            return true
        } catch {
            // What the vendor said is known, and must not be asked for again: it is settled once the storage recovers.
            postpone(key)
            throw error
        }
    }

    /// Lets the adapter say what an exchange means, and stores that; once more where its memory changed meanwhile.
    func settle(_ ended: Ended, lane key: String) throws {
        do {
            try settleOnce(ended, lane: key)
        } catch is MemoryOutdated {
            try settle(ended, lane: key)
        }
    }

    private func settleOnce(_ ended: Ended, lane key: String) throws {
        guard let before = try memory(lane: key) else { return }
        var memory = before
        let (flight, outcome) = (ended.flight, ended.outcome)
        let exchange = Exchange<Adapter>(
            endpoint: flight.endpoint,
            operations: flight.operations,
            request: flight.request,
            outcome: outcome,
            startedAt: flight.startedAt,
            moment: ended.moment
        )
        let meaning = adapter.interpret(exchange, memory: &memory)
            .naming(descriptor.replies.vendorReply(outcome, to: flight.request))
        let isInterrupted = if case .failed(let failure) = outcome { failure.doubt == .interrupted } else { false }
        try settle(
            meaning,
            flight.operations,
            remembering: memory,
            lane: key,
            answered: outcome.reply != nil,
            clearingJournal: flight.endpoint.isJournaled || isInterrupted
        )
        let now = context.now
        let teachesAll = descriptor.memory == .provider && memory != before
        for other in lanes.keys {
            // New shared knowledge or a finished chore may let any lane go on; a free slot is taken by whoever waits.
            update(other) { lane in
                guard other == key || teachesAll || lane.awaitsChore else { return }
                lane.awaitsChore = false
                lane.want(now)
            }
        }
        if teachesAll { wakeResting() }
        update(key) { lane in
            lane.unsettled = nil
            lane.lastExchangeFailed = outcome.reply.map { !$0.isSuccess } ?? true
        }
        try note(exchange, meaning, lane: key)
        if case .failed(let failure) = outcome, let fault = WireFault(rawValue: failure.code), parked == nil {
            // The same request would be made again, and never leave.
            return try park(FindingRow.Engine.adapterUnsafe.at(detail: fault.rawValue))
        }
        try watch(meaning, flight.operations, hasLearnt: memory != before, lane: key)
    }

    /// Parks a provider whose exchanges end nothing and wait for nothing, or that names what it did not carry.
    func watch(
        _ meaning: Interpretation<Adapter>,
        _ operations: [Pending<Adapter>],
        hasLearnt: Bool,
        lane key: String
    ) throws {
        var judged = 0
        var progressed = operations.isEmpty && hasLearnt
        for pending in operations {
            switch meaning.verdicts[pending.id] {
            case .underway(_, let when)?, .retry(let when)?:
                judged += 1
                progressed = progressed || !when.isNow
            case nil: progressed = true
            default:
                judged += 1
                progressed = true
            }
        }
        guard judged == meaning.verdicts.count,
            meaning.followUps.allSatisfy({ followUp in operations.contains { $0.id == followUp.cause } })
        else { return try park(FindingRow.Engine.adapterStranger.at()) }
        let barren = update(key) { lane in
            lane.barren = progressed ? 0 : lane.barren + 1
            return lane.barren
        }
        if barren >= 64 { try park(FindingRow.Engine.adapterLoops.at()) }
    }

    /// Stores verdicts, memory and follow-ups in one transaction, and tells of them after it.
    ///
    /// `answered` is nil where nothing was sent, else whether the vendor answered.
    func settle(
        _ meaning: Interpretation<Adapter>,
        _ operations: [Pending<Adapter>],
        remembering remembered: Adapter.Memory?,
        lane key: String,
        answered: Bool?,
        clearingJournal: Bool = false
    ) throws {
        let memoryKey = descriptor.memory == .lane ? key : ""
        guard let before = try memory(lane: key) else { return }
        var lane = try lane(key)
        var events: [EngineEvent] = []
        var verdicts: [(pending: Pending<Adapter>, verdict: Verdict<Adapter>)] = []
        for pending in operations {
            let verdict = meaning.verdicts[pending.id] ?? (answered == nil ? nil : missing(pending, &events))
            if let verdict { verdicts.append((pending, verdict)) }
        }
        if try settlePlainly(meaning, verdicts, remembering: remembered ?? before, lane: key, clearingJournal) {
            return context.emit(events)
        }
        let erased = verdicts.filter { $0.pending.operation.action == .erase && $0.verdict.isFinal }
        var after = remembered ?? before
        // What a person's word ended while it was in flight: what the vendor says of it changes nothing any more.
        var withdrawn: Set<OperationID> = []
        var entered: [String: [LaneEntry]] = [:]
        var advanced: [Pending<Adapter>] = []
        try context.transaction(.normal) {
            try context.requireLease()
            if try forgetOutdated() { throw MemoryOutdated() }
            for (pending, _) in erased {
                try context.store.removeRejects(provider: name, subject: pending.operation.subject.rawValue)
                try context.store.requireSweep()
            }
            // An ending opens its queue before any verdict closes it: what is to wait waits, whoever else got through.
            for (pending, verdict) in verdicts {
                guard let outcome = verdict.outcome else { continue }
                if let event = try end(pending, outcome, &lane, lane: key) {
                    events.append(event)
                } else if !pending.isImmediate {
                    withdrawn.insert(pending.id)
                }
            }
            var closed: [String: When] = [:]
            for (pending, verdict) in verdicts where verdict.outcome == nil {
                let (now, when) = try progress(verdict, pending, &lane, answered: answered ?? false)
                if let now { advanced.append(now) } else if !pending.isImmediate { withdrawn.insert(pending.id) }
                if !pending.isImmediate, !when.isNow {
                    closed[pending.queue] = closed[pending.queue].map { $0.later(when) } ?? when
                }
            }
            for (queue, when) in closed {
                lane.blocks[queue] = when
                if lane.wakeAt != nil { lane.closedSince.insert(queue) }
                try context.store.setBlock(
                    provider: name,
                    lane: key,
                    queue: queue,
                    until: when.until?.milliseconds,
                    orWoken: when.orWoken
                )
            }
            for followUp in meaning.followUps where !withdrawn.contains(followUp.cause) {
                guard let cause = operations.first(where: { $0.id == followUp.cause })?.operation else { continue }
                let entry = try context.enter(followUp.action, causedBy: cause, runner: self)
                if let ready = entry.ready { entered[entry.lane, default: []].append(ready) }
            }
            let isForgotten = try !erased.isEmpty || withdrawal(among: operations.filter { withdrawn.contains($0.id) })
            if isForgotten, descriptor.memory == .lane { after = after.afterErase }
            if after != before, !DeliberateFault.memoryNotStored.isPresent { try save(after, key: memoryKey) }
            if clearingJournal { try context.store.clearJournal(provider: name, lane: key) }
            if let park = meaning.park { try saveRecord { $0.parked = park.jsonBytes } }
        }
        memories[memoryKey] = after
        if withdrawn.isEmpty || withdrawn.count < operations.count {
            events = meaning.incoming.map { .incoming(provider: name, $0) } + events
        }
        if verdicts.contains(where: { $0.verdict.isFinal }) { lane.spins = 0 }
        lane.wokenInFlight = false
        lanes[key] = lane
        for (pending, verdict) in verdicts where verdict.outcome != nil { windows[key]?.leave(pending) }
        for pending in advanced where !pending.isImmediate { windows[key]?.replace(pending) }
        if let park = meaning.park {
            parked = park
            events.append(.parked(provider: name, park))
        }
        for (key, entries) in entered { noteEntered(lane: key, entries) }
        context.emit(events)
    }

    /// Whether any of these that are pending no more was ended by a no that still stands, or by an erasure.
    private func withdrawal(among operations: [Pending<Adapter>]) throws -> Bool {
        try operations.contains { pending in
            let mirror = try context.mirror(of: pending.operation.subject)
            if context.gate.decision(for: pending.operation, mirror) == .deny { return true }
            return try isBeingErased(pending.operation.subject)
        }
    }

    func missing(_ pending: Pending<Adapter>, _ events: inout [EngineEvent]) -> Verdict<Adapter> {
        events.append(.noticed(provider: name, FindingRow.Engine.verdictMissing.at()))
        return .retry(.at(context.now + .seconds(60)))
    }

    /// Ends an operation or a read; what is to be told of it, unless the caller has given up or the person withdrew it.
    func end(
        _ pending: Pending<Adapter>,
        _ outcome: OperationOutcome,
        _ lane: inout Lane,
        lane key: String
    ) throws -> EngineEvent? {
        if pending.isImmediate {
            guard let place = lane.reads.firstIndex(where: { $0.operation.id == pending.id }) else { return nil }
            lane.reads.remove(at: place)
            return .answered(pending.id, provider: name, outcome)
        }
        // A refused erasure names the person, and is not kept.
        let keepsReject = pending.operation.action != .erase
        guard try end(pending.sequence, outcome, isIndexed: true, keepsReject: keepsReject) else { return nil }
        if lane.blocks.removeValue(forKey: pending.queue) != nil {
            try context.store.clearBlock(provider: name, lane: key, queue: pending.queue)
        }
        return .ended(pending.id, provider: name, booked(outcome))
    }

    /// Notes how far an operation or a read got; returns it as it is now (nil: it has ended), and how long its queue is
    /// closed.
    func progress(
        _ verdict: Verdict<Adapter>,
        _ pending: Pending<Adapter>,
        _ lane: inout Lane,
        answered: Bool
    ) throws -> (Pending<Adapter>?, When) {
        let (step, said, failures, refusals): (Adapter.Step?, When, Int, Int) =
            switch verdict {
            case .underway(let step, let when): (step, when, 0, 0)
            case .retry(let when): (pending.step, when, pending.failures + 1, pending.refusals + (answered ? 1 : 0))
            default: (nil, .now, 0, 0)
            }
        let when = said.orWoken && lane.wokenInFlight ? .now : said
        let now = pending.advanced(to: step, failures: failures, refusals: refusals)
        if pending.isImmediate {
            guard let place = lane.reads.firstIndex(where: { $0.operation.id == pending.id }) else {
                return (nil, when)
            }
            (lane.reads[place].step, lane.reads[place].block) = (step, when)
            (lane.reads[place].failures, lane.reads[place].refusals) = (failures, refusals)
            return (now, when)
        }
        let isPending = try context.store.progress(
            provider: name,
            sequence: pending.sequence,
            step: try step.map(encode),
            failures: failures,
            refusals: refusals
        )
        return (isPending ? now : nil, when)
    }
}

extension Verdict {
    /// The outcome of a final verdict; nil while the operation is pending.
    var outcome: OperationOutcome? {
        switch self {
        case .accepted(let finding, let answer): OperationOutcome(.accepted, finding: finding, answer: answer)
        case .unchanged(let finding): OperationOutcome(.unchanged, finding: finding)
        case .superseded: OperationOutcome(.superseded)
        case .rejected(let finding, let answer): OperationOutcome(.rejected, finding: finding, answer: answer)
        case .dropped(let finding): OperationOutcome(.dropped, finding: finding)
        case .underway, .retry: nil
        }
    }
}

extension Outcome {
    /// The same without a doubt: what a deliberate fault makes of it.
    fileprivate var withoutDoubt: Outcome {
        guard case .failed(let failure) = self else { return self }
        return .failed(TransportFailure(.notSent, failure.code))
    }
}

extension When {
    /// The one of two waits that is over later.
    fileprivate func later(_ other: When) -> When {
        guard let until else { return self }
        guard let otherUntil = other.until else { return other }
        return until >= otherUntil ? self : other
    }
}
