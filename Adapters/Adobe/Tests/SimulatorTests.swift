import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@Suite("Adobe simulators") struct SimulatorTests {
    private static let ecid = "40218837610593347720158264903317755102"
    private static let json = [WireHeader("Content-Type", "application/json")]

    private func status<Simulator: VendorSimulator>(_ simulator: Simulator, _ request: WireRequest) -> Int {
        var state = simulator.initialState
        return simulator.respond(to: request, state: &state, now: Corpus.start).status
    }

    @Test(arguments: [
        ("h2f,c8,2&mcId=\(ecid)", 200), ("h2f,c8,3&mcId=\(ecid)", 400), ("h2f,c8&mcId=\(ecid)", 400),
        ("h2f,,2&mcId=\(ecid)", 400), ("h2f,c8,2,9&mcId=\(ecid)", 400), ("h2f,c8,2&mcid=\(ecid)", 400),
        ("h2f,c8,2&mcId=12", 400), ("h2f,c8,2", 400), ("h2f,c8,2&mcId=\(ecid)&x=1", 400),
        ("h2f,off,2&mcId=\(ecid)", 404),
    ])
    func `validates tracking requests strictly`(_ query: String, _ expected: Int) throws {
        let simulator = try AdobeSimulator(settings: ["untracked": ["off"]])
        let request = WireRequest("GET", "https://shop.example/r/?id=\(query)", headers: Self.json)
        #expect(status(simulator, request) == expected)
        #expect(status(simulator, WireRequest("PUT", request.url)) == 405)
    }

    @Test func `counts each report and records unusual ones`() throws {
        let simulator = try AdobeSimulator(settings: [:])
        var state = simulator.initialState
        func send(_ action: String, _ headers: [WireHeader]) -> Int {
            let url = "https://shop.example/r/?id=h2f,c8,\(action)&mcId=\(Self.ecid)"
            let request = WireRequest("GET", url, headers: headers)
            return simulator.respond(to: request, state: &state, now: Corpus.start).status
        }
        #expect([send("1", Self.json), send("2", []), send("2", Self.json)] == [200, 200, 200])
        #expect(state.reports.map(\.action) == ["1", "2"])
        #expect(state.reports.map(\.count) == [1, 2])
        #expect(state.violations.count == 2)
        #expect(state.counts == ["tracking 200": 3])
    }

    @Test(arguments: [
        (#"{"marketingCloudId":"\#(ecid)","pushPlatform":"apns"}"#, 200),
        (#"{"marketingCloudId":"\#(ecid)","pushPlatform":"gcm","cusTier":"gold"}"#, 200),
        (#"{"marketingCloudId":"\#(ecid)","pushPlatform":"apns","cusTier":7}"#, 400),
        (#"{"marketingCloudId":"\#(ecid)","pushPlatform":"apns","tier":"gold"}"#, 400),
        (#"{"marketingCloudId":"\#(ecid)","pushPlatform":"fcm"}"#, 400), (#"{"pushPlatform":"apns"}"#, 400),
        (#"{"marketingCloudId":"1","pushPlatform":"apns"}"#, 400), ("[]", 400), ("", 400),
    ])
    func `validates mobile profiles strictly`(_ body: String, _ expected: Int) throws {
        let simulator = try AdobeSimulator(settings: ["apps": ["b7e2"]])
        func post(_ app: String, _ headers: [WireHeader]) -> Int {
            let url = "https://shop.example/rest/head/mobileAppV5/\(app)/subscriptions/\(Self.ecid)"
            return status(simulator, WireRequest("POST", url, headers: headers, body: Array(body.utf8)))
        }
        #expect(post("b7e2", Self.json) == expected)
        #expect(post("another", Self.json) == 404)
        #expect(post("b7e2", []) == 415)
        let place = WireRequest(
            "POST",
            "https://shop.example/rest/head/mobileAppV5/b7e2/locations/",
            headers: Self.json
        )
        #expect(status(simulator, place) == 404)
    }

    @Test func `validates identity service parameters and organizations`() throws {
        let simulator = try AdobeSimulator(settings: ["organizations": ["ACME@AdobeOrg"]])
        func sync(_ query: String) -> Int { status(simulator, WireRequest("GET", "https://dpm.example/id?\(query)")) }
        let good = "d_rtbd=json&d_ver=2&d_orgid=ACME@AdobeOrg&d_mid=\(Self.ecid)&d_cid=20920%01ab"
        #expect(sync(good) == 200)
        #expect(sync(good.replacing("ACME", with: "OTHER")) == 404)
        #expect(sync(good.replacing("%01", with: "%02")) == 400)
        #expect(sync(good.replacing("d_ver=2", with: "d_ver=1")) == 400)
        #expect(sync("d_ver=2&d_rtbd=json") == 400)
    }

    @Test func `validates Classic forms and their XML strictly`() throws {
        let simulator = try AdobeClassicSimulator(settings: ["integrationKeys": ["key"]])
        let form = [WireHeader("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")]
        func register(_ changes: [String: String] = [:], headers: [WireHeader] = form) -> Int {
            let names = [
                "registrationToken", "mobileAppUuid", "userKey", "deviceName", "deviceModel", "deviceBrand",
                "deviceManufacturer", "osName", "osVersion", "osLanguage", "additionalParams",
            ]
            var values = ["registrationToken": "ab", "mobileAppUuid": "key"]
            values["additionalParams"] = "<additionalParams></additionalParams>"
            values.merge(changes) { _, new in new }
            let body = names.map { "\($0)=\(URLText.encode(values[$0] ?? ""))" }.joined(separator: "&")
            let url = "https://mkt.example/nms/mobile/1/registerIOS.jssp"
            return status(simulator, WireRequest("POST", url, headers: headers, body: Array(body.utf8)))
        }
        #expect(register() == 200)
        #expect(register(headers: []) == 415)
        #expect(register(["mobileAppUuid": "another"]) == 404)
        #expect(register(["registrationToken": ""]) == 400)
        let rows: [(String, Int)] = [
            ("<param name=\"a\" value=\"1\" />", 200), ("<param name=\"a\" value=\"1\"/>", 400),
            ("<param name=\"b\" value=\"1\" /><param name=\"a\" value=\"1\" />", 400),
            ("<param name=\"a\" value=\"it's\" />", 400), ("<param name=\"a\" value=\"&lt;&amp;\" />", 200), ("x", 400),
        ]
        for (row, expected) in rows {
            #expect(register(["additionalParams": "<additionalParams>\(row)</additionalParams>"]) == expected)
        }
    }

    @Test(arguments: [
        ("hf1206,c8,2", 200), ("h0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3,c8,1", 200), ("f1206,c8,2", 400),
        ("hf1206,c8,7", 400),
        ("hF1,c8,2", 400), ("h,c8,2", 400), ("hf1206,,2", 400), ("hf1206,c8,2&mcId=1", 400),
    ])
    func `validates Classic tracking strictly`(_ id: String, _ expected: Int) throws {
        let simulator = try AdobeClassicSimulator(settings: [:])
        #expect(status(simulator, WireRequest("GET", "https://trk.example/r/?id=\(id)")) == expected)
        #expect(status(simulator, WireRequest("GET", "https://trk.example/elsewhere")) == 404)
    }
}
