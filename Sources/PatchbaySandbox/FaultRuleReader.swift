import PatchbayAdapterKit
public import PatchbayJSON

extension FaultRule {
    /// Reads a list of rules. Reports all errors at once.
    ///
    /// ```json
    /// [
    ///   {"vendor": "toy", "pathPrefix": "/v1/", "method": "POST", "first": 2, "effect": {"status": 503, "processed": true}},
    ///   {"probability": 0.1, "seed": 7, "count": 5, "effect": "drop"}
    /// ]
    /// ```
    /// - Throws: ``SandboxError`` with the code ``SandboxError/Code/badFaultRule``.
    public static func list(from json: JSONValue) throws(SandboxError) -> [FaultRule] {
        var reader = FaultRuleReader()
        let rules = reader.rules(json)
        guard reader.problems.isEmpty else { throw SandboxError(.badFaultRule, reader.problems) }
        return rules
    }
}

/// Reads rules from JSON and collects the errors in them.
private struct FaultRuleReader {
    private(set) var problems: [SandboxError.Problem] = []

    private static let ruleMembers = [
        "vendor", "pathPrefix", "method", "first", "every", "probability", "seed", "count", "effect",
    ]
    private static let occurrences = ["first", "every", "probability"]
    private static let effectNames: [String: FaultRule.Effect] = ["drop": .drop, "reset": .reset, "hang": .hang]
    private static let effectRemedy =
        #"Write "drop", "reset", "hang", {"delayMilliseconds": 500} or {"status": 503, "processed": false}."#

    mutating func rules(_ json: JSONValue) -> [FaultRule] {
        guard let elements = json.array else {
            report("/", "the rules are \(json.typePhrase), not an array", "Write [{…}], or [] for none.")
            return []
        }
        return elements.enumerated().compactMap { rule($0.element, at: "/\($0.offset)") }
    }

    private mutating func rule(_ json: JSONValue, at place: String) -> FaultRule? {
        guard let object = json.object else {
            report(place, "a rule is \(json.typePhrase), not an object", #"Write {"effect": …} with what narrows it."#)
            return nil
        }
        refuseUnknown(in: object, known: Self.ruleMembers, at: place)
        let occurrence = occurrence(object, at: place)
        let vendor = text("vendor", of: object, at: place)
        let pathPrefix = text("pathPrefix", of: object, at: place)
        let method = text("method", of: object, at: place)?.uppercased()
        let count = whole("count", of: object, in: 1...Int.max, at: place)
        guard let effect = effect(object["effect"], at: place + "/effect") else { return nil }
        return FaultRule(
            effect,
            vendor: vendor,
            pathPrefix: pathPrefix,
            method: method,
            occurrence: occurrence,
            count: count
        )
    }

    private mutating func occurrence(_ object: JSONObject, at place: String) -> FaultRule.Occurrence {
        let given = Self.occurrences.filter { object[$0] != nil }
        if given.count > 1 {
            report(place, "\(given.joined(separator: " and ")) exclude each other", "Keep one of them.")
        }
        if object["seed"] != nil && object["probability"] == nil {
            report(place + "/seed", "a seed without a probability does nothing", "Add probability, or remove seed.")
        }
        let seed = whole("seed", of: object, in: 0...Int.max, at: place) ?? 0
        if let number = whole("first", of: object, in: 1...Int.max, at: place) { return .first(number) }
        if let number = whole("every", of: object, in: 1...Int.max, at: place) { return .every(number) }
        guard let json = object["probability"] else { return .always }
        guard let probability = json.number?.double, (0...1).contains(probability) else {
            report(place + "/probability", "not a number from 0 to 1", "Write for example 0.1.")
            return .always
        }
        return .probability(probability, seed: UInt64(seed))
    }

    private mutating func effect(_ json: JSONValue?, at place: String) -> FaultRule.Effect? {
        switch json {
        case .string(let name):
            if let effect = Self.effectNames[name] { return effect }
            report(place, "no effect has that name", Self.effectRemedy)
        case .object(let object) where object["delayMilliseconds"] != nil:
            refuseUnknown(in: object, known: ["delayMilliseconds"], at: place)
            return whole("delayMilliseconds", of: object, in: 0...3_600_000, at: place).map { .delay(milliseconds: $0) }
        case .object(let object) where object["status"] != nil:
            return answer(object, at: place)
        case let json?:
            report(place, "an effect can't be such \(json.typePhrase)", Self.effectRemedy)
        case nil:
            report(place, "a rule needs an effect", Self.effectRemedy)
        }
        return nil
    }

    private mutating func answer(_ object: JSONObject, at place: String) -> FaultRule.Effect? {
        refuseUnknown(in: object, known: ["status", "headers", "body", "processed"], at: place)
        var headers = self.headers(object["headers"], at: place + "/headers")
        var body: [UInt8] = []
        switch object["body"] {
        case nil: break
        case .string(let text): body = Array(text.utf8)
        case let json?:
            body = Array(json.text.utf8)
            if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                headers.append(WireHeader("Content-Type", "application/json"))
            }
        }
        var processed = false
        if let json = object["processed"] {
            if let value = json.bool {
                processed = value
            } else {
                report(place + "/processed", "\(json.typePhrase), not true or false", "Write true or false.")
            }
        }
        guard let status = whole("status", of: object, in: 200...599, at: place) else { return nil }
        return .answer(WireResponse(status, headers: headers, body: body), processed: processed)
    }

    private mutating func headers(_ json: JSONValue?, at place: String) -> [WireHeader] {
        guard let json else { return [] }
        guard let object = json.object else {
            report(place, "the headers are \(json.typePhrase), not an object", #"Write {"Retry-After": "2"}."#)
            return []
        }
        return object.compactMap { member in
            guard let value = member.value.string else {
                report("\(place)/\(member.name)", "\(member.value.typePhrase), not a string", "Put it in quotes.")
                return nil
            }
            return WireHeader(member.name, value)
        }
    }

    private mutating func text(_ name: String, of object: JSONObject, at place: String) -> String? {
        guard let json = object[name] else { return nil }
        if json.string == nil { report("\(place)/\(name)", "\(json.typePhrase), not a string", "Put it in quotes.") }
        return json.string
    }

    private mutating func whole(
        _ name: String,
        of object: JSONObject,
        in range: ClosedRange<Int>,
        at place: String
    ) -> Int? {
        guard let json = object[name] else { return nil }
        if let value = json.integer, let value = Int(exactly: value), range.contains(value) { return value }
        let bounds =
            range.upperBound == Int.max
            ? "from \(range.lowerBound) up" : "from \(range.lowerBound) to \(range.upperBound)"
        report("\(place)/\(name)", "not a whole number \(bounds)", "Write a whole number \(bounds).")
        return nil
    }

    private mutating func refuseUnknown(in object: JSONObject, known: [String], at place: String) {
        for name in object.names where !known.contains(name) {
            report("\(place)/\(name)", "no such member", "The members are \(known.joined(separator: ", ")).")
        }
    }

    private mutating func report(_ place: String, _ problem: String, _ remedy: String) {
        problems.append(SandboxError.Problem(place, problem, remedy: remedy))
    }
}
