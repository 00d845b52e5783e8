public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let window = Window(pending)
        if let plan = settleLocal(window, memory) { return plan }
        let registration = planRegistration(window, memory, moment)
        guard let ids = memory.ids else { return registration ?? withoutIDs(window, memory) }
        if let registration, !registration.isWait { return registration }
        if let plan = planPhoneHome(window, ids, memory, moment) { return plan }
        let isLast = window.barrier != nil
        let plan: Plan<Self>? =
            window.hasBefore
            ? .sooner(
                planAttributes(window.attributes, ids, memory, moment, isLast: isLast),
                planEvents(window.events, ids, memory, moment, isLast: isLast)
            ) : window.barrier.flatMap { planBarrier($0, ids, memory, moment) }
        if let plan = Plan<Self>.sooner(plan, registration) { return plan }
        return .wait(until: nil, because: FindingRow.gathering.at())
    }

    /// What of a window may act now, in order of capture. A change of person and a farewell part what is before from
    /// what is after: neither attributes nor events overtake them.
    struct Window {
        let reads: [Pending<AcousticDevice>]
        let local: [Pending<AcousticDevice>]
        let registrations: [Pending<AcousticDevice>]
        let attributes: [Pending<AcousticDevice>]
        let events: [Pending<AcousticDevice>]
        let barrier: Pending<AcousticDevice>?
        /// Everything that is stored.
        let all: [Pending<AcousticDevice>]

        init(_ pending: PendingOperations<AcousticDevice>) {
            var (reads, all): ([Pending<AcousticDevice>], [Pending<AcousticDevice>]) = ([], [])
            var (local, registrations): ([Pending<AcousticDevice>], [Pending<AcousticDevice>]) = ([], [])
            var (changes, events): ([Pending<AcousticDevice>], [Pending<AcousticDevice>]) = ([], [])
            all.reserveCapacity(pending.count)
            for one in pending.operations {
                guard one.operation.action.kind != .readBack else {
                    reads.append(one)
                    continue
                }
                all.append(one)
                guard !one.isImmediate else { continue }
                switch Queue(name: one.queue) {
                case .local: local.append(one)
                case .registration: registrations.append(one)
                case .attributes: changes.append(one)
                case .events: events.append(one)
                case nil: break
                }
            }
            (self.reads, self.all) = (reads, all)
            (self.local, self.registrations) = (local, registrations)
            let first = changes.firstIndex { [.switchContact, .farewell].contains($0.operation.action.kind) }
            barrier = first.map { changes[$0] }
            attributes = Array(changes[..<(first ?? changes.endIndex)])
            // With a full window a change of person may hide behind what is shown; events wait for what they might pass.
            let isCut = pending.hasMore && changes.count >= AcousticDevice.window / 4
            let limit = barrier?.sequence ?? (isCut ? changes.last?.sequence : nil) ?? .max
            self.events = limit == .max ? events : events.filter { $0.sequence < limit }
        }

        /// Whether something stands before the change of person.
        var hasBefore: Bool { !attributes.isEmpty || !events.isEmpty }
    }

    static let window = 256

    // MARK: Without a request

    private func settleLocal(_ window: Window, _ memory: Memory) -> Plan<Self>? {
        if !window.reads.isEmpty {
            let verdicts = window.reads.map { ($0.id, Verdict<Self>.accepted(answer: answer($0.operation, memory))) }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        guard let first = window.local.first else { return nil }
        switch first.operation.action {
        case .erase: return .settle([first.id: .accepted(FindingRow.eraseByHand.at())], remembering: memory.afterErase)
        case .setConsent: return .settle([first.id: .accepted(FindingRow.consentKept.at())])
        default: return .settle([first.id: .rejected(FindingRow.actionUnknown.at())])
        }
    }

    /// What this installation knows (L1).
    private func answer(_ operation: EngagementOperation, _ memory: Memory) -> JSONValue {
        RuleID.acoustic("L1").fire()
        guard case .readBack(let request) = operation.action, let question = Answer(rawValue: request.what) else {
            return .null
        }
        switch question {
        case .attributes:
            return .object(JSONObject(memory.known.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) }))
        case .tags: return .array(memory.tags.map(JSONValue.string))
        case .ids:
            guard let ids = memory.ids else { return [:] }
            return ["userId": .string(ids.user), "channelId": .string(ids.channel)]
        }
    }

    /// Nothing leaves before there are ids (Q4); after an erasure that nobody undoes nothing is kept either (I7).
    private func withoutIDs(_ window: Window, _ memory: Memory) -> Plan<Self> {
        if let farewell = window.all.last(where: { $0.operation.action == .farewell }) {
            let verdicts = window.all.map { pending -> (OperationID, Verdict<Self>) in
                (
                    pending.id,
                    pending.id == farewell.id
                        ? .unchanged(FindingRow.nothingToLeave.at()) : .dropped(FindingRow.neverSent.at())
                )
            }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        guard memory.isReset, !settings.autoReinitialize else {
            return .wait(until: nil, because: (memory.isReset ? FindingRow.reset : .idsMissing).at())
        }
        let dropped = window.all.filter { $0.operation.action.kind != .registerDevice }
        guard !dropped.isEmpty else { return .wait(until: nil, because: FindingRow.idsMissing.at()) }
        return .settle(
            Dictionary(dropped.map { ($0.id, .dropped(FindingRow.userInvalidated.at())) }) { first, _ in first }
        )
    }

    // MARK: Registration

    private func planRegistration(_ window: Window, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        guard let pending = window.registrations.first, case .registerDevice(let device) = pending.operation.action
        else { return nil }
        let begun = Step(done: (pending.step?.done ?? 0) + 1)
        let mayPush = memory.mayPush(device)
        if let ids = Identity.ids(of: device) {
            RuleID.acoustic("I1").fire()
            if ids != memory.ids || memory.isReset {
                var memory = memory
                memory.adopt(ids)
                return .settle([pending.id: .underway(begun)], remembering: memory)
            }
        } else if settings.registration == .requested {
            let record = RegistrationRecord(
                device,
                of: pending.operation.subject,
                mayPush: mayPush,
                settings: settings
            )
            if memory.registered != record.digest(settings) || memory.ids == nil {
                if let wait = wait(.register, memory, moment) { return wait }
                RuleID.acoustic("I1").fire()
                let request = request(.register, memory.ids, Array(record.json.text.utf8))
                return send(.register, request, [pending], memory)
            }
        }
        if memory.owesWord(mayPush), let ids = memory.ids {
            if let wait = wait(.events, memory, moment) { return wait }
            return report(mayPush, for: pending, ids, memory)
        }
        let isNews = memory.pushTold == nil || pending.step != nil
        var memory = memory
        memory.tell(mayPush)
        return .settle(
            [pending.id: isNews ? .accepted(FindingRow.deviceKept.at()) : .unchanged()],
            remembering: memory
        )
    }

    /// The request that tells whether push may reach the installation.
    private func report(
        _ mayPush: Bool,
        for pending: Pending<Self>,
        _ ids: Memory.IDs,
        _ memory: Memory
    ) -> Plan<Self> {
        let event = EventRecord.permission(mayPush, at: pending.operation.capturedAt)
        return send(.events, request(.events, ids, body([event])), [pending], memory)
    }

    /// A request that may change what the vendor is known to hold: a process that dies of it remembers the doubt.
    private func send(
        _ endpoint: Endpoint,
        _ request: WireRequest,
        _ pending: [Pending<Self>],
        _ memory: Memory
    ) -> Plan<Self> {
        var doubting = memory
        doubting.doubt(endpoint, pending, settings)
        return .send(Transmission(endpoint, request, carrying: pending, doubting: doubting))
    }

    /// Asks for the present ids: once a day, and when an answer said that they are gone (I3, Q5).
    private func planPhoneHome(
        _ window: Window,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        guard settings.registration == .requested, let first = window.all.first else { return nil }
        let isDue = memory.phonedAt.map { moment.now - $0 >= Pace.phoneHome } ?? true
        guard isDue || memory.mustPhone, wait(.phoneHome, memory, moment) == nil else { return nil }
        RuleID.acoustic("I3").fire()
        return .send(Transmission(.phoneHome, request(.phoneHome, ids, nil), carrying: [first]))
    }

    /// A change of person: the vendor's ids are asked for, because the app's back end may have merged users.
    private func planBarrier(
        _ pending: Pending<Self>,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        guard case .switchContact(let change) = pending.operation.action else {
            return wait(.events, memory, moment) ?? report(false, for: pending, ids, memory)
        }
        if settings.registration == .requested {
            if let wait = wait(.phoneHome, memory, moment) { return wait }
            RuleID.acoustic("I3").fire()
            return .send(Transmission(.phoneHome, request(.phoneHome, ids, nil), carrying: [pending]))
        }
        var memory = memory
        memory.logIn(change.identifiers)
        return .settle([pending.id: .accepted(FindingRow.loggedIn.at())], remembering: memory)
    }

    // MARK: Attributes

    private func planAttributes(
        _ pending: [Pending<Self>],
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment,
        isLast: Bool
    ) -> Plan<Self>? {
        guard !pending.isEmpty else { return nil }
        let batch = AttributeBatch(pending, memory: memory, settings: settings)
        if !batch.unchanged.isEmpty {
            let verdicts = batch.unchanged.map { ($0.id, unchangedVerdict($0, memory)) }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        if !batch.superseded.isEmpty {
            // What was replaced may have left in a process that died: nothing is known of its columns any more.
            RuleID.acoustic("K7").fire()
            var memory = memory
            for (pending, _) in batch.superseded {
                for key in AttributeBatch.entries(of: pending.operation, after: [], settings).0.map(\.key) {
                    memory.known[key] = nil
                }
            }
            let verdicts = batch.superseded.map { ($0.pending.id, Verdict<Self>.superseded(by: $0.by)) }
            return .settle(Dictionary(verdicts) { first, _ in first }, remembering: memory)
        }
        guard let first = batch.members.first?.pending else { return nil }
        let endpoint: Endpoint = batch.isDelete ? .delete : .update
        if let wait = wait(endpoint, memory, moment) { return wait }
        let isGathering = first.operation.group == nil && first.step == nil && !batch.isClosed && !isLast
        let due = first.since + .seconds(settings.gatherSeconds)
        RuleID.acoustic("G4").fire()
        if isGathering, !moment.flush, moment.now < due {
            return .wait(until: due, because: FindingRow.gathering.at())
        }
        let request = request(endpoint, ids, body(batch.entries, isDelete: batch.isDelete))
        return send(endpoint, request, batch.members.map(\.pending), memory)
    }

    private func unchangedVerdict(_ pending: Pending<Self>, _ memory: Memory) -> Verdict<Self> {
        guard let step = pending.step else { return .unchanged(FindingRow.unchanged.at()) }
        let tags = Set(memory.tags.map { Tag(rawValue: $0) })
        let entries = AttributeBatch.entries(of: pending.operation, after: tags, settings).0
        return ending(of: pending.operation, entries, step)
    }

    // MARK: Events

    private func planEvents(
        _ pending: [Pending<Self>],
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment,
        isLast: Bool
    ) -> Plan<Self>? {
        guard let first = pending.first else { return nil }
        if let wait = wait(.events, memory, moment) { return wait }
        let mark = first.step?.suspect
        let limit = min(settings.eventsPerRequest, mark ?? .max)
        let batch = Array(pending.prefix { $0.step?.suspect == mark }.prefix(limit))
        let due = first.since + .seconds(settings.eventMinutes * 60)
        RuleID.acoustic("E8").fire()
        if mark == nil, !moment.flush, !isLast, batch.count < limit, moment.now < due,
            !pending.contains(where: isUrgent)
        {
            return .wait(until: due, because: FindingRow.interval.at())
        }
        RuleID.acoustic("E12").fire()
        let events = batch.compactMap { EventRules.judge($0.operation, settings: settings).event }
        return send(.events, request(.events, ids, body(events)), batch, memory)
    }

    private func isUrgent(_ pending: Pending<Self>) -> Bool { Options(pending.operation)["immediate"]?.bool == true }

    // MARK: Waiting

    /// The wait that a failure of that stream has left behind; nil if it may go on.
    private func wait(_ endpoint: Endpoint, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        guard let pace = memory.paces[endpoint.stream], moment.now < pace.until else { return nil }
        RuleID.acoustic("Q3").fire()
        return .wait(until: pace.until, because: FindingRow.retrying.at(detail: endpoint.stream))
    }
}

extension Plan {
    fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}
