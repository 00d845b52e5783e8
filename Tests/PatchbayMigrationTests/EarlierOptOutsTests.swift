import Foundation
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

@Suite("Earlier opt-outs") struct EarlierOptOutsTests {
    private static func person(_ email: String, _ state: String, topic: String? = nil, channel: String = "email")
        -> String
    {
        let about = topic.map { #","topic":"\#($0)""# } ?? ""
        return #"{"identifiers":[{"kind":"external","value":"m-\#(email)"},{"kind":"email","value":"\#(email)"}],"#
            + #""subscriptions":[{"channel":"\#(channel)"\#(about),"state":"\#(state)"}]}"#
    }

    private static func denial(_ email: String, channel: String? = nil) -> String {
        let about = channel.map { #","channel":"\#($0)""# } ?? ""
        return #"{"identifiers":[{"kind":"email","value":"\#(email)"}],"#
            + #""consents":[{"purpose":"messaging"\#(about),"state":"denied"}]}"#
    }

    private static let settings: JSONObject = [
        "dbId": 7, "matching": "email", "resourceId": 31, "resources": ["news": "32"],
    ]

    /// Returns the written states of each record.
    private static func states(
        _ lines: [String],
        chunk: Int = 1 << 20,
        workers: Int = 1,
        limit: Int = EarlierOptOuts.usualLimit,
        evidence: Migration.Evidence? = nil
    ) throws -> [[String]] {
        var migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: settings)
        migration.optOutLimit = limit
        let sink = MemorySink()
        var source = ChunkedSource(Array((lines.joined(separator: "\n") + "\n").utf8), chunk: chunk)
        _ = try migration.path(workers).run(&source, to: sink, workers: workers, evidence: evidence)
        return try sink.text.split(separator: "\n").map { line in
            let json = try JSONValue(parsing: Array(line.utf8))
            return (json["data"]?["subscriptions"]?.array ?? []).compactMap { $0["status"]?.string }
        }
    }

    // MARK: Decisions of one person

    static let pairs: [(name: String, records: [String], last: [String])] = [
        (
            "an opt-out, then an opt-in", [person("a@x.example", "unsubscribed"), person("a@x.example", "subscribed")],
            ["unsubscribed"]
        ),
        (
            "a suspension, then an opt-in", [person("a@x.example", "suspended"), person("a@x.example", "subscribed")],
            ["unsubscribed"]
        ),
        (
            "an opt-in, then an opt-out", [person("a@x.example", "subscribed"), person("a@x.example", "unsubscribed")],
            ["unsubscribed"]
        ),
        (
            "a key in other case", [person("A@X.example", "unsubscribed"), person("a@x.example", "subscribed")],
            ["unsubscribed"]
        ),
        (
            "another person", [person("a@x.example", "unsubscribed"), person("b@x.example", "subscribed")],
            ["subscribed"]
        ),
        (
            "a topic of an opted-out channel",
            [person("a@x.example", "unsubscribed"), person("a@x.example", "subscribed", topic: "news")],
            ["unsubscribed"]
        ),
        (
            "the same topic",
            [person("a@x.example", "unsubscribed", topic: "news"), person("a@x.example", "subscribed", topic: "news")],
            ["unsubscribed"]
        ),
        ("messages denied", [denial("a@x.example"), person("a@x.example", "subscribed")], ["unsubscribed"]),
        (
            "messages on the channel denied",
            [denial("a@x.example", channel: "email"), person("a@x.example", "subscribed", topic: "news")],
            ["unsubscribed"]
        ),
        (
            "messages on another channel denied",
            [denial("a@x.example", channel: "sms"), person("a@x.example", "subscribed")],
            ["subscribed"]
        ),
        (
            "unknown, then an opt-in", [person("a@x.example", "unknown"), person("a@x.example", "subscribed")],
            ["subscribed"]
        ),
        (
            "letters in another Unicode composition",
            [person("k\u{F6}@x.example", "unsubscribed"), person("KO\u{308}@x.example", "subscribed")], ["unsubscribed"]
        ),
        (
            "an opt-out of a rejected record",
            [
                #"{"identifiers":[{"kind":"email","value":"a@x.example"},{"kind":"email","value":"not an address"}],"#
                    + #""attributes":{"n":{"date":"2031-13-01"}},"subscriptions":[]}"#,
                person("a@x.example", "unsubscribed"), person("a@x.example", "subscribed"),
            ], ["unsubscribed"]
        ),
    ]

    @Test(arguments: pairs.indices, [(0, 1 << 20), (1, 1 << 20), (1, 100), (3, 150)])
    func `writes an opt-in after an opt-out as an opt-out on both paths`(
        _ place: Int,
        _ path: (
            workers: Int,
            chunk: Int
        )
    ) throws {
        let pair = Self.pairs[place]
        let states = try Self.states(pair.records, chunk: path.chunk, workers: path.workers)
        // An opt-out of a channel is written for each topic as well.
        #expect(states.last.map(Set.init) == Set(pair.last), "\(pair.name), \(path)")
    }

    @Test func `treats different spellings of a telephone number as one key`() throws {
        let records = [("+358 40 123-4567", "unsubscribed"), ("+358401234567", "subscribed")].map { number, state in
            #"{"identifiers":[{"kind":"phone","value":"\#(number)"}],"subscriptions":[{"channel":"sms","state":"\#(state)"}]}"#
        }
        var source = ChunkedSource(Array((records.joined(separator: "\n") + "\n").utf8), chunk: 1 << 20)
        let (sink, settings) = (MemorySink(), ["dbId": 1, "matching": "phone", "resourceId": 2] as JSONObject)
        let migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: settings)
        let report = try migration.run(&source, to: sink)
        #expect(!sink.text.contains(#""status":"subscribed""#))
        #expect(report.findings[EarlierOptOuts.heeded.code]?.count == 1)
    }

