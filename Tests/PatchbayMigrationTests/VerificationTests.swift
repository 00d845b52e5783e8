import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayTesting
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import Testing

@testable import PatchbayMigration

@Suite("Verification") struct VerificationTests {
    private static func people(_ count: Int) -> [Contact] {
        (0..<count).map { number in
            var contact = Contact(identifiers: [Identifier(.email, "p\(number)@x.example")])
            contact.attributes = ["city": .string("Oulu"), "points": .integer(Int64(number))]
            if number % 3 == 0 { contact.subscriptions = [Subscription(channel: .email, state: .unsubscribed)] }
            return contact
        }
    }

    private static func file(_ contacts: [Contact]) -> [UInt8] { contacts.flatMap { $0.jsonBytes + [0x0A] } }

    private static func settings(of format: RecordFormat) -> JSONObject {
        format.id == RecordFormat.neutralContacts.id ? [:] : ["dbId": 7, "resourceId": 3]
    }

    private struct Run {
        var verification: Verification
        var differences: [Verification.Difference] = []

        init(
            _ source: [UInt8],
            against target: [UInt8],
            to format: RecordFormat = .neutralContacts,
            extent: Verification.Extent = .full,
            showsKeys: Bool = false,
            mapping: ContactMapping = ContactMapping()
        ) throws {
            let migration = try Migration(
                from: .neutralContacts,
                to: format,
                targetSettings: VerificationTests.settings(of: format),
                mapping: mapping
            )
            var differences: [Verification.Difference] = []
            verification = try migration.verify(
                { ChunkedSource(source, chunk: 999) },
                against: { ChunkedSource(target, chunk: 500) },
                extent: extent,
                showsKeys: showsKeys,
                difference: { differences.append($0) }
            )
            self.differences = differences
        }

        var words: Set<String> { Set(differences.map { "\($0.kind.rawValue) \($0.field) \($0.contact)" }) }
    }

    private static func migrated(_ source: [UInt8], to format: RecordFormat) throws -> [UInt8] {
        var input = ChunkedSource(source, chunk: 4096)
        let output = MemorySink()
        _ = try Migration(from: .neutralContacts, to: format, targetSettings: ["dbId": 7, "resourceId": 3])
            .run(&input, to: output)
        return output.bytes
    }

    @Test func `finds migrated records equal in any order`() throws {
        let source = Self.file(Self.people(300))
        let run = try Run(source, against: Self.file(Self.people(300).reversed()))
        #expect((run.verification.compared, run.verification.equal, run.verification.count) == (300, 300, 0))
        let lines = try Self.migrated(source, to: .altcraftProfiles)
        #expect(try Run(source, against: lines, to: .altcraftProfiles).verification.equal == 300)
    }

