public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A file format of a vendor for reading contacts, writing them, or both, as a stream in constant memory.
public struct RecordFormat: Sendable {
    /// The format's id, for example `vendor.contacts`.
    public let id: String
    /// The name of the format, for display.
    public let title: String
    /// The usual file name extension, without the dot.
    public let fileExtension: String
    /// The vendor's rules for the format.
    public let rules: [RuleID]
    /// Creates a reader from the format's settings; nil if the format is only written.
    public let makeReader: (@Sendable (JSONObject) throws(SettingsError) -> any ContactReader)?
    /// Creates a writer from the format's settings; nil if the format is only read.
    public let makeWriter: (@Sendable (JSONObject) throws(SettingsError) -> any ContactWriter)?
    /// Creates the sidecar files of a written file; nil for most formats.
    public let makeSidecars: (@Sendable (JSONObject) throws(SettingsError) -> [SidecarFile])?
    /// The reader of sidecar files; nil for most formats.
    public let sidecar: SidecarReader?
    /// The format's settings by the code of the finding that they decide. If a contact is not written because of such a
    /// finding, the setting decides that.
    public let deciding: [String: String]
    /// Describes as data what the reader accepts, for the bulk path; nil if that is not possible. The reader must then be
    /// able to read a single record.
    public let makeSourceLayout: (@Sendable (JSONObject) throws(SettingsError) -> SourceLayout?)?
    /// Describes as data what the writer writes, for the bulk path; nil if that is not possible. The writer is then a
    /// ``RecordWriter``.
    public let makeTargetLayout: (@Sendable (JSONObject) throws(SettingsError) -> TargetLayout?)?

    /// Creates a format. Readers and writers are created from the format's settings.
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

/// A file that the vendor requires in addition to the file with the contacts. It depends only on the format's settings.
public struct SidecarFile: Sendable {
    /// The suffix to append to the name of the contact file without its extension, for example `map.xml`.
    public let fileExtension: String
    /// A description of the file.
    public let title: String
    /// The content of the file.
    public let bytes: [UInt8]

    /// Creates a sidecar file.
    public init(fileExtension: String, title: String, bytes: [UInt8]) {
        (self.fileExtension, self.title, self.bytes) = (fileExtension, title, bytes)
    }
}

/// Reads a sidecar file that describes the contact file: its columns and its delimiter.
public struct SidecarReader: Sendable {
    /// The suffix to append to the name of the contact file without its extension, for example `map.xml`.
    public let fileExtension: String
    /// A description of the file.
    public let title: String
    /// The maximum number of bytes to read.
    public let limit: Int
    /// Returns the settings for reading the contact file.
    ///
    /// The given settings take precedence over the sidecar file. Throws `SettingsError` with every problem of the sidecar
    /// file and its position.
    public let settings: @Sendable (_ bytes: [UInt8], _ given: JSONObject) throws(SettingsError) -> JSONObject

    /// Creates a reader of sidecar files.
    public init(
        fileExtension: String,
        title: String,
        limit: Int = 1 << 20,
        settings: @escaping @Sendable (_ bytes: [UInt8], _ given: JSONObject) throws(SettingsError) -> JSONObject
    ) {
        (self.fileExtension, self.title, self.limit, self.settings) = (fileExtension, title, limit, settings)
    }
}

/// The structure of a source's records, as far as the bulk path needs it.
public indirect enum SourceLayout: Sendable {
    /// Contacts of the neutral model, one JSON object per line.
    case neutralLines
    /// One JSON object per line, whose members fill the parts of a contact. The reader is a ``RecordReader``.
    case members(MemberLayout)
    /// Rows of delimited text. The reader is a ``RowReader``.
    case columns(ColumnLayout)
}

/// The structure of a target's records, as far as the bulk path needs it.
public indirect enum TargetLayout: Sendable {
    /// Contacts of the neutral model, one JSON object per line.
    case neutralLines
    /// One JSON object per line.
    case lines(LineLayout)
    /// Rows of a contact file. Contacts that opt out on one of these channels are left to the writer.
    case rows(ContactFile, judging: [Channel])
}

/// A record of a source file.
public struct SourceRecord: Sendable {
    /// The number of the record, from 1, without headers.
    public var number: Int
    /// The line on which the record begins, from 1.
    public var line: Int
    /// The bytes of the record as they are in the file, without the line end.
    public var bytes: [UInt8]
    /// The contact; nil if the record cannot be read, which a finding of severity `error` then explains.
    public var contact: Contact?
    /// The findings about the record.
    public var findings: [Finding]
    /// The consent decisions of a record without a contact; nil if they cannot be determined.
    ///
    /// An opt-out applies to the person's other records, even if its own record is not migrated.
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

/// The consent decisions in a rejected record, and the person that they belong to.
public struct RefusedWords: Hashable, Sendable {
    /// The person's identifiers, and every decision that can be read.
    public let read: Contact
    private let wishes: Set<Subscription.Key>
    private let denials: Set<Consent.Scope>

