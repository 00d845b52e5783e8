public import PatchbayModel

/// One record that a simulated vendor holds, for the invariants of random runs: whose it is, what it holds, and whom it
/// reaches.
public struct VendorRecord: Sendable {
    /// Whose record it is.
    public enum Person: Hashable, Sendable, CustomStringConvertible {
        /// The contact with this identifier.
        case contact(String)
        /// Whoever uses the installation and is not logged in.
        case anonymous
        /// The installation, whoever uses it: the vendor does not know the person.
        case installation

        /// Creates the person of an identifier; without one, the anonymous person.
        public init(_ contact: String?) { self = contact.map(Person.contact) ?? .anonymous }

        /// The person in words.
        public var description: String {
            switch self {
            case .contact(let contact): contact
            case .anonymous: "the anonymous person"
            case .installation: "the installation"
            }
        }
    }

    /// Whose record it is.
    public var person: Person
    /// The present values by neutral attribute name; an empty value is left out. Nil if the record is no profile.
    public var attributes: [AttributeName: String]?
    /// Every other text that may hold a captured value: tags, identifiers, events with their attributes.
    public var texts: [String]
    /// The push tokens, addresses or devices that the vendor may send messages to because of this record.
    public var reaches: Set<String>
    /// Whether another person's log-in moves the record to that person, as a device's registration does.
    public var isOfInstallation: Bool

    /// Creates a record.
    public init(
        _ person: Person,
        attributes: [AttributeName: String]? = nil,
        texts: [String] = [],
        reaches: Set<String> = [],
        isOfInstallation: Bool = false
    ) {
        (self.person, self.attributes, self.texts) = (person, attributes?.filter { !$0.value.isEmpty }, texts)
        (self.reaches, self.isOfInstallation) = (reaches, isOfInstallation)
    }
}