    // MARK: One address shared by two people

    /// Returns a contact with its own key.
    private static func keyed(_ key: String, _ kind: String, _ address: String, _ words: String) -> String {
        #"{"identifiers":[{"kind":"external","value":"\#(key)"},{"kind":"\#(kind)","value":"\#(address)"}],\#(words)}"#
    }

    private static func wish(_ channel: String, _ state: String, topic: String? = nil) -> String {
        let about = topic.map { #","topic":"\#($0)""# } ?? ""
        return #""subscriptions":[{"channel":"\#(channel)"\#(about),"state":"\#(state)"}]"#
    }

    private static func consent(_ purpose: String, _ state: String, _ channel: String? = nil) -> String {
        let about = channel.map { #","channel":"\#($0)""# } ?? ""
        return #""consents":[{"purpose":"\#(purpose)"\#(about),"state":"\#(state)"}]"#
    }

    static let sharedAddresses: [(name: String, first: String, second: String, isLowered: Bool)] = [
        (
            "an opt-out from e-mail, then an opt-in", keyed("a", "email", "A@x.example", wish("email", "unsubscribed")),
            keyed("b", "email", "a@x.example ", wish("email", "subscribed")), true
        ),
        (
            "one number in two spellings", keyed("a", "phone", "+358 40 123", wish("sms", "unsubscribed")),
            keyed("b", "phone", "35840123", wish("sms", "subscribed")), true
        ),
        (
            "all messages denied", keyed("a", "email", "a@x.example", consent("messaging", "denied")),
            keyed("b", "email", "a@x.example", wish("email", "subscribed")), true
        ),
        (
            "a grant after a denial", keyed("a", "email", "a@x.example", consent("messaging", "denied", "email")),
            keyed("b", "email", "a@x.example", consent("messaging", "granted", "email")), true
        ),
        (
            "an opt-out on another channel", keyed("a", "email", "a@x.example", wish("sms", "unsubscribed")),
            keyed("b", "email", "a@x.example", wish("email", "subscribed")), false
        ),
        (
            "another topic", keyed("a", "email", "a@x.example", wish("email", "unsubscribed", topic: "news")),
            keyed("b", "email", "a@x.example", wish("email", "subscribed", topic: "offers")), false
        ),
        (
            "a denial of another purpose",
            keyed("a", "email", "a@x.example", consent("tracking", "denied")),
            keyed("b", "email", "a@x.example", consent("tracking", "granted")), false
        ),
        (
            "an opt-in before the opt-out", keyed("a", "email", "a@x.example", wish("email", "subscribed")),
            keyed("b", "email", "a@x.example", wish("email", "unsubscribed")), false
        ),
    ]

    @Test(arguments: sharedAddresses.indices, [(0, 1 << 20), (1, 1 << 20), (1, 90), (3, 150)])
    func `an opt-in after an opt-out of the same address becomes an opt-out for every person`(
        _ place: Int,
        _ path: (workers: Int, chunk: Int)
    ) throws {
        let (row, target) = (Self.sharedAddresses[place], RecordFormat.adobeProfiles)
        for format in [target, .neutralContacts] {
            let migration = try Migration(
                from: .neutralContacts,
                to: format,
                targetSettings: format.id == target.id ? ["lostOptOuts": "warn"] : [:]
            )
            let sink = MemorySink()
            var source = ChunkedSource(Array("\(row.first)\n\(row.second)\n".utf8), chunk: path.chunk)
            let report = try migration.run(&source, to: sink, workers: path.workers)
            #expect((report.read, report.written) == (2, 2), "\(row.name): \(report.json.text)")
            let count = report.findings[EarlierOptOuts.heededAddress.code]?.count
            #expect(count == (row.isLowered ? 1 : nil), "\(row.name), \(format.id), \(path)")
            if format.id != target.id {
                let last = try #require(sink.text.split(separator: "\n").last)
                let isYes = last.contains(#""subscribed""#) || last.contains(#""granted""#)
                let saysYes = row.second.contains(#""subscribed""#) || row.second.contains(#""granted""#)
                #expect(isYes == (saysYes && !row.isLowered), "\(row.name), \(path)")
            }
        }
    }

    // MARK: Many records of a few people

    /// Returns records of a few people who change their decisions.
    static func changedDecisions(_ seed: UInt64, count: Int) -> [String] {
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        return (0..<count).map { _ in
            let email = "p\(next(40))@x.example"
            if next(12) == 0 { return denial(email, channel: [nil, "email", "sms"][next(3)]) }
            let said = ["subscribed", "subscribed", "unsubscribed", "suspended", "unknown"][next(5)]
            return person(email, said, topic: next(3) == 0 ? "news" : nil)
        }
    }

    /// Returns whether no record after an opt-out of its person opts in.
    private static func isSafe(_ records: [String], _ written: [[String]]) throws -> Bool {
        var optOuts: Set<String> = []
        for (record, states) in zip(records, written) {
            let contact = try Contact(jsonBytes: Array(record.utf8))
            let key = contact.identifiers.first { $0.kind == .email }?.value ?? ""
            for wish in contact.subscriptions {
                let (own, all) = (
                    "\(key) \(wish.channel) \(wish.topic ?? "")", ["\(key) *", "\(key) * \(wish.channel)"]
                )
                if states.contains("subscribed"), optOuts.contains(own) || all.contains(where: optOuts.contains) {
                    return false
                }
                if wish.state.isOptOut { optOuts.insert(own) }
            }
            for consent in contact.consents { optOuts.insert("\(key) *" + (consent.channel.map { " \($0)" } ?? "")) }
        }
        return true
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `writes the same states on both paths for people who change their decision`(
        _ seed: UInt64
    ) throws {
        let records = Self.changedDecisions(seed, count: 400)
        let general = try Self.states(records, workers: 0)
        #expect(try Self.isSafe(records, general))
        #expect(general.count == records.count)
        #expect(general.joined().contains("subscribed"))
        for (chunk, workers) in [(1 << 20, 1), (500, 1), (900, 3)] {
            #expect(try Self.states(records, chunk: chunk, workers: workers) == general, "\(chunk), \(workers)")
        }
    }

    // MARK: More opt-outs than fit into memory

    @Test(arguments: [0, 1, 3])
    func `stops the run if an opt-out does not fit into memory, unless evidence is written`(_ workers: Int) throws {
        let first = (0..<10).map { Self.person("p\($0)@x.example", "unsubscribed") }
        let raised = first + [Self.person("p9@x.example", "subscribed")]
        let error = #expect(throws: Migration.Failure.self) {
            try Self.states(raised, chunk: 300, workers: workers, limit: 4)
        }
        #expect(error?.findings.map(\.code) == [EarlierOptOuts.unheeded.code])
        // The run succeeds if no opt-in follows a forgotten opt-out. With evidence, no opt-out is forgotten.
        #expect(try Self.states(first, chunk: 300, workers: workers, limit: 4).count == 10)
        let turned = first + [Self.person("q@x.example", "subscribed"), Self.person("q@x.example", "unsubscribed")]
        #expect(try Self.states(turned, chunk: 300, workers: workers, limit: 4).count == 12)
        #expect(
            try Self.states(
                raised,
                workers: workers,
                limit: 4,
                evidence: Migration.Evidence(to: MemorySink(), salt: "s")
            )
            .last == ["unsubscribed", "unsubscribed"]
        )
    }

    @Test(arguments: [0, 1]) func `applies no opt-out to another person through a placeholder value`(
        _ workers: Int
    ) throws {
        func person(_ email: String, _ state: String) -> String {
            #"{"identifiers":[{"kind":"email","value":"\#(email)"},{"kind":"phone","value":"unknown"}],"#
                + #""subscriptions":[{"channel":"sms","state":"\#(state)"},{"channel":"email","state":"\#(state)"}]}"#
        }
        let lines = [person("a@x.example", "unsubscribed"), person("b@x.example", "subscribed")]
        #expect(try Self.states(lines, workers: workers) == [["unsubscribed", "unsubscribed"], ["subscribed"]])
    }

    @Test(arguments: [0, 1, 3]) func `a resumed run that lost an opt-out starts over and applies all of them`(
        _ workers: Int
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-opt-outs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let people = (0..<10).map { Self.person("p\($0)@x.example", "unsubscribed") }
        let lines = people + [Self.person("p9@x.example", "subscribed")]
        let (input, output) = (folder.appending(path: "in.ndjson"), folder.appending(path: "out.ndjson"))
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
        var migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: Self.settings)
        migration.optOutLimit = 4
        let outcome = try ResumableMigration(
            migration,
            ResumableMigration.Files(input: input.path, output: output.path),
            settings: .null,
            interval: .seconds(600),
            workers: workers
        )
        .run(restarts: false, progress: { _ in }, isCancelled: { false })
        #expect(outcome.isCommitted && outcome.report.written == 11)
        #expect(outcome.report.findings["migration.consent.earlierNo"]?.count == 1)
        let written = try String(contentsOf: output, encoding: .utf8)
        #expect(!written.contains(#""subscribed""#) && written.contains(#""unsubscribed""#))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test func `lowers an opt-in after an opt-out on the bulk path`() throws {
        let migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: Self.settings)
        let optOuts = EarlierOptOuts()
        var mapper = try migration.bulk.makeMapper(behind: .init(), .learning(optOuts, needsAll: false))
        let people = (0..<20).map { Self.person("p\($0)@x.example", $0 % 2 == 0 ? "unsubscribed" : "subscribed") }
        let bytes = Array((people + [Self.person("p4@x.example", "subscribed")]).joined(separator: "\n").utf8)
        let result = try mapper.map(ChunkJob(bytes), OutputBuffer())
        #expect((result.written, result.leftCount) == (21, 0))
        #expect(zip(mapper.notes, result.notes).first { $0.0 == EarlierOptOuts.heeded }?.1 == 1)
    }

    /// Returns the key mark of a number's opt-in or opt-out.
    private static func mark(_ number: Int, isOptOut: Bool) -> UInt64 {
        ConsentMark.yes(UInt64(number) &* 7_919, ConsentMark.wish("email", nil)) | (isOptOut ? ConsentMark.no : 0)
    }

    private static func accepts(_ optOuts: EarlierOptOuts, _ numbers: some Sequence<Int>, isOptOut: Bool) -> Bool {
        numbers.map { mark($0, isOptOut: isOptOut) }.withUnsafeBufferPointer(optOuts.accepts)
    }

    @Test func `checks opt-outs beyond the memory limit at the end of the run`() throws {
        func learned(_ raised: [Int]) throws -> EarlierOptOuts {
            let optOuts = EarlierOptOuts(limit: 1_000)
            for start in stride(from: 0, to: 100_000, by: 500) {
                // An opt-in before its opt-out is no contradiction here.
                for isOptOut in [false, true] {
                    #expect(Self.accepts(optOuts, start..<(start + 500), isOptOut: isOptOut))
                }
                try optOuts.spill()
            }
            #expect(Self.accepts(optOuts, raised, isOptOut: false))
            return optOuts
        }
        try learned(Array(100_000..<200_000)).finish(needsAll: false)
        let optOuts = try learned([50_000, 1_000, 99_999, 300_000])
        let error = #expect(throws: Migration.Failure.self) { try optOuts.finish(needsAll: false) }
        #expect(error?.description.contains("3 of them") == true)
    }

    @Test(arguments: [100, 1_000_000]) func `finds an opt-in before an opt-out at the end of the run`(_ limit: Int)
        throws
    {
        let optOuts = EarlierOptOuts(limit: limit)
        #expect(Self.accepts(optOuts, 0..<40_000, isOptOut: false))
        #expect(Self.accepts(optOuts, 50_000..<90_000, isOptOut: true))
        try optOuts.finish(needsAll: true)
        #expect(Self.accepts(optOuts, [39_999], isOptOut: true))
        try optOuts.finish(needsAll: false)
        let error = #expect(throws: Migration.Failure.self) { try optOuts.finish(needsAll: true) }
        #expect(error?.findings.map(\.code) == [EarlierOptOuts.later.code])
    }

    @Test func `finds the opt-outs that contradict an opt-in in any order`() throws {
        let decisions = ConsentDecisions()
        for (numbers, isOptOut) in [(0..<30_000, true), (29_990..<60_000, false), (59_995..<70_000, true)] {
            decisions.add(numbers.map { Self.mark($0, isOptOut: isOptOut) })
            try decisions.spill()
        }
        let contradicted = try decisions.contradictedOptOuts()
        let expected = Array(29_990..<30_000) + Array(59_995..<60_000)
        #expect(contradicted == Set(expected.map { Self.mark($0, isOptOut: true) }))
        let optOuts = EarlierOptOuts(known: contradicted)
        #expect(!Self.accepts(optOuts, [59_999], isOptOut: false))
        #expect(Self.accepts(optOuts, [60_001], isOptOut: false))
        // The set of known opt-outs does not grow.
        #expect(Self.accepts(optOuts, [60_001], isOptOut: true) && Self.accepts(optOuts, [60_001], isOptOut: false))
    }

    // MARK: Sources with one record of each person

    /// Returns whether a run finds that the records' keys may contradict each other.
    private static func mayContradict(_ records: [String], workers: Int) throws -> Bool {
        var migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: settings)
        migration.optOutKnowledge = .none
        var source = ChunkedSource(Array((records.joined(separator: "\n") + "\n").utf8), chunk: 500)
        do {
            _ = try migration.path(workers).run(&source, to: MemorySink(), workers: workers)
            return false
        } catch is OptOutKnowledge.MayContradict {
            return true
        }
    }

