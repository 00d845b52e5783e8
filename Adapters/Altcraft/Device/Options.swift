import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An option of an operation for this vendor (`options["altcraft"]`).
struct CallOption {
    /// The requests that accept the option.
    enum Use { case subscription, profile, pushEvent, customEvent }

    /// The option's name.
    let name: String
    /// The option's form, as text for findings.
    let form: String
    /// Which requests have a place for it.
    let uses: Set<Use>
    private let check: @Sendable (JSONValue, String) -> [Finding]

    private init(
        _ name: String,
        _ form: String,
        _ uses: Set<Use>,
        where accepts: @escaping @Sendable (JSONValue) -> Bool
    ) {
        self.init(name, form, uses) { value, path in
            accepts(value) ? [] : [.option(path, takes: form)]
        }
    }

    private init(
        _ name: String,
        _ form: String,
        _ uses: Set<Use>,
        check: @escaping @Sendable (JSONValue, String) -> [Finding]
    ) {
        (self.name, self.form, self.uses, self.check) = (name, form, uses, check)
    }

    /// Every option: the six of a subscription call, one of a push event, and those of a custom event.
    static let all: [CallOption] = [
        CallOption("sync", "true or false", [.subscription]) { $0.bool != nil },
        CallOption(
            "profileFields",
            "an object of profile fields",
            [.subscription, .profile, .customEvent],
            check: profileFields
        ),
        CallOption("customFields", "an object of plain values", [.subscription], check: plainValues),
        CallOption("cats", "a list of objects with name and active", [.subscription], check: categories),
        CallOption("replace", "true or false", [.subscription]) { $0.bool != nil },
        CallOption("skipTriggers", "true or false", [.subscription, .profile]) { $0.bool != nil },
        CallOption("uid", "a message id", [.pushEvent]) { $0.string?.isEmpty == false },
        CallOption("pixel", "the id of a pixel", [.customEvent]) { $0.string?.trimmed.isEmpty == false },
        CallOption("clientID", "an Altcraft client id", [.customEvent]) { $0.string != nil },
        CallOption("matching", "a matching mode", [.customEvent]) { $0.string != nil },
        CallOption("matchingIDs", "an object of identifiers", [.customEvent]) { $0.object != nil },
        CallOption("messageID", "a message id", [.customEvent]) { $0.string != nil },
        CallOption("utm", "an object of \(CampaignParameter.names)", [.customEvent], check: campaign),
        CallOption(
            "subscription",
            "a subscription of one of the vendor's forms",
            [.customEvent],
            check: AttachedSubscription.problems
        ),
    ]

    /// The names, for people.
    static let names = all.map(\.name).joined(separator: ", ")

    /// Returns the findings about an operation's options, including those about null values.
    static func problems(_ options: JSONObject, for use: Use?, _ settings: AltcraftSettings) -> [Finding] {
        options.flatMap { option -> [Finding] in
            let path = "options.altcraft".dot(option.name)
            guard let known = all.first(where: { $0.name == option.name }) else {
                return [FindingRow.optionUnknown.at(path)]
            }
            let problems = known.check(option.value, path)
            guard problems.isEmpty else { return problems }
            guard use.map(known.uses.contains) == true else { return [FindingRow.optionIdle.at(path)] }
            return nulls(option, path, settings)
        }
    }

    private static func nulls(_ option: JSONObject.Member, _ path: String, _ settings: AltcraftSettings) -> [Finding] {
        guard ["profileFields", "customFields"].contains(option.name), let fields = option.value.object else {
            return []
        }
        let row = settings.nullFields == .send ? FindingRow.fieldNull : .fieldNullLeftOut
        return fields.filter(\.value.isNull).map { row.at(path.dot($0.name)) }
    }

    private static func object(_ value: JSONValue, _ path: String, _ problem: (JSONObject.Member) -> FindingRow?)
        -> [Finding]
    {
        guard let fields = value.object else { return [.option(path, takes: "an object")] }
        return fields.compactMap { field in
            let row = field.name.trimmed.isEmpty ? FindingRow.fieldBlank : problem(field)
            return row.map { $0.at(path.dot(field.name)) }
        }
    }

    private static func plainValues(_ value: JSONValue, _ path: String) -> [Finding] {
        object(value, path) { $0.value.isScalar ? nil : .optionNested }
    }

    private static func profileFields(_ value: JSONValue, _ path: String) -> [Finding] {
        object(value, path) { FunctionalUpdate.isValid($0.value, for: $0.name) ? nil : .optionInstruction }
    }

