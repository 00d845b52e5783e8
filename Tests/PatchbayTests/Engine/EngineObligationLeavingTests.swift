import Foundation
import Patchbay
import PatchbayAcoustic
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayAdobeSimulator
import PatchbayAltcraft
import PatchbayAltcraftSimulator
import PatchbayDES
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce
import PatchbaySalesforceSimulator
import PatchbaySimulation
import Testing

/// A person who denies consent can still unsubscribe and unregister, at every vendor.
@Suite("Unsubscribing and unregistering after a denial") struct EngineObligationLeavingTests {
    /// A vendor's device API, and the text of its request that ends push.
    struct Vendor: Sendable, CustomTestStringConvertible {
        let id: String
        let settings: JSONObject
        /// The path of the requests that end push, and a text in one of them.
        let path: String
        let word: String
        /// The settings of the simulated account.
        var account: JSONObject = [:]

        var testDescription: String { id }
    }

    static let vendors = [
        Vendor(
            id: "salesforce",
            settings: [
                "endpoint": "https://mc0123456789abcdefghijklmnop.device.marketingcloudapis.com",
                "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "accessToken": "${ACCESS_TOKEN}",
            ],
            path: "/registration",
            word: "\"push_Enabled\":false"
        ),
        Vendor(
            id: "altcraft",
            settings: ["apiUrl": "https://push.altcraft.example", "rToken": "${ACCESS_TOKEN}"],
            path: "/subscription/push/subscribe/",
            word: "\"status\":\"suspended\"",
            account: ["rToken": "abcdefghijklmnopqrstuvwx"]
        ),
        Vendor(
            id: "des",
            settings: ["applicationCode": "ABCD1-234E6", "contactFieldId": 2575, "contactIdentifier": "external"],
            path: "/client/push-token",
            word: "\"method\":\"DELETE\""
        ),
        Vendor(
            id: "acoustic",
            settings: [
                "baseUrl": "https://mobile-sdk-lib-eu-1.brilliantcollector.com", "appKey": "${ACCESS_TOKEN}",
                "registration": "requested",
            ],
            path: "/events",
            word: "uiPushDisabled"
        ),
    ]

    private static let modules: [AdapterModule] = [.acoustic, .adobe, .altcraft, .des, .salesforce]

    private static func configuration(_ vendor: Vendor, to route: String) -> JSONValue {
        [
            "providers": [
                "old": ["adapter": .string(vendor.id), "settings": .object(vendor.settings)],
                "new": [
                    "adapter": "adobe",
                    "settings": [
                        "server": "shop.campaign.example", "pkey": "b7e2f0c4d91a", "organizationId": "A1@AdobeOrg",
                    ],
                ],
            ],
            "routes": [["provider": .string(route), "mode": "live"]], "onSwitch": "retarget", "onLoss": "reject",
        ]
    }

    private static let device: JSONValue = [
        "kind": "registerDevice",
        "device": [
            "pushToken": [
                "value": "a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90", "service": "apns",
            ],
            "allowsPush": true,
            "facts": [
                "platform": "iOS", "platformVersion": "19.3", "model": "iPhone17,3", "locale": "fi_FI",
                "utcOffsetSeconds": 7200, "isDaylightSaving": false, "appID": "com.example.shop", "appVersion": "8.4.1",
            ],
        ],
    ]

    private static func capture(_ id: String, _ action: JSONValue) -> JSONValue {
        ["capture": ["id": .string(id), "contact": "c-1", "action": action]]
    }

    private static func subscription(_ state: String) -> JSONValue {
        ["kind": "changeSubscription", "subscription": ["channel": "push", "state": .string(state)]]
    }

    private static func consent(_ purpose: String) -> JSONValue {
        ["kind": "setConsent", "consent": ["purpose": .string(purpose), "state": "denied"]]
    }

    private static let known = [
        capture("op-device", device),
        capture(
            "op-login",
            [
                "kind": "switchContact",
                "switch": ["direction": "logIn", "identifiers": [["kind": "external", "value": "c-1"]]],
            ]
        ),
    ]
    private static let subscribed = known + [capture("op-sub", subscription("subscribed"))]