    /// Returns whether an opt-out of the records contradicts an opt-in, compared decision by decision.
    private static func contradicts(_ records: [String]) throws -> Bool {
        let decisions = ConsentDecisions()
        for record in records {
            let contact = try Contact(jsonBytes: Array(record.utf8))
            guard let marks = ConsentMarks(contact, knownBy: [.email]) else { continue }
            decisions.add(marks.optIns(of: contact) + marks.optOuts(of: contact))
        }
        return try !decisions.contradictedOptOuts().isEmpty
    }

    @Test(arguments: pairs.indices, [0, 1, 3]) func `detects each contradiction of two records by their keys`(
        _ place: Int,
        _ workers: Int
    ) throws {
        let pair = Self.pairs[place]
        let isLowered = pair.last == ["unsubscribed"]
        for records in [pair.records, pair.records.reversed()] where isLowered {
            #expect(try Self.mayContradict(records, workers: workers), "\(pair.name)")
        }
    }

    @Test(arguments: sharedAddresses.indices, [0, 1]) func `detects each contradiction about one address by the keys`(
        _ place: Int,
        _ workers: Int
    ) throws {
        let row = Self.sharedAddresses[place]
        let records = [row.first, row.second]
        #expect(try Self.mayContradict(records, workers: workers) || !Self.contradicts(records), "\(row.name)")
        #expect(
            try Self.mayContradict(records.reversed(), workers: workers) || !Self.contradicts(records),
            "\(row.name)"
        )
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `detects each contradiction among random records by their keys`(
        _ seed: UInt64
    ) throws {
        // With so few records, some seeds have no contradiction.
        let records = Self.changedDecisions(seed, count: 8)
        let bulk = try Self.mayContradict(records, workers: 1)
        #expect(try bulk == Self.mayContradict(records, workers: 0))
        #expect(try bulk || !Self.contradicts(records))
    }

