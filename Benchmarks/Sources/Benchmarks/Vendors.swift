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

/// A device API as the benchmark serves it: its settings, who plays it, and what the app says.
struct Vendor: Sendable {
    /// The kind of its operations.
    enum Workload: Sendable {
        /// The app's own events.
        case events
        /// A person's interactions with a push message of this payload.
        case pushes(PushInteraction, JSONObject)
    }

    let name: String
    let title: String
    let adapter: String
    let settings: JSONObject
    let makeTransport: @Sendable () throws -> Parrot
    var workload = Workload.events
    /// Which pace is promised: requests that carry many operations, or one each.
    let isBatched: Bool
    /// The requests that an operation of its own takes.
    var requests = 1

    /// Operations in a second of processor.
    var goal: Int { isBatched ? 40_000 : 15_000 / requests }

    static let all: [Vendor] = [
        Vendor(
            name: "acoustic",
            title: "Acoustic, events in batches",
            adapter: "acoustic",
            settings: ["baseUrl": "https://vendor.test", "appKey": "gcb4hVDsXq", "registration": "requested"],
            makeTransport: { Parrot(try AcousticSimulator(settings: ["knowsEveryUser": true])) },
            isBatched: true
        ),
        Vendor(
            name: "des",
            title: "DES, events in batches",
            adapter: "des",
            settings: [
                "applicationCode": "ABCD1-234E6", "contactFieldId": 2575, "clientServiceUrl": "https://vendor.test",
                "eventServiceUrl": "https://vendor.test",
            ],
            makeTransport: { Parrot(try DESSimulator(settings: ["applicationCodes": ["ABCD1-234E6"]])) },
            isBatched: true
        ),
        Vendor(
            name: "salesforce",
            title: "Salesforce, events in batches",
            adapter: "salesforce",
            settings: [
                "endpoint": "https://vendor.test", "applicationId": "7d8a2c10-5b7a-4d53-9a0e-3f4f3c1f0a11",
                "accessToken": "k3jq8w1xv5nb2mz7ht9rd4fa",
            ],
            makeTransport: { Parrot(try SalesforceSimulator(settings: [:])) },
            isBatched: true
        ),
        Vendor(
            name: "altcraft",
            title: "Altcraft, an event per request",
            adapter: "altcraft",
            settings: ["apiUrl": "https://vendor.test", "pixel": "bench"],
            makeTransport: { Parrot(try AltcraftSimulator(settings: [:])) },
            isBatched: false
        ),
        adobe("adobe", "Adobe Standard, a receipt per request", .received, requests: 1),
        // A click, and behind it an open.
        adobe("adobe-taps", "Adobe Standard, a tap in two requests", .tapped, requests: 2),
        Vendor(
            name: "adobe-classic",
            title: "Adobe Classic, a tap per request",
            adapter: "adobe-classic",
            settings: [
                "marketingServer": "mkt.shop.example", "trackingServer": "trk.shop.example",
                "testAddress": "https://vendor.test", "integrationKey": "0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3",
            ],
            makeTransport: {
                Parrot(
                    try AdobeClassicSimulator(settings: ["integrationKeys": ["0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3"]])
                )
            },
            workload: .pushes(.tapped, ["aps": ["alert": "Your size is here"], "_mId": "987654", "_dId": "c81e4"]),
            isBatched: false
        ),
    ]

    private static func adobe(
        _ name: String,
        _ title: String,
        _ interaction: PushInteraction,
        requests: Int
    ) -> Vendor {
        Vendor(
            name: name,
            title: title,
            adapter: "adobe",
            settings: [
                "server": "shop.campaign.example", "testAddress": "https://vendor.test", "pkey": "b7e2f0c4d91a",
                "organizationId": "ACME1234@AdobeOrg", "identifierFields": ["external": "cusCustomerNumber"],
            ],
            makeTransport: { Parrot(try AdobeSimulator(settings: [:])) },
            workload: .pushes(
                interaction,
                [
                    "aps": ["alert": "Your size is here", "content-available": 1, "category": "DEFAULT"],
                    "_mId": "h2f0aa1", "_dId": "c81e4", "_acsDeliveryTracking": "on",
                ]
            ),
            isBatched: false,
            requests: requests
        )
    }

    /// Its answers, without a transport.
    func makeAnswers() throws -> (WireRequest) -> WireResponse {
        let transport = try makeTransport()
        return { transport.answer($0) }
    }

    static let modules: [AdapterModule] = [.acoustic, .adobe, .altcraft, .des, .salesforce]

    /// The configuration; `isPaused` takes everything and sends nothing.
    func setup(isPaused: Bool) throws -> Configuration {
        var provider: JSONObject = ["adapter": .string(adapter), "settings": .object(settings)]
        if adapter == "altcraft" { provider["credentials"] = ["default": .string(Self.altcraftCredential)] }
        let json: JSONValue = [
            "outbox": ["path": "unused.sqlite"],
            "providers": ["vendor": .object(provider)],
            "routes": [["provider": "vendor", "mode": "live"]],
        ]
        let configuration = try Configuration.load(
            bytes: Array(json.text.utf8),
            path: "benchmark",
            environment: [:],
            modules: Self.modules
        )
        return isPaused ? configuration.paused : configuration
    }

    /// What the app says first, so that the vendor knows the installation.
    static let introduction: [Action] = [
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "member-480013")])),
        .registerDevice(
            Device(
                pushToken: PushToken("7c1f3ad09be24c5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d9"),
                facts: DeviceFacts(
                    platform: "iOS",
                    platformVersion: "19.3",
                    model: "iPhone17,3",
                    locale: "fi_FI",
                    timeZone: "Europe/Helsinki",
                    utcOffsetSeconds: 7200,
                    appVersion: "5.2.0"
                )
            )
        ),
    ]

    /// Returns the n-th action of the app.
    func action(_ number: Int) -> Action {
        switch workload {
        case .pushes(let interaction, let payload): .track(.push(interaction, payload: payload))
        case .events:
            .track(
                .custom(
                    name: "OrderPlaced",
                    attributes: [
                        "order": .integer(Int64(number)), "total": .string("49.90"), "branch": .string("Helsinki"),
                    ]
                )
            )
        }
    }

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

extension Configuration {
    /// The same with a paused provider. One route must not be paused: it leads to a provider that serves no contact.
    var paused: Configuration {
        Configuration(
            side: side,
            providers: providers + providers.map { Provider(name: "unused", adapter: $0.adapter) },
            routes: [Route(to: "vendor", mode: .paused), Route(to: "unused", mode: .percentage, share: .none)],
            outbox: outbox
        )
    }
}
