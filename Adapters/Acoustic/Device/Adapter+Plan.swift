public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        Planner(adapter: self, pending: pending, memory: memory, moment: moment).plan()
    }

    static let window = 256
}

/// Plans the next request of an installation, or completes operations that need none.
private struct Planner {
    typealias Head = Pending<AcousticDevice>
    typealias Next = Plan<AcousticDevice>

    let adapter: AcousticDevice
    let pending: PendingOperations<AcousticDevice>
    let window: AcousticDevice.Window
    let memory: AcousticDevice.Memory
    let moment: Moment

    init(
        adapter: AcousticDevice,
        pending: PendingOperations<AcousticDevice>,
        memory: AcousticDevice.Memory,
        moment: Moment
    ) {
        (self.adapter, self.pending, self.memory, self.moment) = (adapter, pending, memory, moment)
        window = AcousticDevice.Window(pending, memory)
    }

    func plan() -> Next {
        if let plan = settleLocal() { return plan }
        guard memory.ids != nil else {
            return unregisterUnknown() ?? planRegistration() ?? registerToUnregister() ?? waitForIDs()
        }
        if let plan = rejectUnsendable() { return plan }
        // An opt-out never waits for operations that were captured before it.
        let optOut = planOptOut()
        if let optOut, !optOut.isWait { return optOut }
        let consent = planConsent()
        if let consent, !consent.isWait { return consent }
        let registration = planRegistration()
        if let registration, !registration.isWait { return registration }
        if let plan = planPhoneHome() { return plan }
        let plan: Next? =
            window.hasOperationsBeforeBarrier
            ? .sooner(planAttributes(), planEvents()) : window.barrier.flatMap(planBarrier)
        if let plan = Next.soonest(optOut, consent, plan, registration) { return plan }
        return .wait(until: nil, because: (window.later.isEmpty ? FindingRow.gathering : .idsOfAnother).at())
    }

    // MARK: Without a request

    private func settleLocal() -> Next? {
        if !window.reads.isEmpty { return .settle(window.reads) { .accepted(answer: answer($0.operation)) } }
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
        let changes = window.all.filter { $0.queue == AcousticDevice.Queue.attributes.rawValue }
        let invalid = changes.compactMap { head in
            adapter.judge(head.operation).first { $0.severity == .error }
                .map { (head.id, Verdict<AcousticDevice>.rejected($0)) }
        }
        return invalid.isEmpty ? nil : .settle(Dictionary(invalid) { first, _ in first })
    }

    /// Completes operations that can never be sent: those of another person than the owner of the ids, and opt-ins of a
    /// person who has logged out.
    private func rejectUnsendable() -> Next? {
        let rejected = window.unsendable + window.obsolete
        guard !rejected.isEmpty else { return nil }
        var next = memory
        // When the ids arrive, a person who opted out is registered without push.
        for optOut in window.unsendable where optOut.isOptOut {
            next.decide(optOut.operation.contact, wantsPush: false)
        }
        let obsolete = Set(window.obsolete.map(\.id))
        return .settle(rejected, remembering: next) { head in
            let row: FindingRow =
                obsolete.contains(head.id) ? .personLeft : head.isOptOut ? .optOutKept : .idsOfAnother
            return .rejected(row.at("contact"))
        }
    }

    /// Returns the answer to a query from this installation's memory (L1).
    private func answer(_ operation: EngagementOperation) -> JSONValue {
        guard case .readBack(let request) = operation.action,
            let answer = AcousticDevice.Answer(rawValue: request.what)
        else { return .null }
        switch answer {
        case .attributes: return .object(memory.known.json)
        case .tags: return .array(memory.tags.map(JSONValue.string))
        case .ids:
            guard let ids = memory.ids else { return [:] }
            return ["userId": .string(ids.user), "channelId": .string(ids.channel)]
        }
    }

    /// Completes an unregistration without a request if the vendor never received anything of this installation.
    private func unregisterUnknown() -> Next? {
        guard window.isLeaving, memory.mayBeRegistered != true || adapter.settings.registration == .given else {
            return nil
        }
        let unregister = window.all.last { $0.operation.action == .unregister }
        let before = window.all.filter { $0.sequence <= unregister?.sequence ?? .max }
        // The vendor knows the installation if the app passes its ids.
        guard !before.contains(where: hasIDs), !before.isEmpty else { return nil }
        return .settle(before) { head in
            head.operation.action == .unregister
                ? .unchanged(FindingRow.nothingToLeave.at()) : .dropped(FindingRow.neverSent.at())
        }
    }

