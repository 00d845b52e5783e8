import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftServer
import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Profiles, one a line: bodies of the server interface's `profiles/import` without their token, and for reading bare
    /// profile data objects too.
    public static let altcraftProfiles = RecordFormat(
        id: "altcraft.profiles",
        title: "Altcraft profiles (bodies of profiles/import, or profile data objects, one a line)",
        fileExtension: "ndjson",
        rules: (1...9).map { .altcraft("X\($0)") },
        makeReader: { settings throws(SettingsError) in
            ProfileReader(settings: try ImportSettings.read(settings))
        },
        makeWriter: { settings throws(SettingsError) in
            ProfileWriter(settings: try ImportSettings.written(settings))
        },
        deciding: [
            FindingRow.recordMatching.code: "matching", FindingRow.recordIdentifier.code: "identifierFields",
            FindingRow.recordOptOutLost.code: "resourceId", FindingRow.profileKey.code: "identifierFields",
            FindingRow.profileResource.code: "resourceId",
        ],
        makeSourceLayout: { settings throws(SettingsError) in
            try ImportSettings.read(settings).members.map(SourceLayout.members)
        },
        makeTargetLayout: { settings throws(SettingsError) in
            try ImportSettings.written(settings).layout.map(TargetLayout.lines)
        }
    )
}

/// The settings of an import file.
struct ImportSettings: AdapterSettings {
    /// How the vendor finds a profile.
    enum Matching: String, NeutralWord {
        case email
        case emailOfProfile = "email_profile"
        case phone
        case custom
    }

    var database = 0
    var matching = Matching.email
    /// Whether the configuration names the matching. Otherwise, a profile without an address is found by another identifier.
    var namesMatching = false
    var matchingIdentifier = IdentifierKind.external.rawValue
    var identifierFields: [IdentifierKind: String] = [.email: "email", .phone: "phones"]
    var resource = 0
    var resources: [AttributeName: String] = [:]
    var fieldNames = AltcraftField.systemNames
    var tagsField = ""
    var genderForm = AltcraftSettings.GenderForm.code
    var types: [AttributeName: String] = [:]
    var lostOptOuts = ContactFile.LostOptOut.reject

    static let table = SettingsTable<ImportSettings>([
        SettingRow(
            "dbId",
            form: "whole number from 1",
            schema: ["type": "integer", "minimum": 1],
            rule: .altcraft("X1"),
            "The number of the database; needed for writing."
        ) { value, settings in
            guard let number = value.integer, number > 0 else {
                return .init(
                    "The value is not a whole number from 1.",
                    "Write the number that the platform shows beside the database's name."
                )
            }
            settings.database = Int(number)
            return nil
        },
        .choice(
            "matching",
            \.matching,
            default: .email,
            rule: .altcraft("X1"),
            "How the vendor finds a profile that is there already. Where nothing is said here, it finds one without an e-mail "
                + "address by its phone number, and one without either by the first field of identifierFields that it has."
        ),
        .text(
            "matchingIdentifier",
            \.matchingIdentifier,
            default: IdentifierKind.external.rawValue,
            rule: .altcraft("X1"),
            "With `custom`: the kind of identifier that finds a profile; identifierFields names its field."
        ),
        .names(
            "identifierFields",
            \.identifierFields,
            default: "email=email phone=phones",
            rule: .altcraft("X2"),
            "Profile fields by kind of identifier."
        ),
        .integer(
            "resourceId",
            \.resource,
            in: 0...Int(Int32.max),
            default: 0,
            rule: .altcraft("X3"),
            "The resource of subscriptions without a topic; 0: none."
        ),
        .names(
            "resources",
            \.resources,
            rule: .altcraft("X3"),
            "The numbers of resources by topic."
        ),
        .names("fieldNames", \.fieldNames, rule: .altcraft("F20"), "Profile fields by attribute name."),
        .text("tagsField", \.tagsField, rule: .altcraft("F14"), "The profile field of type tags that holds the tags."),
        .choice(
            "genderForm",
            \.genderForm,
            default: .code,
            rule: .altcraft("F12"),
            "How `_sex` is written: the vendor's pages differ; its import takes a number."
        ),
        .names(
            "types",
            \.types,
            rule: .altcraft("X7"),
            "The types of attributes by neutral name, for texts that are read: date, time, timestamp, country, choices …."
        ),
        .choice(
            "lostOptOuts",
            \.lostOptOuts,
            default: .reject,
            rule: .altcraft("X5"),
            "What becomes of a contact whose opt-out has no resource: `reject` does not write it, `warn` writes it."
        ),
    ])
}

