public import PatchbayJSON
public import PatchbayModel

/// One file format of a vendor, for reading contacts, writing them, or both. Streaming, in constant memory.
public struct RecordFormat: Sendable {
    /// The format's id: `vendor.contacts`.
    public let id: String
    /// What it is, for people.
    public let title: String
    /// The usual ending of its files, without the dot.
    public let fileExtension: String
    /// The rules behind it.
    public let rules: [RuleID]
    /// Makes a reader; nil if the format is only written.
    public let makeReader: (@Sendable (JSONObject) throws(SettingsError) -> any ContactReader)?
    /// Makes a writer; nil if the format is only read.
    public let makeWriter: (@Sendable (JSONObject) throws(SettingsError) -> any ContactWriter)?
    /// Files that go along with the one that is written; none for most formats.
    public let makeSidecars: (@Sendable (JSONObject) throws(SettingsError) -> [SidecarFile])?
    /// How a file is read that stands beside the one with the contacts; nil for most formats.
    public let sidecar: SidecarReader?
    /// The format's settings by the codes of the findings that follow from them: where a contact is not written, the one of
    /// them decides that stands with its finding.
    public let deciding: [String: String]
    /// Says as data what the reader takes, for bulk work; nil if it can't be said. The reader can read a
    /// record alone then.
    public let makeSourceLayout: (@Sendable (JSONObject) throws(SettingsError) -> SourceLayout?)?
    /// Says as data what the writer writes, for bulk work; nil if it can't be said. The writer is a ``RecordWriter`` then.
    public let makeTargetLayout: (@Sendable (JSONObject) throws(SettingsError) -> TargetLayout?)?

    /// Creates a format; reader and writer are made from the format's settings.
    public init(
        id: String,
        title: String,
        fileExtension: String,
        rules: [RuleID] = [],
        makeReader: (@Sendable (JSONObject) throws(SettingsError) -> any ContactReader)? = nil,
        makeWriter: (@Sendable (JSONObject) throws(SettingsError) -> any ContactWriter)? = nil,
        makeSidecars: (@Sendable (JSONObject) throws(SettingsError) -> [SidecarFile])? = nil,
        sidecar: SidecarReader? = nil,
        deciding: [String: String] = [:],
        makeSourceLayout: (@Sendable (JSONObject) throws(SettingsError) -> SourceLayout?)? = nil,
        makeTargetLayout: (@Sendable (JSONObject) throws(SettingsError) -> TargetLayout?)? = nil
    ) {
        (self.id, self.title, self.fileExtension, self.rules) = (id, title, fileExtension, rules)
        (self.makeReader, self.makeWriter, self.makeSidecars) = (makeReader, makeWriter, makeSidecars)
        (self.sidecar, self.deciding) = (sidecar, deciding)
        (self.makeSourceLayout, self.makeTargetLayout) = (makeSourceLayout, makeTargetLayout)
    }
}

/// A file that the vendor wants beside the one with the contacts; it follows from the format's settings alone.
public struct SidecarFile: Sendable {
    /// What is put behind the name of the file with the contacts, without its ending: `map.xml`.
    public let ending: String
    /// What it is, for people.
    public let title: String
    /// Its bytes.
    public let bytes: [UInt8]

    /// Creates a sidecar file.
    public init(ending: String, title: String, bytes: [UInt8]) {
        (self.ending, self.title, self.bytes) = (ending, title, bytes)
    }
}

/// Reads what stands beside a file with contacts and tells how that one is to be read: which columns it has, how they are
/// parted.
public struct SidecarReader: Sendable {
    /// What is put behind the name of the file with the contacts, without its ending: `map.xml`.
    public let ending: String
    /// What it is, for people.
    public let title: String
    /// Its most bytes; whoever reads it reads no more.
    public let limit: Int
    /// The settings by which the file with the contacts is read.
    ///
    /// What was given counts more than what the sidecar file says. It throws ``SettingsError`` with every problem of the
    /// sidecar file, each with its place in it.
    public let settings: @Sendable (_ bytes: [UInt8], _ given: JSONObject) throws(SettingsError) -> JSONObject

    /// Creates a reader of sidecar files.
    public init(
        ending: String,
        title: String,
        limit: Int = 1 << 20,
        settings: @escaping @Sendable (_ bytes: [UInt8], _ given: JSONObject) throws(SettingsError) -> JSONObject
    ) {
        (self.ending, self.title, self.limit, self.settings) = (ending, title, limit, settings)
    }
}

/// What a source's records look like, as far as bulk work must know it.
public enum SourceLayout: Sendable {
    /// Contacts of the neutral model, a JSON object a line.
    case neutralLines
    /// A JSON object a line, whose members fill the parts of a contact. The reader is a ``RecordReader``.
    case members(MemberLayout)
    /// Rows of delimited text. The reader is a ``RowReader``.
    case columns(ColumnLayout)
}

/// What a target's records look like, as far as bulk work must know it.
public enum TargetLayout: Sendable {
    /// Contacts of the neutral model, a JSON object a line.
    case neutralLines
    /// A JSON object a line.
    case lines(LineLayout)
    /// Rows of a contact file; a contact that says no on one of the channels is for the writer.
    case rows(ContactFile, judging: [Channel])
}

