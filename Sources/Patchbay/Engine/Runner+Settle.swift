import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Outcomes of exchanges, verdicts, and their storage.
extension Runner {
    /// Handles the outcome of a request that this provider sent.
    func finish(_ ticket: Int, _ outcome: Outcome) throws -> Bool {
        guard let lane = flights.removeValue(forKey: ticket), let flight = lane.flight else { return false }
        if flight.operations.isEmpty { maintenanceRequestsInFlight.remove(flight.endpoint) }
        let moment = context.moment(flush: lane.flush)
        let ended = Ended(flight: flight, outcome: outcome, moment: moment)
        (lane.flight, lane.unsettled) = (nil, ended)
        do {
            try settle(ended, in: lane)
            return true
        } catch {
            // The vendor has answered and must not be asked again, so the outcome is settled when the storage recovers.
            postpone(lane)
            throw error
        }
    }

    /// Stores outcomes that could not be stored before. Otherwise, the next engine would ask the vendor again.
    func settleAnswers() throws {
        var failure: (any Error)?
        for lane in lanes.values.sorted(by: { $0.key < $1.key }) {
            guard let ended = lane.unsettled else { continue }
            do {
                try context.store.look { try settle(ended, in: lane) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Interprets an exchange and stores the result. Repeats this if the memory has changed meanwhile.
    func settle(_ ended: Ended, in lane: Lane) throws {
        do {
            try settleOnce(ended, in: lane)
        } catch is MemoryOutdated {
            try settle(ended, in: lane)
        }
    }

    private func settleOnce(_ ended: Ended, in lane: Lane) throws {
        guard let before = try memory(of: lane) else { return }
        let (flight, outcome) = (ended.flight, ended.outcome)
        let (meaning, memory) = try driver.interpret(ended, memory: before)
        if try refusesCredential(ended, meaning, in: lane) { return }
        try settle(
            meaning,
            flight.operations,
            remembering: memory,
            in: lane,
            answered: outcome.reply != nil,
            isAcknowledged: outcome.reply?.isSuccess ?? false,
            isUncertain: outcome.mayHaveArrived,
            of: flight.isJournaled || outcome.isInterrupted ? flight : nil
        )
        let now = context.now
        let teachesAll = descriptor.memory == .provider && memory != before
        // A change of shared memory or the end of a maintenance request may allow any lane to continue.
        for other in lanes.values where other === lane || teachesAll || other.awaitsMaintenanceRequest {
            other.awaitsMaintenanceRequest = false
            other.want(now)
        }
        if teachesAll { wakeResting() }
        lane.unsettled = nil
        lane.lastExchangeFailed = outcome.reply.map { !$0.isSuccess } ?? true
        try note(ended, meaning, in: lane)
        if case .failed(let failure) = outcome, let fault = failure.fault, !isSuspended {
            // The request would be created again and never leave.
            return try suspend(FindingRow.Engine.adapterUnsafe.at(detail: fault.rawValue))
        }
        try watch(meaning, flight.operations, hasLearnt: memory != before, in: lane)
    }

    /// Suspends a provider whose exchanges complete nothing and wait for nothing, or whose adapter names unknown operations.
    func watch(
        _ meaning: Meaning,
        _ operations: [Waiting],
        hasLearnt: Bool,
        in lane: Lane
    ) throws {
        var progressed = operations.isEmpty && hasLearnt
        for judgement in meaning.judgements {
            switch judgement {
            case .inProgress(_, let when), .retry(let when): progressed = progressed || !when.isNow
            case nil, .ended: progressed = true
            }
        }
        guard !meaning.namesUnknownOperations,
            meaning.followUps.allSatisfy({ followUp in operations.contains { $0.id == followUp.cause } })
        else { return try suspend(FindingRow.Engine.adapterUnknownOperation.at()) }
        lane.barren = progressed ? 0 : lane.barren + 1
        if lane.barren >= 64 { try suspend(FindingRow.Engine.adapterLoops.at()) }
    }

    /// Stores verdicts, memory and follow-ups in one transaction, and emits the events after it.
    ///
    /// `answered` is nil if no request was sent, else whether the vendor answered.
    func settle(
        _ meaning: Meaning,
        _ operations: [Waiting],
        remembering remembered: Memory?,
        in lane: Lane,
        answered: Bool?,
        isAcknowledged: Bool = false,
        isUncertain: Bool = false,
        of journaled: Flight? = nil
    ) throws {
        guard let before = try memory(of: lane) else { return }
        try readWaits(of: lane)
        var events: [EngineEvent] = []
        var verdicts: [(pending: Waiting, verdict: Judgement)] = []
        verdicts.reserveCapacity(operations.count)
        for (pending, judgement) in zip(operations, meaning.judgements) {
            let verdict = judgement ?? (answered == nil ? nil : missing(&events))
            guard let verdict else { continue }
            let isSent = answered != nil || pending.isImmediate || pending.requests.contains(.acknowledged)
            verdicts.append((pending, isSent ? verdict : verdict.withoutRequest))
        }
        if try settlePlainly(
            meaning,
            verdicts,
            remembering: remembered ?? before,
            in: lane,
            isAcknowledged: isAcknowledged,
            journaled
        ) {
            return context.emit(events)
        }
        let erased = verdicts.filter { $0.pending.isErasure && $0.verdict.isFinal }
        var after = remembered ?? before
        // Operations that a consent decision or an erasure ended while in flight. The vendor's reply does not change their
        // outcome.
        var withdrawn: Set<OperationID> = []
        var entered: [String: [LaneEntry]] = [:]
        var advanced: [Waiting] = []
        // Replaced only if the transaction commits.
        var waits = lane.waits
        var closed: [String: When] = [:]
        var isErased = lane.isErased
        try context.transaction(.normal) {
            try context.requireLease()
            if try forgetOutdated() { throw MemoryOutdated() }
            // A wake that came before does not open queues that are closed now.
            try openWoken(lane, &waits)
            for (pending, _) in erased {
                try context.store.rejects.remove(provider: name, subject: pending.operation.subject.rawValue)
                try context.store.maintenance.requireSweep()
            }
            for (pending, verdict) in verdicts {
                guard let outcome = verdict.outcome else { continue }
                if let event = try end(pending, outcome, &waits) {
                    events.append(event)
                } else if !pending.isImmediate {
                    withdrawn.insert(pending.id)
                }
            }
            for (pending, verdict) in verdicts where verdict.outcome == nil {
                let (now, when) = try progress(
                    verdict,
                    pending,
                    in: lane,
                    &waits,
                    answered: answered ?? false,
                    isAcknowledged: isAcknowledged,
                    isUncertain: isUncertain
                )
                if let now { advanced.append(now) } else if !pending.isImmediate { withdrawn.insert(pending.id) }
                if !pending.isImmediate, !when.isNow {
                    closed[pending.queue] = closed[pending.queue].map { $0.later(when) } ?? when
                }
            }
            for (queue, when) in closed {
                try close(queue, when, in: lane, &waits)
                if lane.wakeAt != nil { waits.closedSince[queue] = when }
            }
            for followUp in meaning.followUps where !withdrawn.contains(followUp.cause) {
                guard let cause = operations.first(where: { $0.id == followUp.cause })?.operation else { continue }
                let entry = try context.enter(followUp.action, causedBy: cause, runner: self)
                if let ready = entry.ready { entered[entry.lane, default: []].append(ready) }
            }
            if descriptor.memory == .lane {
                after =
                    erased.isEmpty
                    ? try kept(of: after, behind: operations.filter { withdrawn.contains($0.id) }) : after.afterErase
            }
            if descriptor.memory == .lane, !erased.isEmpty {
                isErased = try saveErased(after, lane: lane.key)
                try context.store.closedQueues.openEmpty(named: lane.key)
            } else if after != before || lane.uncertainty != nil {
                try save(after, key: memoryKey(of: lane))
            }
            if journaled != nil || lane.hasSettledNote {
                try context.store.state.clearJournal(provider: name, lane: lane.key)
            }
            if let suspension = meaning.suspension { try saveRecord { $0.suspended = suspension.jsonBytes } }
        }
        keep(after, of: lane)
        (lane.uncertainty, lane.hasSettledNote, lane.isErased) = (nil, false, isErased)
        if withdrawn.isEmpty || withdrawn.count < operations.count {
            events = meaning.incoming.map { .incoming(provider: name, $0) } + events
        }
        if verdicts.contains(where: { $0.verdict.isFinal }) { lane.spins = 0 }
        (lane.waits, lane.wokenInFlight, lane.isWoken) = (waits, false, false)
        for queue in closed.keys { lane.window?.close(queue) }
        for (pending, verdict) in verdicts where verdict.outcome != nil { lane.window?.leave(pending) }
        for pending in advanced where !pending.isImmediate { lane.window?.replace(pending) }
        if let suspension = meaning.suspension {
            suspended = suspension
            events.append(.suspended(provider: name, suspension))
        }
        for (key, entries) in entered { enter(entries, self.lane(key)) }
        context.emit(events)
    }

    /// Returns the memory to keep when operations were withdrawn while in flight: all of it, unless a denial still covers one
    /// of them. An erasure needs the memory and clears it when it has completed.
    private func kept(of memory: Memory, behind operations: [Waiting]) throws -> Memory {
        var denied: Set<Consent.Scope> = []
        for pending in operations {
            let snapshot = try context.snapshot(of: pending.operation.subject)
            guard context.gate.decision(for: pending.operation.action, snapshot) == .deny else { continue }
            denied.formUnion(snapshot.consents.filter { $0.state == .denied }.map(\.scope))
        }
        return denied.isEmpty ? memory : memory.afterDenial(of: denied.sorted())
    }

    func missing(_ events: inout [EngineEvent]) -> Judgement {
        events.append(.noticed(provider: name, FindingRow.Engine.verdictMissing.at()))
        return .retry(.at(context.now + .seconds(60)))
    }

    /// Ends an operation or a query. Returns its event, or nil if the caller has given up or the operation was withdrawn.
    func end(
        _ pending: Waiting,
        _ outcome: OperationOutcome,
        _ waits: inout Lane.Waits
    ) throws -> EngineEvent? {
        if pending.isImmediate {
            guard let place = waits.reads.firstIndex(where: { $0.operation.id == pending.id }) else { return nil }
            waits.reads.remove(at: place)
            return .answered(pending.id, provider: name, outcome)
        }
        // A rejected erasure is not kept, because it names the person.
        let keepsReject = !pending.isErasure
        guard try end(pending.sequence, outcome, isIndexed: true, keepsReject: keepsReject) else { return nil }
        return .ended(pending.id, provider: name, booked(outcome))
    }

    /// Records the progress of an operation or a query. Returns its new state (nil if it has ended) and the time until which
    /// its queue is closed.
    func progress(
        _ verdict: Judgement,
        _ pending: Waiting,
        in lane: Lane,
        _ waits: inout Lane.Waits,
        answered: Bool,
        isAcknowledged: Bool,
        isUncertain: Bool
    ) throws -> (Waiting?, When) {
        let (step, said, failures, refusals): (Step?, When, Int, Int) =
            switch verdict {
            case .inProgress(let step, let when): (step, when, 0, 0)
            case .retry(let when): (pending.step, when, pending.failures + 1, pending.refusals + (answered ? 1 : 0))
            default: (nil, .now, 0, 0)
            }
        var requests = pending.requests(behind: isAcknowledged)
        if case .retry = verdict {
            requests = isUncertain ? pending.requests.union(.uncertain) : pending.requests
        }
        let when = said.orWoken && lane.wokenInFlight ? .now : said
        let now = pending.advanced(
            to: step,
            failures: failures,
            refusals: refusals,
            requests: requests,
            by: driver
        )
        if pending.isImmediate {
            guard let place = waits.reads.firstIndex(where: { $0.operation.id == pending.id }) else {
                return (nil, when)
            }
            (waits.reads[place].step, waits.reads[place].block) = (step, when)
            (waits.reads[place].failures, waits.reads[place].refusals) = (failures, refusals)
            return (now, when)
        }
        let isPending = try context.store.settlement.progress(
            provider: name,
            sequence: pending.sequence,
            step: step?.bytes,
            failures: failures,
            refusals: refusals,
            requests: requests
        )
        return (isPending ? now : nil, when)
    }
}

extension Outcome {
    /// Whether the request may have reached the vendor although no reply came.
    fileprivate var mayHaveArrived: Bool {
        if case .failed(let failure) = self { failure.delivery != .notSent } else { false }
    }
}

extension When {
    /// Returns the later of two waits.
    fileprivate func later(_ other: When) -> When {
        guard let until else { return self }
        guard let otherUntil = other.until else { return other }
        return until >= otherUntil ? self : other
    }
}
