import Foundation
import PatchbayAcousticFiles
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforceFiles
import Testing

@testable import PatchbayMigration

/// Opt-outs that lower opt-ins of other records, for any key of the target and any order of the records.
@Suite("Reach of opt-outs across records") struct OptOutReachTests {
    /// A target with settings for the decisions.
    struct Target: CustomTestStringConvertible {
        let format: RecordFormat
        let settings: JSONObject
        var testDescription: String { format.id }

        static let all: [Target] =
            [Target(format: .neutralContacts, settings: [:])]
            + [VendorFiles.acoustic, .adobe, .altcraft, .des, .salesforce].flatMap(\.formats).compactMap { format in
                settings[format.id].map { Target(format: format, settings: $0) }
            }

        private static let columns: JSONValue = [
            "Mail": "consent:email", "News": "consent:email/news", "Text": "consent:sms",
        ]
        private static let settings: [String: JSONObject] = [
            "altcraft.profiles": ["dbId": 7, "resourceId": 3, "resources": ["news": "4"]],
            "acoustic.contacts": [
                "listId": "7", "lostOptOuts": "warn", "textToJoinProgramId": "5", "withoutOptIn": "warn",
                "columns": ["News": "consent:email/news"],
            ],
            "adobe.profiles": ["columns": ["News": "consent:email/news"]],
            "des.contacts": ["columns": ["News": "consent:email/news", "Text": "consent:sms"]],
            "salesforce.contacts": ["columns": columns],
        ]
    }

    /// Two records of a source: the second opts in to what the first opts out of.
    struct Pair: CustomTestStringConvertible {
        let testDescription: String
        let optOut: Contact
        let optIn: Contact

        private static func contact(
            _ key: String,
            _ mails: [String],
            _ phones: [String],
            _ channel: Channel,
            _ state: Subscription.State,
            _ topic: String? = nil
        ) -> Contact {
            Contact(
                identifiers: [Identifier(.external, key)] + mails.map { Identifier(.email, $0) }
                    + phones.map { Identifier(.phone, $0) },
                subscriptions: [Subscription(channel: channel, topic: topic, state: state)]
            )
        }

        static let all: [Pair] = [
            Pair(
                testDescription: "the number of the person, without the address that is the target's key",
                optOut: contact("k1", [], [], .email, .unsubscribed),
                optIn: contact("K1 ", ["ada@x.example"], [], .email, .subscribed)
            ),
            Pair(
                testDescription: "the number of the person, with another address",
                optOut: contact("k1", ["old@x.example"], [], .email, .suspended),
                optIn: contact("k1", ["ada@x.example"], [], .email, .subscribed, "news")
            ),
            Pair(
                testDescription: "the number of the person, with another telephone number",
                optOut: contact("k1", ["ada@x.example"], ["+4915100000001"], .sms, .unsubscribed),
                optIn: contact("k1", ["bea@x.example"], ["+4916000000001"], .sms, .subscribed)
            ),
            Pair(
                testDescription: "a telephone number without its country",
                optOut: contact("k1", ["ada@x.example"], ["0151 0000001"], .sms, .unsubscribed),
                optIn: contact("k2", ["bea@x.example"], ["+49 (0) 151 000 00 01"], .sms, .subscribed)
            ),
            Pair(
                testDescription: "a telephone number with the 8 of Russian ones",
                optOut: contact("k1", ["ada@x.example"], ["8 912 345-67-89"], .sms, .unsubscribed),
                optIn: contact("k2", ["bea@x.example"], ["+79123456789"], .sms, .subscribed)
            ),
            Pair(
                testDescription: "the address as a second one of the opt-in",
                optOut: contact("k1", ["ada@x.example"], [], .email, .unsubscribed),
                optIn: contact("k2", ["bea@x.example", "ADA@x.example"], [], .email, .subscribed)
            ),
            Pair(
                testDescription: "the address as a second one of the opt-out",
                optOut: contact("k1", ["ada@x.example", "bea@x.example"], [], .email, .unsubscribed),
                optIn: contact("k2", ["bea@x.example"], [], .email, .subscribed)
            ),
        ]
    }