    /// Creates the decisions of a rejected record.
    ///
    /// - Parameters:
    ///   - contact: The readable part of the record.
    ///   - wishes: The subscriptions whose consent value or date cannot be read.
    ///   - denials: The purposes whose denial cannot be read.
    public init(of contact: Contact, unread wishes: Set<Subscription.Key>, _ denials: Set<Consent.Scope> = []) {
        var read = Contact(identifiers: contact.identifiers)
        (read.subscriptions, read.consents) = (contact.subscriptions, contact.consents)
        (self.read, self.wishes, self.denials) = (read, wishes, denials)
    }

    /// The subscriptions whose states cannot be read.
    package var unreadSubscriptions: [Subscription.Key] { wishes.sorted() }
    /// The purposes whose decisions cannot be read.
    package var unreadConsents: [Consent.Scope] { denials.sorted() }

    /// The readable part, with an opt-out for each decision that cannot be read.
    public var feared: Contact {
        var feared = read
        feared.subscriptions += wishes.sorted()
            .map { Subscription(channel: $0.channel, topic: $0.topic, state: .unsubscribed) }
        feared.consents += denials.sorted()
            .map { Consent(purpose: $0.purpose, channel: $0.channel, state: .denied) }
        return feared
    }
}

/// Converts a file's bytes into contacts, chunk by chunk.
public protocol ContactReader {
    /// Reads the next chunk, of any length, and passes every completed record to `record`.
    ///
    /// - Throws: `SettingsError` if the file as a whole cannot be read (no header, no data rows); any error of `record`.
    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws

    /// Ends the input and passes the remaining records to `record`.
    mutating func finish(_ record: (SourceRecord) throws -> Void) throws

    /// Returns the number of blank rows skipped since the last call.
    mutating func takeBlankRows() -> Int

    /// Whether some file of the format could represent every part of a contact with these settings, regardless of the values.
    /// The parts are kinds of identifiers, types of attributes, states of subscriptions and consents on their channels, and a
    /// device's token and facts.
    func canHold(_ sample: Contact) -> Bool
}

extension ContactReader {
    /// Returns true: every part of a contact can be represented.
    public func canHold(_ sample: Contact) -> Bool { true }
    /// Returns 0: no rows are skipped.
    public mutating func takeBlankRows() -> Int { 0 }
}

/// A reader of independent records. Each record can be read by itself.
public protocol RecordReader: ContactReader {
    /// Reads one record.
    ///
    /// - Parameters:
    ///   - bytes: The record without its line end.
    ///   - number: The number of the record in the file, from 1.
    ///   - line: The line on which the record begins, from 1.
    /// - Returns: The record, with a contact or the reason why there is none.
    func record(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord

    /// Returns the record for input that exceeded the maximum length and was skipped.
    func overlong(length: Int, number: Int, line: Int) -> SourceRecord
}

/// Converts contacts into a file's bytes.
public protocol ContactWriter {
    /// Returns the bytes before the first record: a byte-order mark, a header.
    func header() -> [UInt8]

    /// Appends one contact and returns a finding for each part that is lost.
    ///
    /// If a finding has severity `error`, nothing was appended.
    mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding]

    /// Returns the bytes after the last record.
    func footer() -> [UInt8]

    /// The kind of identifier by which the target identifies a contact. The first identifier of the kind is the key. Nil if
    /// unspecified.
    var keyKind: IdentifierKind? { get }

    /// The kinds that provide the key of a contact without ``keyKind``, in order of preference.
    var otherKeyKinds: [IdentifierKind] { get }
}

/// A writer of independent records: its output for a contact does not depend on earlier contacts.
public protocol RecordWriter: ContactWriter {}

extension ContactWriter {
    public func header() -> [UInt8] { [] }
    public func footer() -> [UInt8] { [] }
    /// Nil: the kind is unspecified.
    public var keyKind: IdentifierKind? { nil }
    /// Empty: there are no other kinds.
    public var otherKeyKinds: [IdentifierKind] { [] }
}