    @Test func `finds no contradiction between different people or equal records`() throws {
        let states = ["subscribed", "unsubscribed", "suspended"]
        let people = (0..<300).map { Self.person("p\($0)@x.example", states[$0 % 3]) }
        #expect(try !Self.mayContradict(people + people, workers: 1))
        #expect(try Self.mayContradict(people + [Self.person("p1@x.example", "subscribed")], workers: 1))
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>, [0, 1, 3])
    func `applies opt-outs between files in any order of records`(_ seed: UInt64, _ workers: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-order-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func written(_ records: [String], _ name: String) throws -> [String] {
            let (input, output) = (folder.appending(path: name), folder.appending(path: "\(name).out"))
            try Data((records.joined(separator: "\n") + "\n").utf8).write(to: input)
            let migration = try Migration(from: .neutralContacts, to: .altcraftProfiles, targetSettings: Self.settings)
            let files = ResumableMigration.Files(input: input.path, output: output.path)
            let outcome = try ResumableMigration(
                migration.path(workers),
                files,
                settings: .null,
                interval: .seconds(600),
                workers: workers
            )
            .run(restarts: false, progress: { _ in }, isCancelled: { false })
            #expect(outcome.isCommitted && outcome.report.written == records.count)
            return try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        let records = Self.changedDecisions(seed, count: 300)
        let forwards = try written(records, "forwards")
        #expect(try forwards == written(records.reversed(), "backwards").reversed())
        #expect(forwards.contains { $0.contains(#""subscribed""#) })
    }

    @Test func `computes the same key mark for non-ASCII letters in every process`() {
        // A resumed run compares the marks of another process.
        #expect(
            KeyMark(key: "KO\u{308}@x.example", opinion: 0).folded == KeyMark("k\u{F6}@x.example", opinion: 0).folded
        )
    }