extension ImportSettings {
    /// The settings of a file, in either direction.
    static func read(_ object: JSONObject) throws(SettingsError) -> ImportSettings {
        var settings = try table.read(object, over: ImportSettings(), at: "")
        settings.namesMatching = object["matching"] != nil || object["matchingIdentifier"] != nil
        let whole = settings.resource > 0 ? [settings.resource: "resourceId"] : [:]
        let problems = ResourceProblems(settings.resources, at: "resources", besides: whole).findings
        if !problems.isEmpty { throw SettingsError(problems) }
        return settings
    }

    /// The settings of a file that is written: nothing can be imported without the database.
    static func written(_ object: JSONObject) throws(SettingsError) -> ImportSettings {
        let settings = try read(object)
        guard settings.database > 0 else {
            let remedy = "Add \"dbId\", the number that the platform shows beside the database's name."
            throw SettingsError([.invalidSetting("dbId", "An import file must name its database.", remedy)])
        }
        return settings
    }

    /// A way to find a profile: its name, its kind of identifier, and its profile field if the name does not determine it.
    struct Way {
        let matching: Matching
        let kind: IdentifierKind
        var field: String?
    }

    /// The ways to find a profile, in order of preference. Each line names its own. Later ways are for contacts without the
    /// identifier of earlier ones.
    var ways: [Way] {
        let usual =
            switch matching {
            case .email, .emailOfProfile: Way(matching: matching, kind: .email)
            case .phone: Way(matching: matching, kind: .phone)
            case .custom: way(IdentifierKind(rawValue: matchingIdentifier))
            }
        guard !namesMatching else { return [usual] }
        let named = identifierFields.keys.filter { $0 != .email && $0 != .phone }
        let byField = named.sorted { $0.place < $1.place }
        return [usual, Way(matching: .phone, kind: .phone)] + byField.map(way)
    }

    private func way(_ kind: IdentifierKind) -> Way {
        Way(matching: .custom, kind: kind, field: identifierFields[kind])
    }

    /// The finding about a contact that has no identifier for any of the ways.
    var missingKey: Finding {
        let words = ways.map(\.matching.rawValue).joined(separator: ", ")
        return FindingRow.recordMatching.at("identifiers", detail: "matching is \(words)")
    }

    /// The finding about an opt-out without a resource.
    var lostOptOut: FindingRow { lostOptOuts == .reject ? .recordOptOutLost : .recordResource }
}

/// One line of an import file.
struct ImportRecord: Sendable {
    var database: Int
    var matching: String
    var email: String?
    var phone: String?
    var fieldName: String?
    var fieldValue: String?
    var data: JSONValue

    static let table = FieldTable<ImportRecord>(
        "A line of an import file",
        [
            .required("db_id", \.database, .integer, from: "settings.dbId", rule: .altcraft("X1")),
            .required("matching", \.matching, .text, from: "settings.matching", rule: .altcraft("X1")),
            .optional("email", \.email, .text, from: "identifiers.email", rule: .altcraft("X1")),
            .optional("phone", \.phone, .text, from: "identifiers.phone", rule: .altcraft("X1")),
            .optional("field_name", \.fieldName, .text, from: "settings.identifierFields", rule: .altcraft("X1")),
            .optional("field_value", \.fieldValue, .text, from: "identifiers", rule: .altcraft("X1")),
            .required("data", \.data, .json, from: "attributes", rule: .altcraft("X2")),
        ]
    )
}

/// Writes contacts as lines of an import file.
struct ProfileWriter: RecordWriter {
    let settings: ImportSettings

    /// The kind of identifier by which profiles are matched.
    var keyKind: IdentifierKind? { settings.ways.first?.kind }
    /// The kinds of identifiers for contacts without the preferred one.
    var otherKeyKinds: [IdentifierKind] { settings.ways.dropFirst().map(\.kind) }

    mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
        var composer = ProfileComposer(contact: contact, settings: settings)
        guard let record = composer.record() else { return composer.findings }
        bytes += Array(JSONValue.object(ImportRecord.table.object(record)).text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        return composer.findings
    }
}

/// Converts a contact to a record, and collects findings about losses.
private struct ProfileComposer {
    let contact: Contact
    let settings: ImportSettings
    var findings: [Finding] = []

    init(contact: Contact, settings: ImportSettings) { (self.contact, self.settings) = (contact, settings) }

    private var email: String? {
        contact.identifiers.first(.email).flatMap { Address.isEmail($0) && IdentifierText.isSound($0) ? $0 : nil }
    }
    private var phone: String? { contact.identifiers.first(.phone).flatMap(Address.phone) }

