public import PatchbayJSON
public import PatchbayModel

/// A server API that contacts can be moved through and, where the vendor shows what it holds, back from.
///
/// Operations name their contact by its key (`EngagementOperation.contact`); everything else of the contract stands in
/// ``VendorAdapter``. What is read back is told in neutral terms, in the forms that the vendor keeps: a day may come back as
/// a text. ``image(of:)`` tells in the same forms what an operation would leave there, so that the two can be compared.
public protocol ContactAPI: VendorAdapter {
    /// The kind of identifier whose value is a contact's key.
    var keyKind: IdentifierKind { get }
    /// How contacts are asked for; nil where the API can't show what it holds.
    var reading: ContactReading? { get }
    /// Options of an erasure that takes back a contact which was added, and reaches nothing else; nil where there is none.
    var removal: JSONObject? { get }

    /// The options that each operation about a contact bears, because every request needs what another of them says: a request
    /// may carry any of them without the others.
    func options(for contact: Contact) -> JSONObject?
    /// A contact's key as the vendor compares it: two spellings that are one contact there have one text.
    func key(of text: String) -> String
    /// The attribute that stands for an identifier, so that it can be unset; nil where it can't.
    func attribute(for kind: IdentifierKind) -> AttributeName?
    /// The question in this API's words.
    func question(for wanted: ContactQuestion) -> ReadRequest
    /// What an answer shows, each contact under the key that was asked for.
    func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage
    /// What would be read back of a contact of whom nothing was known, once these operations were taken.
    func image(of operations: [EngagementOperation]) -> Contact
    /// The attributes that these operations leave empty, where the API shows an empty one as none: ``image(of:)`` has no
    /// place for them. The names are those under which they are read back.
    func emptied(by operations: [EngagementOperation]) -> Set<AttributeName>
    /// The attributes that the vendor fills in by itself, under the names under which they are read back: where they stand,
    /// nobody has said anything of the contact.
    var vendorAttributes: Set<AttributeName> { get }
    /// The codes by which the API says that a no found nobody to leave alone: of such a no the vendor has nothing to show.
    var unneededOptOuts: Set<String> { get }
    /// What is shown of a contact of whom nobody has said anything: where a subscription stands so, nobody has.
    var vendorSubscriptions: [Subscription] { get }
    /// The requests that it takes to ask for so many contacts by their keys, or to read so many page by page, for a plan.
    func requests(toRead contacts: Int) -> Int
    /// The requests that so many operations make, by kind, for a plan.
    func work(for amount: ServerAmount) -> [ServerWork]
}

extension Subscription {
    /// An opt-out that stands for a status which the vendor shows and the adapter cannot read.
    public static func unreadable(_ key: Key) -> Subscription {
        Subscription(channel: key.channel, topic: key.topic, state: .unsubscribed, evidence: unreadableStatus)
    }

    /// Whether it stands for a status that cannot be read.
    package var isUnreadable: Bool { evidence == Self.unreadableStatus }

    private static let unreadableStatus = "unreadable status"
}

/// How an API's contacts are asked for.
public enum ContactReading: Hashable, Sendable {
    /// By their keys, so many at once.
    case byKeys(atMost: Int)
    /// Page by page, all that there are; so many a page.
    case inPages(of: Int)
}

/// Which contacts are asked for.
public enum ContactQuestion: Hashable, Sendable {
    /// Those of these keys.
    case keys([String])
    /// A page: the one to which ``ContactPage/next`` led; nil is the first of all contacts.
    case page(JSONValue?)
}

/// Contacts that an API showed.
public struct ContactPage: Sendable {
    /// Each contact that is there, under its key.
    public var contacts: [(key: String, contact: Contact)]
    /// What leads to the next page; nil at the end. An answer about contacts that were asked for by their keys may lead to one,
    /// too: it holds more of them.
    public var next: JSONValue?

    /// A page.
    public init(_ contacts: [(key: String, contact: Contact)] = [], next: JSONValue? = nil) {
        (self.contacts, self.next) = (contacts, next)
    }
}

/// How much is to be said through an API.
public struct ServerAmount: Hashable, Sendable {
    /// Contacts of whom something is said.
    public var contacts: Int
    /// Operations by their kind.
    public var operations: [Action.Kind: Int]
    /// Changes of subscriptions that end messages.
    public var optOuts: Int
    /// Changes of subscriptions that name a topic.
    public var topics: Int
    /// How long a job of the vendor's takes, where somebody says so; nil: the API's documents or its own assumption count.
    public var jobTime: Duration?

    /// An amount; nothing unless said otherwise.
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

    /// Operations of a kind.
    public subscript(kind: Action.Kind) -> Int { operations[kind] ?? 0 }
    /// All operations.
    public var all: Int { operations.values.reduce(0, +) }
}

/// Requests of one kind that a migration makes.
public struct ServerWork: Hashable, Sendable {
    /// The request, in the vendor's word.
    public var name: String
    /// How many, about.
    public var requests: Int
    /// Limits behind the number, what is assumed, and what it leaves out.
    public var note: String
    /// How long what was handed in waits for its verdict, whatever the rate; nil where the answer is the verdict.
    public var wait: Duration?

    /// Some work.
    public init(_ name: String, requests: Int, note: String, wait: Duration? = nil) {
        (self.name, self.requests, self.note, self.wait) = (name, requests, note, wait)
    }

    /// So many things, so many at once.
    public init(_ name: String, of count: Int, atMost most: Int, note: String) {
        self.init(name, requests: (count + most - 1) / max(1, most), note: note)
    }
}

/// Of an API that can't show what the vendor holds.
extension ContactAPI {
    /// None: each operation says all that its request needs.
    public func options(for contact: Contact) -> JSONObject? { nil }
    /// Each spelling is a contact of its own.
    public func key(of text: String) -> String { text }
    /// It shows nothing.
    public var reading: ContactReading? { nil }
    /// As many contacts in a request as the API takes, or shows in a page; none of an API that shows nothing.
    public func requests(toRead contacts: Int) -> Int {
        switch reading {
        case .byKeys(let most)?: (contacts + most - 1) / max(1, most)
        // The page that says that there is none is asked for, too.
        case .inPages(let size)?: max(1, (contacts + size - 1) / max(1, size))
        case nil: 0
        }
    }

    /// It takes nothing away.
    public var removal: JSONObject? { nil }
    /// No attribute stands for an identifier.
    public func attribute(for kind: IdentifierKind) -> AttributeName? { nil }
    /// No question is ever put.
    public func question(for wanted: ContactQuestion) -> ReadRequest { ReadRequest("nothing") }
    /// No answer ever comes.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage { ContactPage() }

    /// Nothing.
    public var vendorAttributes: Set<AttributeName> { [] }
    /// Nothing.
    public var vendorSubscriptions: [Subscription] { [] }

    /// Every no has a place.
    public var unneededOptOuts: Set<String> { [] }

    /// What is empty is shown as empty.
    public func emptied(by operations: [EngagementOperation]) -> Set<AttributeName> { [] }

    /// What the operations say, as they say it.
    public func image(of operations: [EngagementOperation]) -> Contact {
        var snapshot = SubjectSnapshot()
        for operation in operations { snapshot.apply(operation) }
        return Contact(
            identifiers: snapshot.identifiers,
            attributes: snapshot.attributes,
            tags: snapshot.tags,
            subscriptions: snapshot.subscriptions.values.sorted { $0.key < $1.key },
            consents: snapshot.consents,
            devices: snapshot.device.map { [$0] } ?? []
        )
    }
}
