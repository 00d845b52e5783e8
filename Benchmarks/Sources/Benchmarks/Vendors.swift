import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce
import PatchbaySalesforceSimulator

/// A vendor as the benchmark serves it: its settings, who plays it, and what the app says.
struct Vendor {
    let name: String
    let provider: JSONValue
    let modules: [AdapterModule]
    let makeTransport: @Sendable () throws -> any Transport
    /// Which pace is promised: requests that carry many operations, or one each.
    let goal: Int

    static let all: [Vendor] = [
        Vendor(
            name: "Altcraft, one event per request",
            provider: [
                "adapter": "altcraft",
                "settings": ["apiUrl": "https://vendor.test", "pixel": "bench"],
                "credentials": ["default": "${ALTCRAFT_TOKEN}"],
            ],
            modules: [.altcraft],
            makeTransport: { Parrot(try AltcraftSimulator(settings: [:])) },
            goal: 20_000
        ),
        Vendor(
            name: "Salesforce, events in batches",
            provider: [
                "adapter": "salesforce",
                "settings": [
                    "endpoint": "https://vendor.test", "applicationId": "7d8a2c10-5b7a-4d53-9a0e-3f4f3c1f0a11",
                    "accessToken": "${SALESFORCE_TOKEN}",
                ],
            ],
            modules: [.salesforce],
            makeTransport: { Parrot(try SalesforceSimulator(settings: [:])) },
            goal: 50_000
        ),
    ]

    /// Providers and routes, and how to ask for credentials; `isPaused` takes everything and sends nothing.
    func setup(isPaused: Bool) throws -> (plan: RoutingPlan, configuration: Configuration) {
        let json: JSONValue = [
            "outbox": ["path": "unused.sqlite"],
            "providers": ["vendor": provider],
            "routes": [["provider": "vendor", "mode": "live"]],
        ]
        let configuration = try Configuration.load(
            bytes: Array(json.text.utf8),
            path: "benchmark",
            environment: ["ALTCRAFT_TOKEN": Self.altcraftCredential, "SALESFORCE_TOKEN": "k3jq8w1xv5nb2mz7ht9rd4fa"],
            modules: modules
        )
        var plan = configuration.plan
        if isPaused { plan.providers[0].mode = .paused }
        return (plan, configuration)
    }

    /// What the app says first, so that the vendor knows the installation.
    static let introduction: [Action] = [
        .registerDevice(
            Device(
                pushToken: PushToken("7c1f3ad09be24c5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d9"),
                facts: DeviceFacts(
                    platform: "iOS",
                    platformVersion: "19.3",
                    model: "iPhone17,3",
                    locale: "fi_FI",
                    appVersion: "5.2.0"
                )
            )
        ),
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "member-480013")])),
    ]

    private static var altcraftCredential: String {
        let claim: JSONValue = ["db_id": 1, "matching": "email", "email": "bench@example.org"]
        let payload: JSONValue = ["matching": .string(claim.text)]
        func base64(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        return "\(base64("{}")).\(base64(payload.text)).signature"
    }
}