    /// Returns the record; nil if the vendor could not find or create a profile by it, or might write to a person who opted
    /// out.
    mutating func record() -> ImportRecord? {
        guard var record = settings.ways.lazy.compactMap(record).first else {
            findings = [settings.missingKey]
            return nil
        }
        if record.matching != settings.matching.rawValue {
            findings.append(FindingRow.recordKeyOther.at("identifiers", detail: "matching is \(record.matching)"))
        }
        record.data = .object(data())
        if record.data.holdsNUL || record.fieldValue?.utf8.contains(0) == true { noteControls() }
        return findings.contains { $0.severity == .error } ? nil : record
    }

    /// Returns the start of a record with the identification of the profile; nil if the contact lacks the identifier.
    private func record(_ way: ImportSettings.Way) -> ImportRecord? {
        var record = ImportRecord(database: settings.database, matching: way.matching.rawValue, data: .null)
        let value: String?
        switch way.matching {
        case .email, .emailOfProfile:
            value = email
            record.email = value
        case .phone:
            value = phone
            record.phone = value
        case .custom:
            let key = way.field == nil ? nil : contact.identifiers.first(way.kind)
            value = key.flatMap { IdentifierText.isSound($0) ? $0 : nil }
            (record.fieldName, record.fieldValue) = (way.field, value)
        }
        return value?.isEmpty == false ? record : nil
    }

    private mutating func data() -> JSONObject {
        var fields = identifierFields()
        for field in attributeFields() { put(field.value, in: field.name, of: &fields, "attributes") }
        if let zone = contact.timeZone { put(.string(zone), in: "_tz", of: &fields, "timeZone") }
        if contact.locale != nil { findings.append(FindingRow.recordNoHome.at("locale")) }
        addTags(to: &fields)
        for (place, consent) in contact.consents.enumerated() where consent.state != .unknown {
            findings.append(FindingRow.recordConsent.at("consents[\(place)]"))
        }
        let subscriptions = subscriptions()
        if !subscriptions.isEmpty {
            fields[Self.subscriptions] = .array(subscriptions.map { .object(ImportSubscription.table.object($0)) })
        }
        return fields
    }

    /// Adds findings about texts that contain NUL.
    private mutating func noteControls() {
        let identifiers = contact.identifiers.enumerated().map { ("identifiers[\($0)]", JSONValue.string($1.value)) }
        let attributes = contact.attributes.inOrder.map { ("attributes".dot($0.rawValue), $1.wire) }
        let tags = [("tags", JSONValue.array(contact.tags.sorted().map { .string($0.rawValue) }))]
        let zone = contact.timeZone.map { [("timeZone", JSONValue.string($0))] } ?? []
        let fields = contact.subscriptions.enumerated().flatMap { place, subscription in
            subscription.fields.inOrder.map {
                ("subscriptions[\(place)].fields".dot($0.rawValue), $1.wire)
            }
        }
        for (path, value) in identifiers + attributes + tags + zone + fields where value.holdsNUL {
            findings.append(FindingRow.recordControl.at(path))
        }
    }

    /// The one name in the data object that is no profile field.
    private static let subscriptions = "subscriptions"

    /// Fills a field that is free.
    private mutating func put(_ value: JSONValue, in name: String, of fields: inout JSONObject, _ path: String) {
        if fields[name] == nil, name != Self.subscriptions {
            fields[name] = value
        } else {
            findings.append(FindingRow.recordSecond.at(path, detail: "field \(name)"))
        }
    }

    // MARK: Fields

    private mutating func identifierFields() -> JSONObject {
        var fields = JSONObject()
        for (place, identifier) in contact.identifiers.enumerated() {
            let path = "identifiers[\(place)]"
            guard let name = settings.identifierFields[identifier.kind] else {
                findings.append(FindingRow.recordIdentifier.at(path, detail: "kind \(identifier.kind.rawValue)"))
                continue
            }
            guard let value = value(of: identifier, in: name, path) else { continue }
            if name == "phones", let present = fields[name]?.array {
                fields[name] = .array(present + (value.array ?? []))
            } else {
                put(value, in: name, of: &fields, path)
            }
        }
        return fields
    }

    private mutating func value(of identifier: Identifier, in name: String, _ path: String) -> JSONValue? {
        guard identifier.kind == .phone || IdentifierText.isSound(identifier.value) else {
            findings.append(FindingRow.recordIdentifierDamaged.at(path))
            return nil
        }
        guard let field = AltcraftField.named(name) else { return .string(identifier.value) }
        let text = JSONValue.string(identifier.value)
        guard let value = field.value(.string(identifier.value), AltcraftSettings()) else {
            findings.append(FindingRow.recordAddress.at(path, detail: "it takes \(field.form)"))
            return nil
        }
        if (value.array?.first ?? value) != text {
            findings.append(FindingRow.recordConverted.at(path, detail: "\(field.form) in field \(name)"))
        }
        return value
    }

