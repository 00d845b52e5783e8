import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Subscriptions, changes of person, leaving.
extension Planner {
    func change(_ subscription: Subscription, _ head: Head) throws(Held) -> Next {
        guard let status = subscription.state.status else {
            return .settle([head.id: .rejected(FindingRow.subscriptionUnknown.at("action.subscription.state"))])
        }
        var fields = JSONObject()
        for (name, value) in subscription.fields.sorted(by: { $0.key < $1.key }) {
            fields[name.rawValue] = value.scalar
        }
        guard let topic = subscription.topic else { return try subscribe(head, status, fields: fields) }
        RuleID.altcraft("B12").fire()
        let category = Category(name: topic, active: subscription.state == .subscribed)
        guard let standing = memory.status(of: head.operation.contact) else {
            return try ask(.current, provider: nil, head)
        }
        switch (standing.status, category.active) {
        case (let present?, _): return try subscribe(head, present, fields: fields, category: category)
        case (nil, true): return try subscribe(head, status, fields: fields, category: category)
        case (nil, _):
            return .settle([head.id: .unchanged(FindingRow.topicNothing.at("action.subscription.topic"))])
        }
    }

    /// A subscription request; the present token's, or that of `place`.
    func subscribe(
        _ head: Head,
        _ status: String,
        fields: JSONObject = [:],
        category: Category? = nil,
        profileFields: JSONObject = [:],
        at place: PushAddress? = nil
    ) throws(Held) -> Next {
        let isSubscribing = status == Subscription.State.subscribed.rawValue
        // Whoever does not want to be reached any more may be known under the last token alone.
        guard let address = place ?? address ?? (isSubscribing ? nil : memory.saved) else {
            return try hold(head, because: .tokenMissing)
        }
        if place == nil, awaitsTokenUpdate {
            RuleID.altcraft("T2").fire()
            return .wait(until: nil, because: FindingRow.tokenUpdatePending.at())
        }
        if isSubscribing, device?.allowsPush == false {
            return try hold(head, because: .permissionMissing)
        }
        let options = adapter.options(head.operation)
        guard let categories = categories(category, options, of: head.operation.contact) else {
            return try ask(.current, provider: nil, head)
        }
        let maker = try maker(head)
        let call = SubscriptionCall(
            time: Int(head.operation.capturedAt.seconds),
            address: address,
            status: status,
            fields: subscriptionFields(fields, options),
            categories: categories,
            profileFields: merged(profileFields, options),
            replace: options["replace"]?.bool ?? false,
            skipTriggers: options["skipTriggers"]?.bool ?? false
        )
        let query = SubscriptionQuery(
            provider: address.provider,
            matchingMode: maker.authorization.matchingMode,
            sync: flag(options["sync"]?.bool ?? true)
        )
        RuleID.altcraft("F18").fire()
        if call.replace { RuleID.altcraft("B13").fire() }
        if call.skipTriggers { RuleID.altcraft("B14").fire() }
        if status == Subscription.State.suspended.rawValue { RuleID.altcraft("B15").fire() }
        let path = "/subscription/push/subscribe/"
        return send(
            .subscribe,
            maker.post(path, SubscriptionQuery.table, query, SubscriptionCall.table, call),
            head
        )
    }

    /// Waits, unless a later word about the whole subscription makes this one pointless: nothing may wait for ever
    /// behind a subscribe that the person's phone does not permit, and nobody is subscribed once another has come.
    private func hold(_ head: Head, because row: FindingRow) throws(Held) -> Next {
        let later = pending.first { $0.queue == head.queue && $0.sequence > head.sequence && replacesSubscription($0) }
        guard saysNothingElse(head), let later else { throw Held(finding: row.at()) }
        RuleID.altcraft("T9").fire()
        return .settle([head.id: .superseded(by: later.id)])
    }

    /// Whether an operation asks for being subscribed as a whole, and for nothing that a later word would not say.
    private func saysNothingElse(_ head: Head) -> Bool {
        let options = adapter.options(head.operation)
        guard ["profileFields", "customFields", "cats"].allSatisfy({ options[$0] == nil }) else { return false }
        switch head.operation.action {
        case .changeSubscription(let subscription):
            return subscription.topic == nil && subscription.state == .subscribed && subscription.fields.isEmpty
        case .switchContact: return true
        default: return false
        }
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
        for field in adapter.settings.sent(options["customFields"]?.object ?? [:]) { fields[field.name] = field.value }
        if fields.count > 0 { RuleID.altcraft("F2").fire() }
        return fields
    }

