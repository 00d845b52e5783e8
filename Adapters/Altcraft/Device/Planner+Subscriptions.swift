import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Plans subscriptions, changes of person and unregistrations.
extension Planner {
    func changeSubscription(_ subscription: Subscription, _ head: Head) throws(Held) -> Next {
        guard let status = subscription.state.status else {
            return .settle([head.id: .rejected(FindingRow.subscriptionUnknown.at("action.subscription.state"))])
        }
        if let later = memory.decision(of: person(head), on: subscription.topic), later.sequence > head.sequence,
            carriesNothingElse(head)
        {
            return .settle([head.id: .superseded(by: OperationID(rawValue: later.operation))])
        }
        if subscription.state == .subscribed, carriesNothingElse(head),
            let later = laterPending(subscription.topic, head)
        {
            return .settle([head.id: .superseded(by: later)])
        }
        var fields = JSONObject()
        for (name, value) in subscription.fields.inOrder {
            fields[name.rawValue] = value.scalar
        }
        if let topic = subscription.topic {
            let category = Category(name: topic, active: subscription.state == .subscribed)
            return try changeTopic(category, status, fields, head)
        }
        return subscription.state == .subscribed
            ? try optIn(head, fields: fields) : try optOut(head, status, fields: fields)
    }

    /// Returns a pending later decision of the same person about the same topic or about the whole; nil if there is none.
    private func laterPending(_ topic: String?, _ head: Head) -> OperationID? {
        pending.captured(.changeSubscription, in: .changes).last { later in
            guard later.sequence > head.sequence, case .changeSubscription(let change) = later.operation.action else {
                return false
            }
            return change.topic.isExactly(topic) && isSamePerson(later.operation, head)
        }?.operation.id
    }

    /// Changes a topic. The subscription's status stays unchanged.
    private func changeTopic(
        _ category: Category,
        _ status: String,
        _ fields: JSONObject,
        _ head: Head
    ) throws(Held) -> Next {
        let isOptOut = category.active == false
        if !isOptOut, let next = try updateFirst(head) { return next }
        // An opt-out uses the address of the person's subscription. It waits for no token update.
        guard let place = isOptOut ? ownAddress(head) : address ?? ownAddress(head) else {
            if isOptOut { return keepOptOut(head, status, on: category.name, .topicNothing) }
            return try hold(head, because: .tokenMissing)
        }
        let holding = memory.holding(of: person(head), at: place)
        if let present = holding?.status {
            if !isOptOut, present == SubscriptionStatus.subscribed, device?.allowsPush == false {
                return try hold(head, because: .permissionMissing)
            }
            return try subscribe(head, present, fields: fields, category: category, at: place)
        }
        guard holding?.certainty == .absent else { return try query(.current, at: place, head) }
        if isOptOut { return keepOptOut(head, status, on: category.name, .topicNothing) }
        if isOvertaken(head) { return rejectOvertaken(head) }
        // A topic does not start a subscription that a later opt-out ends, even the opt-out of an anonymous person.
        let endsNext = endsNext(head, of: person(head)) || endsNext(head, of: nil)
        let whole = endsNext ? SubscriptionStatus.unsubscribed : status
        return try subscribe(head, decided(head) ?? whole, fields: fields, category: category)
    }

    /// Subscribes a person, unless another person has logged in or the person has decided otherwise.
    func optIn(_ head: Head, fields: JSONObject = [:]) throws(Held) -> Next {
        if isOvertaken(head) { return rejectOvertaken(head) }
        if followsUnregister(head) { throw Held(.unregisterPending) }
        return try subscribe(head, laterDecision(head) ?? SubscriptionStatus.subscribed, fields: fields)
    }

    /// Unsubscribes or suspends under every address at which the vendor may reach the person, without waiting for a token,
    /// permission or update.
    private func optOut(_ head: Head, _ status: String, fields: JSONObject) throws(Held) -> Next {
        let places = memory.reachable(person(head)).map(\.address)
        guard let place = places.first ?? ownAddress(head) else {
            return keepOptOut(head, status, on: nil, .optOutKept)
        }
        return try subscribe(head, status, fields: fields, at: place)
    }

