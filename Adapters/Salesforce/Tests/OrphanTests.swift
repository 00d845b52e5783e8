import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

@Suite("Salesforce orphaned contacts") struct OrphanTests {
    /// The findings about each cause of an orphaned contact.
    private static let rows: [FindingRow] = [
        .contactKeyLacking, .contactKeyLate, .contactKeyChanged, .contactKeyOfAnother, .contactKeyShared,
    ]

    @Test(arguments: rows) func `every warning about orphaned contacts mentions billing and a remedy`(_ row: FindingRow)
    {
        #expect(row.severity == .warning)
        #expect(row.reason.contains("billed"))
        #expect(!row.remedy.isEmpty)
    }

    @Test(.shows("salesforce/K6", "salesforce/K12"))
    func `warns that a later contact key orphans the contact of the first registration`() throws {
        let driver = try TestDriver()
        let first = driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0)
        #expect(driver.summary(of: first) == "accepted salesforce.contactKey.lacking")
        let key = driver.capture(.identify("member-1"), at: 100)
        try driver.exchange(at: 160)
        #expect(driver.summary(of: key) == "accepted salesforce.contactKey.late")
        #expect(FindingRow.contactKeyLate.remedy.contains("delayRegistrationUntilContactKeyIsSet"))
    }

    @Test func `warns about the orphaned contact even after an uncertain delivery`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 100)
        try driver.exchange(at: 160, lost)
        let key = driver.capture(.identify("member-1"), at: 161)
        try driver.exchange(at: 221)
        #expect(driver.summary(of: key) == "accepted salesforce.contactKey.late")
    }

    @Test(.shows("salesforce/S12")) func `the first key orphans no contact if registration is delayed`() throws {
        let driver = try TestDriver(["delayRegistrationUntilContactKeyIsSet": true])
        let ids = [Action.registerDevice(.sample), .identify("member-1")].map { driver.capture($0, at: 0) }
        #expect(driver.due(at: 0) == 0)
        try driver.exchange(at: 0)
        #expect(ids.map { driver.summary(of: $0) } == ids.map { _ in "accepted salesforce.visibleLater" })
        // The rule applies: without the key nothing would have been sent.
        let other = try TestDriver(["delayRegistrationUntilContactKeyIsSet": true])
        other.capture(.registerDevice(.sample), at: 0)
        #expect(other.reason(at: 0) == "salesforce.contactKey.missing")
    }

    @Test func `a key in the first registration orphans no contact`() throws {
        let driver = try TestDriver()
        let ids = [Action.registerDevice(.sample), .identify("member-1")].map { driver.capture($0, at: 0) }
        try driver.exchange(at: 0)
        #expect(ids.map { driver.summary(of: $0) } == ids.map { _ in "accepted salesforce.visibleLater" })
    }

    @Test func `does not warn about a missing contact key for an adopted device`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"]
        let id = driver.capture(.registerDevice(device), at: 0)
        try driver.exchange(at: 0)
        #expect(driver.summary(of: id) == "accepted salesforce.visibleLater")
    }

    @Test(
        .shows("salesforce/K9", "salesforce/K7", "salesforce/K12"),
        arguments: ["member-2", "Member-1", "membe\u{301}r-1"]
    )
    func `reports a changed contact key, compared by Unicode scalars`(_ key: String) throws {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        let id = driver.capture(.identify(key), at: 0)
        try driver.exchange(at: 60)
        #expect(driver.summary(of: id) == "accepted salesforce.contactKey.changed")
    }

    @Test(.shows("salesforce/K7")) func `distinguishes canonically equivalent contact keys`() throws {
        let driver = try TestDriver.registered([:], .identify("jos\u{E9}"))
        let id = driver.capture(.identify("jose\u{301}"), at: 0)
        let body = try driver.exchange(at: 60).json
        #expect(body?["subscriberKey"]?.string.map { Array($0.utf8) } == Array("jose\u{301}".utf8))
        #expect(driver.summary(of: id) == "accepted salesforce.contactKey.changed")
    }

    @Test(.shows("salesforce/K11", "salesforce/K12")) func `reports several people on one device`() throws {
        let driver = try TestDriver.registered([:], .logIn("aino"))
        let next = driver.capture(.logIn("bo"), at: 0)
        try driver.exchange(at: 60)
        #expect(driver.summary(of: next) == "accepted salesforce.contactKey.ofAnother")
        let same = driver.capture(.logIn("bo"), at: 100)
        driver.settle(at: 100)
        #expect(driver.summary(of: same) == "unchanged")
    }

    @Test(.shows("salesforce/S15")) func `supersedes a log-in that another log-in replaced before it was sent`() throws
    {
        let driver = try TestDriver.registered([:], .logIn("aino"))
        let bo = driver.capture(.logIn("bo"), at: 10)
        let eve = driver.capture(.logIn("eve"), at: 20)
        #expect(try driver.exchange(at: 70).json?["subscriberKey"] == "eve")
        #expect(driver.summary(of: bo) == "superseded by \(eve.rawValue)")
        #expect(driver.summary(of: eve) == "accepted salesforce.contactKey.ofAnother")
    }

    @Test func `the account lists every contact and the orphaned ones`() throws {
        let simulator = try SalesforceSimulator(settings: [:])
        var account = simulator.initialState
        let driver = try TestDriver()
        func send(at seconds: Int) throws {
            let request = try driver.transmission(at: seconds).request
            try driver.exchange(
                at: seconds,
                simulator.respond(to: request, state: &account, now: TestDriver.at(seconds))
            )
        }
        driver.capture(.registerDevice(.sample), at: 0)
        try send(at: 0)
        for (place, person) in ["aino", "bo", "aino"].enumerated() {
            driver.capture(.logIn(person), at: place * 1000)
            try send(at: place * 1000 + 60)
        }
        #expect(account.contacts.count == 3)
        #expect(account.orphanedContacts == ["bo", "invented-\(TestDriver.subject.rawValue)"])
        #expect(account.violations == [])
    }
}
