public import PatchbayModel

/// A record of a simulated vendor, for checking the invariants of randomized runs: its person, its values, and the devices or
/// addresses that it reaches.
public struct VendorRecord: Sendable {
    /// The person that a record belongs to.
    public enum Person: Hashable, Sendable, CustomStringConvertible {
        /// The contact with this identifier.
        case contact(String)
        /// The user of the installation who is not logged in.
        case anonymous
        /// The installation, because the vendor does not know the person.
        case installation

        /// Creates the person with an identifier; without one, the anonymous person.
        public init(_ contact: String?) { self = contact.map(Person.contact) ?? .anonymous }

        /// A description of the person.
        public var description: String {
            switch self {
            case .contact(let contact): contact
            case .anonymous: "the anonymous person"
            case .installation: "the installation"
            }
        }
    }

    /// The person that the record belongs to.
    public var person: Person
    /// The current values by neutral attribute name, without empty values. Nil if the record is not a profile.
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