    /// Completes an opt-out without effect at the vendor, and stores the decision for a later subscription.
    private func keepOptOut(_ head: Head, _ status: String, on topic: String?, _ row: FindingRow) -> Next {
        let decision = AltcraftMemory.Decision(
            contact: person(head),
            topic: topic,
            status: status,
            operation: head.id.rawValue,
            sequence: head.sequence
        )
        let verdict = Verdict<AltcraftDevice>.unchanged(row.at("action.subscription"))
        return .settle([head.id: verdict], remembering: memory.changing { $0.note(decision) })
    }

    /// Rejects an operation that a later change of person has overtaken. It is kept for replay.
    private func rejectOvertaken(_ head: Head) -> Next { .settle([head.id: .rejected(FindingRow.overtaken.at())]) }

    /// The token under which the vendor has, or would have, the person's subscription.
    private func ownAddress(_ head: Head) -> PushAddress? {
        memory.confirmed(of: person(head))?.address ?? memory.reachable(person(head)).last?.address ?? address
    }

    /// Returns the person's last decision about the whole subscription.
    private func decided(_ head: Head) -> String? { memory.decision(of: person(head), on: nil)?.status }

    /// Returns that decision if it was made after the operation was captured.
    private func laterDecision(_ head: Head) -> String? {
        memory.decision(of: person(head), on: nil).flatMap { $0.sequence > head.sequence ? $0.status : nil }
    }

    /// Returns a subscription request for the present token, or for that of `place`.
    func subscribe(
        _ head: Head,
        _ status: String,
        fields: JSONObject = [:],
        category: Category? = nil,
        profileFields: JSONObject = [:],
        at place: PushAddress? = nil
    ) throws(Held) -> Next {
        let isSubscribing = status == SubscriptionStatus.subscribed
        if place == nil, let next = try updateFirst(head) { return next }
        guard let address = place ?? address else { return try hold(head, because: .tokenMissing) }
        if isSubscribing, place == nil, device?.allowsPush == false {
            return try hold(head, because: .permissionMissing)
        }
        let options = adapter.options(head.operation)
        guard let categories = categories(category, options, of: person(head), at: address) else {
            return try query(.current, at: address, head)
        }
        let maker = try maker(head, part: address == self.address ? nil : part(head, address))
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
        return send(.subscribe, maker.post("/subscription/push/subscribe/", query, call), head)
    }

    /// Which of an operation's requests is about another token than the present one: each has an id of its own.
    private func part(_ head: Head, _ address: PushAddress) -> String? {
        guard self.address != nil else { return head.step?.rawValue }
        return [head.step?.rawValue, RequestID.mark(of: address.token)].compactMap(\.self).joined(separator: "/")
    }

    /// Holds an operation, unless a later decision about the whole subscription makes it obsolete. Otherwise a subscribe that
    /// the person's phone does not permit would block later operations permanently.
    private func hold(_ head: Head, because row: FindingRow) throws(Held) -> Next {
        let later = pending.first { $0.sequence > head.sequence && replacesSubscription($0, of: person(head)) }
        guard carriesNothingElse(head), let later else { throw Held(row) }
        return .settle([head.id: .superseded(by: later.id)])
    }

    /// Whether a later decision about the same subscription or topic supersedes an operation completely, because the operation
    /// carries no fields and no categories.
    private func carriesNothingElse(_ head: Head) -> Bool {
        let options = adapter.options(head.operation)
        guard ["profileFields", "customFields", "cats"].allSatisfy({ options[$0] == nil }) else { return false }
        switch head.operation.action {
        case .changeSubscription(let subscription): return subscription.fields.isEmpty
        case .switchContact, .setConsent: return true
        default: return false
        }
    }

