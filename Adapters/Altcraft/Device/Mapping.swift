package import PatchbayAdapterKit
package import PatchbayJSON
package import PatchbayModel

/// A profile field of the vendor's own, with its form.
package struct AltcraftField {
    /// The field's name at the vendor.
    package let name: String
    /// The attribute of the field by default.
    let attribute: AttributeName?
    /// The form as text, for the remedy of a finding.
    package let form: String
    /// Returns a value in the field's form; nil if it has none.
    package let value: @Sendable (AttributeValue, AltcraftSettings) -> JSONValue?

    /// The vendor's system fields that take a form of their own, or that an attribute has by default.
    package static let all: [AltcraftField] = [
        text("_fname", .givenName),
        text("_lname", .familyName),
        text("_city", .city),
        AltcraftField(name: "_country", attribute: .country, form: "two letters of ISO 3166-1") { value, _ in
            guard case .country(let code)? = value.converted(to: .country) else { return nil }
            return .string(code.text)
        },
        date("_bdate", .birthDate),
        AltcraftField(name: "_sex", attribute: .gender, form: "male or female") { value, settings in
            guard let word = value.plainText, let code = ["male": 1, "female": 2][word] else { return nil }
            return settings.genderForm == .word ? .string(word) : .integer(code)
        },
        AltcraftField(name: "_postal_code", attribute: .postalCode, form: "digits that do not begin with 0") {
            value,
            _ in
            guard let text = value.plainText, let number = Int64(text), number >= 0, String(number) == text else {
                return nil
            }
            return .integer(number)
        },
        AltcraftField(name: "_status", attribute: nil, form: "a whole number") { value, _ in
            value.plainText.flatMap(Int64.init).map(JSONValue.integer)
        },
        date("_regdate", nil),
        AltcraftField(name: "email", attribute: nil, form: "an e-mail address") { value, _ in
            value.plainText.flatMap { Address.isEmail($0) ? .string($0) : nil }
        },
        AltcraftField(name: "phones", attribute: nil, form: "phone numbers") { value, _ in
            let texts: [String?] =
                switch value {
                case .list(let values): values.map(\.plainText)
                case .choices(let words): words
                default: [value.plainText]
                }
            let numbers = texts.compactMap { $0.flatMap(Address.phone) }
            return numbers.count == texts.count ? .array(numbers.map(JSONValue.string)) : nil
        },
    ]

    private static func text(_ name: String, _ attribute: AttributeName) -> AltcraftField {
        AltcraftField(name: name, attribute: attribute, form: "text") { value, _ in
            value.plainText.map(JSONValue.string)
        }
    }

    private static func date(_ name: String, _ attribute: AttributeName?) -> AltcraftField {
        AltcraftField(name: name, attribute: attribute, form: "YYYY-MM-DD or RFC 3339") { value, _ in
            (value.converted(to: .date) ?? value.converted(to: .timestamp))?.plainText.map(JSONValue.string)
        }
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The system field of that name.
    package static func named(_ name: String) -> AltcraftField? { byName[name] }

    /// The fields that well-known attributes have where a configuration names no others.
    package static let systemNames = Dictionary(
        uniqueKeysWithValues: all.compactMap { field in field.attribute.map { ($0, field.name) } }
    )
}

/// Checks of addresses that need no request.
package enum Address {
    /// Whether a text can be an e-mail address: something, one @, something, no white space.
    package static func isEmail(_ text: String) -> Bool {
        var (parts, last) = (1, UInt8(ascii: "@"))
        for byte in text.utf8 {
            switch byte {
            case 0x80...: return isEmailBeyondASCII(text)
            case UInt8(ascii: "@"):
                guard last != byte else { return false }
                parts += 1
            case UInt8(ascii: " "), 0x09...0x0D: return false
            default: break
            }
            last = byte
        }
        return parts == 2 && last != UInt8(ascii: "@")
    }

    private static func isEmailBeyondASCII(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.contains(where: \.isWhitespace)
    }

    /// Returns the number without spaces, dashes and brackets, and without a trunk zero in brackets; nil unless 5 to 15 digits
    /// remain, with an optional plus sign.
    package static func phone(_ text: String) -> String? {
        let signs = " -()./"
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let compact =
            isASCII
            ? String(decoding: text.utf8.filter { !signs.utf8.contains($0) }, as: UTF8.self)
            : text.filter { $0 != "\u{A0}" && !signs.contains($0) }
        let digits = compact.hasPrefix("+") ? compact.dropFirst() : compact[...]
        let number = PhoneNumber(text)
        let isNumber =
            digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && (5...15).contains(number.digits.utf8.count)
        return isNumber ? number.text(in: .any) : nil
    }
}

/// Attributes as profile fields, with findings about those that can't be fields.
package struct ProfileFields {
    /// The fields, in order of the attributes' names.
    package private(set) var object = JSONObject()
    /// The findings about omitted attributes.
    package private(set) var findings: [Finding] = []
    private let settings: AltcraftSettings

    package init(_ settings: AltcraftSettings) { self.settings = settings }

    /// Returns the field of an attribute.
    package static func name(of attribute: AttributeName, _ settings: AltcraftSettings) -> String {
        settings.fieldNames[attribute] ?? attribute.rawValue
    }

    /// Adds changes of attributes; `path` is their path in findings.
    package mutating func add(_ changes: [AttributeName: AttributeChange], at path: String) {
        for (attribute, change) in changes.inOrder {
            add(attribute, change, at: path.dot(attribute.rawValue))
        }
    }

    /// Adds identifiers that are profile fields too: e-mail address and phone number.
    mutating func add(_ identifiers: [Identifier]) {
        let fields: [IdentifierKind: AttributeName] = [.email: "email", .phone: "phones"]
        for (place, identifier) in identifiers.enumerated() {
            guard let name = fields[identifier.kind] else { continue }
            add(name, .set(.string(identifier.value)), at: "action.identifiers[\(place)]")
        }
    }

    /// Adds fields that the caller passed under the vendor's names. They take precedence.
    mutating func add(_ fields: JSONObject) {
        for field in fields { object[field.name] = field.value }
    }

    private mutating func add(_ attribute: AttributeName, _ change: AttributeChange, at path: String) {
        let name = Self.name(of: attribute, settings)
        guard !name.trimmed.isEmpty else {
            findings.append(FindingRow.fieldBlank.at(path))
            return
        }
        guard object[name] == nil else {
            findings.append(FindingRow.attributeCollision.at(path, detail: "field \(name)"))
            return
        }
        switch value(of: change, for: name) {
        case .success(let value): object[name] = value
        case .failure(let problem): findings.append(problem.row.at(path, detail: problem.detail))
        }
    }

    private struct Problem: Error {
        let row: FindingRow
        var detail: String?
    }

    private func value(of change: AttributeChange, for name: String) -> Result<JSONValue, Problem> {
        switch change {
        case .set(let value):
            guard let field = AltcraftField.named(name) else { return .success(Self.plain(value.wire)) }
            return field.value(value, settings).map(Result.success)
                ?? .failure(Problem(row: .attributeForm, detail: "\(name) takes \(field.form)"))
        case .unset where name == "email": return .failure(Problem(row: .attributeUnset))
        case .unset: return .success(Self.update("unset", .null))
        case .increment(let number): return .success(Self.update("incr", .number(number.json)))
        case .append(let values): return elements(values, "add")
        case .remove(let values): return elements(values, "delete")
        }
    }

    private func elements(_ values: [AttributeValue], _ action: String) -> Result<JSONValue, Problem> {
        let texts = values.compactMap { if case .string(let text) = $0 { JSONValue.string(text) } else { nil } }
        guard texts.count == values.count else { return .failure(Problem(row: .attributeElements)) }
        return .success(Self.update(action, .array(texts)))
    }

    /// Returns a value that can't be read as an instruction. An object that looks like one is sent inside an instruction.
    private static func plain(_ value: JSONValue) -> JSONValue {
        value["action"] == nil ? value : update("set", value)
    }

    /// Returns an instruction, which can replace a field's value.
    package static func update(_ action: String, _ value: JSONValue) -> JSONValue {
        ["action": .string(action), "value": value]
    }
}

extension AttributeValue {
    /// The value in the form of any profile field.
    package var wire: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .decimal(let number): .number(number.json)
        case .boolean(let flag): .bool(flag)
        case .choices(let words): .array(words.map(JSONValue.string))
        case .list(let values): .array(values.map(\.wire))
        case .object(let members):
            .object(JSONObject(members.inOrder.map { ($0.key.rawValue, $0.value.wire) }))
        case .string, .date, .time, .timestamp, .country: .string(plainText ?? "")
        }
    }

    /// Whether it is one plain value.
    package var isScalar: Bool {
        switch self {
        case .choices, .list, .object: false
        default: true
        }
    }

    /// The value in the form of a field with one plain value; nil for several values.
    package var scalar: JSONValue? { isScalar ? .some(wire) : .none }
}

