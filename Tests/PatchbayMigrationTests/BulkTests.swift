import Patchbay
import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import PatchbayTesting
import Testing

@testable import PatchbayMigration

@Suite("Bulk mapping") struct BulkTests {
    /// The report and the output of a run.
    private struct Outcome: Equatable {
        var output: String
        var list: String
        var replay: String
        var report: String
        var evidence = ""
        /// The number, bytes and traits of each record that was written.
        var followed: [String] = []

        init(
            _ bytes: [UInt8],
            _ target: JSONObject,
            _ types: [AttributeName: AttributeType] = [:],
            from source: RecordFormat = .neutralContacts,
            _ sourceSettings: JSONObject = [:],
            to format: RecordFormat = .altcraftProfiles,
            mapping: ContactMapping = ContactMapping(),
            hasEvidence: Bool = false,
            chunk: Int,
            workers: Int
        ) throws {
            let (written, list, replay, evidence) = (MemorySink(), MemorySink(), MemorySink(), MemorySink())
            var input = ChunkedSource(bytes, chunk: chunk)
            let migration = try Migration(
                from: source,
                to: format,
                sourceSettings: sourceSettings,
                targetSettings: target,
                catalogue: AttributeCatalogue(types.mapValues { AttributeCatalogue.Entry(type: $0) }),
                mapping: mapping
            )
            let rejects = Rejects(list: list, replay: replay)
            var company = Migration.Company()
            var followed: [String] = []
            if hasEvidence {
                company.evidence = Migration.Evidence(to: evidence, salt: "s")
                company.follower = { number, bytes, traits in
                    followed.append("\(number) \(traits.rawValue) \(String(decoding: bytes, as: UTF8.self))")
                }
            }
            let report = try migration.path(workers).run(
                &input,
                to: written,
                rejects,
                workers,
                company,
                { _ in },
                { false }
            )
            (output, self.list, self.replay) = (written.text, list.text, replay.text)
            self.report = report.json.withoutPath.text
            (self.evidence, self.followed) = (evidence.text, followed)
        }

        /// Returns the first line that differs in another run.
        func difference(from other: Outcome) -> String {
            let parts = [
                (output, other.output), (list, other.list), (report, other.report), (evidence, other.evidence),
                (followed.joined(separator: "\n"), other.followed.joined(separator: "\n")),
            ]
            for (one, two) in parts where one != two {
                let lines = zip(one.split(separator: "\n"), two.split(separator: "\n"))
                return lines.first { $0 != $1 }.map { "\($0)\nbeside\n\($1)" } ?? "more or fewer lines"
            }
            return "replay"
        }
    }

    static let settings: [JSONObject] = [
        ["dbId": 7, "resourceId": 31, "tagsField": "labels", "identifierFields": fields],
        [
            "dbId": 7, "matching": "custom", "resources": ["weekly_offers": "32"],
            "identifierFields": fields, "genderForm": "word",
        ],
        ["dbId": 1, "matching": "phone", "resourceId": 2],
        [
            "dbId": 1, "matching": "email_profile",
            "fieldNames": ["city": "_fname", "visits": "_status", "total": "_tz"],
        ],
        ["dbId": 1, "matching": "custom", "matchingIdentifier": "email", "identifierFields": ["email": "mail"]],
        ["dbId": 1, "matching": "custom", "identifierFields": ["email": "email"]],
    ]
    private static let fields: JSONValue = ["external": "customer_number", "email": "email", "phone": "phones"]
    static let types: [AttributeName: AttributeType] = [
        "birth_date": .date, "visits": .decimal, "city": .string, "postal_code": .string, "interests": .choices,
        "country": .country, "total": .string, "last_visit": .timestamp,
    ]

    @Test(arguments: Array(settings.enumerated())) func `writes the same bytes, findings and rejects on both paths`(
        _ place: Int,
        _ settings: JSONObject
    ) throws {
        for round in 0..<2 {
            var generator = RandomContacts(seed: UInt64(place * 100 + round), mutated: round % 2 == 0 ? 20 : 0)
            let bytes = generator.file(40)
            let types = round == 0 ? [:] : Self.types
            let general = try Outcome(bytes, settings, types, chunk: 1 << 20, workers: 0)
            for (chunk, workers) in [(1 + place * 100, 1), (700, 3)] {
                let bulk = try Outcome(bytes, settings, types, chunk: chunk, workers: workers)
                #expect(bulk == general, "settings \(place), round \(round), chunks of \(chunk), \(workers) workers")
            }
        }
    }