    /// The categories to send; nil if the whole list must be sent and nobody knows it.
    private func categories(_ own: Category?, _ options: JSONObject, of contact: String?) -> [Category]? {
        let given = (options["cats"]?.array ?? []).compactMap { category in
            category["name"]?.string.map { Category(name: $0, active: category["active"]?.bool) }
        }
        let named = given.filter { $0.name != own?.name } + [own].compactMap(\.self)
        RuleID.altcraft("B16").fire()
        guard adapter.settings.categoryLists == .replace else { return named }
        guard let known = memory.status(of: contact)?.categories else { return nil }
        let others = known.filter { name, _ in !named.contains { $0.name == name } }.sorted { $0.key < $1.key }
        return others.map { Category(name: $0.key, active: $0.value) } + named
    }

    // MARK: Change of person

    func switchContact(_ head: Head) throws(Held) -> Next {
        if head.step == .subscribe { return try subscribe(head, Subscription.State.subscribed.rawValue) }
        guard let address = address ?? memory.saved else {
            return .settle([head.id: .unchanged(FindingRow.noSubscription.at("action.switch"))])
        }
        if awaitsTokenUpdate {
            RuleID.altcraft("T2").fire()
            return .wait(until: nil, because: FindingRow.tokenUpdatePending.at())
        }
        for rule in ["L1", "L5", "L9"] { RuleID.altcraft(rule).fire() }
        let maker = try maker(head)
        let query = ReleaseQuery(
            provider: address.provider,
            matchingMode: adapter.settings.releaseMatching ? maker.authorization.matchingMode : nil,
            token: address.token
        )
        let call = ReleaseCall(address: address)
        let path = "/subscription/push/unsuspend/"
        return send(.unsuspend, maker.post(path, ReleaseQuery.table, query, ReleaseCall.table, call), head)
    }

    /// Suspends a subscription that is subscribed; anything else stays as it is.
    func leave(_ head: Head) throws(Held) -> Next {
        // Under which of two tokens the subscription stands is not known: a repeat of the update says so.
        if let saved = memory.saved, let doubtful = memory.doubtful { return try move(from: saved, to: doubtful, head) }
        guard let address = memory.saved ?? address else {
            return .settle([head.id: .unchanged(FindingRow.nothingToLeave.at())])
        }
        guard let standing = memory.status(of: head.operation.contact) else {
            return try ask(.current, provider: nil, head)
        }
        guard standing.status == Subscription.State.subscribed.rawValue else {
            RuleID.altcraft("E5").fire()
            return .settle([head.id: .unchanged(FindingRow.nothingToLeave.at())])
        }
        RuleID.altcraft("E1").fire()
        return try subscribe(head, Subscription.State.suspended.rawValue, at: address)
    }

    /// What a registration owes a person who comes back: the vendor is asked, and what is still as leaving made it is
    /// subscribed again. Nil if there is nothing to do, or a word about the whole subscription waits that says it all.
    func comeBack(_ head: Head) throws(Held) -> Next? {
        let contact = head.operation.contact
        guard memory.leave(of: contact, before: head.sequence) != nil, address != nil, device?.allowsPush != false,
            !pending.contains(where: replacesSubscription)
        else { return nil }
        guard let standing = memory.status(of: contact) else { return try ask(.current, provider: nil, head) }
        guard standing.status == Subscription.State.suspended.rawValue else { return nil }
        return try subscribe(head, Subscription.State.subscribed.rawValue)
    }

    /// Nobody whose word does not allow push messages is subscribed by a return.
    func keep(_ consent: Consent, _ head: Head) -> Next {
        let verdicts: [OperationID: Verdict<AltcraftDevice>] = [head.id: .accepted(FindingRow.consentKept.at())]
        guard consent.state != .granted, consent.scope.covers(Consent.Scope(.messaging, channel: .push)),
            memory.leave(of: head.operation.contact) != nil
        else { return .settle(verdicts) }
        var next = memory
        next.leave = nil
        return .settle(verdicts, remembering: next)
    }
}
