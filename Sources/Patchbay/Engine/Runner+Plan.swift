import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Plans and the requests that they send.
extension Runner {
    /// Plans every lane that is due. The requests must leave at once.
    ///
    /// A storage error in one lane does not stop the others. The first error is thrown after all lanes were planned.
    func plan(_ send: (Dispatch) -> Void) throws {
        expireReads()
        guard !isSuspended, !isPaused else { return }
        var failure: (any Error)?
        do {
            try admit()
        } catch {
            failure = error
        }
        defer { tidy() }
        for lane in lanesDue() {
            guard !isSuspended, flights.count < descriptor.delivery.concurrency, gate == nil else { break }
            do {
                if let dispatch = try plan(lane) { send(dispatch) }
            } catch {
                postpone(lane)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Returns the lanes that are due, the one that has waited longest first.
    func lanesDue() -> [Lane] {
        let now = context.now
        let due = lanes.values.filter { lane in lane.flight == nil && lane.due.map { $0 <= now } ?? false }
        guard due.count > 1 else { return due }
        return due.map { (since: $0.due ?? now, lane: $0) }
            .sorted { ($0.since, $0.lane.key) < ($1.since, $1.lane.key) }.map(\.lane)
    }

    /// Postpones a lane after a storage error. All operations stay pending and are tried again in 5 s.
    func postpone(_ lane: Lane) { lane.due = context.now + .seconds(5) }

    /// Whether the last exchange of a lane failed.
    var isFailing: Bool { lanes.values.contains(where: \.lastExchangeFailed) }

    /// Plans a lane with a single check for other processes' commits.
    func plan(_ lane: Lane) throws -> Dispatch? {
        try context.store.look {
            let dispatch = try planAtOnce(lane)
            if dispatch == nil, lane.hasSettledNote {
                try context.transaction(.normal, appends: true) {
                    try context.requireLease()
                    try context.store.state.clearJournal(provider: name, lane: lane.key)
                }
                lane.hasSettledNote = false
            }
            return dispatch
        }
    }

    private func planAtOnce(_ lane: Lane) throws -> Dispatch? {
        if let ended = lane.unsettled { try settle(ended, in: lane) }
        while !isSuspended, lane.unsettled == nil {
            let now = context.now
            if let wakeAt = lane.wakeAt, wakeAt <= now { lane.wake(now, but: lane.waits.closedSince) }
            guard let (window, nextUnblock) = try window(of: lane, now: now) else { return nil }
            if hasSpun(lane, now: now) {
                try suspend(FindingRow.Engine.adapterLoops.at())
                return nil
            }
            try forgetOutdated()
            guard let memory = try memory(of: lane) else { return nil }
            let moment = context.moment(flush: lane.flush)
            var shown = window
            shown.isUnrouted = try isUnrouted || isOutsideShare(window)
            try notePerson(of: &shown)
            switch try driver.plan(shown, memory: memory, at: moment) {
            case .wait(let until, let because):
                let wait = until.map { max($0, now + .milliseconds(10)) }
                lane.due = wait.orEarlier(nextUnblock)
                (lane.because, lane.flush) = (because, false)
                // A plan that waits until an instant does not count as a loop, and neither does such a verdict.
                if wait != nil { lane.barren = 0 }
                return nil
            case .settle(let meaning, let settled, let remembered):
                guard !meaning.namesUnknownOperations, !settled.isEmpty || remembered != nil else {
                    try suspend(FindingRow.Engine.adapterUnknownOperation.at())
                    return nil
                }
                do {
                    try settle(meaning, settled, remembering: remembered, in: lane, answered: nil)
                } catch is MemoryOutdated {
                    continue
                }
            case .send(let endpoint, let request, let carried, let unacknowledged):
                do {
                    return try send(
                        endpoint,
                        request,
                        carrying: carried,
                        window.operations,
                        unacknowledged: unacknowledged.map { (memory, $0) },
                        in: lane,
                        now: now
                    )
                } catch is MemoryOutdated {
                    continue
                }
            }
        }
        return nil
    }

    /// Adds data about the person to the window of a device API's lane: when the person came, whether the person allows push
    /// messages, and which former people did not when they left.
    private func notePerson(of window: inout Window) throws {
        guard descriptor.memory == .lane, let subject = window.operations.first?.operation.subject else { return }
        let scope = Consent.Scope(.messaging, channel: .push)
        let snapshot = try context.snapshotForPlan(of: subject)
        window.cameAfter = snapshot.cameAfter.map(Int64.init)
        let hasSubscription = descriptor.capabilities[.subscription(.push)].isAvailable
        func isAllowed(_ state: Consent.State) -> Bool { context.gate.decision(on: scope, state) == .pass }
        // A registration makes the vendor send push messages. If it would be dropped or held, no operation may opt in.
        window.allowsPushMessages = isAllowed(snapshot.push.consent) && context.gate.allowsPushRegistration(snapshot)
        window.hasEndedPush = hasSubscription && snapshot.push.isEnded
        for person in snapshot.formerPush
        where !isAllowed(person.push.consent) || hasSubscription && person.push.isEnded {
            window.formerlyWithoutPush.insert(person.contact)
        }
    }

    /// Returns whether the provider no longer receives the contact of a device API's lane.
    private func isOutsideShare(_ window: Window) throws -> Bool {
        guard !share.isAll, descriptor.memory == .lane, let subject = window.operations.first?.operation.subject else {
            return false
        }
        return try !share.holds(context.snapshotForPlan(of: subject).contact, on: subject)
    }

    func send(
        _ endpoint: Endpoint,
        _ request: WireRequest,
        carrying ids: [OperationID],
        _ pending: ArraySlice<Waiting>,
        unacknowledged: (full: Memory, stored: Memory)?,
        in lane: Lane,
        now: Instant
    ) throws -> Dispatch? {
        let operations = carried(ids, of: pending)
        let isMaintenanceRequest = ids.isEmpty
        guard operations.count == ids.count, !isMaintenanceRequest || descriptor.memory == .provider else {
            try suspend(FindingRow.Engine.adapterUnknownOperation.at())
            return nil
        }
        if isMaintenanceRequest, maintenanceRequestsInFlight.contains(endpoint) {
            (lane.awaitsMaintenanceRequest, lane.due) = (true, lane.wakeAt)
            return nil
        }
        // A device API's request is noted before it leaves. After a crash, its operations count as possibly processed.
        let isNoted = descriptor.side == .device && operations.contains { !$0.isImmediate }
        let isJournaled = endpoint.isJournaled || isNoted
        let unacknowledged = descriptor.memory == .lane ? unacknowledged : nil
        try spendingRate(now) {
            if isJournaled || unacknowledged != nil {
                var uncertainty: Lane.StoredUncertainty?
                let isDurable = unacknowledged != nil || endpoint.isJournaled
                context.isMarking = true
                defer { context.isMarking = false }
                try context.transaction(isDurable ? .full : .normal, appends: !isDurable) {
                    try context.requireLease()
                    if let unacknowledged {
                        // Data that another process removed from the memory must not be restored.
                        if try forgetOutdated() { throw MemoryOutdated() }
                        try save(unacknowledged.stored, key: memoryKey(of: lane))
                        uncertainty = .init(
                            stored: unacknowledged.stored,
                            full: unacknowledged.full,
                            denials: try denials()
                        )
                    }
                    if isJournaled {
                        let entry = JournalEntry(
                            lane: lane.key,
                            endpoint: endpoint.name,
                            operations: operations.filter { !$0.isImmediate }.map(\.id.rawValue),
                            request: endpoint.isJournaled ? request.journal : [],
                            startedAt: now.milliseconds
                        )
                        try context.store.state.setJournal(provider: name, entry)
                    }
                    try storeRate()
                }
                lane.uncertainty = uncertainty ?? lane.uncertainty
                if isJournaled { lane.hasSettledNote = false }
            } else if hasSlowRate {
                try store(storeRate)
            } else {
                try context.markIfDue()
            }
        }
        if isMaintenanceRequest { maintenanceRequestsInFlight.insert(endpoint) }
        let ticket = context.makeTicket()
        flights[ticket] = lane
        lane.flight = Flight(
            ticket: ticket,
            endpoint: endpoint,
            operations: operations,
            request: request,
            startedAt: now,
            isJournaled: isJournaled
        )
        lane.because = nil
        return Dispatch(
            ticket: ticket,
            provider: name,
            endpoint: endpoint.name,
            request: request,
            lane: lane.key,
            operations: ids,
            timeout: descriptor.delivery.timeout
        )
    }

    /// Returns the operations that a request carries, in the order of the window, at whose start they usually are.
    private func carried(
        _ ids: [OperationID],
        of pending: ArraySlice<Waiting>
    ) -> [Waiting] {
        var operations: [Waiting] = []
        operations.reserveCapacity(ids.count)
        for candidate in pending {
            guard operations.count < ids.count else { return operations }
            if candidate.id == ids[operations.count] { operations.append(candidate) }
        }
        guard operations.count < ids.count else { return operations }
        // The request names them in another order.
        operations = []
        let carried = Set(ids)
        for candidate in pending {
            guard operations.count < ids.count else { break }
            if carried.contains(candidate.id) { operations.append(candidate) }
        }
        return operations
    }

    /// Ends a stored operation. `isIndexed` is true if the lane's window is notified.
    ///
    /// Returns false if the operation was gone, or if its row was damaged. A damaged row is reported as its outcome.
    @discardableResult
    func end(
        _ sequence: Int64,
        _ unbooked: OperationOutcome,
        isIndexed: Bool = false,
        keepsReject: Bool = true
    ) throws -> Bool {
        let outcome = booked(unbooked)
        return try context.store.settlement.complete(
            provider: name,
            sequence: sequence,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? "",
            at: context.date.milliseconds,
            reject: keepsReject && outcome.term == .rejected ? outcome.finding?.jsonBytes : nil,
            isIndexed: isIndexed
        )
    }

    func hasSpun(_ lane: Lane, now: Instant) -> Bool {
        lane.spins = lane.lastPlan == now ? lane.spins + 1 : 0
        lane.lastPlan = now
        return lane.spins > 3 * descriptor.delivery.window + 64
    }
}