    @Test(arguments: 0..<8) func `reads quoted rows alike on both paths`(_ round: Int) throws {
        let source = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        var generator = RandomRows(seed: UInt64(round), mutated: round % 2 == 0 ? 20 : 0)
        let (bytes, rowSettings) = generator.file(50)
        let target = Self.settings[round % 2]
        let general = try Outcome(bytes, target, from: source, rowSettings, chunk: 1 << 20, workers: 0)
        // A chunk must hold the header and a row, or the general path is taken; the smaller chunks end inside quotes.
        for (chunk, workers) in [(1 << 20, 1), (400 + round * 37, 1), (700, 3)] {
            let bulk = try Outcome(bytes, target, from: source, rowSettings, chunk: chunk, workers: workers)
            #expect(bulk == general, "round \(round), chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(arguments: ConversionTests.End.all, [false, true])
    func `writes the same files for every vendor on both paths, with and without a mapping`(
        _ end: ConversionTests.End,
        _ isMapped: Bool
    )
        throws
    {
        let format = end.files.formats[0]
        let mapping = try ContactMapping(
            json: isMapped
                ? [
                    ["rename": "attributes.city", "to": "attributes.town"], ["remove": "tags"],
                    ["map": "attributes.gender", "values": ["female": "f"], "otherwise": "reject"],
                ] : []
        )
        var generator = RandomContacts(seed: isMapped ? 5 : 6, mutated: 15)
        let bytes = generator.file(30)
        let general = try Outcome(bytes, end.full, to: format, mapping: mapping, chunk: 1 << 20, workers: 0)
        #expect(general.output.count > 100 && general.list.isEmpty == false)
        for (chunk, workers) in [(1 << 20, 1), (700, 3)] {
            let bulk = try Outcome(bytes, end.full, to: format, mapping: mapping, chunk: chunk, workers: workers)
            #expect(bulk == general, "chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(arguments: ConversionTests.End.all, Rounds.of(1))
    func `writes the same evidence and comparison records on both paths`(
        _ end: ConversionTests.End,
        _ round: Int
    ) throws {
        var (rules, generator) = (
            RandomMapping(seed: UInt64(round + 60)), RandomContacts(seed: UInt64(round + 60), mutated: 5)
        )
        let mapping = try round % 2 == 0 ? ContactMapping() : rules.mapping()
        let targets = [
            (end.files.formats[0], end.full), (.neutralContacts, [:]), (.altcraftProfiles, Self.settings[round % 2]),
        ]
        for (format, settings) in targets {
            let bytes = generator.file(40)
            func outcome(_ chunk: Int, _ workers: Int) throws -> Outcome {
                try Outcome(
                    bytes,
                    settings,
                    to: format,
                    mapping: mapping,
                    hasEvidence: true,
                    chunk: chunk,
                    workers: workers
                )
            }
            let general = try compare(format, outcome)
            #expect(general.evidence.contains("salt") && !general.followed.isEmpty)
        }
    }

    @Test(arguments: ConversionTests.End.all, Rounds.of(1))
    func `lowers opt-ins after opt-outs alike on both paths, with evidence`(
        _ end: ConversionTests.End,
        _ round: Int
    ) throws {
        let bytes = Array(
            EarlierOptOutsTests.changedDecisions(UInt64(round + 1), count: 150).joined(separator: "\n").utf8
        )
        let altcraft: JSONObject = ["dbId": 7, "matching": "email", "resourceId": 31, "resources": ["news": "32"]]
        let targets = [
            (end.files.formats[0], end.full), (.neutralContacts, [:]), (.altcraftProfiles, altcraft),
        ]
        for (format, settings) in targets {
            _ = try compare(format) { chunk, workers in
                try Outcome(bytes, settings, to: format, hasEvidence: true, chunk: chunk, workers: workers)
            }
        }
        var source = ChunkedSource(bytes, chunk: 1 << 20)
        let report = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: altcraft)
            .run(&source, to: MemorySink(), workers: 1)
        #expect(report.leftBulkPath.isEmpty && report.findings[EarlierOptOuts.heeded.code]?.count ?? 0 > 10)
    }

    @Test(arguments: Rounds.of(3)) func `reads rows in single-byte encodings alike on both paths`(_ round: Int) throws {
        let acoustic = try #require(VendorFiles.acoustic.formats.first)
        var random = SeededGenerator(seed: UInt64(round))
        let texts = [
            "Aino", "P\u{E4}ivi", "Fran\u{E7}ois", "\u{C3}\u{A4}", "\u{80}", "\u{F1}\u{B0}x", "a\u{A0}", "\u{FF}\u{FE}",
        ]
        var text = "Email,City,Gr\u{F6}\u{DF}e\n"
        for number in 0..<150 {
            let email = random.below(20) == 0 ? "none" : "p\(number)@x.example"
            let fields = (0..<2).map { _ in
                let field = random.pick(texts) + (random.below(3) == 0 ? random.pick(texts) : "")
                return random.below(4) == 0 ? "\"\(field)\n\"\"\(field)\"\"\"" : field
            }
            text += "\(email),\(fields.joined(separator: ","))\n"
        }
        let bytes = text.unicodeScalars.map { UInt8($0.value) }
        let settings: JSONObject = ["encoding": "iso-8859-1", "delimiter": "comma", "key": "email"]
        let targets: [(RecordFormat, JSONObject)] = [(.neutralContacts, [:]), (.altcraftProfiles, Self.settings[4])]
        for (format, target) in targets {
            func outcome(_ chunk: Int, _ workers: Int) throws -> Outcome {
                try Outcome(
                    bytes,
                    target,
                    from: acoustic,
                    settings,
                    to: format,
                    hasEvidence: true,
                    chunk: chunk,
                    workers: workers
                )
            }
            let general = try compare(format, outcome)
            #expect(general.followed.count > 100)
        }
        var source = ChunkedSource(bytes, chunk: 1 << 20)
        let migration = try Migration(from: acoustic, to: .neutralContacts, sourceSettings: settings)
        let report = try migration.run(&source, to: MemorySink(), workers: 1)
        #expect(report.leftBulkPath.values.reduce(0, +) < report.read)
        #expect(report.bytesRead == bytes.count)
        // A verification starts at any position of the source, in bytes.
        var places: [Checkpoints.Place] = []
        let whole = MemorySink()
        source = ChunkedSource(bytes, chunk: 700)
        let checkpoints = Checkpoints(isDue: { true }, save: { places.append($0) })
        _ = try migration.run(&source, to: whole, workers: 1, checkpoints: checkpoints)
        #expect(places.contains { $0.offset > 1000 } && places.allSatisfy(\.isExact))
        for place in places {
            let rest = MemorySink()
            source = ChunkedSource(Array(bytes[place.offset...]), chunk: 700)
            let begin = Checkpoints.Resumption(at: place, head: bytes)
            let resumed = try migration.run(
                &source,
                to: rest,
                workers: 1,
                checkpoints: Checkpoints(resumption: begin, isDue: { false }, save: { _ in })
            )
            #expect(whole.text.hasSuffix(rest.text) && resumed.bytesRead == bytes.count)
            #expect((resumed.read, resumed.bytesWritten) == (report.read, report.bytesWritten))
        }
    }

    @Test(arguments: 0..<4) func `writes files in single-byte encodings alike on both paths`(_ round: Int) throws {
        let acoustic = try #require(VendorFiles.acoustic.formats.first)
        var random = SeededGenerator(seed: UInt64(round))
        let texts = [
            "Aino", "P\u{E4}ivi", "\u{FF}\u{80}", "\u{141}ukasz", "a\u{308}", "\u{1F600}", "x,\"y\"", "\u{A0}z",
        ]
        let lines = (0..<80).map { number -> String in
            let values = (0..<2).map { _ in JSONValue.string(random.pick(texts) + random.pick(texts)).text }
            return #"{"identifiers":[{"kind":"email","value":"p\#(number)@x.example"}],"#
                + #""attributes":{"city":\#(values[0]),"tier":\#(values[1])},"#
                + #""subscriptions":[{"channel":"email","state":"subscribed"}]}"#
        }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let settings: JSONObject = [
            "listId": "1", "encoding": "iso-8859-1", "key": "email", "delimiter": round % 2 == 0 ? "comma" : "tab",
            "withoutOptIn": "warn", "columns": ["City": "attribute:city", "Tier": "attribute:tier"],
        ]
        let general = try compare(acoustic) { chunk, workers in
            try Outcome(bytes, settings, to: acoustic, hasEvidence: true, chunk: chunk, workers: workers)
        }
        #expect(general.followed.count == 80)
        var source = ChunkedSource(bytes, chunk: 1 << 20)
        let report = try Migration(from: .neutralContacts, to: acoustic, targetSettings: settings)
            .run(&source, to: MemorySink(), workers: 1)
        #expect(report.leftBulkPath.values.reduce(0, +) < 80)
    }

    @Test(arguments: 0..<4) func `reads files without a header alike on both paths`(_ round: Int) throws {
        let acoustic = try #require(VendorFiles.acoustic.formats.first)
        var random = SeededGenerator(seed: UInt64(round))
        var settings: JSONObject = ["header": ["Email", "Own City", "Opted Out"], "delimiter": "comma"]
        // Each row opts out regardless of its fields.
        if round == 2 { settings["action"] = "OPT_OUT" }
        var text = round == 3 ? "Email,Own City,Opted Out\n" : ""
        for number in 0..<120 {
            let city = random.pick(["Oulu", "\"Ii, \"\"x\"\"\nb\"", "J\u{E4}ms\u{E4}", ""])
            let email = random.below(15) == 0 ? "none" : "p\(number)@x.example"
            text += "\(email),\(city),\(random.pick(["T", "F", ""]))\n"
        }
        let bytes = Array(text.utf8)
        let general = try compare(.neutralContacts) { chunk, workers in
            try Outcome(
                bytes,
                [:],
                from: acoustic,
                settings,
                to: .neutralContacts,
                hasEvidence: true,
                chunk: chunk,
                workers: workers
            )
        }
        #expect(general.followed.count > 60)
        var source = ChunkedSource(bytes, chunk: 1 << 20)
        let report = try Migration(from: acoustic, to: .neutralContacts, sourceSettings: settings)
            .run(&source, to: MemorySink(), workers: 1)
        #expect(report.leftBulkPath.values.reduce(0, +) < report.read - 30)
    }

    /// Runs both paths, the bulk path with two sizes of chunks, and expects equal outcomes.
    ///
    /// - Parameters:
    ///   - format: The target format, for messages.
    ///   - outcome: Makes the outcome for a size of chunks and a number of workers; 0 workers take the general path.
    /// - Returns: The outcome of the general path.
    /// - Throws: What a run throws.
    private func compare(_ format: RecordFormat, _ outcome: (_ chunk: Int, _ workers: Int) throws -> Outcome) throws
        -> Outcome
    {
        let general = try outcome(1 << 20, 0)
        for (chunk, workers) in [(1 << 20, 1), (900, 2)] {
            let bulk = try outcome(chunk, workers)
            #expect(bulk == general, "\(format.id): \(bulk.difference(from: general))")
        }
        return general
    }

    /// Replacements in the lines of profiles, each with the original text.
    private static let profileChanges: [(old: String, new: String)] = [
        (#""status":"subscribed""#, #""status":"Subscribed""#), (#""status":"unsubscribed""#, #""status":"none""#),
        (#"{"channel":"#, #"{"is_delete":true,"channel":"#),
        (#"{"channel":"#, #"{"id":7,"is_delete":false,"channel":"#),
        (#"{"channel":"#, #"{"custom_fields":{"hour":8},"channel":"#), (#""_sex":1"#, #""_sex":3"#),
        (#""resource_id":31"#, #""resource_id":"31""#), (#""resource_id":31"#, #""resource_id":99"#),
        (#""data":{"#, #""data":{"note":null,"total":4.50,"x":{"a":1},"#),
        (#""data":{"#, #""data":{"score":12,"_sex":"male","#),
        (#""data":{"#, #""data":{"phones":["+358401234567","+358401234568"],"#), (#""email":""#, #""email":" "#),
        (#""_country":""#, #""_country":"f"#), (#""_bdate":""#, #""_bdate":"x"#), (#""_tz":""#, #""_tz":"\u00e4"#),
        (#"{"db_id":7,"#, "{"), (#""matching":"custom","#, ""), (",", " , "), (#""labels":["#, #""labels":["z","#),
    ]

    @Test(arguments: Rounds.of(3)) func `reads Altcraft profiles alike on both paths`(_ round: Int) throws {
        var (generator, random) = (
            RandomContacts(seed: UInt64(round + 300), mutated: 0), SeededGenerator(seed: UInt64(round))
        )
        var settings = Self.settings[round % 2]
        let written = try Outcome(generator.file(600), settings, chunk: 1 << 20, workers: 1).output
        var lines = written.split(separator: "\n").map(String.init)
        #expect(lines.count > 20)
        for index in lines.indices {
            if random.below(3) == 0 {
                lines[index] = try JSONValue(parsing: lines[index])["data"]?.text ?? ""
            }
            guard random.below(2) == 0 else { continue }
            let change = random.pick(Self.profileChanges)
            lines[index] = lines[index].replacing(change.old, with: change.new, maxReplacements: 1)
            if random.below(4) == 0, !lines[index].isEmpty {
                let place = lines[index].index(lines[index].startIndex, offsetBy: random.below(lines[index].count))
                lines[index].insert(random.pick(["\"", "{", "0", " ", "}", "\\", "\u{1}"]), at: place)
            }
        }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        if round % 3 == 0 { settings["types"] = ["visits": "string", "interests": "choices", "own_1": "integer"] }
        let (end, full) = Self.rowTargets[round % Self.rowTargets.count]
        let targets = [(.neutralContacts, [:]), (.altcraftProfiles, Self.settings[0]), (end.files.formats[0], full)]
        for (format, target) in targets {
            func outcome(_ chunk: Int, _ workers: Int) throws -> Outcome {
                try Outcome(
                    bytes,
                    target,
                    from: .altcraftProfiles,
                    settings,
                    to: format,
                    hasEvidence: true,
                    chunk: chunk,
                    workers: workers
                )
            }
            _ = try compare(format, outcome)
        }
    }

    @Test func `keeps plain profiles on the bulk path`() throws {
        let lines = [
            #"{"db_id":7,"matching":"email","email":"a@b.example","data":{"email":"a@b.example","phones":["+358401234567"],"#
                + #""_fname":"Aino","_bdate":"1990-04-01","_country":"FI","_sex":2,"_tz":"Europe/Helsinki","score":12,"#
                + #""labels":["vip"],"subscriptions":[{"channel":"email","resource_id":31,"email":"a@b.example","#
                + #""status":"suspended"},{"channel":"push","resource_id":31,"provider":"ios-apns","#
                + #""subscription_id":"ab12","status":"subscribed"}]}}"#,
            #"{"email":"c@b.example","_fname":"P\u00e4ivi","score":null}"#,
        ]
        var source = ChunkedSource(Array(lines.joined(separator: "\n").utf8), chunk: 1 << 20)
        let migration = try Migration(
            from: .altcraftProfiles,
            to: .neutralContacts,
            sourceSettings: ["dbId": 7, "resourceId": 31, "tagsField": "labels"]
        )
        let report = try migration.run(&source, to: MemorySink(), workers: 1)
        #expect((report.written, report.leftBulkPath) == (2, [:]))
    }

    @Test(arguments: Rounds.of(6)) func `applies and counts mapping rules alike on both paths`(
        _ round: Int
    ) throws {
        var rules = RandomMapping(seed: UInt64(round))
        var contacts = RandomContacts(seed: UInt64(round + 500), mutated: round % 3 == 0 ? 10 : 0)
        let (end, settings) = Self.rowTargets[round % Self.rowTargets.count]
        let targets = [(.altcraftProfiles, Self.settings[round % 2]), (end.files.formats[0], settings)]
        for (format, settings) in targets {
            let (bytes, mapping) = (contacts.file(40), try rules.mapping())
            let types = round % 4 == 0 ? Self.types : [:]
            let general = try Outcome(bytes, settings, types, to: format, mapping: mapping, chunk: 1 << 20, workers: 0)
            for (chunk, workers) in [(1 << 20, 1), (900, 2)] {
                let bulk = try Outcome(
                    bytes,
                    settings,
                    types,
                    to: format,
                    mapping: mapping,
                    chunk: chunk,
                    workers: workers
                )
                #expect(bulk == general, "\(mapping.rules), chunks of \(chunk), \(workers) workers")
            }
        }
    }

    @Test func `joins no list and keeps texts with different scalars apart on both paths`() throws {
        let mapping = try ContactMapping(json: [
            ["join": ["attributes.city", "attributes.labels"], "to": "attributes.name"],
            ["map": "attributes.town", "values": ["\u{E9}": "composed", "e\u{301}": "parted"]],
        ])
        let line = #"{"identifiers":[{"kind":"email","value":"a@b.example"}],"attributes":{"city":"x","#
        let ends = [#""labels":["a"]}}"#, "\"town\":\"\u{E9}\"}}", "\"town\":\"e\u{301}\"}}"]
        // The bulk path learns names from the first records.
        let bytes = Array(repeatElement(ends.map { line + $0 + "\n" }.joined(), count: 8).joined().utf8)
        let settings: JSONObject = ["dbId": 1, "matching": "custom", "matchingIdentifier": "email"]
        for workers in [0, 1] {
            let said = try Outcome(bytes, settings, mapping: mapping, chunk: 1 << 20, workers: workers)
            let towns = said.output.split(separator: "\n").map { $0.contains("composed") ? "composed" : "parted" }
            #expect(towns == (0..<16).map { $0 % 2 == 0 ? "composed" : "parted" })
            #expect(said.report.contains("mapping.value.noText") && !said.output.contains("labels"))
        }
    }

    @Test(arguments: 0..<8) func `applies mapping rules to rows alike on both paths`(_ round: Int) throws {
        let source = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        var (rules, generator) = (
            RandomMapping(seed: UInt64(round + 900)), RandomRows(seed: UInt64(round + 90), mutated: 5)
        )
        let (bytes, reading) = generator.file(40)
        let (end, settings) = Self.rowTargets[(round * 5 + 1) % Self.rowTargets.count]
        let mapping = try rules.mapping()
        for (format, settings) in [(.altcraftProfiles, Self.settings[round % 2]), (end.files.formats[0], settings)] {
            func outcome(_ chunk: Int, _ workers: Int) throws -> Outcome {
                try Outcome(
                    bytes,
                    settings,
                    from: source,
                    reading,
                    to: format,
                    mapping: mapping,
                    chunk: chunk,
                    workers: workers
                )
            }
            let general = try outcome(1 << 20, 0)
            #expect(try outcome(1 << 20, 1) == general, "\(mapping.rules)")
            #expect(try outcome(900, 2) == general, "\(mapping.rules), chunks of 900")
        }
    }

    private static let longName = String(repeating: "k", count: 32)

    @Test(arguments: [
        // A topic and an identifier kind whose names are too long for the bulk path's tables.
        #"{"identifiers":[{"kind":"external","value":"c1"},{"kind":"email","value":"a@b.example"}],"subscriptions":"#
            + #"[{"channel":"email","topic":"\#(longName)","state":"unsubscribed"}]}"#,
        #"{"identifiers":[{"kind":"external","value":"c1"},{"kind":"\#(longName)","value":"7"}]}"#,
        // A slash with a combining mark.
        "{\"identifiers\":[{\"kind\":\"external\",\"value\":\"c1\"}],\"timeZone\":\"Eu/\u{301}x\"}",
    ])
    func `handles over-long names and combining marks alike on both paths`(_ line: String) throws {
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let columns: JSONObject = [
            "columns": [
                "a": .string("subscription:email/\(Self.longName)"), "b": .string("identifier:\(Self.longName)"),
                "c": "timeZone",
            ], "lostOptOuts": "warn",
        ]
        let resources: JSONObject = ["dbId": 1, "resourceId": 4, "resources": .object([Self.longName: "5"])]
        for (format, settings) in [(adobe, columns), (.altcraftProfiles, resources)] {
            let general = try Outcome(Array(line.utf8), settings, to: format, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(Array(line.utf8), settings, to: format, chunk: 1 << 20, workers: 1)
            #expect(bulk == general)
        }
        let said = try Outcome(Array(line.utf8), columns, to: adobe, chunk: 1 << 20, workers: 1).output
        #expect(["unsubscribed", ";7;", "Eu/\u{301}x"].contains { said.contains($0) })
    }

    @Test(arguments: [
        #"{"channel":"phone","state":"unsubscribed"}"#, #"{"channel":"fax","state":"suspended"}"#,
        #"{"channel":"phone","topic":"calls","state":"unsubscribed"}"#, #"{"channel":"in_app","state":"unsubscribed"}"#,
        #"{"channel":"postal_mail","state":"subscribed"}"#, #"{"channel":"email","state":"unsubscribed"}"#,
    ])
    func `handles a channel that only a column names alike on both paths`(_ wish: String) throws {
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let consents = [
            "", #"{"purpose":"messaging","state":"denied"}"#,
            #"{"purpose":"messaging","channel":"phone","state":"denied"}"#,
            #"{"purpose":"messaging","channel":"email","state":"denied"}"#, #"{"purpose":"sale","state":"denied"}"#,
            #"{"purpose":"sale","channel":"email","state":"denied"}"#, #"{"purpose":"tracking","state":"denied"}"#,
            #"{"purpose":"messaging","state":"granted"}"#, #"{"purpose":"own","state":"granted"}"#,
        ]
        let lines = consents.enumerated().map { number, consent in
            #"{"identifiers":[{"kind":"external","value":"c\#(number)"}],"subscriptions":[\#(wish)],"consents":[\#(consent)]}"#
                + "\n"
        }
        // Without a column for all channels, a denial is written to the column of each channel.
        for settings in [[:], ["columns": ["blackList": "ignored"]], ["lostOptOuts": "warn"]] as [JSONObject] {
            let general = try Outcome(Array(lines.joined().utf8), settings, to: adobe, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(Array(lines.joined().utf8), settings, to: adobe, chunk: 1 << 20, workers: 1)
            #expect(bulk == general)
        }
    }

    @Test func `handles contacts without the key identifier alike on both paths`() throws {
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let people = [
            #"{"identifiers":[{"kind":"external","value":"c1"},{"kind":"email","value":"a@b.example"}]}"#,
            #"{"identifiers":[{"kind":"email","value":"c@b.example"}]}"#,
            #"{"identifiers":[{"kind":"phone","value":"+358401234567"}]}"#,
            #"{"identifiers":[{"kind":"email","value":"no address"}]}"#,
        ]
        let bytes = Array(people.map { $0 + "\n" }.joined().utf8)
        let all: [(JSONObject, written: Int)] = [
            ([:], 2), (["key": "external"], 1), (["key": "email"], 2), (["columns": ["externalId": "ignored"]], 2),
        ]
        for (settings, written) in all {
            let general = try Outcome(bytes, settings, to: adobe, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(bytes, settings, to: adobe, chunk: 1 << 20, workers: 1)
            #expect(bulk == general)
            #expect(general.report.contains("\"written\":\(written),"), "\(general.report)")
        }
        for export in [
            "externalId;email;firstName\nc1;;\n;a@b.example;\n;;A\n;;\n", "email;firstName\na@b.example;A\n;B\n",
        ] {
            let (general, bulk) = (
                try Outcome(Array(export.utf8), [:], from: adobe, to: .neutralContacts, chunk: 1 << 20, workers: 0),
                try Outcome(Array(export.utf8), [:], from: adobe, to: .neutralContacts, chunk: 1 << 20, workers: 1)
            )
            #expect(bulk == general)
            #expect(general.report.contains("\"adobe.row.keyBlank\""))
        }
    }

    @Test(arguments: ["c2,Eu/\u{301}x,c,", "c2,,\u{20}\u{301}x,", "c2,,\u{20}\u{301},", "c2,,c,0000-01-01"])
    func `handles combining marks and the year 0000 in rows alike on both paths`(_ row: String) throws {
        let source = try #require(VendorFiles.des.formats.first)
        let reading: JSONObject = [
            "key": "external",
            "columns": ["Zone": "timeZone", "City": "attribute:city", "Born": "attribute:birth_date"],
            "types": ["birth_date": "date"],
        ]
        let bytes = Array("externalId,Zone,City,Born\nc1,,c,\n\(row)\n".utf8)
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let writing: JSONObject = ["columns": ["tz": "timeZone", "cc": "attribute:city"]]
        let general = try Outcome(bytes, writing, from: source, reading, to: adobe, chunk: 1 << 20, workers: 0)
        let bulk = try Outcome(bytes, writing, from: source, reading, to: adobe, chunk: 1 << 20, workers: 1)
        #expect(bulk == general)
        #expect(general.output.contains("c2"))
    }

    @Test(arguments: [
        ("externalId,City", "des.row.headerAgain", 1), ("\"externalId\", City ", "des.row.headerAgain", 1),
        ("EXTERNAL_ID,city", "des.row.headerAgain", 1), ("\u{FEFF}externalId,City", "des.row.headerAgain", 1),
        ("\u{FEFF}\"external id\",\"City\"", "des.row.headerAgain", 1), ("external-idea,City", "", 2),
        ("\u{FEFF}c2,Oulu", "des.row.unreadable", 1), ("\u{FEFF}\"c2\",Oulu", "des.row.unreadable", 1),
        ("\u{FF21}c2,Oulu", "", 2), ("external,City", "", 2), ("Ext\u{E9}rnalId,City", "", 2),
        ("externalId,Oulu", "", 2), ("c2,\"\(String(repeating: "a\n", count: 100))\"", "des.row.manyLines", 2),
        ("c2,\"\(String(repeating: "a\n", count: 99))\"", "", 2),
    ])
    func `handles a repeated header and a row of many lines alike on both paths`(
        _ row: String,
        _ code: String,
        _ written: Int
    ) throws {
        let source = try #require(VendorFiles.des.formats.first)
        let reading: JSONObject = ["key": "external", "columns": ["City": "attribute:city"]]
        let bytes = Array("externalId,City\nc1,c\n\(row)\n".utf8)
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let writing: JSONObject = ["columns": ["cc": "attribute:city"]]
        let general = try Outcome(bytes, writing, from: source, reading, to: adobe, chunk: 1 << 20, workers: 0)
        let bulk = try Outcome(bytes, writing, from: source, reading, to: adobe, chunk: 1 << 20, workers: 1)
        #expect(bulk == general)
        #expect(general.report.contains("\"written\":\(written),"))
        #expect(code.isEmpty || general.report.contains(code))
    }

    @Test(arguments: [
        ("k\nc1\n\u{FEFF}c2\nk\nc3,x\n", "\"written\":1,\"writtenWithFindings\":0,\"rejected\":3"),
        ("x\nc1\n", "file.columnMissing"), ("[\n{\"k\": 1}\n]\n", "JSON"), ("{\n\"k\":\n\"c1\"\n}\n", "JSON"),
        ("\n[\nc1\n", "file.columnMissing"),
    ])
    func `handles a short header alike on both paths`(_ text: String, _ expectedText: String) throws {
        let source = try #require(VendorFiles.des.formats.first)
        let reading: JSONObject = ["columns": ["k": "identifier:external"]]
        let adobe = try #require(VendorFiles.adobe.formats.first)
        func said(_ workers: Int) throws -> String {
            do {
                let writing: JSONObject = ["columns": ["id": "identifier:external"]]
                let outcome = try Outcome(
                    Array(text.utf8),
                    writing,
                    from: source,
                    reading,
                    to: adobe,
                    chunk: 1 << 20,
                    workers: workers
                )
                return outcome.output + outcome.list + outcome.report
            } catch let refusal as Migration.Failure {
                return refusal.description
            }
        }
        let general = try said(0)
        #expect(try said(1) == general)
        #expect(general.contains(expectedText))
    }

    @Test func `reads every form of time and timestamp in rows alike on both paths`() throws {
        let source = try #require(VendorFiles.acoustic.formats.first)
        let reading: JSONObject = [
            "columns": ["At": "attribute:at", "Seen": "attribute:seen"],
            "types": ["at": "time", "seen": "timestamp"],
        ]
        let times = ["13:05", "13:05:00", "13:05:30", "1:05:00", "1:05:00 PM", "01:05 PM", "13:05 PM", "25:00", ""]
        let instants = ["2031-03-09T13:05:00Z", "03/09/2031 13:05:00 GMT", "03/09/2031 1:05:00 PM", "soon", ""]
        let rows = times.flatMap { time in instants.map { "\(time)|\($0)" } }.enumerated().map {
            "c-\($0)|a\($0)@mail.example|\($1)\n"
        }
        let bytes = Array(("CustomerId|Email|At|Seen\n" + rows.joined()).utf8)
        let adobe = try #require(VendorFiles.adobe.formats.first)
        let writing: JSONObject = ["columns": ["at": "attribute:at", "seen": "attribute:seen"]]
        for (format, settings) in [(adobe, writing), (.altcraftProfiles, Self.settings[0])] {
            let general = try Outcome(bytes, settings, from: source, reading, to: format, chunk: 1 << 20, workers: 0)
            for (chunk, workers) in [(1 << 20, 1), (300, 3)] {
                let bulk = try Outcome(
                    bytes,
                    settings,
                    from: source,
                    reading,
                    to: format,
                    chunk: chunk,
                    workers: workers
                )
                #expect(bulk == general, "chunks of \(chunk), \(workers) workers")
            }
            // Two times and one timestamp are invalid. The values are omitted and the rows are kept.
            #expect(general.report.contains("\"written\":45,"))
            #expect(general.report.contains("acoustic.row.seconds"))
        }
    }

    @Test(arguments: 0..<4) func `converts rows to rows alike on both paths`(_ round: Int) throws {
        let source = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        var generator = RandomRows(seed: UInt64(round + 60), mutated: round % 2 == 0 ? 20 : 0)
        let (bytes, rowSettings) = generator.file(50)
        let (end, settings) = Self.rowTargets[(round * 7 + 3) % Self.rowTargets.count]
        let format = end.files.formats[0]
        let general = try Outcome(bytes, settings, from: source, rowSettings, to: format, chunk: 1 << 20, workers: 0)
        for (chunk, workers) in [(1 << 20, 1), (700, 3)] {
            let bulk = try Outcome(
                bytes,
                settings,
                from: source,
                rowSettings,
                to: format,
                chunk: chunk,
                workers: workers
            )
            #expect(bulk == general, "round \(round), chunks of \(chunk), \(workers) workers")
        }
    }

    /// Vendors whose target is rows of a contact file, with settings for several variants.
    private static let rowTargets: [(ConversionTests.End, JSONObject)] = ConversionTests.End.all
        .filter { $0.files.id.rawValue != "altcraft" }
        .flatMap { end in
            let variants: [JSONObject] = [
                [:], ["quoted": true, "lostOptOuts": "warn"],
                ["quoted": false, "delimiter": "tab", "lostOptOuts": "warn"],
            ]
            return [end.needed, end.full].flatMap { base in
                variants.map { variant in (end, JSONObject((Array(base) + Array(variant)).map { ($0.name, $0.value) }))
                }
            }
        }

    @Test(arguments: Array(rowTargets.enumerated()), Rounds.of(1))
    func `writes the same rows on both paths`(
        _ target: (offset: Int, element: (ConversionTests.End, JSONObject)),
        _ round: Int
    ) throws {
        let (end, settings) = target.element
        let format = end.files.formats[0]
        let kind = (target.offset + round) % 3
        var generator = RandomContacts(seed: UInt64(round * 7 + 40 + kind), mutated: kind == 0 ? 0 : 10)
        let types = kind == 2 ? Self.types : [:]
        let bytes = generator.file(25)
        let general = try Outcome(bytes, settings, types, to: format, chunk: 1 << 20, workers: 0)
        for (chunk, workers) in [(1 << 20, 1), (900, 2)] {
            let bulk = try Outcome(bytes, settings, types, to: format, chunk: chunk, workers: workers)
            #expect(bulk == general, "chunks of \(chunk), \(workers) workers")
        }
    }

    @Test(
        arguments: [[:], ["withoutOptIn": "warn"], ["action": "UPDATE_ONLY"], ["key": "email"]] as [JSONObject],
        0..<3
    )
    func `handles contacts without an opt-in or a key alike on both paths`(_ changes: JSONObject, _ round: Int) throws {
        let acoustic = VendorFiles.acoustic.formats[0]
        var generator = RandomContacts(seed: UInt64(round + 300), mutated: round == 0 ? 0 : 10)
        let wishes = Subscription.State.allCases.map { [Subscription(channel: .email, state: $0)] } + [[]]
        let people = (0..<4).flatMap { place in
            wishes.map { wishes in
                let kinds: [IdentifierKind] = [[.external, .email], [.email], [.external], [.phone]][place]
                let values: [IdentifierKind: String] = [.external: "c-1", .email: "a@b.example", .phone: "358401234"]
                let granted = Consent(purpose: .messaging, state: place == 1 ? .granted : .unknown)
                return Contact(
                    identifiers: kinds.map { Identifier($0, values[$0] ?? "") },
                    subscriptions: wishes,
                    consents: [granted]
                )
            }
        }
        let bytes = people.flatMap { $0.jsonBytes + [0x0A] } + generator.file(40)
        let settings = JSONObject([("listId", "7")] + Array(changes).map { ($0.name, $0.value) })
        let general = try Outcome(bytes, settings, to: acoustic, chunk: 1 << 20, workers: 0)
        for (chunk, workers) in [(1 << 20, 1), (900, 2)] {
            #expect(try Outcome(bytes, settings, to: acoustic, chunk: chunk, workers: workers) == general)
        }
        #expect(general.report.contains("acoustic.record.withoutOptIn") == (changes.isEmpty || changes["key"] != nil))
        #expect(general.report.contains("acoustic.record.writtenWithoutOptIn") == (changes["withoutOptIn"] != nil))
        #expect(
            general.report.contains("acoustic.record.keyOther") == (changes["key"] == nil && changes["action"] == nil)
        )
    }

    @Test(arguments: ["reject", "warn"])
    func `treats a suspension without a column as an opt-out on both paths`(_ word: String) throws {
        let lines = Subscription.State.allCases.enumerated().map { place, state in
            Contact(
                identifiers: [Identifier(.external, "c-\(place)")],
                subscriptions: [Subscription(channel: .sms, state: state)]
            )
        }
        let bytes = Array(lines.map { $0.json.text + "\n" }.joined().utf8)
        let format = VendorFiles.salesforce.formats[0]
        let general = try Outcome(bytes, ["lostOptOuts": .string(word)], to: format, chunk: 1 << 20, workers: 0)
        let bulk = try Outcome(bytes, ["lostOptOuts": .string(word)], to: format, chunk: 1 << 20, workers: 1)
        #expect(bulk == general)
        #expect(general.report.contains("\"rejected\":\(word == "reject" ? 2 : 0)"))
    }

    @Test(arguments: ["reject", "warn"]) func `writes or rejects a denial alike on both paths`(
        _ word: String
    ) throws {
        let mail = [Identifier(.external, "c-1"), Identifier(.email, "a@b.example")]
        let weekly = Subscription(channel: .email, topic: "weekly", state: .subscribed)
        let phones = ["+49 (30) 123456", "none"].map { mail + [Identifier(.phone, $0)] }
        let wishes = [[], [weekly], [Subscription(channel: .email, state: .subscribed)]]
        let channels: [Channel?] = [nil, .email, .sms, .push, .inApp]
        var bytes: [UInt8] = []
        let people = channels.flatMap { channel in ([[mail[0]], mail] + phones).map { (channel, $0) } }
        for (channel, identifiers) in people {
            for (place, wish) in (wishes + wishes).enumerated() {
                var contact = Contact(identifiers: identifiers, subscriptions: wish)
                contact.consents = [Consent(purpose: .messaging, channel: channel, state: .denied)]
                if place < wishes.count { contact.devices = [Device(pushToken: PushToken("AB"))] }
                bytes += contact.jsonBytes + [0x0A]
            }
        }
        let fields: JSONValue = ["external": "number", "email": "email", "phone": "phones"]
        let resources: [JSONObject] = [
            ["resourceId": 3, "resources": ["weekly": "5"]], ["resources": ["weekly": "5"]], ["resourceId": 3],
        ]
        let columns: [JSONObject] = [
            ["Weekly": "subscription:email/weekly"], ["Mail": "subscription:email"],
            ["Weekly": "subscription:email/weekly", "Mail": "subscription:email", "Text": "subscription:sms"],
            ["Mail": "subscription:email", "_SystemToken": "pushToken", "_OptOutDate": "optOutDate"],
        ]
        let lines = resources.map { resources -> (RecordFormat, JSONObject) in
            let base: JSONObject = [
                "dbId": 7, "matching": "custom", "identifierFields": fields, "lostOptOuts": .string(word),
            ]
            return (.altcraftProfiles, JSONObject((Array(base) + Array(resources)).map { ($0.name, $0.value) }))
        }
        let rows = columns.map { columns -> (RecordFormat, JSONObject) in
            (VendorFiles.salesforce.formats[0], ["columns": .object(columns), "lostOptOuts": .string(word)])
        }
        for (format, settings) in lines + rows {
            let general = try Outcome(bytes, settings, to: format, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(bytes, settings, to: format, chunk: 1 << 20, workers: 1)
            #expect(bulk == general, "\(settings): \(bulk.difference(from: general))")
            #expect(general.list.isEmpty || word == "reject")
        }
    }

    @Test func `accepts the same country codes on the bulk path as in the model`() {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        let codes = letters.flatMap { first in letters.map { first + $0 } } + ["", "F", "FIN", "fi", "A1", "@A", "A["]
        let known = codes.filter { code in
            let bytes = Array(code.utf8) + [UInt8](repeating: 0, count: Padding.count)
            return bytes.withUnsafeBufferPointer { buffer in
                buffer.baseAddress.map { Forms.isCountry(Stretch($0, code.utf8.count)) } ?? false
            }
        }
        #expect(Set(known) == CountryCode.assigned)
    }

    @Test func `reports denials and converted values on the bulk path`() throws {
        let plan = try plan(["dbId": 1, "resourceId": 3])
        var mapper = try plan.makeMapper(behind: .init(), .ignored)
        let line =
            #"{"identifiers":[{"kind":"email","value":"a@b.example"},{"kind":"phone","value":"+49 (30) 123456"}],"#
            + #""attributes":{"city":"Turku","given_name":42},"consents":[{"purpose":"messaging","state":"denied"}],"#
            + #""devices":[{"pushToken":{"value":"AB","service":"apns"}}]}"#
        let bytes = Array("\(line)\n".utf8)
        let job = ChunkJob(bytes)
        let result = try mapper.map(job, OutputBuffer())
        #expect(result.leftCount == 0)
        #expect(
            String(decoding: result.output.prefix(result.used), as: UTF8.self) == """
                {"db_id":1,"matching":"email","email":"a@b.example","data":{"email":"a@b.example","phones":["+4930123456"],\
                "_city":"Turku","_fname":"42","subscriptions":[\
                {"channel":"email","resource_id":3,"email":"a@b.example","status":"unsubscribed"},\
                {"channel":"push","resource_id":3,"provider":"ios-apns","subscription_id":"AB","status":"unsubscribed"},\
                {"channel":"sms","resource_id":3,"phone":"+4930123456","status":"unsubscribed"}]}}

                """
        )
        let said = zip(mapper.notes, result.notes).filter { $1 > 0 }.map { "\($0.code) \($1)" }
        #expect(said == ["altcraft.record.converted 2", "altcraft.record.consent 1"])
    }

    @Test
    func `rejects contacts without a key on the bulk path but applies their opt-outs`() throws {
        let settings: JSONObject = ["dbId": 1, "matching": "email", "resourceId": 3]
        func person(_ identifiers: String, _ state: String) -> String {
            #"{"identifiers":[\#(identifiers)],"attributes":{"city":"Turku"},"#
                + #""subscriptions":[{"channel":"sms","state":"\#(state)"}]}"#
        }
        let (phone, email) = (#"{"kind":"phone","value":"+358401234567"}"#, #"{"kind":"email","value":"a@b.example"}"#)
        let broken = #"{"kind":"email","value":"a@b c"},\#(phone)"#
        let refused = [person(phone, "unsubscribed"), person(broken, "suspended")]
        let lines = [refused[0], "", refused[1] + "  ", person("\(email),\(phone)", "subscribed")]
        let bytes = Array((lines.joined(separator: "\r\n")).utf8)
        let plan = try plan(settings)
        var mapper = try plan.makeMapper(behind: .init(), .ignored)
        let job = ChunkJob(bytes)
        let result = try mapper.map(job, OutputBuffer())
        #expect((result.leftCount, result.rejected, result.written, result.lines) == (0, 2, 1, 3))
        let codes = result.rejects.flatMap(\.findings).map(\.code)
        #expect(codes == ["altcraft.record.matching", "altcraft.record.matching"])
        #expect(result.rejects.map(\.lines) == [0, 2])
        // Text after a record, with or without a line end, is reported as on the general path.
        for end in ["", " ", "\r", "\n", "\r\n", " \r\r\n"] {
            let file = Array((person(email, "subscribed") + "\n" + refused[0] + end).utf8)
            let general = try Outcome(file, settings, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(file, settings, chunk: 1 << 20, workers: 1)
            #expect(bulk == general, "\(end.debugDescription): \(bulk.difference(from: general))")
        }
        // The findings of a catalogue and a mapping about such a contact are those of the general path.
        let mapping = try ContactMapping(json: [["rename": "attributes.city", "to": "attributes.town"]])
        let none = ContactMapping()
        let variants: [([AttributeName: AttributeType], ContactMapping)] = [
            ([:], none), (["city": .country], none), ([:], mapping),
        ]
        for (types, mapping) in variants {
            let general = try Outcome(bytes, settings, types, mapping: mapping, chunk: 1 << 20, workers: 0)
            #expect(!general.output.contains(#""subscribed""#))
            for (chunk, workers) in [(1 << 20, 1), (200, 1), (200, 2)] {
                let bulk = try Outcome(bytes, settings, types, mapping: mapping, chunk: chunk, workers: workers)
                #expect(bulk == general, "chunks of \(chunk), \(workers) workers: \(bulk.difference(from: general))")
            }
        }
    }

    @Test func `reads and writes a birthday as a date on both paths`() throws {
        let rows = ["1990-04-01", "4/1/1990", "1990/4/1 6:00:00 AM", "long ago", ""].enumerated().map { place, text in
            "c-\(place),\(text)\r\n"
        }
        let bytes = Array(("ContactKey,BirthDate\r\n" + rows.joined()).utf8)
        let source = VendorFiles.salesforce.formats[0]
        for end in ConversionTests.End.all {
            let format = end.files.formats[0]
            let general = try Outcome(bytes, end.full, from: source, to: format, chunk: 1 << 20, workers: 0)
            let bulk = try Outcome(bytes, end.full, from: source, to: format, chunk: 40, workers: 2)
            #expect(bulk == general)
        }
        let written = try Outcome(bytes, [:], from: source, to: source, chunk: 1 << 20, workers: 1)
        #expect(written.output.contains("\"1990-04-01\"") && written.output.contains("\"long ago\""))
        #expect(!written.report.contains("record.converted"))
    }

    @Test func `gives a stateful writer its contacts in order, on one thread`() throws {
        let migration = try Migration(from: .neutralContacts, to: .toy)
        #expect(migration.bulk.isOrdered)
    }

    @Test(arguments: ConversionTests.End.all)
    func `reads every vendor's files alike on both paths`(_ end: ConversionTests.End) throws {
        let harness = end.harness(true)
        let people = harness.contacts.map(\.contact)
        var bytes = try harness.file(of: people + people + people)
        var random = SeededGenerator(seed: 3)
        for round in 0..<3 {
            let general = try Outcome(
                bytes,
                Self.settings[1],
                from: harness.format,
                harness.settings,
                chunk: 1 << 20,
                workers: 0
            )
            #expect(general.output.isEmpty == false)
            for (chunk, workers) in [(1 << 20, 1), (900 + round * 37, 1), (1100, 3)] {
                let bulk = try Outcome(
                    bytes,
                    Self.settings[1],
                    from: harness.format,
                    harness.settings,
                    chunk: chunk,
                    workers: workers
                )
                #expect(bulk == general, "round \(round), chunks of \(chunk), \(workers) workers")
            }
            let body = (bytes.firstIndex(of: 0x0A) ?? 0) + 1
            for _ in 0..<12 {
                let place = body + random.below(bytes.count - body)
                switch random.below(3) {
                case 0: bytes[place] = random.pick(Array("\"\\,;|x \n".utf8) + [0x00, 0xC3])
                case 1: bytes.insert(random.pick(Array("\"\\,;|\r\n ".utf8) + [0x00]), at: place)
                default: bytes.remove(at: place)
                }
            }
        }
    }

    private static let rowEnds = ConversionTests.End.all.filter { $0.files.id.rawValue != "altcraft" }
    private static let rowPairs = rowEnds.flatMap { source in ConversionTests.End.all.map { (source, $0) } }

    @Test(arguments: Array(rowPairs.enumerated()), Rounds.of(1))
    func `reads every spelling and unknown value in vendor rows alike on both paths`(
        _ pair: (offset: Int, element: (ConversionTests.End, ConversionTests.End)),
        _ round: Int
    ) throws {
        let (harness, target) = (pair.element.0.harness(true), pair.element.1)
        var rows = try VendorRows(harness, seed: UInt64(target.testDescription.utf8.count + 100 * round))
        let kind = (pair.offset + round) % 3
        let bytes = rows.file(60, unknowns: [1, 4, 12][kind])
        let settings = kind == 1 ? target.needed : target.full
        func outcome(_ chunk: Int, _ workers: Int) throws -> Outcome {
            try Outcome(
                bytes,
                settings,
                from: harness.format,
                rows.settings,
                to: target.files.formats[0],
                chunk: chunk,
                workers: workers
            )
        }
        let general = try outcome(1 << 20, 0)
        for (chunk, workers) in [(1 << 20, 1), (1500, 2)] {
            let bulk = try outcome(chunk, workers)
            #expect(bulk == general, "chunks of \(chunk): \(bulk.difference(from: general))")
        }
    }

    /// Contacts of any vendor's export: with an opt-in, with an opt-out, and with neither.
    private static let exported = [
        #"{"channel":"email","state":"subscribed"}"#, #"{"channel":"email","state":"unsubscribed"}"#, "",
    ]
    .enumerated().map { number, wish in
        #"{"identifiers":[{"kind":"external","value":"c-\#(number)"},{"kind":"email","value":"a.\#(number)@mail.example"},"#
            + #"{"kind":"phone","value":"+358401234567"}],"attributes":{"birth_date":{"date":"1990-04-0\#(number + 1)"},"#
            + #""city":"Jyväskylä","country":{"country":"FI"},"first_purchase":{"date":"2020-02-29"},"#
            + #""given_name":"Päivi","interests":{"choices":["sauna","ski"]},"last_visit":"#
            + #"{"timestamp":"2031-03-09T13:05:00Z"},"lifetime_value":4.5,"newsletter_reader":true,"visits":12},"#
            + #""tags":["b","a"],"subscriptions":[\#(wish)],"locale":"fi_FI","timeZone":"Europe/Helsinki"}"#
    }

    @Test(arguments: rowPairs)
    func `converts a vendor's own export to every vendor on the bulk path`(
        _ pair: (source: ConversionTests.End, target: ConversionTests.End)
    ) throws {
        for isFull in [false, true] {
            let harness = pair.source.harness(isFull)
            let file = try harness.file(of: Self.exported.map { try Contact(json: JSONValue(parsing: $0), at: "") })
            let migration = try Migration(
                from: harness.format,
                to: pair.target.files.formats[0],
                sourceSettings: harness.settings,
                targetSettings: isFull ? pair.target.full : pair.target.needed
            )
            let plan = migration.bulk
            let header = try #require(plan.header(in: file))
            var mapper = try plan.makeMapper(behind: header, .ignored)
            let result = try mapper.map(ChunkJob(Array(file[header.bytes.count...])), OutputBuffer())
            let why = result.rejects.flatMap(\.findings).map(\.code)
            #expect(result.leftCount == result.rejects.count, "\(String(decoding: file, as: UTF8.self)) \(why)")
            #expect(result.written > 0)
        }
    }

    @Test func `converts plain rows on the bulk path, including quotes and line breaks`() throws {
        let source = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        guard let makeReader = source.makeReader, let rows = try source.makeSourceLayout?([:]) else {
            throw CancellationError()
        }
        let plan = try plan(Self.settings[0], from: rows, makeReader)
        let file = """
            Contact Key,Email Address,Mobile Number,First Name,_Source,Remark
            c-1,a@b.example,,Aino,1,
            c-2,b@b.example,+358 40 1234567," Päivi ",,"says ""hello""
            and leaves"
            c-3,c@b.example,,"",1,"a,b"\r\n
            """
        let bytes = Array(file.utf8)
        let header = try #require(plan.header(in: bytes))
        var mapper = try plan.makeMapper(behind: header, .ignored)
        let result = try mapper.map(ChunkJob(Array(bytes[header.bytes.count...]), isFirst: true), OutputBuffer())
        #expect(result.written == 3)
        // The first row alone; the reader reports findings about the whole file with it.
        #expect(result.leftCount == 1)
        #expect(result.lines == 4)
        let text = String(decoding: result.output.prefix(result.used), as: UTF8.self)
        #expect(text.contains(#""_fname":"Päivi","remark":"says \"hello\"\nand leaves""#))
    }

    private func plan(
        _ settings: JSONObject,
        to target: RecordFormat = .altcraftProfiles,
        from source: SourceLayout = .neutralLines,
        mapping: ContactMapping = ContactMapping(),
        _ makeReader: (@Sendable (JSONObject) throws(SettingsError) -> any ContactReader)? = RecordFormat
            .neutralContacts
            .makeReader
    ) throws -> BulkPlan {
        guard let layout = try target.makeTargetLayout?(settings), let makeReader, let makeWriter = target.makeWriter
        else { throw CancellationError() }
        return BulkPlan(
            source: source,
            layout: layout,
            catalogue: AttributeCatalogue(),
            mapping: mapping,
            makeReader: { () throws(SettingsError) in try makeReader([:]) },
            makeWriter: { () throws(SettingsError) in try makeWriter(settings) }
        )
    }

    /// Usual contacts. A vendor's file has fields for everything except the devices.
    private static let usual = [
        #"{"identifiers":[{"kind":"external","value":"c-1"},{"kind":"email","value":"a.b@mail.example"},"#
            + #"{"kind":"phone","value":"+358 40 123-4567"}],"attributes":{"city":"Jyväskylä","country":{"country":"FI"},"#
            + #""first_purchase":{"date":"2020-02-29"},"given_name":"Päivi","lifetime_value":4.5,"newsletter_reader":true,"#
            + #""visits":12},"tags":["b","a"],"subscriptions":[{"channel":"email","state":"subscribed"},"#
            + #"{"channel":"sms","state":"unsubscribed"}],"locale":"fi_FI","timeZone":"Europe/Helsinki"}"#,
        #"{"identifiers":[{"kind":"external","value":"c-2"},{"kind":"email","value":"no address"}],"attributes":"#
            + #"{"favourite_colour":"Blue, green","visits":-3},"consents":[{"purpose":"tracking","state":"denied"}]}"#,
    ]

    @Test(arguments: ConversionTests.End.all.filter { $0.files.id.rawValue != "altcraft" })
    func `converts usual contacts to rows on the bulk path`(_ end: ConversionTests.End) throws {
        let plan = try plan(end.full, to: end.files.formats[0])
        var mapper = try plan.makeMapper(behind: .init(), .ignored)
        let bytes = Array((Self.usual.joined(separator: "\n") + "\n").utf8)
        let job = ChunkJob(bytes)
        // A table learns new names from the first record that contains them.
        for _ in 0..<8 { _ = try mapper.map(job, OutputBuffer()) }
        let result = try mapper.map(job, OutputBuffer())
        #expect(result.leftCount == 0)
        #expect(result.written == 2)
        let text = String(decoding: result.output.prefix(result.used), as: UTF8.self)
        #expect(text.contains("Jyväskylä"))
        #expect(text.contains("a.b@mail.example"))
    }

    @Test func `omits and reports attributes that do not fit their fields, on the bulk path`() throws {
        let fields: JSONObject = [
            "birth_date": "_bdate", "city": "_city", "country": "_country", "gender": "_sex",
            "postal_code": "_postal_code", "visits": "_status",
        ]
        let plan = try plan(["dbId": 1, "fieldNames": .object(fields)])
        var mapper = try plan.makeMapper(behind: .init(), .ignored)
        let attributes = [
            #""birth_date":"2/20/2000""#, #""city":"Turku""#, #""country":"Finland""#, #""gender":"other""#,
            #""postal_code":"00100""#, #""visits":"007""#,
        ]
        let line =
            #"{"identifiers":[{"kind":"email","value":"a@b.example"}],"attributes":{\#(attributes.joined(separator: ","))}}"#
        let bytes = Array("\(line)\n".utf8)
        let job = ChunkJob(bytes)
        // A number in another spelling is written in its normal form.
        let respelt = try mapper.map(job, OutputBuffer())
        #expect(respelt.leftCount == 0)
        #expect(String(decoding: respelt.output.prefix(respelt.used), as: UTF8.self).contains(#""_status":7"#))
        let lineWithoutNumber = Array("\(line.replacing(",\"visits\":\"007\"", with: ""))\n".utf8)
        let result = try mapper.map(
            ChunkJob(lineWithoutNumber),
            OutputBuffer()
        )
        #expect(result.leftCount == 0)
        #expect(result.writtenWithFindings == 1)
        let said = zip(mapper.notes, result.notes).filter { $1 > 0 }.map { "\($0.code) \($1)" }
        #expect(said == ["altcraft.attribute.form 4"])
        #expect(String(decoding: result.output.prefix(result.used), as: UTF8.self).contains(#""_city":"Turku"}"#))
    }

    @Test func `applies and counts mapping rules on the bulk path`() throws {
        let mapping = try ContactMapping(json: [
            ["rename": "attributes.city", "to": "attributes.town"],
            ["rename": "identifiers.external", "to": "attributes.number"],
            ["set": "attributes.origin", "value": "import \"2\""], ["set": "tags.moved", "value": true],
            ["default": "attributes.given_name", "value": "friend"],
            ["split": "attributes.favourite_colour", "by": ", ", "to": ["attributes.one", "attributes.two"]],
            ["join": ["attributes.given_name", "attributes.town"], "with": " of ", "to": "attributes.name"],
            ["map": "attributes.first_purchase", "values": ["2020-02-29": "leap"]],
            ["type": "attributes.visits", "as": "string"],
            ["remove": "locale"],
        ])
        let settings: JSONObject = [
            "dbId": 1, "matching": "custom", "matchingIdentifier": "email", "tagsField": "labels", "resourceId": 3,
        ]
        let plan = try plan(settings, mapping: mapping)
        var mapper = try plan.makeMapper(behind: .init(), .ignored)
        let lines = [Self.usual[0], Self.usual[1].replacing("no address", with: "c@d.example")]
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        let job = ChunkJob(bytes)
        for _ in 0..<8 { _ = try mapper.map(job, OutputBuffer()) }
        let result = try mapper.map(job, OutputBuffer())
        #expect(result.leftCount == 0)
        let written = String(decoding: result.output.prefix(result.used), as: UTF8.self).split(separator: "\n")
        try #require(written.count == 2)
        for part in [
            #""name":"Päivi of Jyväskylä""#, #""number":"c-1""#, #""origin":"import \"2\"""#,
            #""first_purchase":"leap""#,
            #""visits":"12""#, #"["a","b","moved"]"#,
        ] { #expect(written[0].contains(part), "\(part)") }
        for part in [#""name":"friend""#, #""one":"Blue","origin""#, #""two":"green""#, #""visits":"-3""#] {
            #expect(written[1].contains(part), "\(part)")
        }
        let effects = result.mapping.map { [$0.applied, $0.idle, $0.replaced, $0.failed] }
        #expect(
            effects == [
                [1, 1, 0, 0], [2, 0, 0, 0], [2, 0, 0, 0], [2, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [2, 0, 0, 0],
                [1, 1, 0, 0], [2, 0, 0, 0], [1, 1, 0, 0],
            ]
        )
    }

    static let plain = [
        #"{"identifiers":[{"kind":"external","value":"c-1"},{"kind":"email","value":"a@b.example"}],"#
            + #""attributes":{"birth_date":{"date":"1990-04-01"},"given_name":"Päivi","remark":"a \"b\"\n","total":4.50}}"#,
        #"{ "identifiers" : [ { "kind" : "email", "value" : "a@b.example" } ], "tags" : [ "b", "a" ] }"#,
        #"{"identifiers":[{"kind":"email","value":"a@b.example"},{"kind":"phone","value":"none"}],"#
            + #""subscriptions":[{"channel":"sms","state":"subscribed"}],"consents":[{"purpose":"x","state":"denied"}]}"#,
        #"{"identifiers":[{"kind":"email","value":"a@b.example"}],"attributes":{"interests":{"choices":["a", "b"]}},"#
            + #""devices":[{"pushToken":{"value":"AB"},"facts":{"platform":"iOS","platformVersion":"18","model":"x","#
            + #""locale":"fi","appVersion":"1"}}],"subscriptions":[{"channel":"push","state":"suspended"}]}"#,
    ]

    @Test func `keeps records with a new attribute name on the bulk path`() throws {
        var mapper = try plan(Self.settings[0]).makeMapper(behind: .init(), .ignored)
        let lines = Self.plain + Self.plain
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let result = try mapper.map(ChunkJob(bytes, isFirst: true), OutputBuffer())
        #expect(result.written == lines.count)
        #expect(result.leftCount == 0)
        let again = try mapper.map(ChunkJob(bytes), OutputBuffer())
        #expect(again.leftCount == 0)
        #expect(again.output.prefix(again.used).elementsEqual(result.output.prefix(result.used)))
    }

    /// Every kind of value and part that the reader knows.
    private static let full = [
        #"{"identifiers":[{"kind":"email","value":"a@b.example"},{"kind":"phone","value":"+358 40 1"}],"#
            + #""attributes":{"a":true,"b":-5,"c":{"timestamp":"2026-01-02T03:04:05Z"},"d":"x","e":["y","z"],"f":0.5},"#
            + #""tags":["b","a"],"locale":"fi_FI","timeZone":"Europe/Helsinki"}"#,
        #"{"identifiers":[{"kind":"email","value":"a@b.example"}],"consents":[{"purpose":"messaging","channel":"sms","#
            + #""state":"denied","changedAt":"2026-01-02T03:04:05Z"}],"subscriptions":[{"channel":"push","topic":"t","#
            + #""state":"subscribed","source":"s"}],"devices":[{"allowsPush":true,"pushToken":{"value":"AB","#
            + #""service":"apns","appID":"x"},"facts":{"platform":"iOS","platformVersion":"18","model":"x","locale":"fi","#
            + #""appVersion":"1","utcOffsetSeconds":7200,"isDaylightSaving":false}}]}"#,
    ]

    /// Returns the line with white space around every token.
    private static func spaced(_ line: String) -> String {
        var (text, isInside, isEscaped) = ("", false, false)
        for character in line {
            let isMark = !isInside && "{}[],:".contains(character)
            text += isMark ? " \(character)\t" : "\(character)"
            if character == "\"", !isEscaped { isInside.toggle() }
            isEscaped = character == "\\" && !isEscaped
        }
        return text.trimmingPrefix(" ") + "\r"
    }

    @Test func `ignores white space between tokens and keeps the records on the bulk path`() throws {
        var mapper = try plan(Self.settings[0]).makeMapper(behind: .init(), .ignored)
        func map(_ lines: [String]) throws -> ChunkResult {
            try mapper.map(ChunkJob(Array((lines.joined(separator: "\n") + "\n").utf8)), OutputBuffer())
        }
        // Every record with a new name leaves the bulk path once.
        for _ in 0..<8 { _ = try map(Self.plain + Self.full) }
        let tight = try map(Self.plain + Self.full)
        let wide = try map((Self.plain + Self.full).map(Self.spaced))
        #expect(tight.leftCount == 0)
        #expect(wide.leftCount == 0)
        #expect(tight.written == 6)
        #expect(wide.output.prefix(wide.used).elementsEqual(tight.output.prefix(tight.used)))
        #expect(wide.notes == tight.notes)
    }

    @Test(arguments: [1, 7, 64, 1000]) func `splits a source into the same lines for every chunk size`(_ chunk: Int)
        throws
    {
        var generator = RandomContacts(seed: UInt64(chunk), mutated: 50)
        let bytes = generator.file(60)
        var (cutter, cut) = (LineCutter(longest: 400), [String]())
        func take(_ piece: LineCutter.Cut) {
            switch piece {
            case .overlong(let length, _): cut.append("overlong \(length)")
            case .job(let job):
                cut += job.bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
            }
        }
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            cutter.cut(Array(bytes[start..<min(start + chunk, bytes.count)]), take)
        }
        cutter.finish(take)
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let expected = lines.enumerated().filter { !$0.element.isEmpty }.map { index, line in
            let isEnded = index < lines.count - 1
            let length = line.count - (isEnded && line.last == 0x0D ? 1 : 0)
            // A line within one chunk stays with its neighbors. The mapper checks its length.
            return String(decoding: line, as: UTF8.self) + (length > 400 ? " overlong" : "")
        }
        #expect(cut.count == expected.count)
        for (piece, line) in zip(cut, expected) where !piece.hasPrefix("overlong") {
            #expect(line == piece || line == piece + " overlong")
        }
    }

    @Test(arguments: ["", "\"open "], [1, 3])
    func `rejects only the oversized row and reports correct positions after it`(
        _ beginning: String,
        _ workers: Int
    ) throws {
        var rows = (0..<1_000).map { "c-\($0);c\($0)@mail.example;Aino\n" }
        rows.insert("c-x;x@mail.example;" + beginning + String(repeating: "a", count: 3 << 20) + "\n", at: 300)
        rows.insert("c-y;not an address;Aino\n", at: 600)
        let bytes = Array(("externalId;email;firstName\n" + rows.joined()).utf8)
        let migration = try Migration(
            from: .adobeProfiles,
            to: .neutralContacts,
            sourceSettings: ["quoted": true, "onInvalid": "reject"]
        )
        func run(_ workers: Int, _ places: inout [Checkpoints.Place]) throws -> (MigrationReport, String, [UInt8]) {
            let (sink, list) = (MemorySink(), MemorySink())
            var source = ChunkedSource(bytes, chunk: 32 << 10)
            var seen: [Checkpoints.Place] = []
            let report = try migration.run(
                &source,
                to: sink,
                rejects: Rejects(list: list, replay: MemorySink()),
                workers: workers,
                checkpoints: Checkpoints(isDue: { true }, save: { seen.append($0) })
            )
            places = seen
            return (report, list.text, sink.bytes)
        }
        var (generalPlaces, places): ([Checkpoints.Place], [Checkpoints.Place]) = ([], [])
        let (general, bulk) = (try run(0, &generalPlaces), try run(workers, &places))
        #expect(bulk.0.json.withoutPath == general.0.json.withoutPath)
        #expect(bulk.1 == general.1)
        #expect(bulk.2 == general.2)
        #expect((bulk.0.rejected, bulk.0.bytesRead) == (2, bytes.count))
        #expect(places.contains { $0.report.read > 301 })
        for place in places {
            #expect(place.offset == bytes.count || bytes[place.offset...].starts(with: Array("c-".utf8)))
            #expect(place.offset == 0 || bytes[place.offset - 1] == 0x0A)
            #expect(place.lines == bytes[..<place.offset].count { $0 == 0x0A })
        }
    }

    @Test(arguments: [1, 2]) func `stops a run on a full disk or a cancellation`(_ workers: Int) throws {
        let bytes = Array(repeatElement(Array(Self.plain[0].utf8) + [0x0A], count: 500).joined())
        let migration = try Migration(
            from: .neutralContacts,
            to: .altcraftProfiles,
            targetSettings: Self.settings[0]
        )
        var input = ChunkedSource(bytes, chunk: 1000)
        let error = #expect(throws: FileError.self) {
            try migration.path(workers).run(&input, to: MemorySink(limit: 20_000), workers: workers)
        }
        #expect(error?.finding.code == "file.write")
        var chunks = 0
        input = ChunkedSource(bytes, chunk: 1000)
        let report = try migration.path(workers).run(
            &input,
            to: MemorySink(),
            workers: workers,
            progress: { _ in chunks += 1 },
            isCancelled: { chunks == 10 }
        )
        #expect(!report.isComplete)
        #expect(report.bytesRead == 10_000)
    }
}