    private func written(_ contacts: [Contact], to target: Target, workers: Int) throws -> [Contact] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in.ndjson"), folder.appending(path: "out"))
        try Data(contacts.flatMap { $0.jsonBytes + [0x0A] }).write(to: input)
        let migration = try Migration(from: .neutralContacts, to: target.format, targetSettings: target.settings)
        let run = ResumableMigration(
            migration,
            .init(input: input.path, output: output.path),
            settings: [:],
            interval: .seconds(60),
            workers: workers
        )
        _ = try run.run(restarts: false, progress: { _ in }, isCancelled: { false })
        let make = try #require(target.format.makeReader)
        var reader = try make(target.settings)
        var read: [Contact] = []
        try reader.read(Array(Data(contentsOf: output))) { if let contact = $0.contact { read.append(contact) } }
        try reader.finish { if let contact = $0.contact { read.append(contact) } }
        return read
    }

    @Test(arguments: Target.all, Pair.all)
    func `an opt-out lowers opt-ins in other records of the person or the address`(_ target: Target, _ pair: Pair)
        throws
    {
        // A third person proves that the target can hold opt-ins.
        var other = pair.optIn
        other.identifiers = [
            Identifier(.external, "k9"), Identifier(.email, "eva@x.example"), Identifier(.phone, "+358401112223"),
        ]
        for records in [[pair.optOut, pair.optIn, other], [pair.optIn, other, pair.optOut]] {
            for workers in [1, 3] {
                let optIns = try written(records, to: target, workers: workers).filter {
                    $0.subscriptions.contains { $0.state == .subscribed }
                }
                let keys = optIns.map { $0.identifiers.first(.email) ?? $0.identifiers.first(.external) ?? "" }
                // Acoustic's file cannot hold an opt-in of a whole channel.
                let expected = target.format.id == "acoustic.contacts" && keys.isEmpty ? [] : ["eva@x.example"]
                #expect(keys == expected, "\(workers) threads")
            }
        }
    }

    @Test(arguments: [1, 3]) func `an opt-in lowered by another record does not lower topics`(_ workers: Int) throws {
        func contact(_ mail: String, _ wishes: [Subscription]) -> Contact {
            Contact(identifiers: [Identifier(.external, "k1"), Identifier(.email, mail)], subscriptions: wishes)
        }
        let news = Subscription(channel: .email, topic: "news", state: .subscribed)
        let records = [
            contact("ada@x.example", [Subscription(channel: .email, state: .subscribed)]),
            contact("ada@x.example", [Subscription(channel: .email, state: .unsubscribed), news]),
        ]
        for records in [records, records.reversed()] {
            let read = try written(records, to: Target.all[0], workers: workers)
            #expect(read.flatMap(\.subscriptions).filter { $0.topic != nil } == [news])
            #expect(read.flatMap(\.subscriptions).filter { $0.topic == nil }.allSatisfy { $0.state == .unsubscribed })
        }
    }

    @Test(arguments: ["salesforce.contacts", "adobe.profiles"], [1, 3])
    func `does not apply consent for an unwritable address to another address`(_ id: String, _ workers: Int) throws {
        let contact = Contact(
            identifiers: [
                Identifier(.external, "k1"), Identifier(.phone, "call me"), Identifier(.phone, "+491600000002"),
            ],
            subscriptions: [
                Subscription(channel: .sms, state: .subscribed), Subscription(channel: .email, state: .unsubscribed),
            ]
        )
        let target = try #require(Target.all.first { $0.format.id == id })
        let read = try #require(written([contact], to: target, workers: workers).first)
        #expect(read.identifiers.first(.phone) == nil)
        #expect(read.subscriptions.map(\.state) == [.unsubscribed])
    }

    // MARK: Probes of a plan

    /// A writer that accepts a contact only if its telephone number starts with the given text.
    private struct SignedPhoneWriter: ContactWriter {
        let sign: String
        mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
            guard contact.identifiers.first(.phone)?.hasPrefix(sign) == true else {
                return [Self.refused.at("identifiers")]
            }
            bytes += contact.jsonBytes + [0x0A]
            return []
        }

        static let refused = FindingRow(
            .error("toy.phone", .invalid),
            reason: "The number has another form",
            remedy: "Correct the number."
        )
    }

    @Test(arguments: ["+", "358", "x"]) func `a plan probes the target's number forms and reports a rejection`(
        _ sign: String
    )
        throws
    {
        let format = RecordFormat(
            id: "toy.particular",
            title: "Particular",
            fileExtension: "ndjson",
            makeReader: RecordFormat.neutralContacts.makeReader,
            makeWriter: { _ throws(SettingsError) in SignedPhoneWriter(sign: sign) }
        )
        let migration = try Migration(from: .neutralContacts, to: format)
        let contact = Contact(
            identifiers: [Identifier(.external, "k1"), Identifier(.phone, "\(sign)4915100000001")],
            attributes: ["city": "Oulu"]
        )
        var source = ChunkedSource(contact.jsonBytes + [0x0A], chunk: 1 << 16)
        let plan = try migration.plan(&source)
        let isRefused = sign == "x"
        #expect(plan.losses.map(\.code) == (isRefused ? ["migration.plan.probeRefused"] : []))
        #expect(plan.losses.first?.reason.contains("The number has another form") ?? true)
        #expect(plan.attributes.map(\.fate) == [isRefused ? "unknown" : "kept"])
        #expect(plan.attributes.allSatisfy { $0.lost == 0 })
        #expect((plan.parts.map(\.fate) == ["refused"]) == isRefused)
    }
}
