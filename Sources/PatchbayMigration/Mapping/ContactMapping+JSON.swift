public import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

extension ContactMapping {
    /// Reads a mapping as `Schemas/migration/settings` describes it: a list of objects, each with one verb.
    ///
    /// - Parameters:
    ///   - json: The list.
    ///   - path: The path of the list in the settings.
    ///   - catalogue: The types of attributes, for conversion rules that name no type.
    /// - Throws: ``Migration/Failure`` with every problem of every rule, each with its path.
    public init(
        json: JSONValue,
        at path: String = "mapping",
        catalogue: AttributeCatalogue = AttributeCatalogue()
    ) throws(Migration.Failure) {
        guard let elements = json.array else {
            throw Migration.Failure([Self.badMember.at(path, detail: "it is \(json.typePhrase), not a list of rules")])
        }
        var (rules, problems) = ([MappingRule](), [Finding]())
        for (number, element) in elements.enumerated() {
            var reader = RuleReader(element, at: "\(path)[\(number)]")
            let rule = reader.rule(catalogue)
            problems += reader.problems
            if let rule { rules.append(rule) }
        }
        if !problems.isEmpty { throw Migration.Failure(problems) }
        self.init(rules, catalogue: catalogue)
    }

    static let badRule = FindingRow(
        .error("mapping.rule", .misconfigured),
        reason: "The rule must name exactly one action",
        remedy: "Use one of: \(RuleReader.verbs)."
    )
    static let badMember = FindingRow(
        .error("mapping.rule.member", .misconfigured),
        reason: "The member of the rule is not valid",
        remedy: "Places are \(MappingPlace.allowed); values are JSON of the neutral model."
    )
    static let unknownMember = FindingRow(
        .error("mapping.rule.unknown", .misconfigured),
        reason: "The rule does not know this member",
        remedy: "Correct its name, or remove it."
    )
    static let noType = FindingRow(
        .error("mapping.rule.type", .misconfigured),
        reason: "Neither the rule nor the catalogue names a type",
        remedy: "Add the member \"as\" with a type to the rule, or the attribute to the catalogue of the configuration."
    )
}

/// Reads one rule and collects all of its problems.
private struct RuleReader {
    private(set) var problems: [Finding] = []
    private let json: JSONValue
    private let path: String

    init(_ json: JSONValue, at path: String) { (self.json, self.path) = (json, path) }

    /// The required and optional members of each verb.
    private static let members: [(verb: String, needed: [String], optional: [String])] = [
        ("rename", ["to"], []), ("set", ["value"], []), ("default", ["value"], []), ("split", ["to"], ["by"]),
        ("join", ["to"], ["with"]), ("map", ["values"], ["otherwise"]), ("type", [], ["as"]), ("remove", [], []),
    ]

    static let verbs = members.map(\.verb).joined(separator: ", ")

    mutating func rule(_ catalogue: AttributeCatalogue) -> MappingRule? {
        guard let object = json.object else {
            problems.append(ContactMapping.badRule.at(path, detail: "it is \(json.typePhrase)"))
            return nil
        }
        let said = Self.members.filter { object[$0.verb] != nil }
        guard said.count == 1, let row = said.first else {
            problems.append(ContactMapping.badRule.at(path))
            return nil
        }
        for name in object.names where name != row.verb && !(row.needed + row.optional).contains(name) {
            problems.append(ContactMapping.unknownMember.at(path.dot(name)))
        }
        for name in row.needed where object[name] == nil {
            problems.append(ContactMapping.badMember.at(path.dot(name), detail: "it is missing"))
        }
        let rule = rule(row.verb, object, catalogue)
        return problems.isEmpty ? rule : nil
    }

    private mutating func rule(_ verb: String, _ object: JSONObject, _ catalogue: AttributeCatalogue) -> MappingRule? {
        switch verb {
        case "rename":
            let (source, target) = (place(object, verb, orTags: true), place(object, "to", orTags: true))
            guard let source, let target else { return nil }
            if source == target { refuse("to", "it is the place itself") }
            if case .subscription(let old) = source {
                guard case .subscription(let new) = target, old.channel == new.channel, old.topic != nil,
                    new.topic != nil
                else {
                    refuse("to", "a subscription to a topic moves to another topic on the same channel")
                    return nil
                }
            }
            return .rename(source, to: target)
        case "set", "default":
            let place = place(object, verb, orTags: true)
            guard let value = value(object["value"], "value", for: place), let place else { return nil }
            if case .subscription = place, value.plainText == Subscription.State.subscribed.rawValue {
                refuse("value", "a rule states no opt-in by itself")
            }
            return verb == "set" ? .constant(place, value) : .fallback(place, value)
        case "split":
            let (source, targets) = (place(object, verb), places(object, "to", orTags: true))
            guard let separator = text(object, "by", usual: " "), let source, let targets else { return nil }
            for (number, target) in targets.enumerated() where targets[..<number].contains(target) {
                refuse("to[\(number)]", "it names a place twice")
            }
            if targets.contains(.tags), targets.count > 1 { refuse("to", "tags take all parts, and stand alone") }
            return .split(source, by: separator, to: targets)
        case "join":
            let (sources, target) = (places(object, verb), place(object, "to"))
            guard let separator = text(object, "with", usual: " ", mayBeEmpty: true), let sources, let target else {
                return nil
            }
            return .join(sources, with: separator, to: target)
        case "map": return replacing(object)
        case "type": return converting(object, catalogue)
        default:
            let place = place(object, verb, orTags: true)
            if case .subscription? = place { refuse(verb, "a subscription may be an opt-out, which is never removed") }
            return place.map(MappingRule.remove)
        }
    }

