public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let planner = Planner(adapter: self, pending: pending, memory: memory)
        var best: Plan<Self>?
        var seen: Set<String> = []
        for operation in pending where operation.isImmediate || seen.insert(operation.queue).inserted {
            best = .soonest(best, planner.plan(operation))
            if case .send = best { break }
            if case .settle = best { break }
        }
        return best ?? .wait(until: nil, because: FindingRow.tokenMissing.at())
    }
}

/// Decides about the head of each queue, knowing the newest state of the installation.
private struct Planner {
    typealias Head = Pending<AltcraftDevice>

    let adapter: AltcraftDevice
    let memory: AltcraftMemory
    /// The newest registered installation: in the window, else remembered.
    let device: Device?
    private let registrations: [Head]
    private let pending: PendingOperations<AltcraftDevice>

    init(adapter: AltcraftDevice, pending: PendingOperations<AltcraftDevice>, memory: AltcraftMemory) {
        (self.adapter, self.memory, self.pending) = (adapter, memory, pending)
        registrations = pending.filter { $0.operation.action.kind == .registerDevice }
        if case .registerDevice(let device) = registrations.last?.operation.action {
            self.device = device
        } else {
            device = memory.device
        }
    }

    private var address: PushAddress? { PushAddress(device) }

    func plan(_ head: Head) -> Plan<AltcraftDevice> {
        do {
            return try decide(head)
        } catch {
            return .wait(until: nil, because: error.finding)
        }
    }

    private func decide(_ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        switch head.operation.action {
        case .registerDevice: return try register()
        case .changeSubscription(let subscription): return try change(subscription, head)
        case .switchContact: return try switchContact(head)
        case .changeAttributes, .identify:
            return try updateProfile(head, adapter.profileFields(of: head.operation).object)
        case .changeTags(let change): return try updateTags(change, head)
        case .track(let event): return try report(event, head)
        case .readBack(let request): return try ask(request, head)
        case .farewell: return try leave(head)
        case .setConsent: return .settle([head.id: .accepted(FindingRow.consentKept.at())])
        case .erase: return .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: AltcraftMemory())
        @unknown default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    private func maker(_ head: Head, part: String? = nil) throws(Authorization.Missing) -> RequestMaker {
        RequestMaker(
            settings: adapter.settings,
            authorization: try Authorization(head.credential, adapter.settings),
            operation: head.id,
            part: part ?? head.step?.rawValue
        )
    }

    private func send(_ endpoint: AltcraftDevice.Endpoint, _ request: WireRequest, _ head: Head) -> Plan<AltcraftDevice>
    {
        .send(Transmission(endpoint, request, carrying: [head]))
    }

    private func flag(_ value: Bool) -> String {
        switch adapter.settings.flagText {
        case .words: value ? "true" : "false"
        case .digits: value ? "1" : "0"
        }
    }

    // MARK: The installation

    /// Remembers the newest of the registrations that wait; a token that changed is told to the vendor first.
    private func register() throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        guard let newest = registrations.last else { return .wait(until: nil, because: FindingRow.tokenMissing.at()) }
        if registrations.count > 1 {
            let older = registrations.dropLast().map { ($0.id, Verdict<AltcraftDevice>.superseded(by: newest.id)) }
            return .settle(Dictionary(older) { first, _ in first })
        }
        guard let address, let old = memory.outdated(by: address) else {
            var next = memory
            next.device = device
            return .settle([newest.id: .accepted()], remembering: next)
        }
        RuleID.altcraft("T1").fire()
        let maker = try maker(newest)
        let query = Query(
            provider: address.provider,
            token: old.token,
            sync: flag(adapter.settings.roleToken.map { !$0.value.isEmpty } ?? false)
        )
        let call = TokenUpdateCall(old: old, new: address)
        let request = maker.post("/subscription/push/update/", Query.tokenUpdate, query, TokenUpdateCall.table, call)
        return send(.tokenUpdate, request, newest)
    }

    // MARK: Subscriptions

    private func change(_ subscription: Subscription, _ head: Head) throws(Authorization.Missing) -> Plan<
        AltcraftDevice
    > {
        guard let status = subscription.state.status else {
            return .settle([head.id: .rejected(FindingRow.subscriptionUnknown.at("action.subscription.state"))])
        }
        var fields = JSONObject()
        for (name, value) in subscription.fields.sorted(by: { $0.key < $1.key }) {
            fields[name.rawValue] = value.scalar
        }
        guard let topic = subscription.topic else { return try subscribe(head, status, fields: fields) }
        RuleID.altcraft("B12").fire()
        let isActive = subscription.state == .subscribed
        let standing = memory.status(of: head.operation.contact)
        switch (standing, standing?.status, isActive) {
        case (_, let present?, _):
            return try subscribe(head, present, fields: fields, category: Category(name: topic, active: isActive))
        case (_, nil, true):
            return try subscribe(head, status, fields: fields, category: Category(name: topic, active: true))
        case (nil, nil, false): return try ask(.current, provider: nil, head)
        case (_?, nil, false):
            return .settle([head.id: .unchanged(FindingRow.topicNothing.at("action.subscription.topic"))])
        }
    }

