public import PatchbayJSON
public import PatchbayModel

/// An adapter's settings, with a table that describes the allowed values.
public protocol AdapterSettings: Sendable {
    /// One row per setting.
    static var table: SettingsTable<Self> { get }

    /// Creates settings with the defaults. Required settings are empty until the table has read them.
    init()
}

/// An error that contains every problem found in the settings.
public struct SettingsError: Error, Sendable, CustomStringConvertible {
    /// The problems.
    public let findings: [Finding]

    /// Creates an error with these problems.
    public init(_ findings: [Finding]) { self.findings = findings }

    /// One line per problem.
    public var description: String { findings.map(\.description).joined(separator: "\n") }
}

/// The settings of an adapter as a table, from which parsing, validation, schema, and documentation are derived.
public struct SettingsTable<Settings: Sendable>: Sendable {
    /// The rows.
    public let rows: [SettingRow<Settings>]

    /// Creates a table.
    public init(_ rows: [SettingRow<Settings>]) { self.rows = rows }

    /// Reads a configuration's object and applies it over the defaults.
    ///
    /// - Parameters:
    ///   - object: The settings in the configuration, with secrets already inserted.
    ///   - defaults: The values for settings that the configuration does not contain.
    ///   - path: The path of the object in the configuration.
    /// - Returns: The settings.
    /// - Throws: ``SettingsError`` with every problem: unknown names, wrong types, missing and invalid values.
    public func read(_ object: JSONObject, over defaults: Settings, at path: String) throws(SettingsError) -> Settings {
        var settings = defaults
        var findings: [Finding] = []
        let known = rows.map(\.name)
        for name in object.names where !known.contains(name) {
            let guess = name.nearest(in: known).map { "Did you mean \"\($0)\"? " } ?? ""
            let remedy = "\(guess)Known settings: \(known.joined(separator: ", "))."
            findings.append(.setting("setting.unknown", path.dot(name), "No such setting.", remedy))
        }
        for row in rows {
            let place = path.dot(row.name)
            guard let value = object[row.name], !value.isNull else {
                if row.isRequired {
                    let remedy = "Add \"\(row.name)\": \(row.summary)"
                    findings.append(.setting("setting.missing", place, "The setting is missing.", remedy, .missing))
                }
                continue
            }
            if let problem = row.read(value, &settings) {
                findings.append(.invalidSetting(place, problem.reason, problem.remedy))
            } else {
                row.rule?.noteApplied()
            }
        }
        if !findings.isEmpty { throw SettingsError(findings) }
        return settings
    }

    /// The table as a JSON Schema (2020-12) object.
    public var schema: JSONValue {
        let properties = rows.map { row -> (String, JSONValue) in
            var schema = row.schema
            schema["description"] = .string(row.summary)
            return (row.name, .object(schema))
        }
        return [
            "type": "object",
            "properties": .object(JSONObject(properties)),
            "required": .array(rows.filter(\.isRequired).map { .string($0.name) }),
            "additionalProperties": false,
        ]
    }

    /// The table as Markdown: name, type, required, default, meaning.
    public var markdown: String {
        let lines = rows.map { row in
            "| `\(row.name)` | \(row.form)\(row.isSecret ? ", secret" : "") | \(row.isRequired ? "yes" : "no") | "
                + "\(row.defaultText.isEmpty ? "–" : "`\(row.defaultText)`") | \(row.summary) |"
        }
        return (["| setting | type | needed | default | meaning |", "|---|---|---|---|---|"] + lines)
            .joined(separator: "\n")
    }

    /// The names of the settings that contain secrets.
    public var secretNames: [String] { rows.filter(\.isSecret).map(\.name) }
}

extension Finding {
    /// Returns a finding for a setting that is invalid for a reason that its table row does not cover.
    ///
    /// - Parameters:
    ///   - path: The path of the setting, for example `settings.keyField`.
    ///   - reason: The problem, without the setting's value.
    ///   - remedy: How to fix it.
    /// - Returns: The finding, a configuration error.
    public static func invalidSetting(_ path: String, _ reason: String, _ remedy: String) -> Finding {
        .setting("setting.invalid", path, reason, remedy)
    }

    static func setting(
        _ code: String,
        _ path: String,
        _ reason: String,
        _ remedy: String,
        _ error: ErrorCode = .misconfigured
    ) -> Finding {
        Finding(code: code, severity: .error, error: error, path: path, reason: reason, remedy: remedy)
    }
}

/// One setting.
public struct SettingRow<Settings: Sendable>: Sendable {
    /// The reason why a value is invalid. It never contains the value.
    public struct Problem: Sendable {
        /// The problem.
        public var reason: String
        /// How to fix it.
        public var remedy: String

