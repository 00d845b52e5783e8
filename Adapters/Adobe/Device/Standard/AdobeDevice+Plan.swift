public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        var planner = Planner(adapter: self, memory: memory, pending: pending)
        if let decision = planner.decide() { return decision }
        return pending.soonest(planner.plan)
            ?? .wait(until: nil, because: FindingRow.deviceMissing.at())
    }
}

/// Plans the first operation of each queue.
private struct Planner {
    typealias Head = Pending<AdobeDevice>
    typealias Step = AdobeDevice.Step
    typealias Result = Verdict<AdobeDevice>

    let adapter: AdobeDevice
    var memory: AdobeMemory
    let pending: PendingOperations<AdobeDevice>

    private var isLeaving: Bool { pending.isLeaving }
    private var settings: AdobeSettings { adapter.settings }
    private var organization: String { settings.organizationID }

    // MARK: Decisions at capture

    /// Applies changes of person, consent decisions and device registrations in the order of capture before any request is
    /// sent. Decides whether sessions register by the state at their start.
    mutating func decide() -> Plan<AdobeDevice>? {
        let stored = memory
        memory.enter(adapter.account)
        // The current person is the first one under this provider.
        if memory.identities.isEmpty, let cameAfter = pending.cameAfter, !pending.hasMore,
            pending.allSatisfy({ $0.sequence > cameAfter })
        {
            _ = memory.current(since: cameAfter + 1)
        }
        let erasure = pending.firstErasure
        memory.erasure = erasure ?? memory.erasure
        var verdicts: [OperationID: Result] = [:]
        var contact: String?
        for head in pending {
            // Operations after an erasure belong to no erased person and are not erased.
            if let erasure, head.sequence >= erasure, memory.identities.last.map({ $0.since <= erasure }) ?? false {
                memory.begin(erasure + 1, for: Person())
                (memory.token, memory.device) = (nil, nil)
            }
            // A repeated registration counts for the current person, regardless of the person who caused it.
            if head.operation.action.kind != .switchContact, !head.isRepeatedRegistration,
                let name = head.operation.contact, name != contact
            {
                if let place = place(of: head), isOfFormer(place, head) {
                    memory.begin(head.sequence, for: Person([], contact: name))
                } else {
                    memory.note(contact: name, head.sequence)
                }
                contact = name
            }
            if let verdict = apply(head) {
                verdicts[head.id] = verdict
                contact = nil
            }
        }
        // An operation that waits for a device must not wait until the window contains the registration.
        if memory.platform == nil, let hidden = pending.hidden.first(.registerDevice),
            case .registerDevice(let device) = hidden.operation.action
        {
            memory.platform = PushService(device)?.platform
            let place = memory.current()
            let given = device.identities[Identity.name]
            if memory.identities.count == 1, memory.identities[place].given == nil {
                memory.identities[place].given = given
            }
        }
        if stored.account == nil, memory.isEqual(stored) { memory = stored }
        let hasChanged = memory != stored
        return verdicts.isEmpty && !hasChanged ? nil : .settle(verdicts, remembering: hasChanged ? memory : nil)
    }

    private mutating func apply(_ head: Head) -> Result? {
        let isNew = head.step == nil
        switch head.operation.action {
        case .setConsent(let consent) where isNew: return apply(consent, head)
        case .registerDevice(let device):
            // After a loss of memory, the pending registration provides the device.
            if isNew || memory.device == nil { return remember(device, head) }
            allow(head)
            return nil
        case .track(.sessionStarted) where isNew: return session(head)
        case .switchContact(let change) where isNew:
            return change.direction == .logOut ? logOut(head) : logIn(change, head)
        case .identify(let identifiers) where isNew: return identify(identifiers, head)
        case .changeAttributes, .changeTags:
            if let place = place(of: head), !memory.identities[place].mayRegister {
                memory.identities[place].mayRegister = true
                memory.identities[place].consents.allowProfile()
            }
            return nil
        default: return nil
        }
    }

    /// Returns the index of the identity to which an operation belongs; nil if it is no longer stored.
    private mutating func place(of head: Head) -> Int? {
        _ = memory.current()
        return memory.index(of: head.sequence)
    }

    // MARK: Consent

