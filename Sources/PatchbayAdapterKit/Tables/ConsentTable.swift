public import PatchbayModel

/// The consent values that a vendor documents, each with its meaning and its source.
///
/// The readers and writers of files, the server API and the README of an adapter use the same table.
public struct ConsentTable: Sendable {
    /// The meaning of a value.
    public enum Meaning: Hashable, Sendable {
        /// The person's decision about a channel.
        case state(Subscription.State)
        /// The person denies what the field is about.
        case denied
        /// It says nothing about consent.
        case silent

        /// The meaning in words.
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

    /// Values of some fields that mean the same.
    public struct Row: Sendable {
        /// The columns or members that hold the values.
        public let fields: [String]
        /// What they are about: a channel or a purpose.
        public let subject: String
        /// The values, compared without regard to case.
        public let values: [String]
        /// What each of them means.
        public let meaning: Meaning
        /// Where the vendor documents them.
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

    /// The meaning of each value of a field, in lower case.
    public func meanings(of field: String) -> [String: Meaning] { meanings[field] ?? [:] }

    /// The meaning of a value; nil if the vendor documents no such value for the field.
    public func meaning(of value: String, in field: String) -> Meaning? {
        meanings[field]?[value.trimmed.lowercased()]
    }

    /// The decision that a value of a field states.
    ///
    /// - Parameters:
    ///   - key: the channel or topic that the field is about.
    ///   - value: the value as a server shows it.
    ///   - field: the field.
    /// - Returns: The subscription; ``Subscription/unreadable(_:)`` if the value is no decision that the vendor documents.
    public func subscription(_ key: Subscription.Key, value: String, in field: String) -> Subscription {
        guard case .state(let state) = meaning(of: value, in: field) else { return .unreadable(key) }
        return Subscription(channel: key.channel, topic: key.topic, state: state)
    }

    /// The states by value of a field about a channel.
    ///
    /// - Parameters:
    ///   - field: the field.
    ///   - optIn: the state of a value that means an opt-in.
    /// - Returns: The states; empty if the field says nothing about a channel.
    public func states(of field: String, optIn: Subscription.State = .subscribed) -> [String: Subscription.State] {
        meanings(of: field).compactMapValues { meaning in
            guard case .state(let state) = meaning else { return nil }
            return state == .subscribed ? optIn : state
        }
    }

    /// The values of a field that say nothing, in lower case.
    public func silent(of field: String) -> Set<String> {
        Set(meanings(of: field).filter { $0.value == .silent }.keys)
    }

    /// Whether each value of a field about a purpose denies it.
    public func denials(of field: String) -> [String: Bool] { meanings(of: field).mapValues { $0 == .denied } }

    /// The table as rows of documentation: fields, subject, values, meaning and source.
    public var markdown: [[String]] {
        func code(_ texts: [String]) -> String { texts.map { "`\($0)`" }.joined(separator: ", ") }
        return rows.map { [code($0.fields), $0.subject, code($0.values), $0.meaning.text, $0.source] }
    }
}
