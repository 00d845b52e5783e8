import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftServer
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

extension ImportSettings {
    /// The members that ``ProfileReader`` reads; nil if the settings give a coded field another type.
    var members: MemberLayout? {
        let fields = ImportFields(self)
        func name(_ field: String) -> AttributeName { fields.names[field] ?? AttributeName(rawValue: field) }
        guard types[name("_sex")] == nil, types[name(ShownSubscription.globalStatus)] == nil else { return nil }
        var members: [(name: String, role: MemberLayout.Role)] = fields.kinds.compactMap { kind in
            identifierFields[kind].map { ($0, .identifier(kind)) }
        }
        members += [("_tz", .timeZone), ("subscriptions", .subscriptions(shownSubscriptions))]
        if !tagsField.isEmpty { members.append((tagsField, .tags)) }
        let taken = Set(members.map(\.name))
        let usual = fields.usualTypes
        let typed = types.keys.filter { fieldNames[$0] == nil }.map(\.rawValue)
        for field in Set(fieldNames.values).union(usual.keys).union(typed).union([
            "_sex", ShownSubscription.globalStatus,
        ]).subtracting(taken).sorted() {
            let name = name(field)
            let role: MemberLayout.Role =
                field == "_sex"
                ? .code(name, [1: "male", 2: "female"])
                : field == ShownSubscription.globalStatus
                    ? .status(name, neutral: ShownSubscription.neutralStatuses)
                    : .attribute(name, types[name].flatMap(AttributeType.init) ?? usual[field])
            members.append((field, role))
        }
        let envelope = MemberLayout.Envelope(
            markers: ["db_id", "matching"],
            record: "data",
            identifiers: [("email", .email), ("phone", .phone)],
            custom: ("field_name", "field_value")
        )
        return MemberLayout(envelope, members: members)
    }

    private var shownSubscriptions: MemberLayout.Subscriptions {
        var topics: [Int: String?] = [:]
        for (topic, number) in resources { if let number = Int(number) { topics[number] = .some(topic.rawValue) } }
        if resource > 0 { topics[resource] = .some(nil) }
        return MemberLayout.Subscriptions(
            MemberLayout.Subscriptions.Members(
                channel: "channel",
                resource: "resource_id",
                state: "status",
                token: "subscription_id",
                provider: "provider",
                addresses: ShownSubscription.addressMembers,
                unusual: ["is_delete", "custom_fields"]
            ),
            topics: topics,
            states: ShownSubscription.states,
            providers: PushProvider.services
        )
    }

    /// The lines that ``ProfileWriter`` writes; nil if the settings let it write none.
    var layout: LineLayout? {
        key.map { key in
            LineLayout(
                [.constant("db_id", .integer(database)), .constant("matching", .string(matching.rawValue))]
                    + key
                    + [.object("data", data)]
            )
        }
    }

    private var key: [LineLayout.Part]? {
        let missing = ways.count == 1 ? missingKey : nil
        switch matching {
        case .email, .emailOfProfile: return [.key("email", .email, .email, missing: missing)]
        case .phone: return [.key("phone", .phone, .phones, missing: missing)]
        case .custom:
            let kind = IdentifierKind(rawValue: matchingIdentifier)
            guard let name = identifierFields[kind] else { return nil }
            return [.constant("field_name", .string(name)), .key("field_value", kind, .text, missing: missing)]
        }
    }

    private var data: [LineLayout.Part] {
        let homes = identifierFields.mapValues { LineLayout.Field($0, Self.form(of: $0)) }
        let attributes = LineLayout.Attributes(
            names: fieldNames,
            forms: Dictionary(uniqueKeysWithValues: AltcraftField.all.map { ($0.name, form(of: $0)) }),
            taken: ImportFields(self).taken,
            noted: [.time, .choices, .list],
            converted: .recordConverted,
            unfit: .attributeForm
        )
        return [
            .identifiers(
                homes,
                elsewhere: .recordIdentifier,
                unfit: .recordAddress,
                respelt: .recordConverted
            ),
            .attributes(attributes), .timeZone("_tz"),
            .dropped(.locale, .recordNoHome), tagsField.isEmpty ? .dropped(.tags, .recordTags) : .tags(tagsField),
            .dropped(.consents, .recordConsent), .subscriptions(subscriptions),
        ]
    }

    private static func form(of name: String) -> RecordForm {
        switch name {
        case "email": .email
        case "phones": .phones
        default: AltcraftField.named(name) == nil ? .plain : .country
        }
    }

    private func form(of field: AltcraftField) -> RecordForm {
        let codes = ["male": 1, "female": 2]
        return switch field.name {
        case "_country": .country
        case "_bdate": .day
        case "_regdate": .moment
        case "_sex":
            .words(
                Dictionary(
                    uniqueKeysWithValues: codes.map { ($0, genderForm == .word ? .string($0) : .integer($1)) }
                )
            )
        case "_postal_code": .wholeNumber
        case "_status": .integer
        case "email": .email
        case "phones": .phones
        default: .text
        }
    }

    private static var providers: [LineLayout.Subscriptions.Provider] {
        ["ios", "android"].flatMap { platform in
            [PushToken.Service.apns, .fcm, .hms, .rustore].compactMap { service in
                PushProvider.name(of: PushToken("", service: service), on: platform).map {
                    LineLayout.Subscriptions.Provider(platform: platform, service: service, name: $0)
                }
            }
        }
    }

    private var subscriptions: LineLayout.Subscriptions {
        LineLayout.Subscriptions(
            name: "subscriptions",
            members: ("channel", "resource_id", "status"),
            resource: resource > 0 ? resource : nil,
            topics: Dictionary(
                resources.compactMap { topic, number in Int(number).map { (topic.rawValue, $0) } },
                uniquingKeysWith: { first, _ in first }
            ),
            addresses: [
                .email: .identifier(.email, "email", .email), .sms: .identifier(.phone, "phone", .phones),
                .push: .devices(provider: "provider", token: "subscription_id", Self.providers),
            ],
            findings: LineLayout.Subscriptions.Findings(
                unknown: .recordUnknown,
                denied: .recordDenied,
                resource: .recordResource,
                lostOptOut: lostOptOut,
                unreachable: .recordUnreachable,
                detail: .recordNoHome,
                token: .recordToken,
                provider: .tokenProviderUnknown
            )
        )
    }
}
