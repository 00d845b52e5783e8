import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce contact key") struct IdentityTests {
    @Test(.shows("salesforce/K2", "salesforce/W5")) func `a contact key is trimmed`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        bench.capture(.identify(" \u{A0}member-1\n"), at: 0)
        #expect(try bench.body(at: 0)["subscriberKey"] == "member-1")
    }

    @Test(.shows("salesforce/K1"), arguments: ["", " ", "\t\n"])
    func `a blank contact key is refused and the old one stays`(_ key: String) throws {
        let bench = try Bench.registered([:], .identify("member-1"))
        #expect(bench.words(.identify(key)) == ["error salesforce.contactKey.blank"])
        bench.capture(.identify(key), at: 0)
        bench.settle(at: 0)
        #expect(bench.memory.registration.contactKey == "member-1")
    }

    @Test(.shows("salesforce/K3")) func `a log-out can't clear the contact key`() throws {
        let bench = try Bench.registered([:], .identify("anna"))
        let logOut = Action.switchContact(ContactSwitch(.logOut))
        #expect(bench.words(logOut) == ["warning salesforce.contactKey.notCleared"])
        let id = bench.capture(logOut, at: 60)
        bench.settle(at: 60)
        #expect(bench.summary(of: id) == "rejected salesforce.contactKey.notCleared")
        #expect(FindingRow.contactKeyNotCleared.remedy.contains("Log in"))
    }

    @Test(.shows("salesforce/K4"), arguments: ["guest", "0", "Unknown"])
    func `a placeholder is warned about`(_ key: String) throws {
        #expect(try Bench().words(.identify(key)) == ["warning salesforce.contactKey.shared"])
    }

    @Test(.shows("salesforce/K5")) func `a setting names the kind of identifier`() throws {
        let bench = try Bench(["contactKeyIdentifier": "email"])
        let both = Action.identify([Identifier(.external, "c-1"), Identifier(.email, "aino@example.com")])
        #expect(bench.words(both) == ["warning salesforce.identifier.ignored"])
        #expect(bench.words(.identify("c-1")) == ["error salesforce.contactKey.notGiven"])
        bench.capture(.registerDevice(.sample), at: 0)
        bench.capture(both, at: 0)
        #expect(try bench.body(at: 0)["subscriberKey"] == "aino@example.com")
    }

    @Test(.shows("salesforce/K6")) func `without a contact key the registration leaves it out`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        #expect(try bench.body(at: 0).object?.names.contains("subscriberKey") == false)
    }

    @Test(.shows("salesforce/K8")) func `a long key is uncertain, and its text is not shown`() throws {
        let key = String(repeating: "k", count: 255)
        let findings = try Bench().examine(.identify(key))
        #expect(findings.map(\.code) == ["salesforce.contactKey.long"])
        #expect(findings.first?.reason.contains("255") == true)
        #expect(findings.first?.description.contains(key) == false)
        #expect(try Bench().examine(.identify(String(key.dropLast()))).isEmpty)
    }

    @Test(.shows("salesforce/A14")) func `a log-in says what happens to attributes of the person before`() throws {
        #expect(try Bench().words(.logIn("member-1")) == ["note salesforce.attributes.cleared"])
        let keeping = try Bench(["contactChange": "keep"])
        #expect(keeping.words(.logIn("member-1")) == ["warning salesforce.attributes.carriedOver"])
    }

    @Test(.shows("salesforce/K10", "salesforce/W23"))
    func `the signed string is set, kept by a blank, removed by null`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0, options: ["signedString": "opaque"])
        #expect(try bench.exchange(at: 0).json?["signedString"] == "opaque")
        bench.capture(.add("sports"), at: 60, options: ["signedString": " "])
        #expect(try bench.exchange(at: 120).json?["signedString"] == "opaque")
        bench.capture(.remove("sports"), at: 180, options: ["signedString": nil])
        #expect(try bench.exchange(at: 240).json?["signedString"] == nil)
        let ignored = bench.examine(.add("x"), options: ["signedString": 7, "sync": true])
        #expect(ignored.map(\.code) == ["salesforce.option.unknown", "salesforce.option.signedString"])
    }
}