/// One record of a source file.
public struct SourceRecord: Sendable {
    /// Its number, from 1, headers not counted.
    public var number: Int
    /// The line it begins on, from 1.
    public var line: Int
    /// Its bytes exactly as they stood, without the line end.
    public var bytes: [UInt8]
    /// The contact; nil if the record can't be read, then a finding of severity error says why.
    public var contact: Contact?
    /// What a person should know about it.
    public var findings: [Finding]
    /// What one that has no contact says of what its person allows; nil where nobody can tell.
    ///
    /// A no counts for the person's other records, even if its own is not moved.
    public var said: RefusedWords?
    /// Opt-outs of addresses other than the one to which the contact's messages go, each with that address as its only
    /// identifier. They count for every contact that has the address.
    public var addressOptOuts: [Contact] = []

    /// Creates a record.
    public init(
        number: Int,
        line: Int,
        bytes: [UInt8],
        contact: Contact?,
        findings: [Finding] = [],
        said: RefusedWords? = nil
    ) {
        (self.number, self.line, self.bytes) = (number, line, bytes)
        (self.contact, self.findings, self.said) = (contact, findings, said)
    }
}

/// What a refused record says of what its person allows, and who that is.
public struct RefusedWords: Hashable, Sendable {
    /// The person's identifiers, and each word that can be read.
    public let read: Contact
    private let wishes: Set<Subscription.Key>
    private let denials: Set<Consent.Scope>

    /// Words of a refused record.
    ///
    /// - Parameters:
    ///   - contact: what can be read of it.
    ///   - wishes: of what a word or a date about what the person wants can't be read.
    ///   - denials: the same of what the person forbids.
    public init(of contact: Contact, unread wishes: Set<Subscription.Key>, _ denials: Set<Consent.Scope> = []) {
        var read = Contact(identifiers: contact.identifiers)
        (read.subscriptions, read.consents) = (contact.subscriptions, contact.consents)
        (self.read, self.wishes, self.denials) = (read, wishes, denials)
    }

    /// The subscriptions whose states cannot be read.
    package var unreadSubscriptions: [Subscription.Key] { wishes.sorted() }
    /// The purposes whose decisions cannot be read.
    package var unreadConsents: [Consent.Scope] { denials.sorted() }

    /// The same, with a no for each word that can't be read.
    public var feared: Contact {
        var feared = read
        feared.subscriptions += wishes.sorted()
            .map { Subscription(channel: $0.channel, topic: $0.topic, state: .unsubscribed) }
        feared.consents += denials.sorted()
            .map { Consent(purpose: $0.purpose, channel: $0.channel, state: .denied) }
        return feared
    }
}

/// Turns a file's bytes into contacts, chunk by chunk.
public protocol ContactReader {
    /// Takes the next bytes, of any length, and hands out every record that they complete.
    ///
    /// - Throws: ``SettingsError`` if the file as a whole can't be read (no header, no data rows), or what `record` throws.
    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws

    /// Says that no bytes follow and hands out what is left.
    mutating func finish(_ record: (SourceRecord) throws -> Void) throws

    /// The number of rows without a value that were skipped since this was asked last.
    mutating func takeBlankRows() -> Int

    /// Whether some file of the format could hold every part of a contact, by these settings and whatever the data is: kinds of
    /// identifiers, types of attributes, states of subscriptions and consents on their channels, a device's token and facts.
    /// The values do not matter.
    func canHold(_ sample: Contact) -> Bool
}

extension ContactReader {
    /// Everything.
    public func canHold(_ sample: Contact) -> Bool { true }
    /// None.
    public mutating func takeBlankRows() -> Int { 0 }
}

/// A reader of records that have nothing to do with each other: any of them can be read alone.
public protocol RecordReader: ContactReader {
    /// Reads one record.
    ///
    /// - Parameters:
    ///   - bytes: the record without its line end.
    ///   - number: its number in the file, from 1.
    ///   - line: the line that it begins on, from 1.
    /// - Returns: the record, with a contact or a reason.
    func record(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord

    /// What a record is that was longer than any may be, and was passed over.
    func overlong(length: Int, number: Int, line: Int) -> SourceRecord
}

/// Turns contacts into a file's bytes.
public protocol ContactWriter {
    /// What stands before the first record: a byte-order mark, a header.
    func header() -> [UInt8]

    /// Appends one contact, and says what of it does not survive.
    ///
    /// With a finding of severity error nothing was appended.
    mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding]

    /// What stands after the last record.
    func footer() -> [UInt8]

    /// The kind of identifier by which the target knows a contact: the first of it is the key; nil if nobody says so.
    var keyKind: IdentifierKind? { get }

    /// The kinds of which one is the key of a contact that has none of ``keyKind``, in order.
    var otherKeyKinds: [IdentifierKind] { get }
}

/// A writer of records that have nothing to do with each other: what it writes of one is the same whoever came before.
public protocol RecordWriter: ContactWriter {}

extension ContactWriter {
    public func header() -> [UInt8] { [] }
    public func footer() -> [UInt8] { [] }
    /// No kind in particular.
    public var keyKind: IdentifierKind? { nil }
    /// None.
    public var otherKeyKinds: [IdentifierKind] { [] }
}