        /// Creates a problem.
        public init(_ reason: String, _ remedy: String) { (self.reason, self.remedy) = (reason, remedy) }
    }

    /// The setting's name in a configuration.
    public let name: String
    /// A description of the allowed values.
    public let form: String
    /// The allowed values as JSON Schema.
    public let schema: JSONObject
    /// Whether the configuration must contain it.
    public let isRequired: Bool
    /// Whether it is a secret.
    public let isSecret: Bool
    /// The default, for documentation; empty if there is none.
    public let defaultText: String
    /// The meaning of the setting, in one sentence.
    public let summary: String
    /// The vendor's rule for the setting.
    public let rule: RuleID?
    let read: @Sendable (JSONValue, inout Settings) -> Problem?

    /// Creates a setting of any form. `read` applies a value to the settings, or returns the problem.
    public init(
        _ name: String,
        form: String,
        schema: JSONObject,
        isRequired: Bool = false,
        isSecret: Bool = false,
        default defaultText: String = "",
        rule: RuleID? = nil,
        _ summary: String,
        read: @escaping @Sendable (JSONValue, inout Settings) -> Problem?
    ) {
        (self.name, self.form, self.schema, self.isRequired) = (name, form, schema, isRequired)
        (self.isSecret, self.defaultText, self.summary) = (isSecret, defaultText, summary)
        (self.rule, self.read) = (rule, read)
    }

    /// Creates a setting for non-blank text. `check` returns the problem of a text; nil if it is valid.
    public static func text(
        _ name: String,
        _ path: any WritableKeyPath<Settings, String> & Sendable,
        isRequired: Bool = false,
        trimmed: Bool = true,
        default defaultText: String = "",
        rule: RuleID? = nil,
        _ summary: String,
        check: @escaping @Sendable (String) -> Problem? = { _ in nil }
    ) -> SettingRow {
        SettingRow(
            name,
            form: "text",
            schema: ["type": "string", "minLength": 1],
            isRequired: isRequired,
            default: defaultText,
            rule: rule,
            summary
        ) { value, settings in
            guard let text = value.string else { return Problem("The value is \(value.typePhrase).", "Give text.") }
            let used = trimmed ? text.trimmed : text
            guard !used.isEmpty else { return Problem("The value is blank.", "Give text that is not blank.") }
            if let problem = check(used) { return problem }
            settings[keyPath: path] = used
            return nil
        }
    }

    /// Creates a setting for an `https` address with a host, or an `http` address of this machine, without a fragment. A slash
    /// at its end is removed. A query is rejected unless the vendor's own SDK keeps one.
    public static func url(
        _ name: String,
        _ path: any WritableKeyPath<Settings, String> & Sendable,
        isRequired: Bool = true,
        allowsQuery: Bool = false,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        SettingRow(
            name,
            form: "URL",
            schema: ["type": "string", "pattern": .string(WebAddress.pattern(allowsQuery: allowsQuery))],
            isRequired: isRequired,
            rule: rule,
            summary
        ) { value, settings in
            guard let text = value.string?.trimmed else {
                return Problem("The value is \(value.typePhrase).", "Give a URL.")
            }
            guard let given = WebAddress(text), ["https", "http"].contains(given.scheme) else {
                return Problem(
                    "The value is not a web address without user name and password.",
                    "Write it like https://host.example."
                )
            }
            guard given.isPrivate else {
                return Problem("It would send credentials unencrypted.", WireFault.insecureURL.remedy)
            }
            guard !given.hasQueryOrFragment || allowsQuery && !text.contains("#") else {
                return Problem(
                    "The address has a query or a fragment.",
                    "Remove everything from the first ? or # on; the adapter adds paths to the address."
                )
            }
            var address = text
            while address.hasSuffix("/") { address.removeLast() }
            settings[keyPath: path] = address
            return nil
        }
    }

    /// Creates a setting for a secret: text that comes from the environment and is never shown.
    public static func secret(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Secret?> & Sendable,
        isRequired: Bool = true,
        rule: RuleID? = nil,
        _ summary: String,
        check: @escaping @Sendable (String) -> Problem? = { _ in nil }
    ) -> SettingRow {
        SettingRow(
            name,
            form: "text",
            schema: ["type": "string", "minLength": 1],
            isRequired: isRequired,
            isSecret: true,
            rule: rule,
            summary
        ) { value, settings in
            guard let text = value.string?.trimmed else {
                return Problem("The value is \(value.typePhrase).", "Give text.")
            }
            guard !text.isEmpty else {
                return Problem("The value is blank.", "Set the environment variable that it names.")
            }
            if let problem = check(text) { return problem }
            settings[keyPath: path] = Secret(text)
            return nil
        }
    }