    private mutating func apply(_ consent: Consent, _ head: Head) -> Result {
        guard let place = place(of: head) else { return .accepted(FindingRow.consentKept.at("action.consent")) }
        let person = memory.identities[place].person
        for other in memory.identities.indices where other >= place && memory.identities[other].person == person {
            memory.identities[other].consents.note(consent, head.sequence)
        }
        let isLast = place == memory.identities.count - 1
        var hasEnded = false
        if consent.state == .denied, isLast, memory.identities[place].consents.hasOptedOut,
            memory.identities[place].usedAs != nil
        {
            memory.identities[place].owesOptOut = !organization.isEmpty
            memory.end(place)
            memory.begin(head.sequence)
            hasEnded = true
        }
        if hasWork || consent.state != .denied && isLast && wantsToken(consent) { return .inProgress(Step(.applied)) }
        return .accepted((hasEnded ? FindingRow.optedOut : .consentKept).at("action.consent"))
    }

    /// Whether the vendor may have the push token under the current identity.
    private var allowsToken: Bool {
        memory.identities.last.map { pending.allowsToken(of: $0.who, $0.consents) } ?? pending.allowsPushMessages
    }

    /// Whether a push token must be taken back or an opt-out reported.
    private var hasWork: Bool {
        memory.staleToken(organization, allowsToken: allowsToken) != nil || memory.owedOptOut != nil
    }

    /// Whether the installation must be registered again for the present person.
    private var lacksToken: Bool { memory.lacksToken && allowsToken && !isLeaving && !organization.isEmpty }

    /// Whether a decision on messages lets the identity service have the push token again. After a decision on the profile the
    /// engine itself captures the device again.
    private func wantsToken(_ consent: Consent) -> Bool {
        guard consent.purpose == .messaging, !organization.isEmpty, let last = memory.identities.last else {
            return false
        }
        return last.tokenOrganization == nil
            && (lacksToken || memory.isEntitled(organization, allowsToken: allowsToken))
    }

    // MARK: Devices

    private mutating func remember(_ device: Device, _ head: Head) -> Result {
        let isRepeated = head.isRepeatedRegistration
        if let last = memory.device,
            head.sequence < last.sequence
                || isRepeated && (memory.token == nil || memory.identities.last?.takesToken == true)
        {
            return .superseded(by: OperationID(rawValue: last.id))
        }
        guard let place = place(of: head) else { return .rejected(FindingRow.identityForgotten.at("action")) }
        if place == memory.identities.count - 1 { adopt(device.identities[Identity.name], head) }
        // Later operations still belong to the identity that the registration names.
        if isLeaving { return .dropped(FindingRow.providerLeft.at("action.device")) }
        // A repeated registration never brings back a push token that the app has replaced.
        if !isRepeated || memory.device == nil {
            memory.platform = PushService(device)?.platform
            memory.token = device.pushToken.flatMap(PushService.text).map(Secret.init)
        }
        memory.device = DeviceRegistration(sequence: head.sequence, id: head.id.rawValue)
        allow(head)
        if hasWork { return .inProgress(Step(.token)) }
        guard device.pushToken != nil else { return .unchanged(FindingRow.deviceRemembered.at("action.device")) }
        if organization.isEmpty { return .dropped(FindingRow.organizationMissing.at("action.device.pushToken")) }
        if allowsToken { return .inProgress(Step(.token)) }
        return .dropped(FindingRow.tokenWithheld.at("action.device.pushToken"))
    }

    /// Handles a device registration. It belongs to the installation, so it counts for the current person.
    private mutating func allow(_ head: Head) {
        guard memory.device?.sequence == head.sequence else { return }
        let place = memory.current()
        (memory.identities[place].hasDevice, memory.identities[place].mayRegister) = (true, true)
        memory.identities[place].takesToken = memory.token != nil
        memory.identities[place].consents.allowProfile()
    }

    /// Uses the identity that the app passes, unless it ended.
    private mutating func adopt(_ given: String?, _ head: Head) {
        let place = memory.current()
        let last = memory.identities[place]
        guard let given, given != last.given, memory.mayUse(given, for: last.who) else { return }
        if last.given == nil, !last.hasDevice, last.usedAs == nil {
            memory.use(given, at: place)
        } else {
            memory.begin(head.sequence, given: given)
        }
    }

    // MARK: People

    private mutating func logOut(_ head: Head) -> Result {
        guard let place = place(of: head), place == memory.identities.count - 1 else {
            return .unchanged(FindingRow.personUnchanged.at("action.switch"))
        }
        guard !memory.identities[place].who.isUnknown || isOfFormer(place, head) else {
            return .unchanged(FindingRow.personUnchanged.at("action.switch"))
        }
        memory.begin(head.sequence, for: Person())
        return hasWork ? .inProgress(Step(.applied)) : .unchanged(FindingRow.personChanged.at("action.switch"))
    }

