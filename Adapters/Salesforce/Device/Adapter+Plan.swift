public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension SalesforceDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        Planner(adapter: self, window: pending, memory: memory, moment: moment).plan()
    }
}

/// Plans the next request of one installation.
private struct Planner {
    typealias Head = Pending<SalesforceDevice>
    typealias Result = Plan<SalesforceDevice>
    typealias Endpoint = SalesforceDevice.Endpoint

    let adapter: SalesforceDevice
    let window: PendingOperations<SalesforceDevice>
    let memory: SalesforceDevice.Memory
    let moment: Moment
    private var settings: SalesforceSettings { adapter.settings }

    /// The pending events.
    private let events: [Head]
    /// The other pending operations, which a registration carries.
    private let changes: [Head]

    init(
        adapter: SalesforceDevice,
        window: PendingOperations<SalesforceDevice>,
        memory: SalesforceDevice.Memory,
        moment: Moment
    ) {
        (self.adapter, self.window, self.memory, self.moment) = (adapter, window, memory, moment)
        events = window.filter { $0.queue == Endpoint.events.rawValue }
        changes = window.filter { $0.queue != Endpoint.events.rawValue }
    }

    func plan() -> Result {
        let former = memory.registration.verdicts(onFormer: window, among: changes, settings: settings)
        if !former.isEmpty { return .settle(former) }
        if let plan = settleConsents() { return plan }
        let horizon = horizon
        let eventPlan = planEvents(before: horizon)
        if let eventPlan {
            if case .settle = eventPlan { return eventPlan }
            // Events name no contact. Those of the previous person are sent first, if possible.
            if case .send = eventPlan, horizon.handOver < .max { return eventPlan }
        }
        let plan = Plan.sooner(planRegistration(Array(changes[..<nextPerson])), eventPlan)
        return plan ?? .wait(until: nil, because: FindingRow.paced.at())
    }