    /// Creates a Boolean setting.
    public static func flag(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Bool> & Sendable,
        default value: Bool,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        SettingRow(name, form: "true or false", schema: ["type": "boolean"], default: "\(value)", rule: rule, summary) {
            value,
            settings in
            guard let flag = value.bool else {
                return Problem("The value is \(value.typePhrase).", "Give true or false.")
            }
            settings[keyPath: path] = flag
            return nil
        }
    }

    /// Creates a setting for an integer in a range.
    public static func integer(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Int> & Sendable,
        in range: ClosedRange<Int>,
        default value: Int,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        SettingRow(
            name,
            form: "\(range.lowerBound) to \(range.upperBound)",
            schema: ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)],
            default: "\(value)",
            rule: rule,
            summary
        ) { value, settings in
            guard let number = value.integer, range.contains(Int(number)) else {
                let what = value.number == nil ? "The value is \(value.typePhrase)." : "The value is out of range."
                return Problem(what, "Give a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            settings[keyPath: path] = Int(number)
            return nil
        }
    }

    /// Creates a setting for one of a closed set of words.
    public static func choice<Word: NeutralWord>(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Word> & Sendable,
        isRequired: Bool = false,
        default value: Word,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        let words = Word.allCases.map(\.rawValue)
        return SettingRow(
            name,
            form: words.map { "`\($0)`" }.joined(separator: ", "),
            schema: ["enum": .array(words.map(JSONValue.string))],
            isRequired: isRequired,
            default: value.rawValue,
            rule: rule,
            summary
        ) { value, settings in
            guard let word = value.string.flatMap(Word.init(rawValue:)) else {
                return Problem(
                    "The value is not one of the allowed values.",
                    "Use one of \(words.joined(separator: ", "))."
                )
            }
            settings[keyPath: path] = word
            return nil
        }
    }

    /// Creates a setting for a table of texts, with neutral names as keys and the vendor's names as values.
    public static func names<Key: NeutralKey>(
        _ name: String,
        _ path: any WritableKeyPath<Settings, [Key: String]> & Sendable,
        default defaultText: String = "",
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        SettingRow(
            name,
            form: "object of texts",
            schema: ["type": "object", "additionalProperties": ["type": "string", "minLength": 1]],
            default: defaultText,
            rule: rule,
            summary
        ) { value, settings in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            for member in object {
                guard let text = member.value.string?.trimmed, !text.isEmpty, !member.name.isEmpty else {
                    return Problem(
                        "The entry \"\(member.name)\" is not text.",
                        "Write a text in quotes that is not blank."
                    )
                }
                settings[keyPath: path][Key(rawValue: member.name)] = text
            }
            return nil
        }
    }

    /// Creates a setting for a list of texts.
    public static func list(
        _ name: String,
        _ path: any WritableKeyPath<Settings, [String]> & Sendable,
        default defaultText: String = "",
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        SettingRow(
            name,
            form: "list of texts",
            schema: ["type": "array", "items": ["type": "string"]],
            default: defaultText,
            rule: rule,
            summary
        ) { value, settings in
            guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
                return Problem("The value is not a list of texts.", "Give a list of texts.")
            }
            settings[keyPath: path] = texts.compactMap { $0 }
            return nil
        }
    }
}

extension String {
    /// Whether the text contains the bytes of another text.
    public func hasBytes(of part: String) -> Bool {
        var (text, part) = (self, part)
        return text.withUTF8 { text in part.withUTF8(text.holds) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the buffer contains other bytes as a contiguous sequence.
    public func holds(_ part: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = part.first else { return true }
        guard part.count <= count else { return false }
        return (0...(count - part.count)).contains { start in
            self[start] == first && self[start..<(start + part.count)].elementsEqual(part)
        }
    }
}

extension String {
    /// The text with every control character (C0, DEL, C1), including line breaks, replaced by an escape such as `\n`.
    package var onOneLine: String {
        // In UTF-8, C1 control characters begin with C2.
        guard utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return self }
        return unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }

    /// The text without Unicode white space and line breaks at both ends.
    public var trimmed: String {
        // Usually there is nothing to trim: no white space begins or ends with a visible ASCII character.
        if let first = utf8.first, let last = utf8.last, first.isVisible, last.isVisible { return self }
        return self[...].trimmed
    }
}

extension Substring {
    /// The text without Unicode white space and line breaks at both ends.
    public var trimmed: String { unicodeScalars.trimmed }
}

extension UInt8 {
    /// Whether it is a visible ASCII character.
    fileprivate var isVisible: Bool { (0x21...0x7E).contains(self) }
}