    private mutating func logIn(_ change: ContactSwitch, _ head: Head) -> Result {
        guard let place = place(of: head) else { return .rejected(FindingRow.identityForgotten.at("action")) }
        let who = Person(change.identifiers, contact: head.operation.contact)
        if !memory.identities[place].who.differs(from: who), !isOfFormer(place, head) {
            memory.join(place, who, head.sequence)
        } else if place == memory.identities.count - 1 {
            memory.begin(head.sequence, for: who)
        } else {
            return .rejected(FindingRow.personLeft.at("action.switch"))
        }
        if let place = memory.index(of: head.sequence) { memory.identities[place].mayRegister = true }
        return .inProgress(Step(.applied))
    }

    /// Whether an identity of a person without a name belongs to a person who had logged out when an operation was captured,
    /// because the log-in in between was not sent.
    private func isOfFormer(_ place: Int, _ head: Head) -> Bool {
        guard let cameAfter = pending.cameAfter, head.sequence > cameAfter else { return false }
        let identity = memory.identities[place]
        return identity.who.isUnknown && identity.since <= cameAfter
    }

    /// Handles identifiers. Another external identifier is another person; any other identifier belongs to the same person.
    private mutating func identify(_ identifiers: [Identifier], _ head: Head) -> Result {
        guard let place = place(of: head) else { return .rejected(FindingRow.identityForgotten.at("action")) }
        let who = Person(identifiers, contact: nil)
        if let external = who.external, let known = memory.identities[place].who.external, external != known {
            guard place == memory.identities.count - 1 else {
                return .rejected(FindingRow.personLeft.at("action.identifiers"))
            }
            memory.begin(
                head.sequence,
                for: Person(identifiers, contact: head.operation.contact),
                keepingConsents: true
            )
        } else {
            memory.join(place, who, head.sequence)
        }
        if let place = memory.index(of: head.sequence) { memory.identities[place].mayRegister = true }
        return .inProgress(Step(.applied))
    }

    /// Whether an operation names another contact than its identity belongs to.
    private func isOfAnother(_ head: Head, _ identity: DeviceIdentity) -> Bool {
        head.operation.contact.map(identity.who.differs) ?? false
    }

    // MARK: Sessions

    /// Returns the verdict of a session's start; nil while it waits for a device or for consent to the profile.
    private mutating func session(_ head: Head) -> Result? {
        guard let place = place(of: head) else { return .rejected(FindingRow.identityForgotten.at("action.event")) }
        let identity = memory.identities[place]
        if settings.registrationPaused { return .dropped(FindingRow.registrationPaused.at("action.event")) }
        guard identity.person == memory.identities.last?.person else {
            return .rejected(FindingRow.personLeft.at("action.event"))
        }
        guard memory.platform != nil, identity.mayRegister, !memory.consents(of: identity).deniesProfile else {
            return isLeaving ? .dropped(FindingRow.providerLeft.at("action.event")) : nil
        }
        let ecid = identity.ecid(of: head.operation.subject)
        let step = Step(.register, ecid: ecid)
        guard memory.registeredECID == ecid else {
            memory.registeredECID = ecid
            return .inProgress(step)
        }
        guard let last = memory.registrations.last(where: { $0.notedAt <= head.since }) else {
            return .inProgress(step)
        }
        let isDue = head.since - last.at >= .seconds(settings.registrationDelay * 86_400)
        return isDue ? .inProgress(step) : .unchanged(FindingRow.registrationNotDue.at("action.event"))
    }

    // MARK: Heads

