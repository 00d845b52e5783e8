import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import Testing

@Suite("Neutral contacts") struct NeutralContactsTests {
    static let contacts: [Contact] = [
        Contact(
            identifiers: [Identifier(.external, "c-1"), Identifier(.email, "aino@example.com")],
            attributes: [
                .birthDate: AttributeValue(text: "1990-04-01", as: .date) ?? "",
                "total": .decimal(ExactDecimal(text: "49.90") ?? ExactDecimal(0)),
                "name": "Ääkköset \u{1F44B}\u{1F3FD} \u{202E}txet\u{202C}\n\"quoted\"",
            ],
            tags: ["beta", "vip"],
            subscriptions: [Subscription(channel: .email, topic: "news", state: .unsubscribed)],
            consents: [Consent(purpose: .tracking, state: .denied)],
            locale: "fi_FI",
            timeZone: "Europe/Helsinki"
        ),
        Contact(identifiers: [Identifier(.external, "c-2")]),
    ]

    static func copy(_ bytes: [UInt8], chunk: Int = 4096) throws -> (MemorySink, MigrationReport) {
        var input = ChunkedSource(bytes, chunk: chunk)
        let output = MemorySink()
        return (output, try Migration(from: .neutralContacts, to: .neutralContacts).run(&input, to: output))
    }

    @Test(arguments: [1, 5, 4096]) func `reads written contacts back as the same bytes`(_ chunk: Int) throws {
        let bytes = Array(Self.contacts.map { $0.jsonBytes + [0x0A] }.joined())
        let (output, report) = try Self.copy(bytes, chunk: chunk)
        #expect(output.bytes == bytes)
        #expect(report.written == 2)
    }

    struct Fault: CustomTestStringConvertible {
        let label: String
        let line: [UInt8]
        let code: String
        let path: String

        init(_ label: String, _ line: String, _ code: String, _ path: String = "") {
            self.init(label, Array(line.utf8), code, path)
        }

        init(_ label: String, _ line: [UInt8], _ code: String, _ path: String = "") {
            (self.label, self.line, self.code, self.path) = (label, line, code, path)
        }

        var testDescription: String { label }
    }

    static let faults: [Fault] = [
        Fault("cut in the middle", "{\"tags\":[\"vip\"", "neutral.json"),
        Fault("two values", "{} {}", "neutral.json"),
        Fault("no UTF-8", [0x7B, 0x22, 0xFF, 0x22, 0x7D], "neutral.json"),
        Fault("an array", "[]", "neutral.contact"),
        Fault("an unknown member", "{\"tag\":[]}", "neutral.contact", "tag"),
        Fault("a wrong type", "{\"attributes\":7}", "neutral.contact", "attributes"),
        Fault("an enormous line", Array(repeating: 0x20, count: 17 << 20), "neutral.line.length"),
    ]

    @Test(arguments: faults) func `rejects an invalid line with its number and reads the next`(_ fault: Fault) throws {
        let good = Self.contacts[1].jsonBytes
        var input = ChunkedSource(good + [0x0A] + fault.line + [0x0A] + good, chunk: 1 << 20)
        let (output, list) = (MemorySink(), MemorySink())
        let report = try Migration(from: .neutralContacts, to: .neutralContacts)
            .run(&input, to: output, rejects: Rejects(list: list, replay: MemorySink()))
        #expect(report.written == 2)
        #expect(report.findings[fault.code]?.count == 1)
        let reject = try JSONValue(parsing: list.text.trimmed)
        #expect(reject["line"] == 2)
        #expect(reject["path"]?.string == fault.path)
        #expect(reject["remedy"]?.string?.isEmpty == false)
    }

    @Test func `accepts a byte-order mark, empty lines and CR LF`() throws {
        let (_, report) = try Self.copy(Array("\u{FEFF}{}\r\n\r\n{}\r\n".utf8))
        #expect(report.written == 2)
        #expect(report.findings.isEmpty)
    }
}
