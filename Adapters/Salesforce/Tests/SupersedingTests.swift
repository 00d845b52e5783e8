import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce superseded changes") struct SupersedingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let actions: [Action]
        /// The indices of the superseded actions.
        let superseded: [Int]

        init(_ name: String, _ actions: [Action], _ superseded: [Int] = []) {
            (testDescription, self.actions, self.superseded) = (name, actions, superseded)
        }

        static let all: [Row] = [
            Row("the same attribute", [.set("tier", "gold"), .set("tier", "silver")], [0]),
            Row("another attribute", [.set("tier", "gold"), .set("city", "Turku")]),
            Row(
                "one of two attributes",
                [.changeAttributes(["tier": .set("gold"), "city": .set("Turku")]), .set("tier", "silver")]
            ),
            Row("a removal", [.set("tier", "gold"), .changeAttributes(["tier": .unset])], [0]),
            Row("the same tag in another spelling", [.add("Sports"), .remove("sports"), .add("x")], [0]),
            Row("another tag", [.add("sports"), .add("music")]),
            Row("all tags", [.add("sports"), .remove("music"), .changeTags(TagChange(replace: ["art"]))], [0, 1]),
            Row("a tag after all tags", [.changeTags(TagChange(replace: ["art"])), .add("sports")]),
            Row("a topic and its tag", [.push(.subscribed, topic: "art"), .remove("art"), .add("x")], [0]),
            Row("push and push", [.push(.unsubscribed), .push(.subscribed), .push(.unsubscribed)], [0, 1]),
            Row("a contact key and the same", [.identify("a"), .logIn("a")], [0]),
            Row("a device and its next state", [.registerDevice(.sample.travelling), .registerDevice(.muted)], [0]),
            Row("facts and a device without", [.registerDevice(.sample.travelling), .registerDevice(Device())]),
            Row("three in a row", [.set("tier", "a"), .set("tier", "b"), .set("tier", "c")], [0, 1]),
        ]
    }

    @Test(.shows("salesforce/S15"), arguments: Row.all)
    func `supersedes completely replaced changes without altering the request`(_ row: Row) throws {
        let (driver, without) = (
            try TestDriver.registered([:], .add("music")), try TestDriver.registered([:], .add("music"))
        )
        let ids = row.actions.map { driver.capture($0, at: 10) }
        for (place, action) in row.actions.enumerated() where !row.superseded.contains(place) {
            without.capture(action, at: 10)
        }
        let bodies = [try driver.exchange(at: 70).body, try without.exchange(at: 70).body]
        #expect(bodies[0] == bodies[1])
        for (place, id) in ids.enumerated() {
            let isSuperseded = driver.summary(of: id)?.hasPrefix("superseded by") == true
            #expect(isSuperseded == row.superseded.contains(place), "\(place)")
        }
    }

    @Test(.shows("salesforce/S15")) func `names the last change as the replacement`() throws {
        let driver = try TestDriver.registered()
        let ids = (0..<3).map { driver.capture(.set("tier", .integer($0)), at: 10) }
        try driver.exchange(at: 70)
        #expect(driver.summary(of: ids[0]) == "superseded by \(ids[2].rawValue)")
        #expect(driver.summary(of: ids[1]) == "superseded by \(ids[2].rawValue)")
    }

    @Test(.shows("salesforce/D3")) func `an erasure completes pending changes without sending them`() throws {
        let driver = try TestDriver.registered()
        let ids = [Action.set("tier", "gold"), .add("x"), .push(.unsubscribed)].map { driver.capture($0, at: 10) }
        driver.capture(.erase, at: 10)
        let body = try driver.exchange(at: 70).json
        #expect(body?.pairs == [] && body?.tags == ["ALL", "IOS"] && body?["push_Enabled"] == false)
        #expect(ids.map { driver.summary(of: $0) } == ids.map { _ in "erased" })
    }

    @Test func `a signed string keeps its operation from being superseded`() throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(.set("tier", "gold"), at: 10, options: ["signedString": "opaque"])
        driver.capture(.set("tier", "silver"), at: 10)
        #expect(try driver.exchange(at: 70).json?["signedString"] == "opaque")
        #expect(driver.summary(of: id) == "accepted salesforce.visibleLater")
    }
}

extension Device {
    fileprivate static let muted: Device = {
        var device = Device.sample
        device.allowsPush = false
        return device
    }()
}