    @Test(arguments: [0, 1], [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 0, 2]])
    func `does not spread an opt-out through a contact that only another contact lowered`(
        _ workers: Int,
        _ order: [Int]
    ) throws {
        func person(_ number: String, _ email: String, _ state: String) -> String {
            #"{"identifiers":[{"kind":"external","value":"\#(number)"},{"kind":"email","value":"\#(email)"}],"#
                + #""subscriptions":[{"channel":"email","state":"\#(state)"}]}"#
        }
        // Both contacts have the first address; the second contact has another one, too.
        let people = [
            person("A", "x@x.example", "unsubscribed"), person("B", "x@x.example", "subscribed"),
            person("B", "y@x.example", "subscribed"),
        ]
        let states = try Self.states(order.map { people[$0] }, workers: workers)
        let place = try #require(order.firstIndex(of: 2))
        #expect(states[place] == ["subscribed"])
    }
}

@Suite("Opt-outs of an earlier file") struct EarlierFileTests {
    /// A row of the earlier file, and whether the opt-in of the corrected row becomes an opt-out.
    static let files = [
        ("k1,a@x.example,,,2031-01-01 00:00:00", true), ("k1,a@x.example,XX,,2031-01-01 00:00:00", true),
        // The unreadable value may be the one that the correction replaced.
        ("k1,a@x.example,,2030-01-01 00:00:00,soon", false), ("k1,a@x.example,,soon,", false),
        ("k1,a@x.example,XX,2030-01-01 00:00:00,", false), ("k2,b@x.example,,,2031-01-01 00:00:00", false),
        ("k1,a@x.example,,,2031-01-01 00:00:00,one field too many", false),
        ("k1,a@x.example,,2030-01-01 00:00:00,\nk1,a@x.example,,,2031-01-01 00:00:00", true),
    ]

