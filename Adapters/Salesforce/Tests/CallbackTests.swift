import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce registration callback") struct CallbackTests {
    @Test(.shows("salesforce/R7")) func `whoever waits for a change is handed the registration as it was sent`() throws
    {
        let bench = try Bench.registered([:], .identify("member-1"))
        let ids = [Action.add("sports"), .set("tier", "gold")].map { bench.capture($0, at: 10) }
        let body = try #require(bench.exchange(at: 70).json)
        for id in ids { #expect(bench.answer(id) == body) }
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
    func `a failure hands over nothing, the success after it does`(_ failure: WireResponse) throws {
        let bench = try Bench.registered()
        let id = bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 60, failure)
        #expect(bench.answer(id) == nil)
        try bench.exchange(at: 120)
        #expect(bench.answer(id)?.tags == ["ALL", "IOS", "sports"])
    }

    @Test func `what sends nothing hands over nothing`() throws {
        let bench = try Bench.registered()
        let id = bench.capture(.remove("absent"), at: 0)
        bench.settle(at: 0)
        #expect(bench.answer(id) == nil)
    }

    @Test(.shows("salesforce/R7")) func `the app's signed string is not handed on`() throws {
        let bench = try Bench()
        let id = bench.capture(.registerDevice(.sample), at: 0, options: ["signedString": "opaque"])
        #expect(try bench.exchange(at: 0).json?["signedString"] == "opaque")
        #expect(bench.answer(id)?["signedString"] == nil && bench.answer(id)?["deviceID"] != nil)
    }
}