    /// Repeats an unacknowledged registration, without push, to get the ids that the unregistration names. The vendor
    /// may have received the first one.
    private func registerToUnregister() -> Next? {
        guard adapter.settings.registration == .requested, memory.mayBeRegistered == true,
            let unregister = window.all.first(where: { $0.operation.action == .unregister })
        else { return nil }
        if let wait = wait(.register) { return wait }
        let record = RegistrationRecord(leaving: unregister.operation.subject, settings: adapter.settings)
        let request = adapter.request(.register, nil, Array(record.json.text.utf8))
        return .send(Transmission(.register, request, carrying: [unregister]))
    }

    /// Plans a window without ids: no request is sent (Q4). After an erasure that no later operation reverts, the
    /// window is not kept, either (I7).
    private func waitForIDs() -> Next {
        guard memory.isReset, !adapter.settings.autoReinitialize else {
            return .wait(until: nil, because: (memory.isReset ? FindingRow.reset : .idsMissing).at())
        }
        let dropped = window.all.filter { $0.operation.action.kind != .registerDevice }
        guard !dropped.isEmpty else { return .wait(until: nil, because: FindingRow.idsMissing.at()) }
        return .settle(dropped) { _ in .dropped(FindingRow.userInvalidated.at()) }
    }

    // MARK: Registration

    private func hasIDs(_ head: Head) -> Bool {
        guard case .registerDevice(let device) = head.operation.action else { return false }
        return Identity.ids(of: device) != nil
    }

    private func planRegistration() -> Next? {
        // A registration without ids does not block a later one with ids, which replaces it.
        if adapter.settings.registration == .given, memory.ids == nil,
            let given = window.registrations.first(where: hasIDs)
        {
            let earlier = window.registrations.prefix { $0.id != given.id }
            if !earlier.isEmpty { return .supersede(earlier, by: given) }
        }
        guard let head = window.registrations.first, case .registerDevice(let device) = head.operation.action else {
            return nil
        }
        let contact = head.operation.contact
        // The permission of the system, when it is withdrawn, counts against an opt-in that was captured before.
        let replaced = device.allowsPush ? [] : window.all.filter { $0.isOptIn && $0.sequence < head.sequence }
        guard replaced.isEmpty else { return .supersede(replaced, by: head) }
        let mayPush =
            memory.mayPush(device, of: contact) && window.optOuts.isEmpty && !window.isLeaving
            && allowsPush && pending.allowsPushMessages(to: contact)
        if let given = Identity.ids(of: device) {
            if given != memory.ids || memory.isReset || memory.changesIDs(head) {
                if let old = memory.ids, old != given, memory.mayReach {
                    // The vendor must not reach this installation under two pairs of ids.
                    return report(false, for: head)
                }
                var next = memory
                // Push was reported as disabled before: under the former ids, or by an erasure.
                let isNews = memory.ids.map { $0 != given } ?? (memory.isReset || !mayPush)
                next.adopt(given, of: head)
                if isNews { next.expectReport() }
                return .settle([head.id: adapter.continued(head)], remembering: next)
            }
        } else if adapter.settings.registration == .requested {
            let record = RegistrationRecord(
                device,
                of: head.operation.subject,
                mayPush: mayPush,
                settings: adapter.settings
            )
            if memory.ids == nil || memory.registered != record.digest(adapter.settings) && !window.isLeaving {
                return send(.register, Array(record.json.text.utf8), [head])
            }
        }
        guard memory.ids != nil else { return nil }
        if window.isLeaving { return .settle([head.id: .dropped(FindingRow.leaving.at())]) }
        if memory.owesReport(mayPush) { return report(mayPush, for: head) }
        let isNews = memory.reportedPush == nil || head.step != nil
        var next = memory
        next.permitsPush = device.allowsPush
        // The owner of the ids is back or confirms them: operations that an anonymous person captured before are the
        // owner's.
        if memory.owner != nil, Identity.ids(of: device) == memory.ids { next.idsSince = head.sequence }
        next.notePushReport(mayPush)
        return .settle([head.id: isNews ? .accepted(FindingRow.deviceKept.at()) : .unchanged()], remembering: next)
    }

    /// Whether the current person, the person logged in at the vendor and the owner of the ids all allow push messages.
    private var allowsPush: Bool {
        let people = memory.names + (memory.owner ?? [])
        return pending.allowsPushMessages(to: nil) && people.allSatisfy { pending.allowsPushMessages(to: $0) }
    }