    /// Returns the requests to the old provider during the steps. Before them, `begin` logs a person in and subscribes.
    private func requests(_ vendor: Vendor, _ steps: [JSONValue], begin: [JSONValue] = subscribed) throws -> [String] {
        let scenario = try Scenario(
            json: [
                "title": "t", "configuration": Self.configuration(vendor, to: "old"),
                "environment": ["ACCESS_TOKEN": "abcdefghijklmnopqrstuvwx"], "start": "2031-03-09T06:00:00Z",
                "vendors": .object([vendor.id: .object(vendor.account)]), "before": .array(begin + [["drain": 7200]]),
                "steps": .array(steps),
            ]
        )
        var lines: [JSONValue] = []
        var run = try ScenarioRun(
            scenario,
            simulators: [
                AcousticSimulator.self, AltcraftSimulator.self, DESSimulator.self, SalesforceSimulator.self,
            ],
            configure: { json in
                try .load(
                    bytes: Array(json.prettyText.utf8),
                    path: "scenario",
                    environment: scenario.environment,
                    modules: Self.modules
                )
            },
            report: { lines.append($0) }
        )
        try run.play()
        return lines.filter { $0["provider"] == "old" }.map(\.text)
    }

    private func endsPush(_ vendor: Vendor, _ sent: [String]) -> Bool {
        sent.contains { $0.contains(vendor.path) && $0.contains(vendor.word) }
    }

    @Test(arguments: vendors, ["tracking", "profile", "messaging"])
    func `sends an unsubscription after a denial (E14)`(vendor: Vendor, purpose: String) throws {
        let sent = try requests(
            vendor,
            [
                Self.capture("op-no", Self.consent(purpose)), ["drain": 7200],
                Self.capture("op-unsub", Self.subscription("unsubscribed")), ["drain": 90_000],
            ]
        )
        let word = vendor.id == "altcraft" ? "\"status\":\"unsubscribed\"" : vendor.word
        #expect(sent.contains { $0.contains(vendor.path) && $0.contains(word) })
    }

    @Test(arguments: vendors, ["tracking", "profile"])
    func `sends an unregister after a denial before or after a switch (E14)`(
        vendor: Vendor,
        purpose: String
    ) throws {
        let change: JSONValue = ["reconfigure": Self.configuration(vendor, to: "new")]
        let denial = Self.capture("op-no", Self.consent(purpose))
        let before = try requests(
            vendor,
            [["network": "down"], change, ["advance": 30], denial, ["network": "up"], ["drain": 90_000]]
        )
        #expect(endsPush(vendor, before))
        let after = try requests(vendor, [denial, ["drain": 7200], change, ["drain": 90_000]])
        #expect(endsPush(vendor, after))
    }

    @Test(arguments: [nil, "messaging", "tracking"])
    func `subscribes again after a switch there and back unless messaging was denied`(
        purpose: String?
    ) throws {
        let vendor = Vendor(
            id: "altcraft",
            settings: ["apiUrl": "https://push.altcraft.example"],
            path: "/subscription/push/subscribe/",
            word: "\"status\":\"\(purpose == "messaging" ? "suspended" : "subscribed")\""
        )
        let claim = #"{"db_id":12,"matching":"email","email":"aino@example.com"}"#
        let payload = Data(JSONValue.object(["matching": .string(claim)]).text.utf8).base64EncodedString()
        let token = "e30.\(payload.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")).x"
        let sent = try requests(
            vendor,
            [["reconfigure": Self.configuration(vendor, to: "new")], ["drain": 7200]]
                + (purpose.map { [Self.capture("op-no", Self.consent($0)), ["drain": 7200]] } ?? [])
                + [["reconfigure": Self.configuration(vendor, to: "old")], ["drain": 7200]],
            begin: [["credential": ["contact": "c-1", "value": .string(token)]]] + Self.known
        )
        let changes = sent.filter { $0.contains(vendor.path) }
        #expect(changes.count == (purpose == "messaging" ? 1 : 2))
        #expect(changes.last?.contains(vendor.word) == true)
    }
}