    @Test(arguments: files, 0...2)
    func `applies the opt-outs of the earlier file`(_ file: (String, Bool), _ workers: Int) throws {
        let header = "Contact Key,Email Address,Mobile Number,Mail In,Mail Out"
        let path = NSTemporaryDirectory() + "before-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("\(header)\n\(file.0)\n".utf8).write(to: URL(filePath: path))
        var migration = try Migration(
            from: try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }),
            to: .altcraftProfiles,
            sourceSettings: ["columns": ["Mail In": "optIn:email", "Mail Out": "optOut:email"]],
            targetSettings: ["dbId": 7, "matching": "email", "resourceId": 31]
        )
        migration.earlier = path
        let corrected = Array("\(header)\nk1,a@x.example,,2032-01-01 00:00:00,\n".utf8)
        let (sink, list) = (MemorySink(), MemorySink())
        var source = ChunkedSource(corrected, chunk: 1 << 16)
        var progress: Set<Int?> = []
        let report = try migration.run(
            &source,
            to: sink,
            rejects: Rejects(list: list, replay: MemorySink()),
            workers: workers,
            progress: { progress.insert($0.hearing) }
        )
        #expect((report.read, report.written, list.text) == (1, 1, ""))
        #expect(report.findings["migration.consent.earlierNo"]?.count ?? 0 == (file.1 ? 1 : 0))
        #expect(sink.text.contains("unsubscribed") == file.1)
        #expect(progress == [nil, header.utf8.count + file.0.utf8.count + 2])
        let evidence = MemorySink()
        var again = ChunkedSource(corrected, chunk: 1 << 16)
        let audit = Migration.Evidence(to: evidence, salt: "s")
        _ = try migration.path(workers).run(&again, to: MemorySink(), workers: workers, evidence: audit)
        #expect(evidence.text.contains("unsubscribed") == file.1)
        var planned = ChunkedSource(corrected, chunk: 1 << 16)
        let plan = try migration.path(workers).plan(&planned, workers: workers).report
        #expect(plan.findings["migration.consent.earlierNo"]?.count ?? 0 == (file.1 ? 1 : 0))
    }

    @Test func `names a missing or unreadable earlier file`() throws {
        var migration = try Migration(
            from: try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }),
            to: .neutralContacts
        )
        let path = NSTemporaryDirectory() + "before-\(UUID().uuidString)"
        migration.earlier = path
        func run() throws {
            var source = ChunkedSource(Array("Contact Key\nk1\n".utf8), chunk: 100)
            _ = try migration.run(&source, to: MemorySink())
        }
        #expect(throws: FileError.self) { try run() }
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("City\nOulu\n".utf8).write(to: URL(filePath: path))
        let refusal = #expect(throws: Migration.Failure.self) { try run() }
        #expect(refusal?.findings.first?.path == "\(path): header")
    }
}

