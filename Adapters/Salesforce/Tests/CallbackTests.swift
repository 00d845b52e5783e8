import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce registration callback") struct CallbackTests {
    @Test(.shows("salesforce/R7")) func `answers a pending change with the registration as it was sent`() throws {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        let ids = [Action.add("sports"), .set("tier", "gold")].map { driver.capture($0, at: 10) }
        let body = try #require(driver.exchange(at: 70).json)
        for id in ids { #expect(driver.answer(id) == body) }
        let keys = try #require(body.object).names
        for key in [
            "push_Enabled", "quietPushEnabled", "location_Enabled", "proximity_Enabled", "attributes", "tags",
            "subscriberKey", "device_Token", "deviceID", "timeZone", "dST", "locale", "language", "platform",
            "platform_Version", "app_Version", "sdk_Version", "hwid", "etAppId", "registrationId",
        ] {
            #expect(keys.contains(key))
        }
    }

    @Test(.shows("salesforce/R7"), arguments: [WireResponse(400), WireResponse(500), WireResponse(429)])
    func `returns no registration after a failure, but after the next success`(_ failure: WireResponse) throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 60, failure)
        #expect(driver.answer(id) == nil)
        try driver.exchange(at: 120)
        #expect(driver.answer(id)?.tags == ["ALL", "IOS", "sports"])
    }

    @Test func `returns no registration for a change that sends no request`() throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(.remove("absent"), at: 0)
        driver.settle(at: 0)
        #expect(driver.answer(id) == nil)
    }

    @Test(.shows("salesforce/R7")) func `does not return the app's signed string`() throws {
        let driver = try TestDriver()
        let id = driver.capture(.registerDevice(.sample), at: 0, options: ["signedString": "opaque"])
        #expect(try driver.exchange(at: 0).json?["signedString"] == "opaque")
        #expect(driver.answer(id)?["signedString"] == nil && driver.answer(id)?["deviceID"] != nil)
    }
}
