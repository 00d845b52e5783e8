import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// One word that a caller may give with an operation for this vendor alone (`options["altcraft"]`).
struct CallOption {
    /// Which request has a place for it.
    enum Use { case subscription, profile, pushEvent, customEvent }

    /// The option's name.
    let name: String
    /// The form it takes, in words.
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
            accepts(value) ? [] : [FindingRow.optionInvalid.at(path, detail: "it takes \(form)")]
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
        CallOption("profileFields", "an object of profile fields", [.subscription, .profile, .customEvent]) {
            $0.object != nil
        },
        CallOption("customFields", "an object of plain values", [.subscription], check: plainValues),
        CallOption("cats", "a list of objects with name and active", [.subscription], check: categories),
        CallOption("replace", "true or false", [.subscription]) { $0.bool != nil },
        CallOption("skipTriggers", "true or false", [.subscription, .profile]) { $0.bool != nil },
        CallOption("uid", "a message id", [.pushEvent]) { $0.string?.isEmpty == false },
        CallOption("matching", "a matching mode", [.customEvent]) { $0.string != nil },
        CallOption("matchingIDs", "an object of identifiers", [.customEvent]) { $0.object != nil },
        CallOption("messageID", "a message id", [.customEvent]) { $0.string != nil },
        CallOption("utm", "an object of \(CampaignWord.names)", [.customEvent]) { value in
            value.object?.allSatisfy { CampaignWord(rawValue: $0.name) != nil && $0.value.string != nil } ?? false
        },
        CallOption("subscription", "a subscription of one of the vendor's forms", [.customEvent]) {
            AttachedSubscription.isValid($0)
        },
    ]

    /// The names, for people.
    static let names = all.map(\.name).joined(separator: ", ")

    /// Everything that is wrong with an operation's options.
    static func problems(_ options: JSONObject, for use: Use?) -> [Finding] {
        options.flatMap { option -> [Finding] in
            let path = "options.altcraft".dot(option.name)
            guard let known = all.first(where: { $0.name == option.name }) else {
                return [FindingRow.optionUnknown.at(path)]
            }
            let problems = known.check(option.value, path)
            guard problems.isEmpty, use.map(known.uses.contains) != true else { return problems }
            return [FindingRow.optionIdle.at(path)]
        }
    }

    private static func plainValues(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let fields = value.object else {
            return [FindingRow.optionInvalid.at(path, detail: "it takes an object")]
        }
        return fields.filter { !$0.value.isScalar }.map { FindingRow.optionNested.at(path.dot($0.name)) }
    }

    private static func categories(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let list = value.array else { return [FindingRow.optionInvalid.at(path, detail: "it takes a list")] }
        return list.enumerated().flatMap { place, category -> [Finding] in
            let path = "\(path)[\(place)]"
            guard let object = category.object else {
                return [FindingRow.optionInvalid.at(path, detail: "it takes an object with name and active")]
            }
            var problems: [Finding] = []
            if object["name"]?.string?.isEmpty != false {
                problems.append(FindingRow.optionInvalid.at(path.dot("name"), detail: "it takes text"))
            }
            if let active = object["active"], active.bool == nil {
                problems.append(FindingRow.optionInvalid.at(path.dot("active"), detail: "it takes true or false"))
            }
            for stranger in object.names where !["name", "active", "title", "steady"].contains(stranger) {
                problems.append(FindingRow.optionInvalid.at(path.dot(stranger), detail: "a category has no such part"))
            }
            return problems
        }
    }
}

/// The words of a campaign that an event may name, in the vendor's order.
enum CampaignWord: String, CaseIterable {
    case campaign, content, keyword, medium, source, temp

    /// The words, for people.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}

/// A subscription in any channel that a custom event attaches to the profile, by the vendor's own names.
enum AttachedSubscription {
    private static let forms: [String: [(name: String, isText: Bool)]] = [
        "email": [("email", true)],
        "sms": [("phone", true)],
        "push": [("provider", true), ("subscription_id", true)],
        "telegram_bot": [("cc_data", false)], "whatsapp": [("cc_data", false)], "viber": [("cc_data", false)],
        "notify": [("cc_data", false)],
    ]
    private static let common = ["channel", "resource_id", "status", "priority", "custom_fields", "cats"]

    /// Whether a value has one of the four forms, complete and without strange parts.
    static func isValid(_ value: JSONValue) -> Bool {
        RuleID.altcraft("M8").fire()
        guard let object = value.object, let form = object["channel"]?.string.flatMap({ forms[$0] }),
            object["resource_id"]?.integer != nil,
            form.allSatisfy({ $0.isText ? object[$0.name]?.string?.isEmpty == false : object[$0.name]?.object != nil }),
            object.names.allSatisfy({ name in common.contains(name) || form.contains { $0.name == name } })
        else { return false }
        let states = ["subscribed", "unsubscribed", "suspended"]
        return object["status"].map { $0.string.map(states.contains) ?? false } ?? true
            && object["priority"].map { $0.integer != nil } ?? true
            && object["custom_fields"].map { $0.object != nil } ?? true
            && object["cats"].map { $0.array?.allSatisfy { $0.string != nil } ?? false } ?? true
    }
}