    private func replacesSubscription(_ pending: Head, of contact: String?) -> Bool {
        guard person(pending).isExactly(contact) else { return false }
        return switch pending.operation.action {
        case .changeSubscription(let subscription): subscription.topic == nil
        case .switchContact, .unregister: true
        default: false
        }
    }

    /// Whether a contact ends or pauses the whole subscription after an operation.
    private func endsNext(_ head: Head, of contact: String?) -> Bool {
        pending.contains { later in
            guard later.sequence > head.sequence, replacesSubscription(later, of: contact),
                case .changeSubscription(let subscription) = later.operation.action
            else { return false }
            return subscription.state != .subscribed
        }
    }

    /// Facts of the device, then the operation's fields, then the caller's: a later one wins.
    private func subscriptionFields(_ own: JSONObject, _ options: JSONObject) -> JSONObject {
        var fields = CollectedFacts(device, adapter.settings).map(CollectedFacts.table.object) ?? [:]
        for field in own { fields[field.name] = field.value }
        for field in adapter.settings.sent(options["customFields"]?.object ?? [:]) { fields[field.name] = field.value }
        return fields
    }

    /// Returns the categories to send; nil if the request needs the whole list and the list is unknown.
    private func categories(
        _ own: Category?,
        _ options: JSONObject,
        of contact: String?,
        at address: PushAddress
    ) -> [Category]? {
        let given = (options["cats"]?.array ?? []).compactMap { category in
            category["name"]?.string.map { Category(name: $0, active: category["active"]?.bool) }
        }
        let named = given.filter { $0.name != own?.name } + [own].compactMap(\.self)
        guard adapter.settings.categoryLists == .replace else { return named }
        let holding = memory.holding(of: contact, at: address)
        guard let known = holding?.categories ?? (holding?.certainty == .absent ? [:] : nil) else { return nil }
        let others = known.filter { name, _ in !named.contains { $0.name == name } }.inOrder
        return others.map { Category(name: $0.key, active: $0.value) } + named
    }

    // MARK: Change of person

    func switchContact(_ head: Head) throws(Held) -> Next {
        if head.step == .restore {
            guard let decided = memory.optOutStatus(of: person(head)) else {
                return .settle([head.id: .rejected(FindingRow.askAgain.at())])
            }
            return try subscribe(head, decided, at: ownAddress(head))
        }
        if isOvertaken(head) { return rejectOvertaken(head) }
        if followsUnregister(head) { throw Held(.unregisterPending) }
        if let decision = anonymousOptOut(before: head) {
            return .settle([:], remembering: memory.changing { $0.note(decision) })
        }
        if head.step == .subscribe {
            guard pending.allowsPushMessages else { return completeUnsubscribed(head) }
            if let suspension = try suspendWithoutPermission(head) { return suspension }
            // The vendor has confirmed the release. The later decision replaces only the subscription, unless an even later one
            // was already sent.
            if carriesNothingElse(head), laterDecision(head) == nil, laterPending(nil, head) != nil {
                return .settle([head.id: .accepted()])
            }
            return try subscribe(head, decided(head) ?? SubscriptionStatus.subscribed)
        }
        return try release(head)
    }

    /// Returns an opt-out of an anonymous person since the last log-in of a known person, pending or not. It counts as the
    /// decision of the person who logs in. Nil if there is none, or if a later decision of the person is known.
    private func anonymousOptOut(before head: Head) -> AltcraftMemory.Decision? {
        guard let contact = person(head) else { return nil }
        let since = memory.logInAt ?? .min
        var decisions = [memory.decision(of: nil, on: nil)].compactMap(\.self)
        for captured in pending.captured(.changeSubscription, in: .changes) {
            let operation = captured.operation
            guard case .changeSubscription(let subscription) = operation.action, subscription.topic == nil,
                adapter.person(operation.contact) == nil, let status = subscription.state.status
            else { continue }
            decisions.append(
                .init(status: status, operation: operation.id.rawValue, sequence: captured.sequence)
            )
        }
        let between = decisions.filter { $0.sequence > since && $0.sequence < head.sequence }
        guard var last = between.max(by: { $0.sequence < $1.sequence }),
            last.status != SubscriptionStatus.subscribed,
            memory.decision(of: contact, on: nil).map({ $0.sequence < last.sequence }) ?? true
        else { return nil }
        last.contact = contact
        return last
    }

