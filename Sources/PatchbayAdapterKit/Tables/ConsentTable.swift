public import PatchbayModel

/// The consent values that a vendor documents, each with its meaning and its source.
///
/// The readers and writers of files, the server API and the README of an adapter use the same table.
public struct ConsentTable: Sendable {
    /// The meaning of a value.
    public enum Meaning: Hashable, Sendable {
        /// The person's decision about a channel.
        case state(Subscription.State)
        /// The person denies consent to the field's subject.
        case denied
        /// The value states nothing about consent.
        case silent

        /// A description of the meaning.
        public var text: String {
            switch self {
            case .state(.subscribed): "opted in"
            case .state(.unsubscribed): "opted out"
            case .state(.suspended): "opted out (suspended)"
            case .state(.unknown): "unknown"
            case .denied: "denied"
            case .silent: "says nothing"
            }
        }
    }

    /// Values of some fields that have the same meaning.
    public struct Row: Sendable {
        /// The columns or members that hold the values.
        public let fields: [String]
        /// The subject of the fields: a channel or a purpose.
        public let subject: String
        /// The values, compared without regard to case.
        public let values: [String]
        /// The meaning of the values.
        public let meaning: Meaning
        /// The place in the vendor's documentation.
        public let source: String

        /// Creates a row.
        public init(_ fields: [String], _ subject: String, _ values: [String], _ meaning: Meaning, _ source: String) {
            (self.fields, self.subject, self.values) = (fields, subject, values)
            (self.meaning, self.source) = (meaning, source)
        }
    }

    /// The rows, in the order of the documentation.
    public let rows: [Row]

    /// The meaning of each value, in lower case, by field.
    private let meanings: [String: [String: Meaning]]

    /// Creates a table.
    public init(_ rows: [Row]) {
        self.rows = rows
        var meanings: [String: [String: Meaning]] = [:]
        for row in rows {
            for field in row.fields {
                let own = row.values.map { ($0.lowercased(), row.meaning) }
                meanings[field, default: [:]].merge(own) { first, _ in first }
            }
        }
        self.meanings = meanings
    }

    /// Returns the meaning of each value of a field, in lower case.
    public func meanings(of field: String) -> [String: Meaning] { meanings[field] ?? [:] }

    /// Returns the meaning of a value; nil if the vendor documents no such value for the field.
    public func meaning(of value: String, in field: String) -> Meaning? {
        meanings[field]?[value.trimmed.lowercased()]
    }

    /// Returns the consent decision that a value of a field states.
    ///
    /// - Parameters:
    ///   - key: The channel or topic of the field.
    ///   - value: The value as a server returns it.
    ///   - field: The field.
    /// - Returns: The subscription; `Subscription.unreadable(_:)` if the vendor documents no such decision.
    public func subscription(_ key: Subscription.Key, value: String, in field: String) -> Subscription {
        guard case .state(let state) = meaning(of: value, in: field) else { return .unreadable(key) }
        return Subscription(channel: key.channel, topic: key.topic, state: state)
    }

    /// Returns the states of a field about a channel, by value.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - optIn: The state of a value that means an opt-in.
    /// - Returns: The states; empty if the field does not concern a channel.
    public func states(of field: String, optIn: Subscription.State = .subscribed) -> [String: Subscription.State] {
        meanings(of: field).compactMapValues { meaning in
            guard case .state(let state) = meaning else { return nil }
            return state == .subscribed ? optIn : state
        }
    }

    /// Returns the values of a field that state nothing about consent, in lower case.
    public func silent(of field: String) -> Set<String> {
        Set(meanings(of: field).filter { $0.value == .silent }.keys)
    }

    /// Returns, for each value of a field about a purpose, whether it denies consent.
    public func denials(of field: String) -> [String: Bool] { meanings(of: field).mapValues { $0 == .denied } }

    /// The table as rows of documentation: fields, subject, values, meaning, and source.
    public var markdown: [[String]] {
        func code(_ texts: [String]) -> String { texts.map { "`\($0)`" }.joined(separator: ", ") }
        return rows.map { [code($0.fields), $0.subject, code($0.values), $0.meaning.text, $0.source] }
    }
}
