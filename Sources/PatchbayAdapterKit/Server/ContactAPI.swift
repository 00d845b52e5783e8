public import PatchbayJSON
public import PatchbayModel

/// A server API through which contacts can be migrated, in both directions if the vendor can be queried.
///
/// Operations identify their contact by its key (`EngagementOperation.contact`); see ``VendorAdapter`` for the rest of the
/// contract. Queries return neutral values in the form in which the vendor stores them: for example, a date may be returned as
/// text. ``image(of:)`` returns the expected result of operations in the same form, so that both can be compared.
public protocol ContactAPI: VendorAdapter {
    /// The kind of identifier that serves as a contact's key.
    var keyKind: IdentifierKind { get }
    /// The way to query contacts; nil if the API cannot return what it stores.
    var reading: ContactReading? { get }
    /// The options of an erasure that removes only a contact that was just added; nil if the API has no such erasure.
    var removal: JSONObject? { get }

    /// Returns the options that every operation about a contact carries. They exist because each request may contain any of the
    /// contact's operations alone, and still needs this information.
    func options(for contact: Contact) -> JSONObject?
    /// Returns a contact's key in the form that the vendor compares: spellings that identify the same contact give the same
    /// text.
    func key(of text: String) -> String
    /// Returns the attribute that represents an identifier, so that it can be unset; nil if there is none.
    func attribute(for kind: IdentifierKind) -> AttributeName?
    /// Returns the query in this API's form.
    func question(for wanted: ContactQuestion) -> ReadRequest
    /// Returns the contacts in an answer, each with the key that the query used.
    func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage
    /// Returns the expected query result for a contact that did not exist before these operations were accepted.
    func image(of operations: [EngagementOperation]) -> Contact
    /// Returns the attributes that these operations leave empty, if the API does not return empty attributes. ``image(of:)``
    /// cannot express them. The names are those that a query returns.
    func emptied(by operations: [EngagementOperation]) -> Set<AttributeName>
    /// The attributes that the vendor sets itself, by the names that a query returns. Their values are not data about the
    /// contact.
    var vendorAttributes: Set<AttributeName> { get }
    /// The finding codes for an opt-out of a contact that the vendor does not have. The vendor has no state to return for it.
    var unneededOptOuts: Set<String> { get }
    /// The subscriptions that the vendor returns for a contact without any recorded decision.
    var vendorSubscriptions: [Subscription] { get }
    /// Returns the number of requests for querying this number of contacts, by key or page by page, for an estimate.
    func requests(toRead contacts: Int) -> Int
    /// Returns the requests for these operations, by kind, for an estimate.
    func work(for amount: ServerAmount) -> [ServerWork]
}

extension Subscription {
    /// Returns an opt-out that represents a status that the vendor returned and the adapter cannot interpret.
    public static func unreadable(_ key: Key) -> Subscription {
        Subscription(channel: key.channel, topic: key.topic, state: .unsubscribed, evidence: unreadableStatus)
    }

    /// Whether the subscription represents a status that cannot be interpreted.
    package var isUnreadable: Bool { evidence == Self.unreadableStatus }

    private static let unreadableStatus = "unreadable status"
}

/// The ways to query an API's contacts.
public enum ContactReading: Hashable, Sendable {
    /// By key, with a maximum number of keys per query.
    case byKeys(atMost: Int)
    /// Page by page through all contacts, with a number of contacts per page.
    case inPages(of: Int)
}

/// The contacts to query.
public enum ContactQuestion: Hashable, Sendable {
    /// The contacts with these keys.
    case keys([String])
    /// The page identified by ``ContactPage/next`` of the previous page; nil for the first page of all contacts.
    case page(JSONValue?)
}

/// A page of contacts that an API returned.
public struct ContactPage: Sendable {
    /// The contacts found, each with its key.
    public var contacts: [(key: String, contact: Contact)]
    /// The identifier of the next page; nil at the end. A query by keys may also have further pages.
    public var next: JSONValue?

    /// Creates a page.
    public init(_ contacts: [(key: String, contact: Contact)] = [], next: JSONValue? = nil) {
        (self.contacts, self.next) = (contacts, next)
    }
}