    /// Releases the suspended subscription of the new person. This suspends those of all other people under the token.
    private func release(_ head: Head) throws(Held) -> Next {
        // Others may be subscribed under a token from before: it is released first.
        let present = address ?? memory.holdings.last { $0.certainty != .absent }?.address
        let contact = person(head)
        let other = memory.holdings.first { $0.mayBeSubscribed && !$0.isOf(contact) && $0.address != present }?.address
        guard let target = other ?? present else {
            guard pending.allowsPushMessages else { return completeUnsubscribed(head) }
            return .settle(
                [head.id: .unchanged(FindingRow.noSubscription.at("action.switch"))],
                remembering: memory.changing { $0.beginPersonChange(.init(contact: contact, sequence: head.sequence)) }
            )
        }
        if let next = try unsubscribeFirst(head, at: target) { return next }
        if other == nil, pending.allowsPushMessages, let next = try updateFirst(head) { return next }
        let maker = try maker(head, part: other.map { "release/\(RequestID.mark(of: $0.token))" })
        let query = ReleaseQuery(
            provider: target.provider,
            matchingMode: adapter.settings.releaseMatching ? maker.authorization.matchingMode : nil,
            token: target.token
        )
        let call = ReleaseCall(address: target)
        return send(.unsuspend, maker.post("/subscription/push/unsuspend/", query, call), head)
    }

    /// Returns the request before a release that must not subscribe the new person, because messages are not allowed or the
    /// person opted out or paused them here. It ends the person's subscription if the release would resume it. Nil if the
    /// release can be sent.
    private func unsubscribeFirst(_ head: Head, at target: PushAddress) throws(Held) -> Next? {
        let contact = person(head)
        let allows = pending.allowsPushMessages
        guard !allows || endsNext(head, of: contact) || memory.optOutStatus(of: contact) != nil else { return nil }
        guard allows || !memory.reachableOthers(than: contact).isEmpty else { return completeUnsubscribed(head) }
        let holding = memory.holding(of: contact, at: target)
        guard holding?.certainty != .absent else { return nil }
        guard let status = holding?.status else { return try query(.current, at: target, head) }
        guard status != SubscriptionStatus.unsubscribed else { return nil }
        return try subscribe(head, SubscriptionStatus.unsubscribed, at: target)
    }

    /// Completes a log-in or a log-out without a subscription, which follows when the person allows messages.
    private func completeUnsubscribed(_ head: Head) -> Next {
        let finding = FindingRow.messagesNotAllowed.at("action")
        return .settle(
            [head.id: head.step == nil ? .unchanged(finding) : .accepted(finding)],
            remembering: memory.changing { next in
                next.beginPersonChange(.init(contact: person(head), sequence: head.sequence))
                next.owed = next.owed ?? .init(contact: person(head))
            }
        )
    }

