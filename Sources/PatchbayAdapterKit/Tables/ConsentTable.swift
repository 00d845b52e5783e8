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

        /// A row.
        public init(_ fields: [String], _ subject: String, _ values: [String], _ meaning: Meaning, _ source: String) {
            (self.fields, self.subject, self.values) = (fields, subject, values)
            (self.meaning, self.source) = (meaning, source)
        }
    }

    /// The rows, in the order of the documentation.
    public let rows: [Row]

    /// A table.
    public init(_ rows: [Row]) { self.rows = rows }

    /// The meaning of each value of a field, in lower case.
    public func meanings(of field: String) -> [String: Meaning] {
        let own = rows.filter { $0.fields.contains(field) }
        return Dictionary(own.flatMap { row in row.values.map { ($0.lowercased(), row.meaning) } }) { first, _ in first
        }
    }

    /// The meaning of a value; nil if the vendor documents no such value for the field.
    public func meaning(of value: String, in field: String) -> Meaning? {
        meanings(of: field)[value.trimmed.lowercased()]
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