    /// Settles consents that change nothing at the vendor. It has no record of them, and a registration contains only
    /// whether push is enabled (D11).
    private func settleConsents() -> Result? {
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

    private func planRegistration(_ pending: [Head]) -> Result? {
        // Operations after an erasure belong to a new state, which starts with an empty memory.
        let erase = pending.firstIndex { $0.operation.action == .erase }
        let pending = erase.map { Array(pending[...$0]) } ?? pending
        guard let first = pending.first else { return nil }
        var state = memory.registration.applying(pending, settings: settings)
        if erase == nil, window.hasMore { state.add(window.hidden, settings: settings) }
        state.mayMessage(window)
        let isKnown = !memory.isUnknownToVendor || state.adoptedID != nil
        if state.hasLeft, state.facts == nil || !isKnown {
            return settle(pending) { unsentVerdict($0, memory.isErased == true ? .erasedBefore : .nothingToLeave) }
        }
        var (carried, waiting) = (pending, FindingRow.paced)
        if state.hasLeft {
            carried = lastRequest(of: pending)
        } else {
            (carried, waiting) = sendable(of: pending, state)
        }
        if carried.count < pending.count {
            state = memory.registration.applying(carried, settings: settings)
            state.mayMessage(window)
            let left = pending.filter { one in !carried.contains { $0.id == one.id } }
            if state.hasLeft || window.isLeaving { return settle(left) { _ in .dropped(FindingRow.notSent.at()) } }
        }
        guard !carried.isEmpty else { return .wait(until: nil, because: waiting.at()) }

        let record = record(of: state, for: first)
        let lacksKey = settings.delayRegistrationUntilContactKeyIsSet && state.contactKey == nil
        // An opt-out of a device that the vendor knows does not wait for a contact key.
        let waitsForKey = lacksKey && !state.hasLeft && !(isKnown && carried.contains { $0.operation.action.isOptOut })
        if record == nil || waitsForKey {
            let grants = carried.filter { $0.operation.action.pushMessageConsent == .granted }
            if !grants.isEmpty { return settle(grants) { _ in .unchanged(FindingRow.consentKept.at("action")) } }
            return keepOptOuts(carried)
                ?? .wait(until: nil, because: (lacksKey ? FindingRow.contactKeyMissing : .deviceFactsMissing).at())
        }
        guard let record else { return nil }

        let accepted = self.record(of: memory.registration, for: first)
        if memory.acceptedAs == settings.sentAs, record.isEquivalent(to: accepted) {
            // An opt-in changes nothing while the device forbids push. It counts once the device permits push.
            var remembered = memory
            remembered.registration = erase == nil ? state : Registration()
            remembered.registration.handOver = nil
            // Values that a log-out cleared before they were sent are not at the vendor.
            return settle(carried, remembering: remembered == memory ? nil : remembered) {
                state.verdict(onFormer: $0, among: carried, settings: settings) ?? unchangedVerdict($0)
            }
        }
        let (due, reason) = dueTime(of: carried)
        guard due <= moment.now else { return .wait(until: due, because: reason.at(detail: memory.lastRefusal)) }
        let request = request(record)
        // The device may be registered from now on, even if other operations are captured while the request is in
        // flight.
        var uncertain = memory
        uncertain.markStateUnknown()
        (uncertain.registration, uncertain.registration.knownAs) = (state, record.deviceID)
        return .send(Transmission(.registration, request, carrying: carried, unacknowledged: uncertain))
    }

    private func settle(
        _ pending: [Head],
        remembering memory: SalesforceDevice.Memory? = nil,
        _ verdict: (Head) -> Verdict<SalesforceDevice>
    ) -> Result {
        .settle(Dictionary(pending.map { ($0.id, verdict($0)) }) { first, _ in first }, remembering: memory)
    }

    // MARK: The content of a registration

    /// Returns the registration of a state; nil without the device's facts.
    private func record(of state: Registration, for pending: Head) -> RegistrationRecord? {
        RegistrationRecord(state, of: pending.operation.subject, settings: settings, date: moment.date)
    }

    /// Returns the request with a registration.
    private func request(_ record: RegistrationRecord) -> WireRequest {
        settings.post(Endpoint.registration.path, record.body, memory: memory, facts: record.facts)
    }

    /// The start of the next person's changes, if events of an earlier person wait for that person's contact key. The
    /// vendor would otherwise count the events for the next person (D6). The end of the changes if one registration can
    /// carry all.
    private var nextPerson: Int {
        guard !events.isEmpty, !changes.contains(where: \.isLast) else { return changes.endIndex }
        var registration = memory.registration
        var keyChanges: [(place: Int, sequence: Int64, isKnown: Bool)] = []
        for (place, one) in changes.enumerated() where isHandOver(one.operation, from: registration) {
            registration.apply(one.operation, sequence: one.sequence, settings: settings)
            keyChanges.append((place, one.sequence, registration.vacatedAt == nil))
        }
        guard let first = keyChanges.first, let event = events.first(where: { $0.sequence > first.sequence }) else {
            return changes.endIndex
        }
        // Events of an anonymous person belong to the next person.
        let own = keyChanges.lastIndex { $0.sequence < event.sequence } ?? 0
        let known = keyChanges[own...].firstIndex(where: \.isKnown) ?? keyChanges.endIndex
        guard known + 1 < keyChanges.endIndex else { return changes.endIndex }
        let place = keyChanges[known + 1].place
        // Without facts, no registration can be sent for that person, and later changes would never follow.
        let hasFacts = memory.registration.applying(changes[..<place], settings: settings).facts != nil
        return hasFacts ? place : changes.endIndex
    }

    /// Returns the content of the last registration: the operations of the contact that the vendor knows, and every
    /// opt-out of push. A contact key that the vendor does not hold is not set for an unregistration (D2).
    private func lastRequest(of pending: [Head]) -> [Head] {
        let known = memory.registration
        let other = pending.first { one in
            !one.isLast
                && (isHandOver(one.operation, from: known) || known.isOfNext(one.operation, sequence: one.sequence)
                    || known.vacatedAt.map { one.sequence > $0 } ?? false)
        }
        guard let other else { return pending }
        return pending.filter { $0.sequence < other.sequence || $0.isLast || $0.operation.action.isPushOptOut }
    }

    /// Returns the operations that may be sent now, and the reason why the others wait: after a log-out for the next
    /// contact key (K3), after a denial of the profile for its consent (D8). Opt-outs never wait.
    private func sendable(of pending: [Head], _ state: Registration) -> ([Head], FindingRow) {
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
    private func withReplaced(_ carried: [Head], of pending: [Head]) -> [Head] {
        guard carried.count < pending.count else { return carried }
        let replaced = Superseding(settings: settings).find(in: pending)
        let ids = Set(carried.map(\.id))
        return pending.filter { one in ids.contains(one.id) || replaced[one.id].map(ids.contains) ?? false }
    }

    /// Returns the opt-outs that may overtake other operations: of push as a whole, and of a topic that no earlier
    /// operation may have subscribed.
    private func optOuts(of pending: [Head]) -> [Head] {
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

    /// Settles opt-outs of push at a vendor that does not know the device. The vendor can't reach the device, and the
    /// first registration contains the opt-out (D9). Nil if there is none.
    private func keepOptOuts(_ pending: [Head]) -> Result? {
        if window.isLeaving { return settle(pending) { _ in .dropped(FindingRow.notSent.at()) } }
        let optOuts = optOuts(of: pending)
        guard memory.isUnknownToVendor, !optOuts.isEmpty else { return nil }
        let replaced = Superseding(settings: settings).find(in: pending)
        var remembered = memory
        remembered.registration = remembered.registration.applying(optOuts, settings: settings)
        return settle(withReplaced(optOuts, of: pending), remembering: remembered) { pending in
            if let later = replaced[pending.id] { return .superseded(by: later) }
            return .unchanged(FindingRow.optOutKept.at())
        }
    }

    /// Returns the time of the next registration, and the finding to report until then.
    private func dueTime(of pending: [Head]) -> (due: Instant, reason: FindingRow) {
        guard let lastStart = memory.lastStart else { return (moment.now, .paced) }
        let spaced = lastStart + Pace.spacing
        var (due, reason) = (memory.retryAt ?? spaced, FindingRow.retrying)
        if memory.failures == 0, let change = pending.first {
            due = moment.flush || memory.isUnknownToVendor ? moment.now : change.since + Pace.gathering
            reason = .paced
        }
        due = max(due, spaced)
        if let closed = memory.closedUntil[Endpoint.registration.rawValue], closed > due { return (closed, .closed) }
        return (due, reason)
    }

    /// Returns the verdict of an operation when the vendor is left before any registration reached it.
    private func unsentVerdict(_ pending: Head, _ nothingToLeave: FindingRow) -> Verdict<SalesforceDevice> {
        switch pending.operation.action {
        case .unregister: .unchanged(nothingToLeave.at())
        case let action where action.isPushOptOut: .unchanged(nothingToLeave.at())
        case .erase: .accepted(FindingRow.eraseByHand.at())
        default: .dropped(FindingRow.notSent.at())
        }
    }

    /// Returns the verdict of an operation that changes nothing at the vendor.
    private func unchangedVerdict(_ pending: Head) -> Verdict<SalesforceDevice> {
        if let refusal = adapter.refusal(of: pending.operation) { return .rejected(refusal) }
        return switch pending.operation.action {
        case .unregister: .unchanged(FindingRow.left.at())
        case .erase: .unchanged(FindingRow.eraseByHand.at())
        case .registerDevice(let device): .unchanged(memory.registration.adoptionFinding(of: device))
        case .setConsent: .unchanged(FindingRow.consentKept.at("action"))
        default: .unchanged()
        }
    }

    // MARK: Events

    private func planEvents(before horizon: Horizon) -> Result? {
        guard let first = events.first else { return nil }
        let isLeaving = isLeaving
        func wait(_ until: Instant?, _ row: FindingRow) -> Result {
            // After an unregistration no later request would let the events be sent.
            isLeaving
                ? settle(events) { _ in .dropped(FindingRow.notSent.at()) } : .wait(until: until, because: row.at())
        }
        guard memory.subscriberToken != nil else {
            if !isLeaving, !horizon.hasChanges, memory.mustRenewToken == true,
                let renewal = planRenewal(for: first)
            {
                return renewal
            }
            return wait(nil, .subscriberTokenMissing)
        }
        if let closed = memory.closedUntil[Endpoint.events.rawValue], closed > moment.now {
            return wait(closed, .closed)
        }
        let batch = events.prefix { $0.sequence < horizon.handOver }.prefix(EventRules.batchLimit)
        guard !batch.isEmpty, !memory.registration.hasLeft else {
            return wait(nil, horizon.lacksKey ? .contactWaiting : .eventAfterHandOver)
        }
        let body = EventRecord.body(
            of: batch.compactMap { EventRecord($0.operation) },
            applicationID: settings.applicationID,
            deviceID: RegistrationRecord.deviceID(of: first.operation.subject, memory.registration)
        )
        let request = settings.post(Endpoint.events.path, body, memory: memory, facts: memory.registration.facts)
        return .send(Transmission(.events, request, carrying: batch))
    }

    /// The limit up to which events may be sent before the pending changes.
    private struct Horizon {
        var hasChanges: Bool
        /// The first change after which the device may belong to another contact.
        var handOver: Int64
        /// Whether the device waits for the next contact key after every change (K3).
        var lacksKey: Bool
    }

    /// The limit for events.
    ///
    /// An event names no person: the vendor counts it for the device's contact. Events that were captured after a
    /// hand-over therefore wait for it. If the window is cut off, the last change in it counts as a possible hand-over.
    private var horizon: Horizon {
        let isCut = window.hasMore && changes.count >= SalesforceDevice.descriptor.delivery.window / 2
        let end = isCut ? changes.last?.sequence : nil
        let handOver = changes.first { isHandOver($0.operation, from: memory.registration) }?.sequence
        let next = events.first { memory.registration.isOfNext($0.operation, sequence: $0.sequence) }?.sequence
        let handOvers = [handOver ?? end, memory.registration.vacatedAt, next, memory.unacknowledgedKeyChange]
            .compactMap(\.self)
        let lacksKey = memory.registration.applying(changes, settings: settings).vacatedAt != nil
        return Horizon(hasChanges: !changes.isEmpty, handOver: handOvers.min() ?? .max, lacksKey: lacksKey)
    }

    /// Whether the device belongs to another contact from this operation on.
    private func isHandOver(_ operation: EngagementOperation, from registration: Registration) -> Bool {
        if operation.action == .erase { return true }
        guard let identifiers = operation.action.identifiers else { return false }
        guard let key = ContactKeyRules.key(of: identifiers, settings: settings) else {
            return operation.action.kind == .switchContact && registration.contactKey != nil
        }
        return registration.contactKey.map { !ContactKeyRules.areSame($0, key) } ?? true
    }

    /// Whether the provider is being removed, or was: an unregistration is pending, or was sent and no later operation
    /// registers the device again.
    private var isLeaving: Bool {
        window.isLeaving || changes.contains { $0.operation.action == .unregister }
            || memory.registration.hasLeft && !changes.contains { $0.operation.action.kind == .registerDevice }
    }

    /// Sends the vendor's present registration again on behalf of an event whose token was refused. The reply contains
    /// a new token (E14).
    private func planRenewal(for event: Head) -> Result? {
        let record = record(of: memory.registration, for: event)
        let waitsForKey = settings.delayRegistrationUntilContactKeyIsSet && memory.registration.contactKey == nil
        guard let record, let lastStart = memory.lastStart, !waitsForKey else { return nil }
        let closed = memory.closedUntil[Endpoint.registration.rawValue] ?? lastStart
        let due = max(lastStart + Pace.spacing, memory.retryAt ?? lastStart, closed)
        guard due <= moment.now else { return .wait(until: due, because: FindingRow.subscriberTokenRefused.at()) }
        let request = request(record)
        return .send(Transmission(.registration, request, carrying: [event]))
    }
}

extension SalesforceDevice.Memory {
    /// The status of the last failed attempt, for a finding.
    fileprivate var lastRefusal: String? { refusedWith.map { "last answer HTTP \($0)" } }
}

extension Pending<SalesforceDevice> {
    /// Whether the operation ends the registration.
    fileprivate var isLast: Bool { operation.action == .unregister || operation.action == .erase }
}

extension Action {
    /// The identifiers of an action that identifies the device's user; nil for any other action.
    var identifiers: [Identifier]? {
        switch self {
        case .identify(let identifiers): identifiers
        case .switchContact(let change): change.identifiers
        default: nil
        }
    }

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

    /// Adds the content of hidden operations that a registration needs: the contact key if none is known, the facts of
    /// the device, and the last push decision if it is an opt-out. The operations stay pending.
    fileprivate mutating func add(_ hidden: HiddenOperations, settings: SalesforceSettings) {
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