    /// Ends the subscriptions of a person who no longer allows messages (L14). Subscribes a person who now does, if a denial or
    /// a log-in ended or prevented the subscription (L11).
    func apply(_ consent: Consent, _ head: Head) throws(Held) -> Next {
        let coversMessages = consent.scope.covers(.init(.messaging, channel: .push))
        if let state = head.operation.action.pushMessageConsent, state != .granted,
            !pending.allowsPushMessages(to: head.operation.contact),
            let end = try endSubscription(
                coversMessages ? SubscriptionStatus.unsubscribed : SubscriptionStatus.suspended,
                head
            )
        {
            return end
        }
        guard consent.state == .granted, pending.allowsPushMessages, let owed = memory.owed,
            owed.contact.isExactly(person(head)), !isOvertaken(head), !isLeft(head), !followsUnregister(head),
            memory.leftAt.map({ $0 < head.sequence }) ?? true
        else {
            // Without the consent, the person's return does not subscribe.
            let isDenied = consent.state != .granted && coversMessages && memory.departure(of: person(head)) != nil
            return .settle(
                [head.id: .accepted(FindingRow.consentKept.at())],
                remembering: isDenied ? memory.changing { $0.forgetDepartures(of: person(head)) } : nil
            )
        }
        if let later = laterPending(nil, head) { return .settle([head.id: .superseded(by: later)]) }
        guard memory.optOutStatus(of: person(head)) == nil, address != nil else {
            return .settle(
                [head.id: .accepted(FindingRow.consentKept.at())],
                remembering: memory.changing { $0.owed = nil }
            )
        }
        if let suspension = try suspendWithoutPermission(head) { return suspension }
        guard head.step == .subscribe || owed.isEnded else { return try release(head) }
        return try subscribe(head, SubscriptionStatus.subscribed)
    }

    /// Unsubscribes the person wherever the vendor may reach the installation, then forgets everything. Without the person's
    /// credential nothing can be sent, and an erasure waits for none.
    func erase(_ head: Head) -> Next {
        if let holding = memory.reachable(person(head)).first,
            let request = try? subscribe(head, SubscriptionStatus.unsubscribed, at: holding.address)
        {
            return request
        }
        return .settle([head.id: .accepted(FindingRow.eraseByHand.at())], remembering: AltcraftMemory())
    }

    /// Suspends each active subscription of the person. Other subscriptions stay unchanged.
    func unregister(_ head: Head) throws(Held) -> Next {
        if let end = try endSubscription(SubscriptionStatus.suspended, head) { return end }
        return .settle(
            [head.id: .unchanged(FindingRow.nothingToLeave.at())],
            remembering: memory.changing { $0.completeUnregistration(at: head.sequence) }
        )
    }

    /// Suspends the person's subscriptions while the system does not permit notifications (E7). Nil if none needs it.
    func suspendWithoutPermission(_ head: Head) throws(Held) -> Next? {
        device?.allowsPush == false ? try endSubscription(SubscriptionStatus.suspended, head) : nil
    }

    /// Gives the first subscription of the person that is subscribed another status; the first suspended one, too, if it is
    /// to be unsubscribed, because a release would resume it. Nil if there is none.
    private func endSubscription(_ status: String, _ head: Head) throws(Held) -> Next? {
        guard let holding = memory.reachable(person(head)).first else {
            let paused = memory.holdings.first { holding in
                holding.isOf(person(head)) && holding.certainty == .held
                    && holding.status == SubscriptionStatus.suspended
            }
            guard let paused, status == SubscriptionStatus.unsubscribed else { return nil }
            return try subscribe(head, status, at: paused.address)
        }
        guard let present = holding.status else { return try query(.current, at: holding.address, head) }
        guard present == SubscriptionStatus.subscribed else {
            let next = memory.changing { $0.change(person(head), at: holding.address) { $0.mayBeSubscribed = false } }
            return .settle([:], remembering: next)
        }
        return try subscribe(head, status, at: holding.address)
    }

    /// Plans the registration of a person who comes back: the subscription is queried, and subscribed again if it is still as
    /// the unregistration left it. Nil if no request is needed, or if a pending decision replaces the subscription.
    func subscribeAgain(_ head: Head) throws(Held) -> Next? {
        let contact = person(head)
        guard memory.departure(of: contact, before: head.sequence) != nil, let address, device?.allowsPush != false,
            pending.allowsPushMessages(to: contact), !isOvertaken(head),
            !pending.contains(where: { replacesSubscription($0, of: contact) })
        else { return nil }
        let holding = memory.holding(of: contact, at: address)
        guard holding?.certainty != .absent else { return nil }
        guard let status = holding?.status else { return try query(.current, at: address, head) }
        guard status == SubscriptionStatus.suspended else { return nil }
        return try subscribe(head, SubscriptionStatus.subscribed)
    }
}
