public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let window = Window(pending, memory)
        if let plan = settleLocal(window, memory) { return plan }
        guard let ids = memory.ids else {
            return leaveUnknown(window, memory) ?? planRegistration(window, memory, moment)
                ?? registerToLeave(window, memory, moment) ?? withoutIDs(window, memory)
        }
        if let plan = settleForeign(window, memory) { return plan }
        // An opt-out never waits for operations that were captured before it.
        let optOut = planOptOut(window, ids, memory, moment)
        if let optOut, !optOut.isWait { return optOut }
        let consent = planConsent(window, ids, memory, moment)
        if let consent, !consent.isWait { return consent }
        let registration = planRegistration(window, memory, moment)
        if let registration, !registration.isWait { return registration }
        if let plan = planPhoneHome(window, ids, memory, moment) { return plan }
        let isLast = window.barrier != nil
        let plan: Plan<Self>? =
            window.hasBefore
            ? .sooner(
                planAttributes(window.attributes, ids, memory, moment, isLast: isLast),
                planEvents(window.events, ids, memory, moment, isLast: isLast)
            ) : window.barrier.flatMap { planBarrier($0, window, ids, memory, moment) }
        if let plan = Plan<Self>.soonest(optOut, consent, plan, registration) { return plan }
        return .wait(until: nil, because: (window.later.isEmpty ? FindingRow.gathering : .idsOfAnother).at())
    }

    /// The operations of a window that may be sent now, in order of capture.
    ///
    /// A log-in, an unregistration and a registration with other ids are barriers: no operation that was captured after a
    /// barrier overtakes it, except an opt-out.
    struct Window {
        let reads: [Pending<AcousticDevice>]
        let local: [Pending<AcousticDevice>]
        /// Registrations that may be carried out now.
        private(set) var registrations: [Pending<AcousticDevice>] = []
        private(set) var attributes: [Pending<AcousticDevice>] = []
        private(set) var events: [Pending<AcousticDevice>] = []
        /// Operations of another person than the owner of the ids. They wait for that person's ids.
        private(set) var later: [Pending<AcousticDevice>] = []
        /// Operations of a person who logged out before that person's ids were known. They can never be sent.
        private(set) var foreign: [Pending<AcousticDevice>] = []
        /// Opt-ins that a later log-in of another person made obsolete.
        private(set) var obsolete: [Pending<AcousticDevice>] = []
        /// The first operation that later operations must not overtake.
        private(set) var barrier: Pending<AcousticDevice>?
        /// Consents that decide whether push messages are allowed.
        let consents: [Pending<AcousticDevice>]
        /// Opt-outs, wherever they are.
        private(set) var optOuts: [Pending<AcousticDevice>] = []
        /// Everything that is stored.
        let all: [Pending<AcousticDevice>]
        /// Whether the provider is being removed.
        let isLeaving: Bool
        /// Whether the current person, the person logged in at the vendor and the owner of the ids all allow push messages.
        let allowsPush: Bool
        /// Whether a contact allows push messages, provided that the current person does.
        let allowsPushTo: (_ contact: String?) -> Bool

        init(_ pending: PendingOperations<AcousticDevice>, _ memory: Memory) {
            var (reads, local): ([Pending<AcousticDevice>], [Pending<AcousticDevice>]) = ([], [])
            var (all, others): ([Pending<AcousticDevice>], [Pending<AcousticDevice>]) = ([], [])
            var consents: [Pending<AcousticDevice>] = []
            all.reserveCapacity(pending.count)
            others.reserveCapacity(pending.count)
            for one in pending.operations {
                guard one.operation.action.kind != .readBack else {
                    reads.append(one)
                    continue
                }
                all.append(one)
                guard !one.isImmediate else { continue }
                // An erasure is a barrier, too: operations after it are not sent under the ids that it forgets.
                let isLocal = Queue(name: one.queue) == .local && one.operation.action != .erase
                if isLocal, one.operation.action.pushMessageConsent != nil, memory.ids != nil {
                    consents.append(one)
                } else if isLocal {
                    local.append(one)
                } else {
                    others.append(one)
                }
            }
            (self.reads, self.local, self.all, self.consents) = (reads, local, all, consents)
            let people = memory.names + (memory.owner ?? [])
            allowsPush = pending.allowsPushMessages(to: nil) && people.allSatisfy { pending.allowsPushMessages(to: $0) }
            allowsPushTo = { pending.allowsPushMessages(to: $0) }
            isLeaving = pending.isLeaving || all.contains { $0.operation.action == .unregister }
            divide(others, memory, isCut: pending.hasMore)
        }

        private mutating func divide(_ operations: [Pending<AcousticDevice>], _ memory: Memory, isCut: Bool) {
            let place = operations.firstIndex { $0.parts(memory) }
            barrier = place.map { operations[$0] }
            let changes = operations[..<(place ?? operations.endIndex)].filter { $0.queue == Queue.attributes.rawValue }
            // A change of person may be outside a window that is full of changes.
            let isFull = isCut && changes.count >= AcousticDevice.window / 4
            let limit = barrier?.sequence ?? (isFull ? changes.last.map { $0.sequence + 1 } : nil) ?? .max
            let people = Self.peopleAfter(operations, memory)
            var before: [Pending<AcousticDevice>] = []
            // An erasure opts out of push messages, too, and forgets earlier operations.
            let erasure = operations.first { $0.operation.action == .erase }?.sequence ?? .max
            for (one, next) in zip(operations, people) {
                if one.isOptOut {
                    guard one.sequence < erasure else { continue }
                    let isNever = memory.ids != nil && memory.ownership(of: one, next: next) == .never
                    if isNever { foreign.append(one) } else { optOuts.append(one) }
                    continue
                }
                let isRegistration = one.queue == Queue.registration.rawValue
                if isRegistration, memory.ids == nil || one.sequence < limit {
                    registrations.append(one)
                    continue
                }
                guard one.sequence < limit, !isRegistration, memory.ids != nil, one.operation.action != .erase else {
                    continue
                }
                if one.isOptIn, let next, let contact = one.operation.contact, !next.containsExactly(contact) {
                    obsolete.append(one)
                    continue
                }
                switch memory.ownership(of: one, next: next) {
                case .own: before.append(one)
                case .later where !isLeaving: later.append(one)
                case .later, .never: foreign.append(one)
                }
            }
            if let barrier, barrier.queue == Queue.registration.rawValue {
                // Earlier operations of the same person are sent under the new ids.
                let contact = barrier.operation.contact.map(ScalarString.init)
                before.removeAll { $0.operation.contact.map(ScalarString.init) == contact }
                // An opt-out under the present ids is repeated before the ids change.
                let owes = optOuts.contains { $0.sequence < barrier.sequence }
                if before.isEmpty, obsolete.isEmpty, foreign.isEmpty, !owes { registrations.append(barrier) }
            }
            if memory.mustPhone, barrier != nil {
                // The vendor no longer knows these ids, and their owner has logged out.
                foreign += before
                before = []
            }
            for one in before {
                if one.queue == Queue.attributes.rawValue { attributes.append(one) } else { events.append(one) }
            }
        }

        /// Returns, for each operation, the contacts of the next log-in or registration with other ids after it.
        private static func peopleAfter(_ operations: [Pending<AcousticDevice>], _ memory: Memory) -> [[String]?] {
            var people = [[String]?](repeating: nil, count: operations.count)
            var next: [String]?
            for place in operations.indices.reversed() {
                people[place] = next
                switch operations[place].operation.action {
                case .switchContact(let change): next = change.identifiers.map(\.value)
                case .registerDevice where memory.changesIDs(operations[place]):
                    next = operations[place].operation.contact.map { [$0] } ?? []
                default: break
                }
            }
            return people
        }

        /// The later log-in of another person, so that a log-in is not carried out as if the person was there.
        func overtaking(_ change: ContactSwitch, at pending: Pending<AcousticDevice>) -> OperationID? {
            let later = all.last { $0.operation.action.kind == .switchContact }
            guard let later, later.sequence > pending.sequence, case .switchContact(let next) = later.operation.action
            else { return nil }
            return next.identifiers.contains { change.identifiers.contains($0) } ? nil : later.id
        }

        /// Whether operations precede the change of person.
        var hasBefore: Bool { !attributes.isEmpty || !events.isEmpty }
    }

    static let window = 256

    // MARK: Without a request

    private func settleLocal(_ window: Window, _ memory: Memory) -> Plan<Self>? {
        if !window.reads.isEmpty {
            let verdicts = window.reads.map { ($0.id, Verdict<Self>.accepted(answer: answer($0.operation, memory))) }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        if memory.ids == nil || window.barrier == nil,
            let erase = window.all.first(where: { $0.operation.action == .erase })
        {
            return .settle([erase.id: .accepted(FindingRow.eraseByHand.at())], remembering: memory.afterErase)
        }
        if let first = window.local.first {
            switch first.operation.action {
            case .setConsent: return .settle([first.id: .accepted(FindingRow.consentKept.at())])
            default: return .settle([first.id: .rejected(FindingRow.actionUnknown.at())])
            }
        }
        // The settings may have changed since the capture. An operation that no longer fits is rejected, not left out.
        let changes = window.all.filter { $0.queue == Queue.attributes.rawValue }
        let invalid = changes.compactMap { pending in
            judge(pending.operation).first { $0.severity == .error }.map { (pending.id, Verdict<Self>.rejected($0)) }
        }
        return invalid.isEmpty ? nil : .settle(Dictionary(invalid) { first, _ in first })
    }

    /// Completes operations that can never be sent: those of another person than the owner of the ids, and opt-ins of a
    /// person who has logged out.
    private func settleForeign(_ window: Window, _ memory: Memory) -> Plan<Self>? {
        guard !window.foreign.isEmpty || !window.obsolete.isEmpty else { return nil }
        var memory = memory
        let foreign = window.foreign.map { pending in
            let isOptOut = pending.isOptOut
            // When the ids arrive, the person is registered without push.
            if isOptOut { memory.decide(pending.operation.contact, wantsPush: false) }
            let row: FindingRow = isOptOut ? .optOutKept : .idsOfAnother
            return (pending.id, Verdict<Self>.rejected(row.at("contact")))
        }
        let obsolete = window.obsolete.map { ($0.id, Verdict<Self>.rejected(FindingRow.personLeft.at("contact"))) }
        return .settle(Dictionary(foreign + obsolete) { first, _ in first }, remembering: memory)
    }

    /// Returns what this installation's memory holds (L1).
    private func answer(_ operation: EngagementOperation, _ memory: Memory) -> JSONValue {
        guard case .readBack(let request) = operation.action, let question = Answer(rawValue: request.what) else {
            return .null
        }
        switch question {
        case .attributes:
            return .object(memory.known.json)
        case .tags: return .array(memory.tags.map(JSONValue.string))
        case .ids:
            guard let ids = memory.ids else { return [:] }
            return ["userId": .string(ids.user), "channelId": .string(ids.channel)]
        }
    }

    /// Completes an unregistration without a request if the vendor never received anything of this installation.
    private func leaveUnknown(_ window: Window, _ memory: Memory) -> Plan<Self>? {
        guard window.isLeaving, memory.mayBeRegistered != true || settings.registration == .given else { return nil }
        let unregister = window.all.last { $0.operation.action == .unregister }
        let before = window.all.filter { $0.sequence <= unregister?.sequence ?? .max }
        // The vendor knows the installation if the app passes its ids.
        let isGiven = before.contains(where: Self.hasIDs)
        guard !isGiven, !before.isEmpty else { return nil }
        let verdicts = before.map { pending -> (OperationID, Verdict<Self>) in
            let isUnregister = pending.operation.action == .unregister
            return (
                pending.id,
                isUnregister ? .unchanged(FindingRow.nothingToLeave.at()) : .dropped(FindingRow.neverSent.at())
            )
        }
        return .settle(Dictionary(verdicts) { first, _ in first })
    }

    /// A registration that was not answered may have reached the vendor: it is repeated, without push, for the ids that the
    /// unregistration names.
    private func registerToLeave(_ window: Window, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        guard settings.registration == .requested, memory.mayBeRegistered == true,
            let unregister = window.all.first(where: { $0.operation.action == .unregister })
        else { return nil }
        if let wait = wait(.register, memory, moment) { return wait }
        let record = RegistrationRecord(leaving: unregister.operation.subject, settings: settings)
        return .send(
            Transmission(.register, request(.register, nil, Array(record.json.text.utf8)), carrying: [unregister])
        )
    }

    /// Plans a window without ids: no request is sent (Q4). After an erasure that no later operation reverts, the window is
    /// not kept, either (I7).
    private func withoutIDs(_ window: Window, _ memory: Memory) -> Plan<Self> {
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

    private static func hasIDs(_ pending: Pending<Self>) -> Bool {
        guard case .registerDevice(let device) = pending.operation.action else { return false }
        return Identity.ids(of: device) != nil
    }

    private func planRegistration(_ window: Window, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        // A registration without ids does not block a later one with ids, which replaces it.
        if settings.registration == .given, memory.ids == nil,
            let given = window.registrations.first(where: Self.hasIDs)
        {
            let earlier = window.registrations.prefix { $0.id != given.id }
            if !earlier.isEmpty { return .supersede(earlier, by: given) }
        }
        guard let pending = window.registrations.first, case .registerDevice(let device) = pending.operation.action
        else {
            return nil
        }
        let contact = pending.operation.contact
        // The permission of the system, when it is withdrawn, counts against an opt-in that was captured before.
        let replaced = device.allowsPush ? [] : window.all.filter { $0.isOptIn && $0.sequence < pending.sequence }
        guard replaced.isEmpty else { return .supersede(replaced, by: pending) }
        let begun = Step(done: (pending.step?.done ?? 0) + 1)
        let mayPush =
            memory.mayPush(device, of: contact) && window.optOuts.isEmpty && !window.isLeaving
            && window.allowsPush && window.allowsPushTo(contact)
        if let given = Identity.ids(of: device) {
            if given != memory.ids || memory.isReset || memory.changesIDs(pending) {
                if let old = memory.ids, old != given, memory.mayReach {
                    // The vendor must not reach this installation under two pairs of ids.
                    return wait(.events, memory, moment) ?? report(false, for: pending, old, memory)
                }
                var memory = memory
                // Push was reported as disabled before: under the former ids, or by an erasure.
                let isNews = memory.ids.map { $0 != given } ?? (memory.isReset || !mayPush)
                memory.adopt(given, of: pending)
                if isNews { memory.expectReport() }
                return .settle([pending.id: .inProgress(begun)], remembering: memory)
            }
        } else if settings.registration == .requested {
            let record = RegistrationRecord(
                device,
                of: pending.operation.subject,
                mayPush: mayPush,
                settings: settings
            )
            if memory.ids == nil || memory.registered != record.digest(settings) && !window.isLeaving {
                if let wait = wait(.register, memory, moment) { return wait }
                let request = request(.register, memory.ids, Array(record.json.text.utf8))
                return send(.register, request, [pending], memory)
            }
        }
        guard let ids = memory.ids else { return nil }
        if window.isLeaving { return .settle([pending.id: .dropped(FindingRow.leaving.at())]) }
        if memory.owesReport(mayPush) {
            if let wait = wait(.events, memory, moment) { return wait }
            return report(mayPush, for: pending, ids, memory)
        }
        let isNews = memory.pushTold == nil || pending.step != nil
        var memory = memory
        memory.permitsPush = device.allowsPush
        // The owner of the ids is back or confirms them: operations that an anonymous person captured before are the owner's.
        if memory.owner != nil, Identity.ids(of: device) == memory.ids { memory.idsSince = pending.sequence }
        memory.tell(mayPush)
        return .settle(
            [pending.id: isNews ? .accepted(FindingRow.deviceKept.at()) : .unchanged()],
            remembering: memory
        )
    }

    /// Reports the change of push state that a consent to messages causes. The vendor has no record of the consent itself (P8).
    private func planConsent(_ window: Window, _ ids: Memory.IDs, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        guard let consent = window.consents.first else { return nil }
        let mayPush = memory.mayPush && window.allowsPush && window.optOuts.isEmpty
        // A pending registration reports the push state itself.
        let isReported =
            mayPush
            ? window.isLeaving || !window.registrations.isEmpty || !memory.isOwn(consent.operation.contact)
                || !memory.owesReport(true)
            : !memory.mayReach
        guard !isReported else { return .settle([consent.id: .accepted(FindingRow.consentKept.at())]) }
        return wait(.events, memory, moment) ?? report(mayPush, for: consent, ids, memory)
    }

    /// Reports a person's push state before and after a log-in. A person who opted out or has not allowed push is not
    /// reached, and a returning person gets the latest own state.
    ///
    /// - Returns: Nil if there is nothing to report.
    private func planPush(
        of change: ContactSwitch,
        _ pending: Pending<Self>,
        _ window: Window,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        var next = memory
        next.logIn(change.identifiers)
        let allows = window.allowsPushTo(pending.operation.contact)
        let isOff = !allows || !next.wantsPush
        if pending.step == nil, isOff, memory.mayReach {
            return wait(.events, memory, moment) ?? report(false, for: pending, ids, memory)
        }
        guard pending.step?.isLoggedIn == true else { return nil }
        guard !isOff, memory.owesOptIn(of: change) else {
            return .settle([pending.id: .accepted(FindingRow.loggedIn.at("action.switch"))])
        }
        return wait(.events, memory, moment) ?? report(true, for: pending, ids, memory)
    }

    /// Plans opt-outs. They are sent at once and before all others, so opt-ins that were captured earlier are obsolete.
    private func planOptOut(
        _ window: Window,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        guard let first = window.optOuts.first, let last = window.optOuts.last else { return nil }
        let replaced = window.all.filter { $0.isOptIn && $0.sequence < last.sequence }
        guard replaced.isEmpty else { return .supersede(replaced, by: last) }
        if let wait = wait(.events, memory, moment) { return wait }
        let mark = first.step?.suspect
        let limit = min(settings.eventsPerRequest, mark ?? .max)
        let batch = Array(window.optOuts.prefix { $0.step?.suspect == mark }.prefix(limit))
        let events = batch.compactMap { EventRules.judge($0.operation, settings: settings).event }
        return send(.events, request(.events, ids, body(events)), batch, memory)
    }

    /// Returns the request that reports whether push may reach the installation.
    private func report(
        _ mayPush: Bool,
        for pending: Pending<Self>,
        _ ids: Memory.IDs,
        _ memory: Memory
    ) -> Plan<Self> {
        let event = EventRecord.permission(mayPush, at: pending.operation.capturedAt)
        return send(.events, request(.events, ids, body([event])), [pending], memory)
    }

    /// Sends a request that may change the vendor's data. The memory marks the change as uncertain until a reply arrives.
    private func send(
        _ endpoint: Endpoint,
        _ request: WireRequest,
        _ pending: [Pending<Self>],
        _ memory: Memory
    ) -> Plan<Self> {
        var uncertain = memory
        uncertain.markUncertain(endpoint, pending, settings)
        return .send(Transmission(endpoint, request, carrying: pending, unacknowledged: uncertain))
    }

    /// Queries the current ids: once a day, and after a reply that the user or app is unknown (I3, Q5).
    private func planPhoneHome(
        _ window: Window,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        let candidates = [
            window.attributes.first, window.events.first, window.optOuts.first, window.registrations.first,
        ]
        guard settings.registration == .requested,
            let first = candidates.compactMap(\.self).min(by: { $0.sequence < $1.sequence })
        else { return nil }
        let isDue = memory.phonedAt.map { moment.now - $0 >= Pace.phoneHome } ?? true
        // A log-in queries the ids itself, after the operations that were captured before it.
        guard isDue && window.barrier == nil || memory.mustPhone, wait(.phoneHome, memory, moment) == nil else {
            return nil
        }
        return .send(Transmission(.phoneHome, request(.phoneHome, ids, nil), carrying: [first]))
    }

    /// Plans a change of person. It queries the vendor's ids, because the app's back end may have merged users.
    private func planBarrier(
        _ pending: Pending<Self>,
        _ window: Window,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        guard pending.operation.action.kind != .registerDevice else { return nil }
        if pending.operation.action == .erase { return planErase(pending, ids, memory, moment) }
        guard case .switchContact(let change) = pending.operation.action else {
            return wait(.events, memory, moment) ?? report(false, for: pending, ids, memory)
        }
        if let next = window.overtaking(change, at: pending) {
            var memory = memory
            memory.logIn(change.identifiers)
            return .settle([pending.id: .superseded(by: next)], remembering: memory)
        }
        if let plan = planPush(of: change, pending, window, ids, memory, moment) { return plan }
        if settings.registration == .requested {
            if let wait = wait(.phoneHome, memory, moment) { return wait }
            return .send(Transmission(.phoneHome, request(.phoneHome, ids, nil), carrying: [pending]))
        }
        var memory = memory
        memory.logIn(change.identifiers)
        return .settle([pending.id: loggedIn(change, memory)], remembering: memory)
    }

    /// An erasure: push is reported as disabled under the ids before they are forgotten, because that is not possible later.
    private func planErase(
        _ pending: Pending<Self>,
        _ ids: Memory.IDs,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self> {
        guard memory.mayReach else {
            return .settle([pending.id: .accepted(FindingRow.eraseByHand.at())], remembering: memory.afterErase)
        }
        guard pending.step != nil else {
            // The memory forgets the person's data at once.
            var memory = memory
            memory.forgetPerson()
            return .settle([pending.id: .inProgress(Step())], remembering: memory)
        }
        return wait(.events, memory, moment) ?? report(false, for: pending, ids, memory)
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
            // A superseded operation may have been sent by a process that crashed, so the state of its columns is unknown.
            var memory = memory
            for (pending, _) in batch.superseded {
                for key in AttributeBatch.entries(of: pending.operation, after: [], settings).0.map(\.column) {
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
        guard step.isOf(entries) else { return .unchanged(FindingRow.unchanged.at()) }
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
        if mark == nil, !moment.flush, !isLast, batch.count < limit, moment.now < due,
            !pending.contains(where: isUrgent)
        {
            return .wait(until: due, because: FindingRow.interval.at())
        }
        let events = batch.compactMap { EventRules.judge($0.operation, settings: settings).event }
        return send(.events, request(.events, ids, body(events)), batch, memory)
    }

    private func isUrgent(_ pending: Pending<Self>) -> Bool { Options(pending.operation)["immediate"]?.bool == true }

    // MARK: Waiting

    /// The remaining wait after a failure in this stream; nil if requests may be sent.
    private func wait(_ endpoint: Endpoint, _ memory: Memory, _ moment: Moment) -> Plan<Self>? {
        guard let pace = memory.paces[endpoint.stream], moment.now < pace.until else { return nil }
        return .wait(until: pace.until, because: FindingRow.retrying.at(detail: endpoint.stream))
    }
}

extension Pending<AcousticDevice> {
    /// Whether it ends push messages.
    var isOptOut: Bool { pushState.map { $0 != .subscribed } ?? false }

    /// Whether the operation opts in to push messages.
    var isOptIn: Bool { pushState == .subscribed }

    private var pushState: Subscription.State? {
        guard case .changeSubscription(let subscription) = operation.action else { return nil }
        return subscription.state
    }

    /// Whether the operation is a barrier between the operations before and after it.
    fileprivate func parts(_ memory: AcousticDevice.Memory) -> Bool {
        switch operation.action {
        case .switchContact, .unregister, .erase: true
        case .registerDevice: memory.changesIDs(self)
        default: false
        }
    }
}

extension Plan {
    /// Ends operations that a later one replaces.
    fileprivate static func supersede(_ operations: some Sequence<Pending<Adapter>>, by later: Pending<Adapter>) -> Plan
    {
        let verdicts = operations.map { ($0.id, Verdict<Adapter>.superseded(by: later.id)) }
        return .settle(Dictionary(verdicts) { first, _ in first })
    }

    fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}
