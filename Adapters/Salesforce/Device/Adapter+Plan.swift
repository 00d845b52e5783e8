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
        let former = memory.registration.verdicts(onFormer: pending, among: changes, settings: settings)
        if !former.isEmpty { return .settle(former) }
        if let plan = settleConsents(changes, in: pending, memory: memory) { return plan }
        let horizon = horizon(of: changes, events, in: pending, memory: memory)
        let eventPlan = planEvents(
            events,
            before: horizon,
            isLeaving: isLeaving(changes, in: pending, memory),
            memory,
            moment
        )
        // Events name no contact. Those of the previous person are sent first, if possible.
        if case .send? = eventPlan, horizon.handOver < .max { return eventPlan ?? .settle([:]) }
        if case .settle? = eventPlan { return eventPlan ?? .settle([:]) }
        let ordered = changes[..<(nextPerson(in: changes, after: events, memory) ?? changes.endIndex)]
        let plan = Plan.sooner(planRegistration(Array(ordered), in: pending, memory: memory, at: moment), eventPlan)
        return plan ?? .wait(until: nil, because: FindingRow.paced.at())
    }

    /// Settles consents that change nothing at the vendor. It has no record of them, and a registration contains only whether
    /// push is enabled (D11).
    private func settleConsents(_ changes: [Pending<Self>], in window: PendingOperations<Self>, memory: Memory)
        -> Plan<Self>?
    {
        let isLast = window.isLeaving || changes.contains(where: \.isLast)
        let isDenied = memory.isProfileDenied == true && !changes.contains { $0.operation.action.kind.isOfProfile }
        let ended = changes.filter { one in
            guard one.operation.action.kind == .setConsent else { return false }
            guard let state = one.operation.action.pushMessageConsent else { return true }
            return isLast || isDenied && state == .granted
        }
        return ended.isEmpty ? nil : settle(ended) { _ in .unchanged(FindingRow.consentKept.at("action")) }
    }

    // MARK: Registration

    private func planRegistration(
        _ pending: [Pending<Self>],
        in window: PendingOperations<Self>,
        memory: Memory,
        at moment: Moment
    ) -> Plan<Self>? {
        // Operations after an erasure belong to a new state, which starts with an empty memory.
        let erase = pending.firstIndex { $0.operation.action == .erase }
        let pending = erase.map { Array(pending[...$0]) } ?? pending
        guard let first = pending.first else { return nil }
        var state = memory.registration.applying(pending, settings: settings)
        if erase == nil, window.hasMore { state.look(ahead: window.hidden, settings: settings) }
        state.mayMessage(window)
        let isKnown = !memory.isUnheardOf || state.adoptedID != nil
        if state.hasLeft, state.facts == nil || !isKnown {
            return settle(pending) { unsentVerdict($0, memory.isErased == true ? .erasedBefore : .nothingToLeave) }
        }
        var (carried, waiting) = (pending, FindingRow.paced)
        if state.hasLeft {
            carried = lastRequest(of: pending, memory)
        } else {
            (carried, waiting) = sendable(of: pending, state, memory)
        }
        if carried.count < pending.count {
            state = memory.registration.applying(carried, settings: settings)
            state.mayMessage(window)
            let left = pending.filter { one in !carried.contains { $0.id == one.id } }
            if state.hasLeft || window.isLeaving { return settle(left) { _ in .dropped(FindingRow.neverSent.at()) } }
        }
        guard !carried.isEmpty else { return .wait(until: nil, because: waiting.at()) }

        let record = RegistrationRecord(state, of: first.operation.subject, settings: settings, date: moment.date)
        let lacksKey = settings.delayRegistrationUntilContactKeyIsSet && state.contactKey == nil
        // An opt-out of a device that the vendor knows does not wait for a contact key.
        let waitsForKey = lacksKey && !state.hasLeft && !(isKnown && carried.contains { $0.operation.action.isOptOut })
        if record == nil || waitsForKey {
            let grants = carried.filter { $0.operation.action.pushMessageConsent == .granted }
            if !grants.isEmpty { return settle(grants) { _ in .unchanged(FindingRow.consentKept.at("action")) } }
            return keepOptOuts(carried, window, memory)
                ?? .wait(until: nil, because: (lacksKey ? FindingRow.contactKeyMissing : .deviceFactsMissing).at())
        }
        guard let record else { return nil }

        let accepted = RegistrationRecord(
            memory.registration,
            of: first.operation.subject,
            settings: settings,
            date: moment.date
        )
        if memory.acceptedAs == settings.sentAs, record.saysTheSame(as: accepted) {
            // An opt-in changes nothing while the device forbids push. It counts once the device permits push.
            var remembered = memory
            remembered.registration = erase == nil ? state : Registration()
            remembered.registration.handOver = nil
            // Values that a log-out cleared before they were sent are not at the vendor.
            return settle(carried, remembering: remembered == memory ? nil : remembered) {
                state.verdict(onFormer: $0, among: carried, settings: settings) ?? unsentVerdict($0, memory: memory)
            }
        }
        let (due, reason) = dueTime(of: carried, memory: memory, at: moment)
        guard due <= moment.now else { return .wait(until: due, because: reason.at(detail: memory.lastRefusal)) }
        let body = Array(JSONValue.object(record.payload).text.utf8)
        let request = settings.post(Endpoint.registration.path, body, memory: memory, facts: state.facts)
        // From now on the device may be registered, whatever is captured while the request is in flight.
        var uncertain = memory
        uncertain.forgetWhatIsHeld()
        (uncertain.registration, uncertain.registration.knownAs) = (state, record.deviceID)
        return .send(Transmission(.registration, request, carrying: carried, unacknowledged: uncertain))
    }

    private func settle(
        _ pending: [Pending<Self>],
        remembering memory: Memory? = nil,
        _ verdict: (Pending<Self>) -> Verdict<Self>
    ) -> Plan<Self> {
        .settle(Dictionary(pending.map { ($0.id, verdict($0)) }) { first, _ in first }, remembering: memory)
    }

    // MARK: The content of a registration

    /// Returns the start of the next person's changes, if events of an earlier person wait for that person's contact key. The
    /// vendor would otherwise book the events to the next person (D6). Nil if one registration can carry all changes.
    private func nextPerson(in changes: [Pending<Self>], after events: [Pending<Self>], _ memory: Memory) -> Int? {
        guard !events.isEmpty, !changes.contains(where: \.isLast) else { return nil }
        var registration = memory.registration
        var keyChanges: [(place: Int, sequence: Int64, isKnown: Bool)] = []
        for (place, one) in changes.enumerated() where isHandOver(one.operation, from: registration) {
            registration.apply(one.operation, sequence: one.sequence, settings: settings)
            keyChanges.append((place, one.sequence, registration.vacatedAt == nil))
        }
        guard let first = keyChanges.first, let event = events.first(where: { $0.sequence > first.sequence }) else {
            return nil
        }
        // Events of an anonymous person belong to the next person.
        let own = keyChanges.lastIndex { $0.sequence < event.sequence } ?? 0
        let known = keyChanges[own...].firstIndex(where: \.isKnown) ?? keyChanges.endIndex
        guard known + 1 < keyChanges.endIndex else { return nil }
        let place = keyChanges[known + 1].place
        // Without facts, no registration can be sent for that person, and later changes would never follow.
        return memory.registration.applying(changes[..<place], settings: settings).facts == nil ? nil : place
    }

    /// Returns the content of the last registration: the operations of the contact that the vendor knows, and every opt-out of
    /// push. A contact key that the vendor does not hold is not set for an unregistration (D2).
    private func lastRequest(of pending: [Pending<Self>], _ memory: Memory) -> [Pending<Self>] {
        let known = memory.registration
        let other = pending.first { one in
            !one.isLast
                && (isHandOver(one.operation, from: known) || known.isOfNext(one.operation, sequence: one.sequence)
                    || known.vacatedAt.map { one.sequence > $0 } ?? false)
        }
        guard let other else { return pending }
        return pending.filter { $0.sequence < other.sequence || $0.isLast || $0.operation.action.isPushOptOut }
    }

    /// Returns the operations that may be sent now, and the reason why the others wait: after a log-out for the next contact
    /// key (K3), after a denial of the profile for its consent (D8). Opt-outs never wait.
    private func sendable(of pending: [Pending<Self>], _ state: Registration, _ memory: Memory)
        -> ([Pending<Self>], FindingRow)
    {
        if let vacatedAt = state.vacatedAt {
            let optOuts = Set(optOuts(of: pending.filter { $0.sequence > vacatedAt }).map(\.id))
            let carried = pending.filter {
                $0.sequence <= vacatedAt || [.registerDevice, .setConsent].contains($0.operation.action.kind)
                    || optOuts.contains($0.id)
            }
            return (withReplaced(carried, of: pending), .contactWaiting)
        }
        if memory.isProfileDenied == true, !pending.contains(where: { $0.operation.action.kind.isOfProfile }) {
            return (withReplaced(pending.filter { $0.operation.action.isOptOut }, of: pending), .consentWaiting)
        }
        return (pending, .paced)
    }

    /// Adds operations that the given ones replace, because they must not be applied later.
    private func withReplaced(_ carried: [Pending<Self>], of pending: [Pending<Self>]) -> [Pending<Self>] {
        guard carried.count < pending.count else { return carried }
        let replaced = Superseding(settings: settings).find(in: pending)
        let ids = Set(carried.map(\.id))
        return pending.filter { one in ids.contains(one.id) || replaced[one.id].map(ids.contains) ?? false }
    }

    /// Returns the opt-outs that may overtake other operations: of push as a whole, and of a topic that no earlier operation
    /// may have subscribed.
    private func optOuts(of pending: [Pending<Self>]) -> [Pending<Self>] {
        let tagged = pending.first { one in
            switch one.operation.action {
            case .changeTags: true
            case .changeSubscription(let subscription): subscription.topic != nil && subscription.state == .subscribed
            default: false
            }
        }
        return pending.filter { one in
            one.operation.action.isPushOptOut || one.operation.action.pushMessageConsent == .denied
                || one.operation.action.isOptOut && !one.isLast && one.sequence < tagged?.sequence ?? .max
        }
    }

    /// Settles opt-outs of push at a vendor that does not know the device. The vendor can't reach the device, and the first
    /// registration contains the opt-out (D9). Nil if there is none.
    private func keepOptOuts(_ pending: [Pending<Self>], _ window: PendingOperations<Self>, _ memory: Memory)
        -> Plan<Self>?
    {
        if window.isLeaving { return settle(pending) { _ in .dropped(FindingRow.neverSent.at()) } }
        let optOuts = optOuts(of: pending)
        guard memory.isUnheardOf, !optOuts.isEmpty else { return nil }
        let replaced = Superseding(settings: settings).find(in: pending)
        let ids = Set(optOuts.map(\.id))
        let ended = pending.filter { one in ids.contains(one.id) || replaced[one.id].map(ids.contains) ?? false }
        var remembered = memory
        remembered.registration = remembered.registration.applying(optOuts, settings: settings)
        return settle(ended, remembering: remembered) { pending in
            if let later = replaced[pending.id] { return .superseded(by: later) }
            return .unchanged(FindingRow.optOutKept.at())
        }
    }

    /// Returns the time of the next registration, and the finding to report until then.
    private func dueTime(
        of pending: [Pending<Self>],
        memory: Memory,
        at moment: Moment
    ) -> (due: Instant, reason: FindingRow) {
        guard let lastStart = memory.lastStart else {
            return (moment.now, .paced)
        }
        let spaced = lastStart + Pace.spacing
        var (due, reason) = (memory.retryAt ?? spaced, FindingRow.retrying)
        if memory.failures == 0, let change = pending.first {
            due = moment.flush || memory.isUnheardOf ? moment.now : change.since + Pace.gathering
            reason = .paced
        }
        due = max(due, spaced)
        if let closed = memory.closedUntil[Endpoint.registration.rawValue], closed > due { return (closed, .closed) }
        return (due, reason)
    }

    /// Returns the verdict of an operation when the vendor is left before any registration reached it.
    private func unsentVerdict(_ pending: Pending<Self>, _ nothingToLeave: FindingRow) -> Verdict<Self> {
        switch pending.operation.action {
        case .unregister: .unchanged(nothingToLeave.at())
        case let action where action.isPushOptOut: .unchanged(nothingToLeave.at())
        case .erase: .accepted(FindingRow.eraseByHand.at())
        default: .dropped(FindingRow.neverSent.at())
        }
    }

    /// Returns the verdict of an operation that changes nothing at the vendor.
    private func unsentVerdict(_ pending: Pending<Self>, memory: Memory) -> Verdict<Self> {
        if let refusal = refusal(of: pending.operation) { return .rejected(refusal) }
        return switch pending.operation.action {
        case .unregister: .unchanged(FindingRow.left.at())
        case .erase: .unchanged(FindingRow.eraseByHand.at())
        case .registerDevice(let device): .unchanged(memory.registration.adoptionFinding(of: device))
        case .setConsent: .unchanged(FindingRow.consentKept.at("action"))
        default: .unchanged()
        }
    }

    // MARK: Events

    private func planEvents(
        _ pending: [Pending<Self>],
        before horizon: Horizon,
        isLeaving: Bool,
        _ memory: Memory,
        _ moment: Moment
    ) -> Plan<Self>? {
        guard let first = pending.first else { return nil }
        func wait(_ until: Instant?, _ row: FindingRow, for waiting: some Sequence<Pending<Self>>) -> Plan<Self> {
            // After the vendor is left nothing releases it: the unregistration is the last request.
            isLeaving
                ? settle(Array(waiting)) { _ in .dropped(FindingRow.neverSent.at()) }
                : .wait(until: until, because: row.at())
        }
        guard memory.subscriberToken != nil else {
            if !isLeaving, !horizon.hasChanges, memory.mustRenewToken == true,
                let renewal = planRenewal(for: first, memory: memory, at: moment)
            {
                return renewal
            }
            return wait(nil, .subscriberTokenMissing, for: pending)
        }
        if let closed = memory.closedUntil[Endpoint.events.rawValue], closed > moment.now {
            return wait(closed, .closed, for: pending)
        }
        let batch = pending.prefix { $0.sequence < horizon.handOver }.prefix(EventRules.batchLimit)
        guard !batch.isEmpty, !memory.registration.hasLeft else {
            return wait(nil, horizon.lacksKey ? .contactWaiting : .eventAfterHandOver, for: pending)
        }
        let body = EventRecord.envelope(
            batch.compactMap { EventRecord($0.operation) },
            applicationID: settings.applicationID,
            deviceID: RegistrationRecord.deviceID(of: first.operation.subject, memory.registration)
        )
        let request = settings.post(Endpoint.events.path, body, memory: memory, facts: memory.registration.facts)
        return .send(Transmission(.events, request, carrying: batch))
    }

    /// The limit up to which events may be sent before the pending changes.
    private struct Horizon {
        var hasChanges: Bool
        /// The first change from which on the device may be another contact's.
        var handOver: Int64
        /// Whether the device waits for the next contact key after every change (K3).
        var lacksKey: Bool
    }

    /// Returns the limit for events.
    ///
    /// An event names no person: the vendor books it to the device's contact. Events that were captured after a hand-over
    /// therefore wait for it. If the window is cut off, the last change in it counts as a possible hand-over.
    private func horizon(
        of changes: [Pending<Self>],
        _ events: [Pending<Self>],
        in window: PendingOperations<Self>,
        memory: Memory
    ) -> Horizon {
        let isCut = window.hasMore && changes.count >= Self.descriptor.delivery.window / 2
        let end = isCut ? changes.last?.sequence : nil
        let handOver = changes.first { isHandOver($0.operation, from: memory.registration) }?.sequence
        let next = events.first { memory.registration.isOfNext($0.operation, sequence: $0.sequence) }?.sequence
        let handOvers = [handOver ?? end, memory.registration.vacatedAt, next, memory.unacknowledgedKeyChange]
            .compactMap(\.self)
        let lacksKey = memory.registration.applying(changes, settings: settings).vacatedAt != nil
        return Horizon(hasChanges: !changes.isEmpty, handOver: handOvers.min() ?? .max, lacksKey: lacksKey)
    }

    /// Whether the device is not the same contact's from this operation on.
    private func isHandOver(_ operation: EngagementOperation, from registration: Registration) -> Bool {
        let identifiers: [Identifier]
        switch operation.action {
        case .identify(let given): identifiers = given
        case .switchContact(let change): identifiers = change.identifiers
        case .erase: return true
        default: return false
        }
        guard let key = ContactKeyRules.key(of: identifiers, settings: settings) else {
            return operation.action.kind == .switchContact && registration.contactKey != nil
        }
        return registration.contactKey.map { !ContactKeyRules.areSame($0, key) } ?? true
    }

    /// Whether the provider is being removed, or was: an unregistration is pending, or was sent and no later operation
    /// registers the device again.
    private func isLeaving(_ changes: [Pending<Self>], in window: PendingOperations<Self>, _ memory: Memory) -> Bool {
        window.isLeaving || changes.contains { $0.operation.action == .unregister }
            || memory.registration.hasLeft && !changes.contains { $0.operation.action.kind == .registerDevice }
    }

    /// Sends the vendor's present registration again on behalf of an event whose token was refused. The reply contains a new
    /// token (E14).
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