    /// Reports the change of push state that a consent to messages causes. The vendor has no record of the consent
    /// itself (P8).
    private func planConsent() -> Next? {
        guard let consent = window.consents.first else { return nil }
        let mayPush = memory.mayPush && allowsPush && window.optOuts.isEmpty
        // A pending registration reports the push state itself.
        let isReported =
            mayPush
            ? window.isLeaving || !window.registrations.isEmpty || !memory.isOwn(consent.operation.contact)
                || !memory.owesReport(true)
            : !memory.mayReach
        guard !isReported else { return .settle([consent.id: .accepted(FindingRow.consentKept.at())]) }
        return report(mayPush, for: consent)
    }

    /// Reports a person's push state before and after a log-in. A person who opted out or has not allowed push is not
    /// reached, and a returning person gets the latest own state.
    ///
    /// - Returns: Nil if there is nothing to report.
    private func planPush(of change: ContactSwitch, _ head: Head) -> Next? {
        let wantsPush = memory.changing { $0.logIn(change.identifiers) }.wantsPush
        let isOff = !wantsPush || !pending.allowsPushMessages(to: head.operation.contact)
        if head.step == nil, isOff, memory.mayReach { return report(false, for: head) }
        guard head.step?.isLoggedIn == true else { return nil }
        guard !isOff, memory.owesOptIn(of: change) else {
            return .settle([head.id: .accepted(FindingRow.loggedIn.at("action.switch"))])
        }
        return report(true, for: head)
    }

    /// Plans opt-outs. They are sent at once and before all others, so opt-ins that were captured earlier are obsolete.
    private func planOptOut() -> Next? {
        guard let last = window.optOuts.last else { return nil }
        let replaced = window.all.filter { $0.isOptIn && $0.sequence < last.sequence }
        guard replaced.isEmpty else { return .supersede(replaced, by: last) }
        return sendEvents(of: eventBatch(window.optOuts))
    }

    /// Reports whether push may reach the installation.
    private func report(_ mayPush: Bool, for head: Head) -> Next {
        send(.events, adapter.body([.permission(mayPush, at: head.operation.capturedAt)]), [head])
    }

    // MARK: Ids

    /// Queries the current ids: once a day, and after a reply that the user or app is unknown (I3, Q5).
    private func planPhoneHome() -> Next? {
        let candidates = [
            window.attributes.first, window.events.first, window.optOuts.first, window.registrations.first,
        ]
        guard adapter.settings.registration == .requested,
            let first = candidates.compactMap(\.self).min(by: { $0.sequence < $1.sequence })
        else { return nil }
        let isDue = memory.phonedAt.map { moment.now - $0 >= Intervals.phoneHome } ?? true
        // A log-in queries the ids itself, after the operations that were captured before it.
        guard isDue && window.barrier == nil || memory.mustPhone, wait(.phoneHome) == nil else { return nil }
        return phoneHome(for: first)
    }

    private func phoneHome(for head: Head) -> Next {
        .send(Transmission(.phoneHome, adapter.request(.phoneHome, memory.ids, nil), carrying: [head]))
    }

    /// Plans a change of person. It queries the vendor's ids, because the app's back end may have merged users.
    private func planBarrier(_ head: Head) -> Next? {
        guard head.operation.action.kind != .registerDevice else { return nil }
        if head.operation.action == .erase { return planErase(head) }
        guard case .switchContact(let change) = head.operation.action else { return report(false, for: head) }
        let next = memory.changing { $0.logIn(change.identifiers) }
        if let later = window.overtaking(change, at: head) {
            return .settle([head.id: .superseded(by: later)], remembering: next)
        }
        if let plan = planPush(of: change, head) { return plan }
        if adapter.settings.registration == .requested { return wait(.phoneHome) ?? phoneHome(for: head) }
        return .settle([head.id: adapter.loggedIn(change, next)], remembering: next)
    }

