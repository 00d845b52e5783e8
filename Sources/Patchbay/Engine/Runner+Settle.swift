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
        let (flight, outcome) = (ended.flight, ended.outcome)
        let (meaning, memory) = try desk.interpret(ended, memory: before)
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
        // New shared knowledge or a finished chore may let any lane go on; a free slot is taken by whoever waits.
        let others = lanes.compactMap { other, lane in
            other != key && (teachesAll || lane.awaitsChore) ? other : nil
        }
        for other in [key] + others {
            update(other) { lane in
                lane.awaitsChore = false
                lane.want(now)
            }
        }
        if teachesAll { wakeResting() }
        update(key) { lane in
            lane.unsettled = nil
            lane.lastExchangeFailed = outcome.reply.map { !$0.isSuccess } ?? true
        }
        try note(ended, meaning, lane: key)
        if case .failed(let failure) = outcome, let fault = WireFault(rawValue: failure.code), parked == nil {
            // The same request would be made again, and never leave.
            return try park(FindingRow.Engine.adapterUnsafe.at(detail: fault.rawValue))
        }
        try watch(meaning, flight.operations, hasLearnt: memory != before, lane: key)
    }

    /// Parks a provider whose exchanges end nothing and wait for nothing, or that names what it did not carry.
    func watch(
        _ meaning: Meaning,
        _ operations: [Waiting],
        hasLearnt: Bool,
        lane key: String
    ) throws {
        var progressed = operations.isEmpty && hasLearnt
        for judgement in meaning.judgements {
            switch judgement {
            case .underway(_, let when), .retry(let when): progressed = progressed || !when.isNow
            case nil, .ended: progressed = true
            }
        }
        guard !meaning.namesStrangers,
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
        _ meaning: Meaning,
        _ operations: [Waiting],
        remembering remembered: Memory?,
        lane key: String,
        answered: Bool?,
        clearingJournal: Bool = false
    ) throws {
        let memoryKey = descriptor.memory == .lane ? key : ""
        guard let before = try memory(lane: key) else { return }
        var lane = try lane(key)
        var events: [EngineEvent] = []
        var verdicts: [(pending: Waiting, verdict: Judgement)] = []
        verdicts.reserveCapacity(operations.count)
        for (pending, judgement) in zip(operations, meaning.judgements) {
            let verdict = judgement ?? (answered == nil ? nil : missing(&events))
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
        var advanced: [Waiting] = []
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
    private func withdrawal(among operations: [Waiting]) throws -> Bool {
        try operations.contains { pending in
            let mirror = try context.mirror(of: pending.operation.subject)
            if context.gate.decision(for: pending.operation, mirror) == .deny { return true }
            return try isBeingErased(pending.operation.subject)
        }
    }

    func missing(_ events: inout [EngineEvent]) -> Judgement {
        events.append(.noticed(provider: name, FindingRow.Engine.verdictMissing.at()))
        return .retry(.at(context.now + .seconds(60)))
    }

    /// Ends an operation or a read; what is to be told of it, unless the caller has given up or the person withdrew it.
    func end(
        _ pending: Waiting,
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
        _ verdict: Judgement,
        _ pending: Waiting,
        _ lane: inout Lane,
        answered: Bool
    ) throws -> (Waiting?, When) {
        let (step, said, failures, refusals): (Step?, When, Int, Int) =
            switch verdict {
            case .underway(let step, let when): (step, when, 0, 0)
            case .retry(let when): (pending.step, when, pending.failures + 1, pending.refusals + (answered ? 1 : 0))
            default: (nil, .now, 0, 0)
            }
        let when = said.orWoken && lane.wokenInFlight ? .now : said
        let now = pending.advanced(to: step, failures: failures, refusals: refusals, by: desk)
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
            step: step?.bytes,
            failures: failures,
            refusals: refusals
        )
        return (isPending ? now : nil, when)
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