    func plan(_ head: Head) -> Plan<AdobeDevice> {
        switch head.operation.action {
        case .track(.push(let interaction, let payload, let actionID)):
            return track(interaction, payload, actionID, head)
        case .track(.sessionStarted): return register(head)
        case .changeAttributes, .changeTags: return post(head)
        case .identify, .switchContact: return takeBack(head) ?? post(head)
        case .registerDevice: return send(token: head)
        case .setConsent(let consent):
            return takeBack(head) ?? giveToken(head) ?? requestRegistration(head)
                ?? .settle([head.id: .accepted(finding(of: consent, head).at("action.consent"))])
        case .unregister:
            if pending.hasEarlier(than: head) { return .wait(until: nil, because: FindingRow.leavesLast.at()) }
            return takeBack(head, before: .max)
                ?? .settle([
                    head.id: head.step == nil
                        ? .unchanged(FindingRow.nothingToLeave.at()) : .accepted(FindingRow.left.at())
                ])
        case .erase:
            return takeBack(head, before: head.sequence + 1)
                ?? .settle([head.id: .accepted(FindingRow.eraseByHand.at())])
        default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    private func finding(of consent: Consent, _ head: Head) -> FindingRow {
        let place = memory.index(of: head.sequence)
        let hasEnded = place.map { memory.identities[$0].consents.hasOptedOut } ?? false
        return consent.state == .denied && hasEnded
            ? .optedOut : consent.state == .denied ? .tokenTakenBack : .consentKept
    }

    private func maker(_ ecid: String) -> RequestMaker { RequestMaker(settings: settings, ecid: ecid) }

    /// Sends a request, with the memory that applies if no reply arrives.
    private func send(_ endpoint: AdobeDevice.Endpoint, _ request: WireRequest, _ head: Head) -> Plan<AdobeDevice> {
        var unacknowledged = memory
        unacknowledged.markUncertain(SentRequest(endpoint, request, of: head.operation.subject))
        return .send(Transmission(endpoint, request, carrying: [head], unacknowledged: unacknowledged))
    }

    /// Returns the reason why an identity's operation waits or is completed without a request; nil if it can be sent.
    private func obstacle(_ head: Head, _ identity: DeviceIdentity, at path: String) -> Plan<AdobeDevice>? {
        if isOfAnother(head, identity) { return .settle([head.id: .rejected(FindingRow.personOther.at(path))]) }
        if memory.platform == nil { return wait(head, .deviceMissing, at: path) }
        guard memory.consents(of: identity).deniesProfile else { return nil }
        guard identity.person == memory.identities.last?.person else {
            return .settle([head.id: .rejected(FindingRow.personLeft.at(path))])
        }
        return wait(head, .profileDenied, at: path)
    }

    private func wait(_ head: Head, _ row: FindingRow, at path: String) -> Plan<AdobeDevice> {
        isLeaving
            ? .settle([head.id: .dropped(FindingRow.providerLeft.at(path))]) : .wait(until: nil, because: row.at())
    }

    // MARK: Hits

    private func track(
        _ interaction: PushInteraction,
        _ payload: JSONObject,
        _ actionID: String?,
        _ head: Head
    ) -> Plan<AdobeDevice> {
        guard let message = PushMessage(payload), message.isTracked else {
            return .settle([head.id: .dropped(FindingRow.trackingOff.at("action.event.payload".dot(PushMessage.flag)))])
        }
        let ecid: String
        if let earlier = head.step?.ecid {
            ecid = earlier
        } else {
            guard let place = memory.index(of: head.sequence) else {
                return .settle([head.id: .rejected(FindingRow.identityForgotten.at("action.event"))])
            }
            let identity = memory.identities[place]
            if let obstacle = obstacle(head, identity, at: "action.event") { return obstacle }
            ecid = identity.ecid(of: head.operation.subject)
        }
        let actions = adapter.actions(interaction, actionID: actionID, appState: head.operation.appState)
        let action = head.step?.stage == .open ? actions.last : actions.first
        return send(.tracking, maker(ecid).tracking(message, action ?? .click), head)
    }

    private func register(_ head: Head) -> Plan<AdobeDevice> {
        guard let platform = memory.platform else { return wait(head, .deviceMissing, at: "action.event") }
        guard let place = memory.index(of: head.sequence) else {
            return .settle([head.id: .rejected(FindingRow.identityForgotten.at("action.event"))])
        }
        let identity = memory.identities[place]
        guard identity.person == memory.identities.last?.person else {
            return .settle([head.id: .rejected(FindingRow.personLeft.at("action.event"))])
        }
        if memory.consents(of: identity).deniesProfile { return wait(head, .profileDenied, at: "action.event") }
        guard head.step != nil else { return wait(head, .deviceMissing, at: "action.event") }
        let ecid = head.step?.ecid ?? identity.ecid(of: head.operation.subject)
        return send(.registration, maker(ecid).registration(platform), head)
    }

    // MARK: Attributes

    private func post(_ head: Head) -> Plan<AdobeDevice> {
        guard let place = memory.index(of: head.sequence) else {
            return .settle([head.id: .rejected(FindingRow.identityForgotten.at("action"))])
        }
        let identity = memory.identities[place]
        let fields = ProfileFields(head.operation, settings).texts
        if fields.isEmpty, case .switchContact = head.operation.action {
            return requestRegistration(head) ?? .settle([head.id: ended(head)])
        }
        if let obstacle = obstacle(head, identity, at: "action") { return obstacle }
        // A value captured later was sent already.
        let current = fields.filter { identity.written[$0.name].map { $0 <= head.sequence } ?? true }
        let news = settings.onlyChanges ? current.filter { identity.known[$0.name] != $0.digest } : current
        guard !news.isEmpty else {
            if [.switchContact, .identify].contains(head.operation.action.kind), let request = requestRegistration(head)
            {
                return request
            }
            let row: FindingRow = current.isEmpty ? .attributesOvertaken : .attributesKnown
            return .settle([head.id: head.step?.refused == nil ? .unchanged(row.at("action")) : ended(head)])
        }
        let changed = JSONObject(news.map { ($0.name, $0.value) })
        let maker = maker(identity.ecid(of: head.operation.subject))
        return send(.attributes, maker.attributes(memory.platform ?? "", changed), head)
    }

    /// Returns the verdict of a change of person without fields left to post.
    private func ended(_ head: Head) -> Result {
        if let kept = head.step?.refusal(.tokenKept, at: "action.switch") { return .rejected(kept) }
        let finding = FindingRow.personChanged.at("action.switch")
        // A log-out has a step only if there was something to take back.
        if case .switchContact(let change) = head.operation.action, change.direction == .logOut {
            return .accepted(finding)
        }
        return .unchanged(finding)
    }

    // MARK: Push tokens

    private func send(token head: Head) -> Plan<AdobeDevice> {
        if let last = memory.device, head.sequence < last.sequence {
            return .settle([head.id: .superseded(by: OperationID(rawValue: last.id))])
        }
        if isLeaving { return .settle([head.id: .dropped(FindingRow.providerLeft.at("action.device"))]) }
        return takeBack(head) ?? giveToken(head)
            ?? .settle([
                head.id: memory.token == nil
                    ? .accepted() : .dropped(FindingRow.tokenWithheld.at("action.device.pushToken"))
            ])
    }

    /// Returns the request that gives the identity service the push token of the current identity; nil if it must not have it.
    private func giveToken(_ head: Head) -> Plan<AdobeDevice>? {
        let place = memory.identities.count - 1
        guard !isLeaving, !organization.isEmpty, memory.isEntitled(organization, allowsToken: allowsToken),
            let token = memory.token, let service = memory.platform.flatMap(PushService.init(platform:))
        else { return nil }
        if case .setConsent = head.operation.action, memory.identities[place].tokenOrganization != nil { return nil }
        let ecid = memory.identities[place].ecid(of: head.operation.subject)
        return send(.pushToken, maker(ecid).token(token.value, service), head)
    }

    /// Requests a registration of the installation for a current person without a push token: the request has an empty token.
    ///
    /// A log-out makes no such request: a person who refused push messages may return to the identity that it starts.
    private func requestRegistration(_ head: Head) -> Plan<AdobeDevice>? {
        if case .switchContact(let change) = head.operation.action, change.direction == .logOut { return nil }
        guard lacksToken, let last = memory.identities.last,
            let service = memory.platform.flatMap(PushService.init(platform:))
        else { return nil }
        return send(.pushToken, maker(last.ecid(of: head.operation.subject)).token("", service), head)
    }

    /// Returns the request that takes back a push token or reports an opt-out; nil if nothing is left to do.
    private func takeBack(_ head: Head, before sequence: Int64 = 0) -> Plan<AdobeDevice>? {
        guard head.step?.refused == nil else { return nil }
        if let place = memory.staleToken(organization, allowsToken: allowsToken, before: sequence),
            let service = memory.platform.flatMap(PushService.init(platform:))
        {
            let identity = memory.identities[place]
            let maker = maker(identity.ecid(of: head.operation.subject))
            return send(.pushToken, maker.token("", service, organization: identity.tokenOrganization ?? ""), head)
        }
        guard let place = memory.owedOptOut, !organization.isEmpty else { return nil }
        return send(.optOut, maker(memory.identities[place].ecid(of: head.operation.subject)).optOut(), head)
    }
}

extension PendingOperations {
    /// The order of capture of the first pending erasure.
    var firstErasure: Int64? {
        let shown = all([.leave]).first { $0.operation.action == .erase }
        return [shown?.sequence, hidden.first(.erase)?.sequence].compactMap(\.self).min()
    }

    /// Whether an operation other than an unregistration that was captured before this one is still pending.
    func hasEarlier(than head: Pending<Adapter>) -> Bool {
        if contains(where: { $0.sequence < head.sequence && $0.operation.action != .unregister }) { return true }
        return hasMore && !contains { $0.sequence > head.sequence }
    }
}

extension Pending<AdobeDevice> {
    /// Whether the adapter itself requested the registration, to give the current person the push token.
    fileprivate var isRepeatedRegistration: Bool {
        guard case .registerDevice(let device) = operation.action else { return false }
        return device.identities[AdobeDevice.repeatedRegistration] != nil
    }
}

extension JSONObject.Member {
    /// A digest for comparison with the value that was sent before, which is not stored.
    var digest: String { Person.digest(value.string ?? "") }
}