extension Pending<SalesforceDevice> {
    /// Whether it ends the registration.
    fileprivate var isLast: Bool { operation.action == .unregister || operation.action == .erase }
}

extension Action {
    /// Whether it opts out of push as a whole.
    var isPushOptOut: Bool {
        guard case .changeSubscription(let subscription) = self else { return false }
        return subscription.topic == nil && subscription.state != .subscribed
    }

    /// Whether the operation reduces the vendor's messages.
    var isOptOut: Bool {
        switch self {
        case .changeSubscription(let subscription): subscription.state != .subscribed
        case .unregister, .erase: true
        case .setConsent: pushMessageConsent.map { $0 != .granted } ?? false
        default: false
        }
    }
}

extension Registration {
    /// Returns the verdicts of pending operations that were captured for an earlier user of the device.
    fileprivate func verdicts(
        onFormer pending: PendingOperations<SalesforceDevice>,
        among changes: [Pending<SalesforceDevice>],
        settings: SalesforceSettings
    ) -> [OperationID: Verdict<SalesforceDevice>] {
        guard let arrivedAt else { return [:] }
        var verdicts: [OperationID: Verdict<SalesforceDevice>] = [:]
        for one in pending where one.sequence < arrivedAt {
            verdicts[one.id] = verdict(onFormer: one, among: changes, settings: settings)
        }
        return verdicts
    }

    /// Adds the content of hidden operations that a registration needs: the contact key if none is known, the facts of the
    /// device, and the last push decision if it is an opt-out. The operations stay pending.
    fileprivate mutating func look(ahead hidden: HiddenOperations, settings: SalesforceSettings) {
        if facts == nil, let entry = hidden.last(.registerDevice) {
            apply(entry.operation, sequence: entry.sequence, settings: settings)
        }
        if contactKey == nil || vacatedAt != nil {
            let entries = [Action.Kind.identify, .switchContact].compactMap(hidden.first)
            for entry in entries.sorted(by: { $0.sequence < $1.sequence }) where contactKey == nil || vacatedAt != nil {
                apply(entry.operation, sequence: entry.sequence, settings: settings)
            }
        }
        if let entry = hidden.last(.changeSubscription), entry.operation.action.isPushOptOut {
            apply(entry.operation, sequence: entry.sequence, settings: settings)
        }
    }
}