    private mutating func attributeFields() -> JSONObject {
        var account = AltcraftSettings()
        (account.fieldNames, account.genderForm) = (settings.fieldNames, settings.genderForm)
        var fields = ProfileFields(account)
        fields.add(contact.attributes.mapValues(AttributeChange.set), at: "attributes")
        findings += fields.findings
        let left = Set(fields.findings.map(\.path))
        for (name, value) in contact.attributes.inOrder {
            let (path, field) = ("attributes".dot(name.rawValue), ProfileFields.name(of: name, account))
            // A number is the form of a few fields, which all their values have.
            let isOther = fields.object[field].map { $0.number == nil && $0 != value.wire } ?? false
            // A birthday that is an instant is read as a day.
            let isInstant = field == "_bdate" && value.converted(to: .date) == nil && !left.contains(path)
            guard
                [.time, .choices, .list, .object].contains(value.type) || isInstant || isOther && !left.contains(path)
            else {
                continue
            }
            let detail = "\(value.type.rawValue) in field \(field)"
            findings.append(FindingRow.recordConverted.at(path, detail: detail))
        }
        return fields.object
    }

    private mutating func addTags(to fields: inout JSONObject) {
        guard !contact.tags.isEmpty else { return }
        if settings.tagsField.isEmpty {
            findings.append(FindingRow.recordTags.at("tags", detail: "\(contact.tags.count) tags"))
        } else {
            let tags = JSONValue.array(contact.tags.sorted().map { .string($0.rawValue) })
            put(tags, in: settings.tagsField, of: &fields, "tags")
        }
    }

    // MARK: Subscriptions

    private mutating func subscriptions() -> [ImportSubscription] {
        var written: [ImportSubscription] = []
        var states = contact.subscriptions.mostProtectiveStates
        for (place, subscription) in contact.subscriptions.enumerated() {
            let path = "subscriptions[\(place)]"
            guard let state = states.removeValue(forKey: subscription.key) else {
                findings.append(FindingRow.recordSecond.at(path, detail: "the same channel and topic"))
                continue
            }
            written += status(of: subscription, state, path).map { entries(of: subscription, $0, path) } ?? []
        }
        for channel in [Channel.email, .push, .sms] where !addresses(channel).isEmpty {
            written += optOuts(of: channel)
        }
        let tokens = Set(written.compactMap(\.token))
        for (place, device) in contact.devices.enumerated() {
            let path = "devices[\(place)]"
            noteDetails(of: device, path)
            guard let token = device.pushToken else { continue }
            if tokens.contains(PushAddress(device)?.token ?? "") {
                noteDetails(of: token, path.dot("pushToken"))
                continue
            }
            let isReachable = PushProvider.name(of: token, on: device.facts?.platform) != nil
            let row: FindingRow = isReachable ? .recordToken : .tokenProviderUnknown
            findings.append(row.at(path.dot("pushToken")))
        }
        return written
    }

    /// The entries for an opt-out of a channel as a whole beside the contact's own subscriptions: one for the channel where
    /// a consent denies it, and one for each topic that the contact does not mention. An earlier line of the same contact may
    /// have subscribed it to any topic that the settings name.
    private mutating func optOuts(of channel: Channel) -> [ImportSubscription] {
        let whole = Subscription(channel: channel, state: .unsubscribed)
        let mentioned = Set(contact.subscriptions.map(\.key))
        let denial = contact.consents.firstIndex { Self.denies($0, channel) }
        let isOut = denial != nil || contact.subscriptions.mostProtectiveState(of: whole.key) == .unsubscribed
        guard isOut else { return [] }
        let topics = settings.resources.keys.map(\.rawValue).sorted().map { topic in
            Subscription(channel: channel, topic: topic, state: .unsubscribed)
        }
        let all = (denial == nil ? [] : [whole]) + topics
        return all.filter { !mentioned.contains($0.key) }.flatMap { optOut in
            entries(of: optOut, optOut.state.rawValue, denial.map { "consents[\($0)]" } ?? "subscriptions")
        }
    }