    private mutating func replacing(_ object: JSONObject) -> MappingRule? {
        let place = place(object, "map", orTags: true)
        if case .tag? = place { refuse("map", "it names one tag; name tags") }
        var otherwise = MappingRule.Otherwise.keep
        if let word = object["otherwise"] {
            if let read = word.string.flatMap(MappingRule.Otherwise.init) {
                otherwise = read
            } else {
                refuse("otherwise", "it is none of keep, drop, reject")
            }
        }
        if case .subscription? = place, otherwise == .drop {
            refuse("otherwise", "a subscription may be an opt-out, which is never removed")
        }
        guard let table = object["values"] else { return nil }
        guard let members = table.object, !members.isEmpty else {
            refuse("values", "it is no object with entries")
            return nil
        }
        let values = members.compactMap { member in
            value(member.value, "values".dot(member.name), for: place).map { (member.name, $0) }
        }
        return place.map { .replace($0, MappingTable(values), otherwise: otherwise) }
    }

    private mutating func converting(_ object: JSONObject, _ catalogue: AttributeCatalogue) -> MappingRule? {
        guard let place = place(object, "type") else { return nil }
        if let word = object["as"] {
            guard let type = word.string.flatMap(AttributeType.init) else {
                refuse("as", "it is none of \(AttributeType.allCases.map(\.rawValue).joined(separator: ", "))")
                return nil
            }
            return .convert(place, type)
        }
        guard case .attribute(let name) = place, catalogue.type(of: name) != nil else {
            problems.append(ContactMapping.noType.at(path))
            return nil
        }
        return .convert(place, nil)
    }

    // MARK: Members

    private mutating func refuse(_ name: String, _ why: String) {
        problems.append(ContactMapping.badMember.at(path.dot(name), detail: why))
    }

    private mutating func place(_ object: JSONObject, _ name: String, orTags: Bool = false) -> MappingPlace? {
        guard let json = object[name] else { return nil }
        guard let place = json.string.flatMap(MappingPlace.init), orTags || !place.isOfTags else {
            refuse(name, "it names no place that the rule can have")
            return nil
        }
        return place
    }

    private mutating func places(_ object: JSONObject, _ name: String, orTags: Bool = false) -> [MappingPlace]? {
        guard let json = object[name] else { return nil }
        guard let elements = json.array, !elements.isEmpty else {
            refuse(name, "it is no list of places")
            return nil
        }
        let places = elements.map { $0.string.flatMap(MappingPlace.init) }
        func isFit(_ place: MappingPlace) -> Bool { !place.isOfTags || orTags && place == .tags }
        for (number, place) in places.enumerated() where place.map({ !isFit($0) }) ?? true {
            refuse("\(name)[\(number)]", "it names no place that the rule can have")
        }
        let read = places.compactMap { $0 }.filter(isFit)
        return read.count == places.count ? read : nil
    }

    private mutating func text(_ object: JSONObject, _ name: String, usual: String, mayBeEmpty: Bool = false) -> String?
    {
        guard let json = object[name] else { return usual }
        guard let text = json.string, mayBeEmpty || !text.isEmpty else {
            refuse(name, "it is no text")
            return nil
        }
        return text
    }

    /// Reads a value, and reports a problem if the place is known and does not accept it.
    private mutating func value(_ json: JSONValue?, _ name: String, for place: MappingPlace?) -> AttributeValue? {
        guard let json else { return nil }
        do {
            let value = try AttributeValue(json: json, at: path.dot(name))
            if let place, place.taking(value) == nil { refuse(name, "\(place.text) takes no such value") }
            return value
        } catch {
            problems.append(ContactMapping.badMember.at(error.path, detail: error.reason))
            return nil
        }
    }
}

extension AttributeCatalogue {
    /// The type of an attribute according to the catalogue; nil if it names none.
    func type(of name: AttributeName) -> AttributeType? { entries[name]?.type }
}
