import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

@Suite("Salesforce orphaned contacts") struct OrphanTests {
    /// The findings about each way to lose a contact.
    private static let rows: [FindingRow] = [
        .contactKeyLacking, .contactKeyLate, .contactKeyChanged, .contactKeyOfAnother, .contactKeyShared,
    ]

    @Test(arguments: rows) func `every warning names the bill and a way out`(_ row: FindingRow) {
        #expect(row.severity == .warning)
        #expect(row.reason.contains("billed"))
        #expect(!row.remedy.isEmpty)
    }

    @Test(.shows("salesforce/K6", "salesforce/K12"))
    func `without delay the first registration may make a contact, and the key that follows orphans it`() throws {
        let bench = try Bench()
        let first = bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0)
        #expect(bench.summary(of: first) == "accepted salesforce.contactKey.lacking")
        let key = bench.capture(.identify("member-1"), at: 100)
        try bench.exchange(at: 160)
        #expect(bench.summary(of: key) == "accepted salesforce.contactKey.late")
        #expect(FindingRow.contactKeyLate.remedy.contains("delayRegistrationUntilContactKeyIsSet"))
    }

    @Test func `an uncertain delivery in between does not hide the contact that was made`() throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 100)
        try bench.exchange(at: 160, lost)
        let key = bench.capture(.identify("member-1"), at: 161)
        try bench.exchange(at: 221)
        #expect(bench.summary(of: key) == "accepted salesforce.contactKey.late")
    }

    @Test(.shows("salesforce/S12")) func `with delay nobody is orphaned by the first key`() throws {
        let bench = try Bench(["delayRegistrationUntilContactKeyIsSet": true])
        let ids = [Action.registerDevice(.sample), .identify("member-1")].map { bench.capture($0, at: 0) }
        #expect(bench.due(at: 0) == 0)
        try bench.exchange(at: 0)
        #expect(ids.map { bench.summary(of: $0) } == ids.map { _ in "accepted salesforce.visibleLater" })
        // The rule applies: without the key nothing would have been sent.
        let other = try Bench(["delayRegistrationUntilContactKeyIsSet": true])
        other.capture(.registerDevice(.sample), at: 0)
        #expect(other.reason(at: 0) == "salesforce.contactKey.missing")
    }

    @Test func `a key that comes with the first registration orphans nobody`() throws {
        let bench = try Bench()
        let ids = [Action.registerDevice(.sample), .identify("member-1")].map { bench.capture($0, at: 0) }
        try bench.exchange(at: 0)
        #expect(ids.map { bench.summary(of: $0) } == ids.map { _ in "accepted salesforce.visibleLater" })
    }

    @Test func `an adopted device has its contact already`() throws {
        let bench = try Bench()
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"]
        let id = bench.capture(.registerDevice(device), at: 0)
        try bench.exchange(at: 0)
        #expect(bench.summary(of: id) == "accepted salesforce.visibleLater")
    }

    @Test(
        .shows("salesforce/K9", "salesforce/K7", "salesforce/K12"),
        arguments: ["member-2", "Member-1", "membe\u{301}r-1"]
    )
    func `a changed key is said, letter by letter`(_ key: String) throws {
        let bench = try Bench.registered([:], .identify("member-1"))
        let id = bench.capture(.identify(key), at: 0)
        try bench.exchange(at: 60)
        #expect(bench.summary(of: id) == "accepted salesforce.contactKey.changed")
    }

    @Test(.shows("salesforce/K7")) func `keys that look alike and are written differently are different`() throws {
        let bench = try Bench.registered([:], .identify("jos\u{E9}"))
        let id = bench.capture(.identify("jose\u{301}"), at: 0)
        let body = try bench.exchange(at: 60).json
        #expect(body?["subscriberKey"]?.string.map { Array($0.utf8) } == Array("jose\u{301}".utf8))
        #expect(bench.summary(of: id) == "accepted salesforce.contactKey.changed")
    }

    @Test(.shows("salesforce/K11", "salesforce/K12")) func `several people on one device are told of`() throws {
        let bench = try Bench.registered([:], .logIn("aino"))
        let next = bench.capture(.logIn("bo"), at: 0)
        try bench.exchange(at: 60)
        #expect(bench.summary(of: next) == "accepted salesforce.contactKey.ofAnother")
        let same = bench.capture(.logIn("bo"), at: 100)
        bench.settle(at: 100)
        #expect(bench.summary(of: same) == "unchanged")
    }

    @Test(.shows("salesforce/S15")) func `a person who was gone before the registration left was never there`() throws {
        let bench = try Bench.registered([:], .logIn("aino"))
        let bo = bench.capture(.logIn("bo"), at: 10)
        let eve = bench.capture(.logIn("eve"), at: 20)
        #expect(try bench.exchange(at: 70).json?["subscriberKey"] == "eve")
        #expect(bench.summary(of: bo) == "superseded by \(eve.rawValue)")
        #expect(bench.summary(of: eve) == "accepted salesforce.contactKey.ofAnother")
    }

    @Test func `the account counts every contact, and knows who is out of reach`() throws {
        let simulator = try SalesforceSimulator(settings: [:])
        var account = simulator.initialState
        let bench = try Bench()
        func send(at seconds: Int) throws {
            let request = try bench.transmission(at: seconds).request
            try bench.exchange(at: seconds, simulator.respond(to: request, state: &account, now: Bench.at(seconds)))
        }
        bench.capture(.registerDevice(.sample), at: 0)
        try send(at: 0)
        for (place, person) in ["aino", "bo", "aino"].enumerated() {
            bench.capture(.logIn(person), at: place * 1000)
            try send(at: place * 1000 + 60)
        }
        #expect(account.contacts.count == 3)
        #expect(account.orphanedContacts == ["bo", "invented-\(Bench.subject.rawValue)"])
        #expect(account.violations == [])
    }
}
