import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce contact key") struct IdentityTests {
    @Test(.shows("salesforce/K2", "salesforce/W5")) func `trims the contact key`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.identify(" \u{A0}member-1\n"), at: 0)
        #expect(try driver.body(at: 0)["subscriberKey"] == "member-1")
    }

    @Test(.shows("salesforce/K1"), arguments: ["", " ", "\t\n"])
    func `rejects a blank contact key and keeps the former one`(_ key: String) throws {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        #expect(driver.words(.identify(key)) == ["error salesforce.contactKey.blank"])
        driver.capture(.identify(key), at: 0)
        driver.settle(at: 0)
        #expect(driver.memory.registration.contactKey == "member-1")
    }

    @Test(.shows("salesforce/K3")) func `rejects a log-out because the contact key cannot be cleared`() throws {
        let driver = try TestDriver.registered([:], .identify("anna"))
        let logOut = Action.switchContact(ContactSwitch(.logOut))
        #expect(driver.words(logOut) == ["warning salesforce.contactKey.notCleared"])
        let id = driver.capture(logOut, at: 60)
        driver.settle(at: 60)
        #expect(driver.summary(of: id) == "rejected salesforce.contactKey.notCleared")
        #expect(FindingRow.contactKeyNotCleared.remedy.contains("Log in"))
    }

    @Test(.shows("salesforce/K4"), arguments: ["guest", "0", "Unknown"])
    func `warns about a placeholder as contact key`(_ key: String) throws {
        #expect(try TestDriver().words(.identify(key)) == ["warning salesforce.contactKey.shared"])
    }

    @Test(.shows("salesforce/K5")) func `takes the contact key from the kind of identifier that the settings name`()
        throws
    {
        let driver = try TestDriver(["contactKeyIdentifier": "email"])
        let both = Action.identify([Identifier(.external, "c-1"), Identifier(.email, "aino@example.com")])
        #expect(driver.words(both) == ["warning salesforce.identifier.ignored"])
        #expect(driver.words(.identify("c-1")) == ["error salesforce.contactKey.notGiven"])
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(both, at: 0)
        #expect(try driver.body(at: 0)["subscriberKey"] == "aino@example.com")
    }

    @Test(.shows("salesforce/K6")) func `omits the contact key from the registration if none is known`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        #expect(try driver.body(at: 0).object?.names.contains("subscriberKey") == false)
    }

    @Test(.shows("salesforce/K8")) func `reports a long contact key without revealing it`() throws {
        let key = String(repeating: "k", count: 255)
        let findings = try TestDriver().examine(.identify(key))
        #expect(findings.map(\.code) == ["salesforce.contactKey.long"])
        #expect(findings.first?.reason.contains("255") == true)
        #expect(findings.first?.description.contains(key) == false)
        #expect(try TestDriver().examine(.identify(String(key.dropLast()))).isEmpty)
    }

    @Test(.shows("salesforce/A14")) func `reports the effect of a log-in on the former person's attributes`() throws {
        #expect(try TestDriver().words(.logIn("member-1")) == ["note salesforce.attributes.cleared"])
        let keeping = try TestDriver(["contactChange": "keep"])
        #expect(keeping.words(.logIn("member-1")) == ["warning salesforce.attributes.carriedOver"])
    }

    @Test(.shows("salesforce/K10", "salesforce/W23"))
    func `sets the signed string, keeps it for a blank and removes it for null`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0, options: ["signedString": "opaque"])
        #expect(try driver.exchange(at: 0).json?["signedString"] == "opaque")
        driver.capture(.add("sports"), at: 60, options: ["signedString": " "])
        #expect(try driver.exchange(at: 120).json?["signedString"] == "opaque")
        driver.capture(.remove("sports"), at: 180, options: ["signedString": nil])
        #expect(try driver.exchange(at: 240).json?["signedString"] == nil)
        let ignored = driver.examine(.add("x"), options: ["signedString": 7, "sync": true])
        #expect(ignored.map(\.code) == ["salesforce.option.unknown", "salesforce.option.signedString"])
    }
}