    @Test func `distinguishes missing, extra, changed, absent and added`() throws {
        var target = Self.people(12)
        target.remove(at: 5)
        target[0].attributes["city"] = .string("Ii")
        target[1].attributes["points"] = nil
        target[2].tags = ["vip"]
        target[3].subscriptions = [Subscription(channel: .email, state: .subscribed)]
        let run = try Run(Self.file(Self.people(11)), against: Self.file(target), showsKeys: true)
        #expect(
            run.words == [
                "missing  p5@x.example", "extra  p11@x.example", "changed attributes.city p0@x.example",
                "absent attributes.points p1@x.example", "added tags p2@x.example",
                "changed subscriptions.email p3@x.example",
            ]
        )
        #expect(run.verification.equal == 6)
        let missing = try #require(run.differences.first { $0.kind == .missing })
        #expect((missing.records.source, missing.records.target) == (6, 0))
    }

    @Test func `reports a file that cannot be read as contacts in neutral terms`() throws {
        let source = Self.file(Self.people(4))
        let lines = String(decoding: try Self.migrated(source, to: .altcraftProfiles), as: UTF8.self)
        let changed = lines.replacing("\"_city\":\"Oulu\",\"points\":2", with: "\"_city\":\"Ii\"")
            .replacing("unsubscribed", with: "subscribed")
        let run = try Run(source, against: Array(changed.utf8), to: Self.writtenOnly, showsKeys: true)
        #expect(
            run.words == [
                "changed attributes.city p2@x.example", "absent attributes.points p2@x.example",
                "changed subscriptions p0@x.example", "changed subscriptions p3@x.example",
            ]
        )
        // If the file can be read, each channel has its own name.
        let contacts = try Run(source, against: Array(changed.utf8), to: .altcraftProfiles, showsKeys: true)
        #expect(
            contacts.words == [
                "changed attributes.city p2@x.example", "absent attributes.points p2@x.example",
                "changed subscriptions.email p0@x.example", "changed subscriptions.email p3@x.example",
            ]
        )
    }

    private static let writtenOnly = RecordFormat(
        id: "toy.written",
        title: "Lines without a reader",
        fileExtension: "ndjson",
        makeWriter: RecordFormat.altcraftProfiles.makeWriter,
        makeTargetLayout: RecordFormat.altcraftProfiles.makeTargetLayout
    )

    @Test func `expects the changes of the mapping`() throws {
        let source = Self.file(Self.people(3))
        let mapping = try ContactMapping(json: [["rename": "attributes.points", "to": "attributes.score"]])
        var input = ChunkedSource(source, chunk: 4096)
        let output = MemorySink()
        _ = try Migration(from: .neutralContacts, to: .neutralContacts, mapping: mapping).run(&input, to: output)
        #expect(try Run(source, against: output.bytes, mapping: mapping).verification.equal == 3)
        let without = try Run(source, against: source, showsKeys: true, mapping: mapping)
        #expect(without.words.contains("absent attributes.score p0@x.example"))
        #expect(without.verification.expected.mapping.map(\.applied) == [3])
    }

    @Test func `compares records with one key in their order`() throws {
        var twins = [Self.people(1)[0], Self.people(1)[0]]
        twins[1].attributes["city"] = .string("Ii")
        #expect(try Run(Self.file(twins), against: Self.file(twins)).verification.equal == 2)
        let run = try Run(Self.file(twins), against: Self.file([twins[0]]))
        #expect(run.differences.map(\.kind) == [.missing])
    }

    @Test func `expects the rejects of the migration`() throws {
        let source = Self.file(Self.people(5)) + Array("{\"oops\n".utf8)
        let run = try Run(source, against: Self.file(Self.people(5)))
        #expect(run.verification.count == 0)
        #expect(run.verification.expected.rejected == 1)
    }

    @Test func `reports an unreadable target record with its line and the reason`() throws {
        let source = Self.file(Self.people(3))
        let run = try Run(source, against: Self.file(Self.people(2)) + Array("{\"oops\n".utf8), showsKeys: true)
        #expect(run.words == ["unreadable  ", "missing  p2@x.example"])
        let broken = try #require(run.differences.first { $0.kind == .unreadable })
        #expect((broken.line, broken.records.target) == (3, 3))
        #expect(broken.findings.map(\.code) == ["neutral.json"])
        #expect((run.verification.unreadable, run.verification.count) == (1, 2))
        let lines = try Self.migrated(source, to: .altcraftProfiles) + Array("{\"oops\n".utf8)
        let written = try Run(source, against: lines, to: Self.writtenOnly)
        #expect(written.differences.map(\.kind) == [.unreadable])
        #expect(written.differences.map(\.line) == [4])
    }

    @Test func `names no person unless showsKeys is set`() throws {
        let run = try Run(Self.file(Self.people(3)), against: Self.file(Self.people(2)))
        #expect(run.differences.map(\.contact).allSatisfy { $0.hasPrefix("#") && !$0.contains("@") })
    }

    @Test func `a sample covers each kind of difference and repeats for the same seed`() throws {
        let source = Self.file(Self.people(300))
        var target = Self.people(300)
        for place in target.indices { target[place].attributes["city"] = .string("Ii") }
        func looked(_ seed: UInt64) throws -> Run {
            try Run(source, against: Self.file(target), extent: .sample(10, seed: seed), showsKeys: true)
        }
        let (one, again, other) = (try looked(1), try looked(1), try looked(2))
        #expect(one.verification.compared == 20)
        #expect(one.verification.strata["said no"]?.looked == 10)
        #expect(one.verification.strata["said no"]?.all == 100)
        #expect(one.verification.strata["whole"]?.all == 200)
        #expect(one.words == again.words)
        #expect(one.words != other.words)
    }

    @Test(arguments: [RecordFormat.neutralContacts, .altcraftProfiles])
    func `reports progress and stops when it is cancelled`(format: RecordFormat) throws {
        let source = Self.file(Self.people(300))
        let target = format.id == RecordFormat.neutralContacts.id ? source : try Self.migrated(source, to: format)
        let migration = try Migration(from: .neutralContacts, to: format, targetSettings: Self.settings(of: format))
        func seen(endsIn last: Verification.Part?) throws -> [Verification.Part: Migration.Progress] {
            var seen: [Verification.Part: Migration.Progress] = [:]
            func verify() throws {
                _ = try migration.verify(
                    { ChunkedSource(source, chunk: 999) },
                    against: { ChunkedSource(target, chunk: 500) },
                    extent: .sample(10, seed: 1),
                    progress: { seen[$0] = $1 },
                    isCancelled: { last.map { seen[$0] != nil } ?? false },
                    difference: { _ in Issue.record("a difference") }
                )
            }
            if last == nil { try verify() } else { #expect(throws: CancellationError.self) { try verify() } }
            return seen
        }
        let whole = try seen(endsIn: nil)
        #expect(whole.mapValues(\.records) == [.source: 300, .target: 300])
        #expect(whole[.source]?.bytes == source.count)
        #expect(whole[.target]?.bytes == target.count)
        for part in [Verification.Part.source, .target] {
            let ended = try seen(endsIn: part)[part]?.records ?? .max
            #expect(ended < 300)
        }
    }

    @Test(arguments: [Verification.Extent.full, .sample(40, seed: 3)])
    func `compares files of rows in any order and parses only different rows`(_ extent: Verification.Extent) throws {
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let settings: JSONObject = ["columns": ["id": "identifier:external", "city": "attribute:city"]]
        let people = (0..<40).map { number in
            var contact = Contact(identifiers: [Identifier(.external, "c-\(number)")])
            contact.attributes = ["city": .string(number % 4 == 0 ? "Ii; \"x\"" : "Oulu \(number)")]
            return contact
        }
        let source = Self.file(people)
        let migration = try Migration(from: .neutralContacts, to: adobe, targetSettings: settings)
        let output = MemorySink()
        var input = ChunkedSource(source, chunk: 4096)
        _ = try migration.run(&input, to: output)
        var rows = output.text.split(whereSeparator: \.isNewline).map(String.init)
        let (header, end) = (rows.removeFirst(), output.text.contains("\r\n") ? "\r\n" : "\n")
        rows.reverse()
        func verify(_ rows: [String], header: String) throws -> (Verification, Set<String>) {
            let file = Array(([header] + rows).map { $0 + end }.joined().utf8)
            var found: Set<String> = []
            let verification = try migration.verify(
                { ChunkedSource(source, chunk: 700) },
                against: { ChunkedSource(file, chunk: 90) },
                extent: extent,
                showsKeys: true,
                difference: { found.insert("\($0.kind.rawValue) \($0.field) \($0.contact)") }
            )
            return (verification, found)
        }
        let (whole, none) = try verify(rows, header: header)
        #expect((whole.compared, whole.equal, none) == (40, 40, []))
        let place = try #require(rows.firstIndex { $0.contains("Oulu 5") })
        let extra = rows[place].replacing("c-5", with: "c-99")
        // A second record of a contact.
        let twin = try #require(rows.first { $0.contains("Oulu 7") }).replacing("Oulu", with: "Turku")
        var changed = rows + [extra, twin, "c-5"]
        changed[place] = rows[place].replacing("Oulu", with: "Turku")
        let (part, found) = try verify(changed, header: header)
        var wanted: Set = ["changed attributes.city c-5", "extra  c-7", "unreadable  "]
        if extent == .full { wanted.insert("extra  c-99") }
        #expect(found == wanted)
        #expect((part.compared, part.equal) == (40, 39))
        // Reordered columns change the bytes but not the contacts.
        let (cut, names) = (Self.fields, header.split(separator: ";", omittingEmptySubsequences: false))
        let turned = rows.map { cut($0).reversed().joined(separator: ";") }
        let (other, nothing) = try verify(turned, header: names.reversed().joined(separator: ";"))
        #expect((other.compared, other.equal, nothing) == (40, 40, []))
    }

    /// The fields of a row, quoted ones with their quotes.
    private static func fields(_ row: String) -> [String] {
        var (fields, isQuoted) = ([""], false)
        for character in row {
            if character == "\"" { isQuoted.toggle() }
            if character == ";", !isQuoted { fields.append("") } else { fields[fields.count - 1].append(character) }
        }
        return fields
    }

    @Test(arguments: [1, 3, 50, 5000]) func `splits a file into the same records as its reader`(_ chunk: Int)
        throws
    {
        let rows = "a,b\r\n\"x\ny\",1\n\n\"\",\"p\"\"\nq\"\r\n\r\nu\"v,2\nlast,\"3\""
        let bytes = Array(rows.utf8)
        var reader = DelimitedReader(dialect: .commaSeparated)
        reader.append(bytes)
        reader.finish()
        var wanted: [String] = []
        while let row = reader.next() {
            guard case .success(let row) = row else { continue }
            wanted.append("\(row.number) \(row.line) \(String(decoding: row.bytes.withoutLineEnd, as: UTF8.self))")
        }
        var (cutter, found) = (RecordCutter(.commaSeparated, behind: Array("a,b\r\n".utf8)), [String]())
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            let isSplit = try cutter.cut(Array(bytes[start..<min(start + chunk, bytes.count)])) {
                found.append("\($0.number) \($0.line) \(String(decoding: $0.bytes, as: UTF8.self))")
            }
            #expect(isSplit)
        }
        #expect(
            try cutter.cut(nil) { found.append("\($0.number) \($0.line) \(String(decoding: $0.bytes, as: UTF8.self))") }
        )
        #expect(found == wanted && found.count == 4)
    }

    @Test func `keeps fields that do not fit into memory`() throws {
        let (small, large, names) = (
            FieldStore(keepsKeys: true, bufferSize: 64), FieldStore(keepsKeys: true), NameBook()
        )
        for number in 1...2000 {
            let fields = (0..<(number % 5)).map { ("field-\($0)", UInt64(number)) }
            for store in [small, large] {
                try store.add(.init(key: "p\(number)@x.example", fields: fields), number: number, names)
            }
        }
        var count = 0
        for share in 0..<Shares.count {
            let (spilled, kept) = (try small.entries(share), try large.entries(share))
            count += spilled.count
            #expect(spilled.map(\.text) == kept.map(\.text))
            #expect(spilled.map(\.number) == kept.map(\.number))
            #expect(spilled.flatMap { $0.fields.map(\.digest) } == kept.flatMap { $0.fields.map(\.digest) })
        }
        #expect(count == 2000)
    }
}
