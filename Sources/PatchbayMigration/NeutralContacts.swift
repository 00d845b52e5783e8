import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Contacts of the neutral model, one JSON object a line (`Schemas/model`), for reading and writing. An input file may
    /// also be an array, or have objects of several lines each.
    ///
    /// The format holds every part of a contact, so writing loses nothing.
    public static let neutralContacts = RecordFormat(
        id: "neutral.contacts",
        title: "Contacts of the neutral model, newline-delimited JSON",
        fileExtension: "ndjson",
        makeReader: { settings throws(SettingsError) in
            _ = try NeutralContacts.table.read(settings, over: NeutralContacts.Settings(), at: "")
            return NeutralContacts.Reader()
        },
        makeWriter: { settings throws(SettingsError) in
            _ = try NeutralContacts.table.read(settings, over: NeutralContacts.Settings(), at: "")
            return NeutralContacts.Writer()
        },
        makeSourceLayout: { _ throws(SettingsError) in .neutralLines },
        makeTargetLayout: { _ throws(SettingsError) in .neutralLines }
    )
}

/// The neutral file format: its findings, reader and writer.
enum NeutralContacts {
    struct Settings: Sendable {}

    static let table = SettingsTable<Settings>([])

    /// The maximum length of an input line, in bytes without its line end.
    static let longestLine = RecordLength.usual

    /// The maximum length of a line that a run wrote: characters may have become escapes of six bytes, and a journal's line
    /// also has the earlier contact.
    static let longestWritten = 16 * longestLine

    static let notJSON = FindingRow(
        .error("neutral.json", .invalid),
        reason: "The line is not JSON",
        remedy: "Correct the text at this position."
    )
    static let notContact = FindingRow(
        .error("neutral.contact", .invalid),
        reason: "The line is not a contact",
        remedy: "Correct the value at this path."
    )
    static let lineTooLong = FindingRow(
        .error("neutral.line.length", .tooLarge),
        reason: "The line is longer than a contact may be, and was skipped",
        remedy: "Write one contact per line."
    )

    /// Reads a contact from each line and skips empty lines.
    struct Reader: LineReader {
        var lines = RecordLines(maximumLength: NeutralContacts.longestLine, refusing: NeutralContacts.notJSON)

        func overlong(length: Int, number: Int, line: Int) -> SourceRecord {
            let detail = "\(length) bytes, the limit is \(NeutralContacts.longestLine)"
            let finding = NeutralContacts.lineTooLong.at(detail: detail)
            return SourceRecord(number: number, line: line, bytes: [], contact: nil, findings: [finding])
        }

        func record(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord {
            var record = SourceRecord(number: number, line: line, bytes: bytes, contact: nil)
            let text = line == 1 ? bytes.withoutByteOrderMark : bytes[...]
            record.contact = Contact(scanning: text)
            if record.contact != nil { return record }
            do {
                let json = try JSONValue(parsing: text).givenMembers
                record.contact = try Contact(json: json, at: "")
            } catch let error as ModelError {
                let json = try? JSONValue(parsing: text)
                let remedy = json?.object?.unwrapping ?? error.remedy
                record.findings = [NeutralContacts.notContact.at(error.path, detail: error.reason, remedy: remedy)]
                record.said = json.map(Self.said)
            } catch {
                let column = (error as? JSONError).map { "column \($0.column): \($0.code.reason)" }
                record.findings = [NeutralContacts.notJSON.at(detail: column)]
            }
            return record
        }

        /// The identifiers and consent decisions of an object that is not a valid contact.
        private static func said(by json: JSONValue) -> RefusedWords {
            func each(_ name: String, _ take: (JSONValue) -> Void) { (json[name]?.array ?? []).forEach(take) }
            var said = Contact()
            each("identifiers") { if let one = try? Identifier(json: $0, at: "") { said.identifiers.append(one) } }
            var (wishes, denials): (Set<Subscription.Key>, Set<Consent.Scope>) = ([], [])
            each("subscriptions") { json in
                guard let channel = json["channel"]?.string.map(Channel.init(rawValue:)) else { return }
                let wish = Subscription(channel: channel, topic: json["topic"]?.string, state: .unsubscribed)
                guard let state = json["state"]?.string.flatMap(Subscription.State.init) else {
                    wishes.insert(wish.key)
                    return
                }
                said.subscriptions.append(Subscription(channel: channel, topic: wish.topic, state: state))
            }
            each("consents") { json in
                guard let purpose = json["purpose"]?.string.map(Purpose.init(rawValue:)) else { return }
                let channel = json["channel"]?.string.map(Channel.init(rawValue:))
                guard let state = json["state"]?.string.flatMap(Consent.State.init) else {
                    denials.insert(Consent.Scope(purpose, channel: channel))
                    return
                }
                said.consents.append(Consent(purpose: purpose, channel: channel, state: state))
            }
            return RefusedWords(of: said, unread: wishes, denials)
        }
    }

    /// Writes each contact as one line.
    struct Writer: RecordWriter {
        private var json = JSONWriter()

        mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
            json.reset()
            contact.write(to: &json)
            json.endLine()
            bytes += json.bytes
            return []
        }
    }
}

extension JSONValue {
    /// The value without members that are null and without identifiers whose value is null, because null means "not given".
    fileprivate var givenMembers: JSONValue {
        switch self {
        case .object(let object):
            let members = object.filter { !$0.value.isNull }.map { member -> (String, JSONValue) in
                guard member.name == "identifiers", let all = member.value.array else {
                    return (member.name, member.value.givenMembers)
                }
                return (member.name, .array(all.filter { $0["value"]?.isNull != true }))
            }
            return .object(JSONObject(members))
        case .array(let values): return .array(values.map(\.givenMembers))
        default: return self
        }
    }
}