    /// Plans an erasure. Push is reported as disabled under the ids before they are forgotten, because that is not
    /// possible later.
    private func planErase(_ head: Head) -> Next {
        guard memory.mayReach else {
            return .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: memory.afterErase)
        }
        guard head.step != nil else {
            // The memory forgets the person's data at once.
            return .settle([head.id: .inProgress(.init())], remembering: memory.changing { $0.forgetPerson() })
        }
        return report(false, for: head)
    }

    // MARK: Attributes

    private func planAttributes() -> Next? {
        guard !window.attributes.isEmpty else { return nil }
        let batch = AttributeBatch(window.attributes, memory: memory, settings: adapter.settings)
        if !batch.unchanged.isEmpty { return .settle(batch.unchanged, unchangedVerdict) }
        if !batch.superseded.isEmpty {
            // A superseded operation may have been sent by a process that crashed, so the state of its columns is
            // unknown.
            var next = memory
            for (head, _) in batch.superseded {
                for entry in AttributeBatch.entries(of: head.operation, after: [], adapter.settings).entries {
                    next.known[entry.column] = nil
                }
            }
            let verdicts = batch.superseded.map { ($0.pending.id, Verdict<AcousticDevice>.superseded(by: $0.by)) }
            return .settle(Dictionary(verdicts) { first, _ in first }, remembering: next)
        }
        guard let first = batch.members.first?.pending else { return nil }
        let endpoint: AcousticDevice.Endpoint = batch.isDelete ? .delete : .update
        if let wait = wait(endpoint) { return wait }
        let isGathering =
            first.operation.group == nil && first.step == nil && !batch.isClosed && window.barrier == nil
        let due = first.since + .seconds(adapter.settings.gatherSeconds)
        if isGathering, !moment.flush, moment.now < due {
            return .wait(until: due, because: FindingRow.gathering.at())
        }
        return send(endpoint, adapter.body(batch.entries, isDelete: batch.isDelete), batch.members.map(\.pending))
    }

    private func unchangedVerdict(_ head: Head) -> Verdict<AcousticDevice> {
        guard let step = head.step else { return .unchanged(FindingRow.unchanged.at()) }
        let tags = Set(memory.tags.map { Tag(rawValue: $0) })
        let entries = AttributeBatch.entries(of: head.operation, after: tags, adapter.settings).entries
        return step.isOf(entries)
            ? adapter.verdict(of: head.operation, entries, step) : .unchanged(FindingRow.unchanged.at())
    }

    // MARK: Events

    private func planEvents() -> Next? {
        guard let first = window.events.first else { return nil }
        if let wait = wait(.events) { return wait }
        let batch = eventBatch(window.events)
        let due = first.since + .seconds(adapter.settings.eventMinutes * 60)
        if first.step?.suspect == nil, !moment.flush, window.barrier == nil,
            batch.count < adapter.settings.eventsPerRequest, moment.now < due,
            !window.events.contains(where: { Options($0.operation)["immediate"]?.bool == true })
        {
            return .wait(until: due, because: FindingRow.interval.at())
        }
        return sendEvents(of: batch)
    }

    /// Returns the operations whose events the next request carries.
    private func eventBatch(_ heads: [Head]) -> [Head] {
        let suspect = heads.first?.step?.suspect
        let limit = min(adapter.settings.eventsPerRequest, suspect ?? .max)
        return Array(heads.prefix { $0.step?.suspect == suspect }.prefix(limit))
    }

    private func sendEvents(of batch: [Head]) -> Next {
        send(
            .events,
            adapter.body(batch.compactMap { EventRules.judge($0.operation, settings: adapter.settings).event }),
            batch
        )
    }

    // MARK: Requests

    /// Sends a request that may change the vendor's data, unless its stream waits after a failure. Until a reply
    /// arrives, the memory marks the change as uncertain.
    private func send(
        _ endpoint: AcousticDevice.Endpoint,
        _ body: @autoclosure () -> [UInt8],
        _ heads: [Head]
    ) -> Next {
        if let wait = wait(endpoint) { return wait }
        let uncertain = memory.changing { $0.markUncertain(endpoint, heads, adapter.settings) }
        let request = adapter.request(endpoint, memory.ids, body())
        return .send(Transmission(endpoint, request, carrying: heads, unacknowledged: uncertain))
    }

    /// The remaining wait after a failure in this stream; nil if requests may be sent.
    private func wait(_ endpoint: AcousticDevice.Endpoint) -> Next? {
        guard let pace = memory.paces[endpoint.stream], moment.now < pace.until else { return nil }
        return .wait(until: pace.until, because: FindingRow.retrying.at(detail: endpoint.stream))
    }
}

extension Plan {
    /// Completes operations without a request, each with the verdict that `verdict` returns.
    fileprivate static func settle(
        _ operations: some Sequence<Pending<Adapter>>,
        remembering memory: Adapter.Memory? = nil,
        _ verdict: (Pending<Adapter>) -> Verdict<Adapter>
    ) -> Plan {
        .settle(Dictionary(operations.map { ($0.id, verdict($0)) }) { first, _ in first }, remembering: memory)
    }

    /// Completes operations that a later one replaces.
    fileprivate static func supersede(_ operations: some Sequence<Pending<Adapter>>, by later: Pending<Adapter>) -> Plan
    {
        settle(operations) { _ in .superseded(by: later.id) }
    }

    fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}
