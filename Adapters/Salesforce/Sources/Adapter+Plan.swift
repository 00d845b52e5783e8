public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension SalesforceDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        var (events, changes): ([Pending<Self>], [Pending<Self>]) = ([], [])
        events.reserveCapacity(pending.count)
        for one in pending {
            if one.queue == Endpoint.events.rawValue { events.append(one) } else { changes.append(one) }
        }
        let plan: Plan<Self>? = .sooner(
            planRegistration(changes, memory: memory, at: moment),
            planEvents(events, before: horizon(of: changes, in: pending, memory: memory), memory: memory, at: moment)
        )
        return plan ?? .wait(until: nil, because: FindingRow.paced.at())
    }

    // MARK: Registration

    private func planRegistration(_ pending: [Pending<Self>], memory: Memory, at moment: Moment) -> Plan<Self>? {
        // What is captured after an erase belongs to a new life, which begins with an empty memory.
        let erase = pending.firstIndex { $0.operation.action == .erase }
        let pending = erase.map { Array(pending[...$0]) } ?? pending
        guard let first = pending.first else { return nil }
        let state = memory.registration.applying(pending, settings: settings)
        let record = RegistrationRecord(
            state,
            of: first.operation.subject,
            settings: settings,
            date: moment.date
        )
        let waitsForKey = settings.delayRegistrationUntilContactKeyIsSet && state.contactKey == nil
        if state.hasLeft, record == nil || waitsForKey || memory.isUnheardOf && state.adoptedID == nil {
            return .settle(Dictionary(pending.map { ($0.id, farewellUnsent($0)) }) { first, _ in first })
        }
        if waitsForKey { return .wait(until: nil, because: FindingRow.contactKeyMissing.at()) }
        guard let record else { return .wait(until: nil, because: FindingRow.deviceFactsMissing.at()) }

        let accepted = RegistrationRecord(
            memory.registration,
            of: first.operation.subject,
            settings: settings,
            date: moment.date
        )
        if memory.acceptedAs == settings.sentAs, record.saysTheSame(as: accepted) {
            RuleID.salesforce("S6").fire()
            let verdicts = pending.map { ($0.id, Verdict<Self>.unchanged(unsentFinding($0, memory: memory))) }
            // A yes while the device forbids push says nothing now, and counts once the device permits it.
            var told = memory
            told.registration = state
            return .settle(Dictionary(verdicts) { first, _ in first }, remembering: told == memory ? nil : told)
        }
        RuleID.salesforce("S5").fire()
        let (due, reason) = dueTime(of: pending, memory: memory, at: moment)
        guard due <= moment.now else { return .wait(until: due, because: reason.at(detail: memory.lastRefusal)) }
        if pending.count > 1 { RuleID.salesforce("S4").fire() }
        if memory.failures > 0 { RuleID.salesforce("S16").fire() }
        let body = Array(JSONValue.object(record.payload).text.utf8)
        let request = settings.post(Endpoint.registration.path, body, memory: memory, facts: state.facts)
        return .send(Transmission(.registration, request, carrying: pending))
    }

    /// When the next registration may leave, and what a person is told until then.
    private func dueTime(
        of pending: [Pending<Self>],
        memory: Memory,
        at moment: Moment
    ) -> (due: Instant, reason: FindingRow) {
        guard let lastStart = memory.lastStart else {
            RuleID.salesforce("S1").fire()
            return (moment.now, .paced)
        }
        let spaced = lastStart + Pace.spacing
        let isFirst = memory.isUnheardOf && memory.failures == 0
        let isNew = { (pending: Pending<Self>) in memory.failures == 0 || pending.sequence > memory.lastTried }
        var due = memory.retryAt ?? spaced
        var reason = FindingRow.retrying
        if let change = pending.first(where: isNew) {
            RuleID.salesforce("S2").fire()
            RuleID.salesforce("S3").fire()
            if isFirst { RuleID.salesforce("S1").fire() }
            let gathered = max(moment.flush || isFirst ? moment.now : change.since + Pace.gathering, spaced)
            if memory.failures == 0 || gathered < due { (due, reason) = (gathered, .paced) }
        }
        if let closed = memory.closedUntil[Endpoint.registration.rawValue], closed > due {
            (due, reason) = (closed, .closed)
        }
        return (max(due, spaced), reason)
    }

    /// What becomes of operations when the vendor is left before it ever heard of the device.
    private func farewellUnsent(_ pending: Pending<Self>) -> Verdict<Self> {
        switch pending.operation.action {
        case .farewell: .unchanged(FindingRow.nothingToLeave.at())
        case .erase: .accepted(FindingRow.eraseByHand.at())
        default: .dropped(FindingRow.neverSent.at())
        }
    }

    /// What is to be known of a change that the vendor holds already.
    private func unsentFinding(_ pending: Pending<Self>, memory: Memory) -> Finding? {
        switch pending.operation.action {
        case .farewell: FindingRow.left.at()
        case .erase: FindingRow.eraseByHand.at()
        case .registerDevice(let device): memory.registration.adoptionFinding(of: device)
        default: nil
        }
    }

    // MARK: Events

    private func planEvents(
        _ pending: [Pending<Self>],
        before horizon: Horizon,
        memory: Memory,
        at moment: Moment
    ) -> Plan<Self>? {
        guard let first = pending.first else { return nil }
        guard memory.subscriberToken != nil else {
            let waiting = Plan<Self>.wait(until: nil, because: FindingRow.subscriberTokenMissing.at())
            return !horizon.hasChanges && memory.mustRenewToken == true
                ? planRenewal(for: first, memory: memory, at: moment) ?? waiting : waiting
        }
        if let closed = memory.closedUntil[Endpoint.events.rawValue], closed > moment.now {
            return .wait(until: closed, because: FindingRow.closed.at())
        }
        let batch = pending.prefix { $0.sequence < horizon.handOver }.prefix(EventRules.batchLimit)
        guard !batch.isEmpty else { return .wait(until: nil, because: FindingRow.eventAfterHandOver.at()) }
        let body = EventRecord.envelope(
            batch.compactMap { EventRecord($0.operation) },
            applicationID: settings.applicationID,
            deviceID: RegistrationRecord.deviceID(of: first.operation.subject, memory.registration)
        )
        let request = settings.post(Endpoint.events.path, body, memory: memory, facts: memory.registration.facts)
        return .send(Transmission(.events, request, carrying: batch))
    }

    /// How far events may leave before the pending changes.
    private struct Horizon {
        var hasChanges: Bool
        /// The first change from which on the device may be another contact's.
        var handOver: Int64
    }

    /// An event says nothing of a person: the vendor books it to the contact that it holds for the device. So what was
    /// captured after a hand-over waits for it, and where the window does not show every change, for the last one shown.
    private func horizon(
        of changes: [Pending<Self>],
        in window: PendingOperations<Self>,
        memory: Memory
    ) -> Horizon {
        let isCut = window.hasMore && changes.count >= Self.descriptor.window / 2
        let end = isCut ? changes.last?.sequence : nil
        let handOver = changes.first { isHandOver($0.operation, from: memory.registration) }?.sequence
        return Horizon(hasChanges: !changes.isEmpty, handOver: handOver ?? end ?? .max)
    }

    /// Whether the device is another contact's from this operation on.
    private func isHandOver(_ operation: EngagementOperation, from registration: Registration) -> Bool {
        let identifiers: [Identifier]
        switch operation.action {
        case .identify(let given): identifiers = given
        case .switchContact(let change): identifiers = change.identifiers
        case .erase: return true
        default: return false
        }
        guard let key = ContactKeyRules.key(of: identifiers, settings: settings) else { return false }
        return registration.contactKey.map { !ContactKeyRules.areSame($0, key) } ?? true
    }

    /// The registration that the vendor holds already, sent once more on behalf of an event whose token was refused:
    /// its reply brings a new one (E14).
    private func planRenewal(for event: Pending<Self>, memory: Memory, at moment: Moment) -> Plan<Self>? {
        let record = RegistrationRecord(
            memory.registration,
            of: event.operation.subject,
            settings: settings,
            date: moment.date
        )
        let waitsForKey = settings.delayRegistrationUntilContactKeyIsSet && memory.registration.contactKey == nil
        guard let record, let lastStart = memory.lastStart, !waitsForKey else { return nil }
        let closed = memory.closedUntil[Endpoint.registration.rawValue] ?? lastStart
        let due = max(lastStart + Pace.spacing, memory.retryAt ?? lastStart, closed)
        guard due <= moment.now else { return .wait(until: due, because: FindingRow.subscriberTokenRefused.at()) }
        RuleID.salesforce("E14").fire()
        let facts = memory.registration.facts
        let body = Array(JSONValue.object(record.payload).text.utf8)
        let request = settings.post(Endpoint.registration.path, body, memory: memory, facts: facts)
        return .send(Transmission(.registration, request, carrying: [event]))
    }
}

extension SalesforceDevice.Memory {
    /// The status of the last failed attempt, for a finding.
    fileprivate var lastRefusal: String? { refusedWith.map { "last answer HTTP \($0)" } }
}