@Suite("Opt-outs of rejected rows") struct RefusedOptOutsTests {
    private static let header = "Contact Key,Email Address,Mobile Number,Mail In,Mail Out"
    private static let optIn = "k1,a@x.example,,2030-01-01 00:00:00,"
    private static let optInInJSON =
        #"{"Contact Key":"k1","Email Address":"a@x.example","Mail In":"2030-01-01 00:00:00","Mail Out":null}"#

    /// Returns the written state of the last row after a row that its reader rejects.
    private func state(behind refused: String, workers: Int, chunk: Int) throws -> (state: String?, codes: Set<String>)
    {
        let source = try #require(VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" })
        let migration = try Migration(
            from: source,
            to: .altcraftProfiles,
            sourceSettings: [
                "columns": ["Mail In": "optIn:email", "Mail Out": "optOut:email"], "onInvalid": "reject",
            ],
            targetSettings: ["dbId": 7, "matching": "email", "resourceId": 31]
        )
        let sink = MemorySink()
        let isJSON = refused.hasPrefix("{")
        let text = isJSON ? "\(refused)\n\(Self.optInInJSON)" : "\(Self.header)\n\(refused)\n\(Self.optIn)\n"
        // The replacement character stands for an invalid byte.
        let bytes = Array(text.utf8).split(separator: Array("\u{FFFD}".utf8), omittingEmptySubsequences: false)
            .joined(separator: [0xF6])
        var file = ChunkedSource(Array(bytes), chunk: chunk)
        let report = try migration.path(workers).run(&file, to: sink, workers: workers)
        #expect(report.rejected == 1)
        let last = sink.text.split(separator: "\n").last.map(String.init) ?? "null"
        let wishes = try JSONValue(parsing: Array(last.utf8))["data"]?["subscriptions"]?.array ?? []
        return (wishes.first?["status"]?.string, Set(report.findings.keys))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let refused: String
        let state: String

        init(_ name: String, _ refused: String, _ state: String) {
            (testDescription, self.refused, self.state) = (name, refused, state)
        }
    }

    static let rows = [
        Row("an opt-out next to an invalid number", "k1,a@x.example,XX,,2031-01-01 00:00:00", "unsubscribed"),
        Row("an opt-out with an unreadable date", "k1,a@x.example,,2030-01-01 00:00:00,soon", "unsubscribed"),
        Row("an opt-in with an unreadable date", "k1,a@x.example,,soon,", "subscribed"),
        Row("an opt-in next to an invalid number", "k1,a@x.example,XX,2030-01-01 00:00:00,", "subscribed"),
        Row("another person's opt-out", "k2,b@x.example,XX,,2031-01-01 00:00:00", "subscribed"),
        Row("an opt-out next to an invalid byte", "k1,a@x.example,\u{FFFD},,2031-01-01 00:00:00", "unsubscribed"),
        Row(
            "an opt-out whose date has an invalid byte",
            "k1,a@x.example,,2030-01-01 00:00:00,203\u{FFFD}",
            "unsubscribed"
        ),
        Row("an opt-in next to an invalid byte", "k1,a@x.example,\u{FFFD},2030-01-01 00:00:00,", "subscribed"),
        Row("an opt-out next to a NUL", "k1,a@x.example,\0,,2031-01-01 00:00:00", "unsubscribed"),
        Row("an opt-out after text after a quote", "k1,\"a@x.example\",\"4\"5,,2031-01-01 00:00:00", "unsubscribed"),
        Row("an opt-out after an open quote", "k1,a@x.example,\"45,,2031-01-01 00:00:00", "unsubscribed"),
        Row("an opt-out after a byte-order mark", "\u{FEFF}k1,a@x.example,,,2031-01-01 00:00:00", "unsubscribed"),
        Row(
            "an opt-out next to a NUL in JSON",
            #"{"Contact Key":"k1","Email Address":"a@x.example","City":"\u0000","Mail In":"","Mail Out":"2031-01-01 00:00:00"}"#,
            "unsubscribed"
        ),
    ]

    @Test(arguments: rows, [0, 1, 2])
    func `applies an opt-out although its own row is rejected`(_ row: Row, _ workers: Int) throws {
        for chunk in [7, 1 << 16] {
            let found = try state(behind: row.refused, workers: workers, chunk: chunk)
            #expect(found.state == row.state, "chunks of \(chunk)")
            #expect(found.codes.contains("migration.consent.earlierNo") == (row.state == "unsubscribed"))
        }
    }