    /// An entry for each address.
    private mutating func entries(
        of subscription: Subscription,
        _ status: String,
        _ path: String
    ) -> [ImportSubscription] {
        guard let resource = resource(of: subscription) else {
            let isOptIn = status == Subscription.State.subscribed.rawValue
            // A denial covers a topic without a resource, because this import subscribes no person to it.
            let isCovered =
                subscription.topic != nil && contact.consents.contains { Self.denies($0, subscription.channel) }
            findings.append((isOptIn || isCovered ? .recordResource : settings.lostOptOut).at(path))
            return []
        }
        let addresses = addresses(subscription.channel)
        if addresses.isEmpty {
            findings.append(FindingRow.recordUnreachable.at(path, detail: "channel \(subscription.channel.rawValue)"))
        } else {
            noteDetails(of: subscription, path)
        }
        let fields = plainFields(of: subscription, path)
        return addresses.map { address in
            ImportSubscription(
                channel: subscription.channel.rawValue,
                resource: resource,
                email: address.email,
                phone: address.phone,
                provider: address.push?.provider,
                token: address.push?.token,
                status: status,
                fields: fields
            )
        }
    }

    /// Returns the status that permits the least among the contact's statements; nil if there is none.
    private mutating func status(
        of subscription: Subscription,
        _ state: Subscription.State,
        _ path: String
    ) -> String? {
        let isDenied = contact.consents.contains { Self.denies($0, subscription.channel) }
        if state != subscription.state || isDenied && state != .unsubscribed {
            findings.append(FindingRow.recordDenied.at(path.dot("state")))
        }
        if isDenied { return Subscription.State.unsubscribed.rawValue }
        if state.status == nil { findings.append(FindingRow.recordUnknown.at(path.dot("state"))) }
        return state.status
    }

    /// Whether a consent forbids messages on a channel.
    private static func denies(_ consent: Consent, _ channel: Channel) -> Bool {
        consent.purpose == .messaging && consent.state == .denied
            && (consent.channel == nil || consent.channel == channel)
    }

    private func resource(of subscription: Subscription) -> Int? {
        guard let topic = subscription.topic else { return settings.resource > 0 ? settings.resource : nil }
        return settings.resources[AttributeName(rawValue: topic)].flatMap(Int.init)
    }

    private struct Destination {
        var email: String?
        var phone: String?
        var push: PushAddress?
    }

    private func addresses(_ channel: Channel) -> [Destination] {
        switch channel {
        case .email: email.map { [Destination(email: $0)] } ?? []
        case .sms: phone.map { [Destination(phone: $0)] } ?? []
        case .push: contact.devices.compactMap { PushAddress($0).map { Destination(push: $0) } }
        default: []
        }
    }

    private mutating func noteDetails(of subscription: Subscription, _ path: String) {
        let details = [
            ("changedAt", subscription.changedAt != nil), ("source", subscription.source != nil),
            ("evidence", subscription.evidence != nil),
        ]
        for (name, isThere) in details where isThere {
            findings.append(FindingRow.recordNoHome.at(path.dot(name)))
        }
    }

    /// Adds findings about a device's data without a counterpart, whether or not its token has one.
    private mutating func noteDetails(of device: Device, _ path: String) {
        let usual = Device()
        let details = [
            ("facts", device.facts != nil), ("identities", !device.identities.isEmpty),
            ("allowsPush", device.allowsPush != usual.allowsPush),
            ("allowsBackgroundPush", device.allowsBackgroundPush != usual.allowsBackgroundPush),
            ("allowsLocation", device.allowsLocation != usual.allowsLocation),
            ("allowsProximity", device.allowsProximity != usual.allowsProximity),
        ]
        for (name, isThere) in details where isThere { findings.append(FindingRow.recordNoHome.at(path.dot(name))) }
    }

    private mutating func noteDetails(of token: PushToken, _ path: String) {
        let details = [("environment", token.environment != nil), ("appID", token.appID != nil)]
        for (name, isThere) in details where isThere { findings.append(FindingRow.recordNoHome.at(path.dot(name))) }
    }

    private mutating func plainFields(of subscription: Subscription, _ path: String) -> JSONValue? {
        var fields = JSONObject()
        for (name, value) in subscription.fields.inOrder {
            guard let scalar = value.scalar else {
                findings.append(FindingRow.recordNested.at(path.dot("fields").dot(name.rawValue)))
                continue
            }
            fields[name.rawValue] = scalar
        }
        return fields.isEmpty ? nil : .object(fields)
    }
}

extension JSONValue {
    /// Whether a text in the value contains the character NUL, including names of members.
    var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains(where: \.holdsNUL)
        case .object(let object): object.contains { $0.name.utf8.contains(0) || $0.value.holdsNUL }
        case .null, .bool, .number: false
        }
    }
}