extension JSONValue {
    /// Whether it is neither a list nor an object.
    var isScalar: Bool { array == nil && object == nil }
}

/// The vendor's name of a push service on a platform.
package enum PushProvider {
    private struct Row {
        let platform: String
        let service: PushToken.Service
        let name: String
    }

    private static let rows = [
        Row(platform: "ios", service: .apns, name: "ios-apns"),
        Row(platform: "ios", service: .fcm, name: "ios-firebase"),
        Row(platform: "ios", service: .hms, name: "ios-huawei"),
        Row(platform: "android", service: .fcm, name: "android-firebase"),
        Row(platform: "android", service: .hms, name: "android-huawei"),
        Row(platform: "android", service: .rustore, name: "android-rustore"),
    ]

    /// The six providers, for people.
    static let names = rows.map(\.name).joined(separator: ", ")

    /// The push services by the names of the providers.
    package static var services: [String: PushToken.Service] {
        Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.service) })
    }

    /// Whether the vendor has a provider of that name.
    static func isKnown(_ name: String) -> Bool { rows.contains { $0.name == name } }

    /// Returns the required form of a token's text if the text has another form; nil otherwise. The text is sent unchanged.
    static func missingForm(of token: PushToken) -> String? {
        guard token.service == .apns else {
            return token.value.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : "visible ASCII characters"
        }
        let isHex = token.value.utf8.allSatisfy(UUIDText.isHexDigit)
        return isHex && token.value.utf8.count.isMultiple(of: 2) ? nil : "pairs of hexadecimal digits"
    }

    /// Returns the provider; nil if there is none, or if the platform is unknown and the service exists on several.
    package static func name(of token: PushToken, on platform: String?) -> String? {
        let platform = platform.map { ["ipados": "ios"][$0.lowercased()] ?? $0.lowercased() }
        let matches = rows.filter { $0.service == token.service && (platform == nil || $0.platform == platform) }
        return matches.count == 1 ? matches.first?.name : nil
    }
}

extension PushAddress {
    /// Creates the push address of a device; nil without a token, or if the vendor has no provider for it.
    package init?(_ device: Device?) {
        guard let device, let token = device.pushToken, !token.value.trimmed.isEmpty,
            let provider = PushProvider.name(of: token, on: device.facts?.platform)
        else { return nil }
        self.init(provider: provider, token: token.value)
    }
}

extension Subscription.State {
    /// The vendor's status; nil for unknown, which is never sent.
    package var status: String? { self == .unknown ? nil : rawValue }
}

/// The available queries for push subscriptions.
enum StatusQueryMode: String, CaseIterable {
    /// The profile's latest subscription.
    case latest
    /// The last one of a provider: the argument `provider`, else the present one.
    case latestForProvider
    /// The one of the present token and provider.
    case current

    /// The names of the queries, for findings.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