    /// Returns whether an opt-in to e-mail becomes an opt-out after a rejected line.
    private static func isApplied(
        behind refused: String,
        _ optIn: String,
        from source: RecordFormat,
        _ settings: JSONObject,
        workers: Int
    ) throws -> Bool {
        let migration = try Migration(
            from: source,
            to: .altcraftProfiles,
            sourceSettings: settings,
            targetSettings: ["dbId": 7, "matching": "email", "resourceId": 31]
        )
        let sink = MemorySink()
        var file = ChunkedSource(Array("\(refused)\n\(optIn)\n".utf8), chunk: 1 << 16)
        let report = try migration.path(workers).run(&file, to: sink, workers: workers)
        #expect((report.written, report.rejected) == (1, 1))
        let isApplied = report.findings["migration.consent.earlierNo"]?.count == 1
        #expect(sink.text.contains("unsubscribed") == isApplied)
        return isApplied
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let refused: String
        let isApplied: Bool

        init(_ name: String, _ refused: String, isApplied: Bool) {
            (testDescription, self.refused, self.isApplied) = (name, refused, isApplied)
        }
    }

    static let contacts = [
        Line(
            "an opt-out beside invalid tags",
            #"{"identifiers":[{"kind":"email","value":"a@x.example"}],"subscriptions":[{"channel":"email","state":"unsubscribed"}],"tags":"none"}"#,
            isApplied: true
        ),
        Line(
            "an unreadable consent value",
            #"{"identifiers":[{"kind":"email","value":"a@x.example"}],"subscriptions":[{"channel":"email","state":"nope"}]}"#,
            isApplied: true
        ),
        Line(
            "a denial beside an invalid identifier",
            #"{"identifiers":[{"kind":"email","value":"a@x.example"},7],"consents":[{"purpose":"messaging","state":"denied"}]}"#,
            isApplied: true
        ),
        Line(
            "an opt-in with an unknown member",
            #"{"identifiers":[{"kind":"email","value":"a@x.example"}],"subscriptions":[{"channel":"email","state":"subscribed","x":1}]}"#,
            isApplied: false
        ),
        Line(
            "another person's opt-out",
            #"{"identifiers":[{"kind":"email","value":"b@x.example"}],"subscriptions":[{"channel":"email","state":"no"}]}"#,
            isApplied: false
        ),
    ]

    @Test(arguments: contacts, 0...2) func `applies the opt-out of a line that is not a valid contact`(
        _ line: Line,
        _ workers: Int
    ) throws {
        let optIn =
            #"{"identifiers":[{"kind":"email","value":"a@x.example"}],"subscriptions":[{"channel":"email","state":"subscribed"}]}"#
        let isApplied = try Self.isApplied(behind: line.refused, optIn, from: .neutralContacts, [:], workers: workers)
        #expect(isApplied == line.isApplied)
    }

    static let profiles = [
        Line(
            "an opt-out beside a number that is too long",
            #"{"email":"a@x.example","n":1e999,"subscriptions":[{"channel":"email","resource_id":31,"status":"unsubscribed"}]}"#,
            isApplied: true
        ),
        Line(
            "an unknown status",
            #"{"email":"a@x.example","subscriptions":[{"channel":"email","resource_id":31,"status":"nope"}]}"#,
            isApplied: true
        ),
        Line(
            "an opt-out beside an entry without a channel",
            #"{"email":"a@x.example","subscriptions":[{"status":"x"},{"channel":"email","resource_id":31,"status":"suspended"}]}"#,
            isApplied: true
        ),
        Line(
            "an opt-in beside an unknown status",
            #"{"email":"a@x.example","subscriptions":[{"channel":"email","resource_id":31,"status":"subscribed"},{"channel":"sms","resource_id":31,"status":"x"}]}"#,
            isApplied: false
        ),
        Line(
            "another person's opt-out",
            #"{"email":"b@x.example","n":1e999,"subscriptions":[{"channel":"email","resource_id":31,"status":"unsubscribed"}]}"#,
            isApplied: false
        ),
    ]

    @Test(arguments: profiles, 0...2) func `applies the opt-out of a rejected profile`(
        _ line: Line,
        _ workers: Int
    ) throws {
        let optIn =
            #"{"email":"a@x.example","subscriptions":[{"channel":"email","resource_id":31,"status":"subscribed"}]}"#
        let settings: JSONObject = ["resourceId": 31]
        let (format, isExpected) = (RecordFormat.altcraftProfiles, line.isApplied)
        #expect(try Self.isApplied(behind: line.refused, optIn, from: format, settings, workers: workers) == isExpected)
    }
}
