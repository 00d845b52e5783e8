import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Plans profile fields, queries and events.
extension Planner {
    // MARK: Profiles

    func updateTags(_ change: TagChange, _ head: Head) throws(Held) -> Next {
        if change.replace == nil, change.add.isEmpty, change.remove.isEmpty {
            return .settle([head.id: .unchanged(FindingRow.tagsEmpty.at("action.tags"))])
        }
        return try updateProfile(head, adapter.tagFields(change, head.step))
    }

    func updateProfile(_ head: Head, _ fields: JSONObject) throws(Held) -> Next {
        if fields.isEmpty {
            return .settle([head.id: .accepted(FindingRow.identityInCredential.at("action.identifiers"))])
        }
        if adapter.settings.profileCarrier == .subscribe { return try subscribeWithProfile(head, fields) }
        let options = adapter.options(head.operation)
        let maker = try maker(head)
        let call = ProfileUpdateCall(
            profileFields: merged(fields, options) ?? [:],
            skipTriggers: options["skipTriggers"]?.bool ?? false
        )
        return send(.profileUpdate, maker.post("/profile/update", NoQuery(), call), head)
    }

    /// Sends profile fields in a subscription request. It always carries a status, which must not change the person's decision.
    private func subscribeWithProfile(_ head: Head, _ fields: JSONObject) throws(Held) -> Next {
        let place = memory.confirmed(of: person(head))?.address ?? address
        guard let place else { throw Held(.tokenMissing) }
        let holding = memory.holding(of: person(head), at: place)
        if let status = holding?.status { return try subscribe(head, status, profileFields: fields, at: place) }
        guard holding?.certainty == .absent else { return try query(.current, at: place, head) }
        return .settle([head.id: .rejected(FindingRow.profileUnsubscribed.at())])
    }

    /// Returns the operation's profile fields, overwritten by those of its options; nil if there are none.
    func merged(_ fields: JSONObject, _ options: JSONObject) -> JSONValue? {
        var all = fields
        for field in adapter.settings.sent(options["profileFields"]?.object ?? [:]) { all[field.name] = field.value }
        return all.isEmpty ? nil : .object(all)
    }

    // MARK: Queries

    func query(_ request: ReadRequest, _ head: Head) throws(Held) -> Next {
        guard let mode = StatusQueryMode(rawValue: request.what) else {
            return .settle([head.id: .rejected(FindingRow.readUnknown.at("action.read.what"))])
        }
        let place = memory.confirmed(of: person(head))?.address ?? address
        return try query(mode, provider: request.arguments["provider"]?.string, at: place, head)
    }

    func query(
        _ mode: StatusQueryMode,
        provider: String? = nil,
        at place: PushAddress?,
        _ head: Head
    ) throws(Held) -> Next {
        let isRead = head.operation.action.kind == .readBack
        let part =
            place == address || address == nil ? "status" : place.map { "status/\(RequestID.mark(of: $0.token))" }
        let maker = try maker(head, part: isRead ? nil : part)
        var query = StatusQuery(matchingMode: maker.authorization.matchingMode)
        switch mode {
        case .latest: break
        case .latestForProvider: query.provider = provider ?? place?.provider
        case .current: (query.provider, query.token) = (place?.provider, place?.token)
        }
        if mode != .latest, query.provider == nil {
            return .settle([head.id: .rejected(FindingRow.readNoToken.at("action.read"))])
        }
        return send(.status, maker.get("/subscription/push/status/", query), head)
    }

    // MARK: Events

    func report(_ event: TrackingEvent, _ head: Head) throws(Held) -> Next {
        switch event {
        case .push(let interaction, let payload, _):
            guard let kind = adapter.kind(of: interaction) else {
                return .settle([head.id: .rejected(FindingRow.pushDismissed.at("action.event.interaction"))])
            }
            guard let message = adapter.messageID(payload, head.operation) else {
                return .settle([head.id: .rejected(FindingRow.pushWithoutUID.at("action.event.payload._uid"))])
            }
            let maker = try maker(head)
            let query = PushEventQuery(matchingMode: maker.authorization.matchingMode)
            let call = PushEventCall(time: Int(head.operation.capturedAt.seconds), messageID: message)
            return send(.pushEvent, maker.post("/event/push/\(kind)", query, call), head)
        case .custom(let name, let attributes):
            let options = adapter.options(head.operation)
            guard let pixel = adapter.pixel(options) else {
                return .settle([head.id: .rejected(FindingRow.eventPixel.at("action.event"))])
            }
            let maker = try maker(head)
            let event = CustomEvent(
                name: name,
                time: Int(head.operation.capturedAt.seconds),
                utcOffsetSeconds: utcOffsetSeconds,
                attributes: attributes,
                options: options,
                adapter: adapter
            )
            let form = Form(event, id: maker.id)
            return send(.customEvent, maker.post("/event/post", CustomEventQuery(pixel: pixel), form: form), head)
        default: return .settle([head.id: .rejected(FindingRow.eventKind.at("action.event.kind"))])
        }
    }
}

extension AltcraftSettings {
    /// Returns the fields to send. Null values are included only if the configuration sends them.
    func sent(_ fields: JSONObject) -> JSONObject {
        guard nullFields == .omit else { return fields }
        return JSONObject(fields.filter { !$0.value.isNull }.map { ($0.name, $0.value) })
    }
}
