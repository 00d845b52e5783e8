import Patchbay
import PatchbayAcoustic
import PatchbayAcousticFiles
import PatchbayAcousticServer
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayAdobeFiles
import PatchbayAdobeServer
import PatchbayAdobeSimulator
import PatchbayAltcraft
import PatchbayAltcraftFiles
import PatchbayAltcraftServer
import PatchbayAltcraftSimulator
import PatchbayDES
import PatchbayDESFiles
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import PatchbayRecords
import PatchbaySalesforce
import PatchbaySalesforceFiles
import PatchbaySalesforceServer
import PatchbaySalesforceSimulator
import PatchbaySimulation

/// An API through which bytes of others come in: whatever they are, nothing crashes and no rule below breaks.
///
/// `make fuzz` drives them with libFuzzer, and a test replays what was found and kept under `Tests/Fuzzing/Corpus`.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// The JSON reader: what it takes, it writes, and takes again as the same.
    case json
    /// Operations and contacts: what is read is written and read again as the same.
    case operation
    /// A configuration, with all vendors.
    case configuration
    /// Delimited text, and every vendor's files of contacts, in two chunks.
    case contacts
    /// A migration of contacts from file to file: the bulk path, which works on bytes, gives the same as the general path.
    case migration
    /// The same of rows with columns for all that a row can say: wishes by word and by day, denials, tags, days and times.
    case rows
    /// Consent in a cell of a delimited file: case and spaces change nothing, and a word that settings call an opt-out is never an opt-in.
    case consent
    /// Everything that the engine reads back from the outbox: bodies, steps, memory, journal, subject snapshot, marks.
    case records
    /// A vendor's reply, for every vendor: it gets a verdict, and the books balance.
    case reply

    /// Takes the bytes in.
    ///
    /// - Returns: what was wrong; nil for all other bytes.
    public func problem(with bytes: [UInt8]) -> String? {
        switch self {
        case .json: Self.json(bytes)
        case .operation: Self.model(bytes)
        case .configuration: Self.configuration(bytes)
        case .contacts: Self.contacts(bytes)
        case .migration: Self.migration(bytes) { try BulkPathComparison($0) }
        case .rows: Self.migration(bytes) { try BulkPathComparison(rows: $0) }
        case .consent: Self.consent(bytes)
        case .records: Self.records(bytes)
        case .reply: Self.reply(bytes)
        }
    }

    private static let modules: [AdapterModule] = [
        .acoustic, .acousticServer, .adobe, .adobeServer, .altcraft, .altcraftServer, .des, .salesforce,
        .salesforceServer,
    ]
    private static let formats = [VendorFiles.acoustic, .adobe, .altcraft, .des, .salesforce].flatMap(\.formats)
    private static let apis: [SceneAPI] = {
        let scenes: [any VendorScene.Type] = [
            AcousticScene.self, AcousticServerScene.self, AdobeScene.self, AdobeClassicScene.self,
            AdobeServerScene.self, AltcraftScene.self, AltcraftServerScene.self, DESScene.self, DESProofScene.self,
            SalesforceScene.self, SalesforceServerScene.self, SalesforceServerRowsScene.self,
        ]
        return scenes.compactMap { try? SceneAPI($0, among: modules.flatMap(\.apis)) }
    }()

    private static func json(_ bytes: [UInt8]) -> String? {
        guard let value = try? JSONValue(parsing: bytes) else { return nil }
        let again = try? JSONValue(parsing: value.text)
        return again == value ? nil : "it is not read again as it was written"
    }

    private static func model(_ bytes: [UInt8]) -> String? {
        if let operation = try? EngagementOperation(jsonBytes: bytes),
            (try? EngagementOperation(jsonBytes: operation.jsonBytes)) != operation
        {
            return "an operation is not read again as it was written"
        }
        if let contact = try? Contact(jsonBytes: bytes), (try? Contact(jsonBytes: contact.jsonBytes)) != contact {
            return "a contact is not read again as it was written"
        }
        _ = try? SubjectSnapshot(jsonBytes: bytes)
        _ = try? Finding(jsonBytes: bytes)
        return nil
    }

    private static func configuration(_ bytes: [UInt8]) -> String? {
        do {
            _ = try Configuration.load(
                bytes: bytes,
                path: "/fuzz/patchbay.json",
                environment: ["TOKEN": "t"],
                modules: modules
            )
            return nil
        } catch {
            return error.findings.isEmpty ? "a configuration was refused without a reason" : nil
        }
    }

    private static func contacts(_ bytes: [UInt8]) -> String? {
        let cut = bytes.isEmpty ? 0 : Int(bytes[0]) % bytes.count
        for format in formats {
            guard let make = format.makeReader, var reader = try? make([:]) else { continue }
            var last = 0
            var isInOrder = true
            func take(_ record: SourceRecord) {
                isInOrder = isInOrder && record.number > last
                last = record.number
            }
            try? reader.read(Array(bytes[..<cut]), take)
            try? reader.read(Array(bytes[cut...]), take)
            try? reader.finish(take)
            if !isInOrder { return "\(format.id) counts its records wrong" }
        }
        return nil
    }

    /// The first byte says which format and what a yes means; the rest is the text of a cell.
    private static func consent(_ bytes: [UInt8]) -> String? {
        let formats = formats.filter { ["csv", "txt"].contains($0.fileExtension) }
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        let isPlain = text.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0.value >= 0x20 && !"\",;|\\".unicodeScalars.contains($0)
        }
        guard let first = bytes.first, isPlain, !text.isEmpty, !formats.isEmpty else { return nil }
        let format = formats[Int(first) % formats.count]
        let polarity = ["optedIn", "optedOut", "consent"][Int(first >> 4) % 3]
        func states(_ cell: String, _ words: JSONObject) -> [Subscription.State]? {
            let settings: JSONObject = [
                "delimiter": "comma", "key": "external", "words": .object(words),
                "columns": ["k": "identifier:external", "c": .string("\(polarity):sms")],
            ]
            guard let make = format.makeReader, var reader = try? make(settings) else { return nil }
            var states: [Subscription.State] = []
            func take(_ record: SourceRecord) {
                states += record.contact?.subscriptions.filter { $0.channel == .sms }.map(\.state) ?? []
            }
            try? reader.read(Array("k,c\nk-1,\(cell)\n".utf8), take)
            try? reader.finish(take)
            return states
        }
        let plain = states(text, [:])
        if text.utf8.allSatisfy({ $0 < 0x80 }), states("  \(text.uppercased()) ", [:]) != plain {
            return "\(format.id) reads a consent value otherwise in another case"
        }
        if states(text, [text: "unsubscribed"])?.contains(.subscribed) == true {
            return "\(format.id) reads an opt-out as an opt-in"
        }
        return nil
    }

    private static func migration(_ bytes: [UInt8], _ api: ([UInt8]) throws -> BulkPathComparison) -> String? {
        do {
            return try api(bytes).difference()
        } catch {
            return "\(type(of: error))"
        }
    }

    /// The first byte says which column the rest stands in.
    private static func records(_ bytes: [UInt8]) -> String? {
        guard let first = bytes.first else { return nil }
        let body = Array(bytes.dropFirst())
        let text = String(decoding: body, as: UTF8.self)
        let api = apis[Int(first) / 8 % apis.count]
        do {
            let world = try VirtualWorld()
            let plan = RoutingPlan(providers: [.init(name: "p", adapter: api.adapter, mode: .live)])
            try world.start(plan)
            world.network = { _ in .silence }
            try world.capture(.registerDevice(ScenePhone.device()))
            world.kill()
            let (store, lane) = (world.store, "installation-1")
            switch first % 8 {
            case 0: try add(OutboxOperation(body: body), to: store)
            case 1:
                try store.state.setMemory(
                    provider: "p",
                    lane: type(of: api.adapter).descriptor.memory == .lane ? lane : "",
                    version: type(of: api.adapter).descriptor.stateVersion,
                    body: body
                )
            case 2:
                try store.settlement.progress(provider: "p", sequence: 1, step: body, failures: 1, refusals: 0)
            case 3: try store.state.setSnapshot(subject: lane, body: body)
            case 4: try store.state.setMeta("timeline", text)
            case 5: for key in ["share.p", "breaker.p", "rate.p"] { try store.state.setMeta(key, text) }
            case 6:
                let entry = JournalEntry(lane: lane, endpoint: text, operations: [text], request: body, startedAt: 1)
                try store.state.setJournal(provider: "p", entry)
            default:
                var record = try store.state.providers()[0]
                record.suspended = body
                try store.state.setProvider(record)
            }
            world.network = { _ in .outcome(.replied(WireResponse(200))) }
            try world.start(plan)
            try world.advance(by: .seconds(3600))
            return try problem(of: world)
        } catch {
            return error is OutboxError ? nil : "\(type(of: error))"
        }
    }

    private static func add(_ operation: OutboxOperation, to store: OutboxStore) throws {
        let sequence = try store.captures.insert(operation)
        try store.captures.enter(sequence, provider: "p", lane: "installation-1", queue: "events", hold: nil)
        try store.accounts.count(provider: "p", term: "captured", code: "", by: 1)
    }

    /// The first byte says which vendor, the second the status, the third what the body claims to be.
    private static func reply(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 2 else { return nil }
        let api = apis[Int(bytes[0]) % apis.count]
        let statuses = [200, 200, 200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 412, 422, 429, 500, 503]
        let types = ["application/json", "text/html", "application/xml", "text/plain"]
        let response = WireResponse(
            statuses[Int(bytes[1]) % statuses.count],
            headers: [WireHeader("Content-Type", types[Int(bytes[2]) % types.count])],
            body: Array(bytes.dropFirst(3))
        )
        do {
            let world = try VirtualWorld()
            let vendor = try api.makeVendor()
            var remaining = 6
            world.credentials = { api.credential($1) }
            world.network = { sent in
                remaining -= 1
                return .outcome(.replied(remaining >= 0 ? response : vendor.respond(to: sent.request, now: sent.now)))
            }
            try world.start(RoutingPlan(providers: [.init(name: "p", adapter: api.adapter, mode: .live)]))
            var random = SeededGenerator(seed: 7)
            for number in 1...5 { try world.capture(api.say(number, &random), contact: "c-1") }
            let question = EngagementOperation(
                id: world.host.makeID(),
                subject: "installation-1",
                capturedAt: world.host.date(),
                action: .readBack(api.question)
            )
            try world.read(question, from: "p")
            try world.advance(by: .seconds(7200))
            guard world.outcome(of: question.id, on: "p") != nil else { return "a question has no answer" }
            return try problem(of: world)
        } catch {
            return "\(type(of: error))"
        }
    }

    private static func problem(of world: VirtualWorld) throws -> String? {
        for account in try world.accounts() where !account.balances { return "the books do not balance" }
        return try world.store.maintenance.verify().faults.first?.detail
    }
}

extension OutboxOperation {
    fileprivate init(body: [UInt8]) {
        self.init(
            sequence: 0,
            id: "fuzzed",
            subject: "installation-1",
            group: nil,
            capturedAt: 1,
            since: 1,
            body: body
        )
    }
}
