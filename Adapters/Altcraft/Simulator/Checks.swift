import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A JSON object that the simulator parses strictly.
struct Body {
    let object: JSONObject

    init(_ json: JSONValue?, only names: [String]? = nil) throws(Refusal) {
        guard let object = json?.object else { throw .bad("body is not a JSON object") }
        if let names, let unknown = object.names.first(where: { !names.contains($0) }) {
            throw .bad("unexpected field \(unknown)")
        }
        self.object = object
    }

    func text(_ name: String) throws(Refusal) -> String {
        guard let text = object[name]?.string, !text.isEmpty else { throw .bad("\(name) is not a text") }
        return text
    }

    func time(_ name: String) throws(Refusal) -> Int64 {
        guard let time = object[name]?.integer, time > 0, time < 100_000_000_000 else {
            throw .bad("\(name) is not in seconds")
        }
        return time
    }

    func flag(_ name: String) throws(Refusal) -> Bool {
        guard let flag = object[name]?.bool else { throw .bad("\(name) is not a boolean") }
        return flag
    }
}

/// The query of a request, parsed strictly.
struct QueryReader {
    private let items: [String: String]

    init(_ request: WireRequest, only names: [String]) throws(Refusal) {
        var items: [String: String] = [:]
        for item in URLText.queryItems(of: request.url) {
            guard names.contains(item.name) else { throw .bad("unexpected query item \(item.name)") }
            guard items.updateValue(item.value, forKey: item.name) == nil else { throw .bad("\(item.name) twice") }
        }
        self.items = items
    }

    subscript(name: String) -> String? { items[name] }

    func required(_ name: String) throws(Refusal) -> String {
        guard let text = items[name], !text.isEmpty else { throw .bad("query item \(name) is missing") }
        return text
    }

    func provider() throws(Refusal) -> String { try Providers.checked(try required("provider")) }

    func flag(_ name: String) throws(Refusal) -> Bool {
        guard let flag = ["true": true, "false": false, "1": true, "0": false][items[name] ?? ""] else {
            throw .bad("query item \(name) is not true or false")
        }
        return flag
    }

    func matching(_ caller: Caller) throws(Refusal) {
        guard caller.modes.contains(try required("matching_mode")) else {
            throw .bad("matching_mode differs from the token's")
        }
    }
}

/// The vendor's push providers.
enum Providers {
    static let all: Set<String> = [
        "ios-apns", "ios-firebase", "ios-huawei", "android-firebase", "android-huawei", "android-rustore",
    ]

    static func checked(_ name: String) throws(Refusal) -> String {
        guard all.contains(name) else { throw .bad("unknown provider") }
        return name
    }
}

extension JSONValue {
    var isPlain: Bool { array == nil && object == nil }
}

/// Changes of profile fields: plain values and instructions.
struct ProfileChange {
    let account: Account

    /// The fields after the change.
    func apply(_ changes: JSONObject, to fields: JSONValue) throws(Refusal) -> JSONValue {
        var result = fields.object ?? [:]
        for change in changes {
            guard account.knowsProfileField(change.name) else { throw .profileField(change.name) }
            result[change.name] = try value(change.name, change.value, result[change.name])
        }
        return .object(result)
    }

    private func value(_ name: String, _ value: JSONValue, _ old: JSONValue?) throws(Refusal) -> JSONValue? {
        guard let action = value["action"]?.string else { return try checked(name, value) }
        guard value.object?.names.allSatisfy({ ["action", "value", "submatch"].contains($0) }) == true else {
            throw .profileField(name)
        }
        let operand = value["value"] ?? .null
        switch action {
        case "set": return try checked(name, operand)
        case "unset":
            guard name != "email" else { throw .profileField(name) }
            return nil
        case "incr":
            guard let step = operand.number else { throw .profileField(name) }
            return try sum(name, old?.number, step)
        case "add":
            let added = try texts(name, operand)
            let present = old?.array ?? []
            let known = Set(present)
            return .array(present + added.filter { !known.contains($0) })
        case "delete":
            let removed = Set(try texts(name, operand))
            return .array((old?.array ?? []).filter { !removed.contains($0) })
        case "upsert" where operand.object != nil: return operand
        default: throw .profileField(name)
        }
    }

    private func sum(_ name: String, _ old: JSONNumber?, _ step: JSONNumber) throws(Refusal) -> JSONValue {
        let change = ExactDecimal(step).map(AttributeChange.increment)
        let present = old.flatMap { ExactDecimal($0) }.map(AttributeValue.decimal)
        guard let sum = change?.applied(to: present)?.plainText, let number = JSONNumber(text: sum) else {
            throw .profileField(name)
        }
        return .number(number)
    }

    private func texts(_ name: String, _ value: JSONValue) throws(Refusal) -> [JSONValue] {
        guard let texts = value.array, texts.allSatisfy({ $0.string != nil }) else { throw .profileField(name) }
        return texts
    }

    private func checked(_ name: String, _ value: JSONValue) throws(Refusal) -> JSONValue {
        let isGood =
            switch name {
            case "email", "_fname", "_lname", "_city", "_country": value.string != nil || value.isNull
            case "phones": value.array?.allSatisfy { $0.string != nil } ?? value.isNull
            case "_bdate", "_regdate":
                value.string.map { CalendarDate(text: $0) != nil || Timestamp(text: $0) != nil } ?? value.isNull
            case "_sex":
                ["male", "female"].contains(value.string) || value.integer.map { (0...2).contains($0) } ?? value.isNull
            case "_postal_code", "_status": value.integer != nil || value.isNull
            default: true
            }
        guard isGood else { throw .profileField(name) }
        return value
    }
}