/// The amount of data to migrate through an API.
public struct ServerAmount: Hashable, Sendable {
    /// The number of contacts.
    public var contacts: Int
    /// The number of operations by kind.
    public var operations: [Action.Kind: Int]
    /// The number of subscription changes that opt out.
    public var optOuts: Int
    /// The number of subscription changes that name a topic.
    public var topics: Int
    /// The duration of a job at the vendor, if the caller provides it; nil for the documented or assumed duration.
    public var jobTime: Duration?

    /// Creates an amount. All numbers default to zero.
    public init(
        contacts: Int = 0,
        operations: [Action.Kind: Int] = [:],
        optOuts: Int = 0,
        topics: Int = 0,
        jobTime: Duration? = nil
    ) {
        (self.contacts, self.operations, self.optOuts, self.topics) = (contacts, operations, optOuts, topics)
        self.jobTime = jobTime
    }

    /// The number of operations of a kind.
    public subscript(kind: Action.Kind) -> Int { operations[kind] ?? 0 }
    /// The number of all operations.
    public var all: Int { operations.values.reduce(0, +) }
}

/// The requests of one kind in a migration.
public struct ServerWork: Hashable, Sendable {
    /// The name of the request as the vendor uses it.
    public var name: String
    /// The approximate number of requests.
    public var requests: Int
    /// The limits and assumptions of the estimate, and what it omits.
    public var note: String
    /// The time until the vendor's verdict on a submitted job, regardless of the rate; nil if the reply is the verdict.
    public var wait: Duration?

    /// Creates an estimate.
    public init(_ name: String, requests: Int, note: String, wait: Duration? = nil) {
        (self.name, self.requests, self.note, self.wait) = (name, requests, note, wait)
    }

    /// Creates an estimate for `count` items with at most `most` items per request.
    public init(_ name: String, of count: Int, atMost most: Int, note: String) {
        self.init(name, requests: (count + most - 1) / max(1, most), note: note)
    }
}

/// Defaults for an API that cannot return what it stores.
extension ContactAPI {
    /// Returns nil: each operation contains everything that its request needs.
    public func options(for contact: Contact) -> JSONObject? { nil }
    /// Returns the text unchanged: each spelling is a separate contact.
    public func key(of text: String) -> String { text }
    /// Nil: the API cannot be queried.
    public var reading: ContactReading? { nil }
    /// Returns the number of requests that follows from ``reading``; 0 if the API cannot be queried.
    public func requests(toRead contacts: Int) -> Int {
        switch reading {
        case .byKeys(let most)?: (contacts + most - 1) / max(1, most)
        // The final empty page is also requested.
        case .inPages(let size)?: max(1, (contacts + size - 1) / max(1, size))
        case nil: 0
        }
    }

    /// Nil: the API removes nothing.
    public var removal: JSONObject? { nil }
    /// Returns nil: no attribute represents an identifier.
    public func attribute(for kind: IdentifierKind) -> AttributeName? { nil }
    /// Returns a placeholder, because the API is never queried.
    public func question(for wanted: ContactQuestion) -> ReadRequest { ReadRequest("nothing") }
    /// Returns an empty page, because the API is never queried.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage { ContactPage() }

    /// Empty: the vendor sets no attributes itself.
    public var vendorAttributes: Set<AttributeName> { [] }
    /// Empty: the vendor returns no subscriptions without a decision.
    public var vendorSubscriptions: [Subscription] { [] }

    /// Empty: the vendor records every opt-out.
    public var unneededOptOuts: Set<String> { [] }

    /// Returns an empty set: the API returns empty attributes.
    public func emptied(by operations: [EngagementOperation]) -> Set<AttributeName> { [] }

    /// Returns the values of the operations, unchanged.
    public func image(of operations: [EngagementOperation]) -> Contact {
        var snapshot = SubjectSnapshot()
        for operation in operations { snapshot.apply(operation) }
        return Contact(
            identifiers: snapshot.identifiers,
            attributes: snapshot.attributes,
            tags: snapshot.tags,
            subscriptions: snapshot.subscriptions.inOrder.map(\.value),
            consents: snapshot.consents,
            devices: snapshot.device.map { [$0] } ?? []
        )
    }
}