    private static func campaign(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let parameters = value.object else { return [.option(path, takes: "an object")] }
        return parameters.compactMap { parameter in
            let path = path.dot(parameter.name)
            if CampaignParameter(rawValue: parameter.name) == nil {
                return .option(path, takes: CampaignParameter.names)
            }
            return parameter.value.string == nil ? .option(path, takes: "text") : nil
        }
    }

    private static func categories(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let list = value.array else { return [.option(path, takes: "a list")] }
        return list.enumerated().flatMap { place, category -> [Finding] in
            let path = "\(path)[\(place)]"
            guard let object = category.object else { return [.option(path, takes: "an object with name and active")] }
            var problems: [Finding] = []
            if object["name"]?.string?.trimmed.isEmpty != false {
                problems.append(.option(path.dot("name"), takes: "text"))
            }
            if let active = object["active"], active.bool == nil {
                problems.append(.option(path.dot("active"), takes: "true or false"))
            }
            for unknown in object.names where !["name", "active", "title", "steady"].contains(unknown) {
                problems.append(FindingRow.optionInvalid.at(path.dot(unknown), detail: "a category has no such part"))
            }
            return problems
        }
    }
}

extension Finding {
    /// Returns a finding about an option, or a part of one, that has another form than the given one.
    fileprivate static func option(_ path: String, takes form: String) -> Finding {
        FindingRow.optionInvalid.at(path, detail: "it takes \(form)")
    }
}

/// The campaign parameters of an event, in the vendor's order.
enum CampaignParameter: String, CaseIterable {
    case campaign, content, keyword, medium, source, temp

    /// The names of the parameters, for findings.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// An instruction in place of a profile field's value: an object of `action` and `value`.
enum FunctionalUpdate {
    private static let actions: [String: @Sendable (JSONValue) -> Bool] = [
        "set": { _ in true },
        "unset": { $0.isNull },
        "incr": { $0.number != nil },
        "add": { $0.isListOfTexts },
        "delete": { $0.isListOfTexts },
        "upsert": { $0.object != nil },
    ]

    /// Whether a value is no instruction, or one that the vendor documents, with a fitting value.
    static func isValid(_ value: JSONValue, for field: String) -> Bool {
        guard let action = value["action"]?.string else { return true }
        if action == "unset", field == "email" { return false }
        return actions[action].map { $0(value["value"] ?? .null) } ?? false
    }
}

/// A subscription in any channel that a custom event attaches to the profile, with the vendor's own names.
enum AttachedSubscription {
    /// Every channel of the vendor with its members.
    private static let forms: [String: [(name: String, form: Form)]] = [
        "email": [("email", .text)],
        "sms": [("phone", .text)],
        "push": [("provider", .provider), ("subscription_id", .text)],
        "telegram_bot": [("cc_data", .object)], "whatsapp": [("cc_data", .object)], "viber": [("cc_data", .object)],
        "notify": [("cc_data", .object)],
    ]
    private static let common: [(name: String, form: Form)] = [
        ("status", .status), ("priority", .number), ("custom_fields", .object), ("cats", .texts),
    ]

    /// The form of a member.
    private enum Form: String {
        case text = "text"
        case number = "a whole number"
        case object = "an object"
        case texts = "a list of texts"
        case status = "subscribed, unsubscribed or suspended"
        case provider = "one of the vendor's providers"

        func takes(_ value: JSONValue) -> Bool {
            switch self {
            case .text: value.string.map { !$0.trimmed.isEmpty } ?? false
            case .number: value.integer != nil
            case .object: value.object != nil
            case .texts: value.isListOfTexts
            case .status: ["subscribed", "unsubscribed", "suspended"].contains(value.string)
            case .provider: value.string.map(PushProvider.isKnown) ?? false
            }
        }
    }

    /// Returns the findings about a value that is not of a channel's form.
    static func problems(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let object = value.object else { return [.option(path, takes: "an object")] }
        guard let channel = object["channel"]?.string, let own = forms[channel] else {
            return [.option(path.dot("channel"), takes: "\(forms.keys.sorted().joined(separator: ", ")) (476)")]
        }
        let needed = [("resource_id", Form.number)] + own
        let missing = needed.filter { name, form in !(object[name].map(form.takes) ?? false) }
        let wrong = common.filter { name, form in !(object[name].map(form.takes) ?? true) }
        let known = ["channel"] + (needed + common).map { $0.0 }
        return (missing + wrong).map { .option(path.dot($0.0), takes: $0.1.rawValue) }
            + object.names.filter { !known.contains($0) }.map {
                FindingRow.optionInvalid.at(path.dot($0), detail: "this channel has no such part")
            }
    }
}

extension JSONValue {
    /// Whether it is a list of texts alone.
    fileprivate var isListOfTexts: Bool { array?.allSatisfy { $0.string != nil } ?? false }
}