    private func subscribe(
        _ head: Head,
        _ status: String,
        fields: JSONObject = [:],
        category: Category? = nil,
        profileFields: JSONObject = [:],
        at place: PushAddress? = nil
    ) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        guard let address = place ?? address else { return hold(head, because: .tokenMissing) }
        if place == nil, memory.outdated(by: address) != nil {
            return .wait(until: nil, because: FindingRow.tokenUpdatePending.at())
        }
        if status == Subscription.State.subscribed.rawValue, device?.allowsPush == false {
            return hold(head, because: .permissionMissing)
        }
        let options = adapter.options(head.operation)
        let maker = try maker(head)
        let call = SubscriptionCall(
            time: Int(head.operation.capturedAt.seconds),
            address: address,
            status: status,
            fields: subscriptionFields(fields, options),
            categories: categories(category, options),
            profileFields: merged(profileFields, options),
            replace: options["replace"]?.bool ?? false,
            skipTriggers: options["skipTriggers"]?.bool ?? false
        )
        let query = Query(
            provider: address.provider,
            matchingMode: maker.authorization.matchingMode,
            sync: flag(options["sync"]?.bool ?? true)
        )
        RuleID.altcraft("F18").fire()
        let request = maker.post("/subscription/push/subscribe/", Query.subscribe, query, SubscriptionCall.table, call)
        return send(.subscribe, request, head)
    }

    /// Waits, unless a later word about the whole subscription makes this one pointless: nothing may wait for ever
    /// behind a subscribe that the person's phone does not permit.
    private func hold(_ head: Head, because row: FindingRow) -> Plan<AltcraftDevice> {
        let later = pending.first { $0.queue == head.queue && $0.sequence > head.sequence && replacesSubscription($0) }
        guard let later else { return .wait(until: nil, because: row.at()) }
        RuleID.altcraft("T9").fire()
        return .settle([head.id: .superseded(by: later.id)])
    }

    private func replacesSubscription(_ pending: Head) -> Bool {
        switch pending.operation.action {
        case .changeSubscription(let subscription): subscription.topic == nil
        case .switchContact, .farewell: true
        default: false
        }
    }

    /// Facts of the device, then the operation's fields, then the caller's: a later one wins.
    private func subscriptionFields(_ own: JSONObject, _ options: JSONObject) -> JSONObject {
        RuleID.altcraft("F4").fire()
        var fields = CollectedFacts(device, adapter.settings).map(CollectedFacts.table.object) ?? [:]
        for field in own { fields[field.name] = field.value }
        for field in options["customFields"]?.object ?? [:] { fields[field.name] = field.value }
        if fields.count > 0 { RuleID.altcraft("F2").fire() }
        return fields
    }

    private func categories(_ own: Category?, _ options: JSONObject) -> [Category] {
        let given = (options["cats"]?.array ?? []).compactMap { category in
            category["name"]?.string.map { Category(name: $0, active: category["active"]?.bool) }
        }
        return given.filter { $0.name != own?.name } + [own].compactMap(\.self)
    }

    private func merged(_ fields: JSONObject, _ options: JSONObject) -> JSONValue? {
        var all = fields
        for field in options["profileFields"]?.object ?? [:] { all[field.name] = field.value }
        if !all.isEmpty { RuleID.altcraft("F1").fire() }
        return all.isEmpty ? nil : .object(all)
    }

    private func switchContact(_ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        if head.step == .subscribe { return try subscribe(head, Subscription.State.subscribed.rawValue) }
        guard let address = address ?? memory.saved else {
            return .settle([head.id: .unchanged(FindingRow.noSubscription.at("action.switch"))])
        }
        RuleID.altcraft("L1").fire()
        let maker = try maker(head)
        let query = Query(
            provider: address.provider,
            token: address.token,
            matchingMode: maker.authorization.matchingMode
        )
        let call = ReleaseCall(address: address)
        let request = maker.post("/subscription/push/unsuspend/", Query.release, query, ReleaseCall.table, call)
        return send(.unsuspend, request, head)
    }

    private func leave(_ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        guard let address = memory.saved ?? address else {
            return .settle([head.id: .unchanged(FindingRow.nothingToLeave.at())])
        }
        RuleID.altcraft("E1").fire()
        return try subscribe(head, Subscription.State.suspended.rawValue, at: address)
    }

    // MARK: Questions

    private func ask(_ request: ReadRequest, _ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        guard let question = StatusQuestion(rawValue: request.what) else {
            return .settle([head.id: .rejected(FindingRow.readUnknown.at("action.read.what"))])
        }
        return try ask(question, provider: request.arguments["provider"]?.string, head)
    }

    private func ask(_ question: StatusQuestion, provider: String?, _ head: Head) throws(Authorization.Missing) -> Plan<
        AltcraftDevice
    > {
        RuleID.altcraft("T6").fire()
        let place = memory.saved ?? address
        var query = Query()
        switch question {
        case .latest: break
        case .latestForProvider: query.provider = provider ?? place?.provider
        case .current: (query.provider, query.token) = (place?.provider, place?.token)
        }
        if question != .latest, query.provider == nil {
            guard head.operation.action.kind == .readBack else {
                return .wait(until: nil, because: FindingRow.tokenMissing.at())
            }
            return .settle([head.id: .rejected(FindingRow.readNoToken.at("action.read"))])
        }
        let maker = try maker(head, part: head.operation.action.kind == .readBack ? nil : "status")
        query.matchingMode = maker.authorization.matchingMode
        return send(.status, maker.get("/subscription/push/status/", Query.status, query), head)
    }

    // MARK: Profiles

    private func updateTags(_ change: TagChange, _ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        if change.replace == nil, change.add.isEmpty, change.remove.isEmpty {
            return .settle([head.id: .unchanged(FindingRow.tagsEmpty.at("action.tags"))])
        }
        return try updateProfile(head, adapter.tagFields(change, head.step))
    }

    private func updateProfile(_ head: Head, _ fields: JSONObject) throws(Authorization.Missing) -> Plan<AltcraftDevice>
    {
        if fields.isEmpty {
            return .settle([head.id: .accepted(FindingRow.identityInCredential.at("action.identifiers"))])
        }
        if adapter.settings.profileUpdates == .subscribe {
            return try subscribeWithProfile(head, fields)
        }
        let options = adapter.options(head.operation)
        let maker = try maker(head)
        let call = ProfileUpdateCall(
            profileFields: merged(fields, options) ?? [:],
            skipTriggers: options["skipTriggers"]?.bool ?? false
        )
        RuleID.altcraft("Q8").fire()
        return send(
            .profileUpdate,
            maker.post("/profile/update", Query.none, Query(), ProfileUpdateCall.table, call),
            head
        )
    }

    /// The subscription request carries a status always, and it must not change the person's will.
    private func subscribeWithProfile(_ head: Head, _ fields: JSONObject) throws(Authorization.Missing) -> Plan<
        AltcraftDevice
    > {
        guard let standing = memory.status(of: head.operation.contact) else {
            return try ask(.current, provider: nil, head)
        }
        guard let status = standing.status else {
            return .settle([head.id: .rejected(FindingRow.profileUnsubscribed.at())])
        }
        return try subscribe(head, status, profileFields: fields)
    }

    // MARK: Events

    private func report(_ event: TrackingEvent, _ head: Head) throws(Authorization.Missing) -> Plan<AltcraftDevice> {
        switch event {
        case .push(let interaction, let payload, _):
            guard let kind = adapter.kind(of: interaction) else {
                return .settle([head.id: .rejected(FindingRow.pushDismissed.at("action.event.interaction"))])
            }
            guard let message = adapter.messageID(payload, head.operation) else {
                return .settle([head.id: .rejected(FindingRow.pushWithoutUID.at("action.event.payload._uid"))])
            }
            RuleID.altcraft("P3").fire()
            let maker = try maker(head)
            let query = Query(matchingMode: maker.authorization.matchingMode)
            let call = PushEventCall(time: Int(head.operation.capturedAt.seconds), messageID: message)
            let request = maker.post("/event/push/\(kind)", Query.pushEvent, query, PushEventCall.table, call)
            return send(.pushEvent, request, head)
        case .custom(let name, let attributes):
            let maker = try maker(head)
            let event = CustomEvent(
                name: name,
                time: Int(head.operation.capturedAt.seconds),
                utcOffsetSeconds: device?.facts?.utcOffsetSeconds ?? 0,
                clientID: adapter.settings.clientID,
                attributes: attributes,
                options: adapter.options(head.operation)
            )
            let query = Query(pixel: adapter.settings.pixel)
            let form = Form(event, id: head.id)
            return send(.customEvent, maker.post("/event/post", Query.customEvent, query, form: form), head)
        default: return .settle([head.id: .rejected(FindingRow.eventKind.at("action.event.kind"))])
        }
    }
}
