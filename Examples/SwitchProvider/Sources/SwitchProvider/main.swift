import Foundation
import Patchbay
import PatchbayAltcraft
import PatchbayHTTP
import PatchbayModel
import PatchbaySalesforce

let path = CommandLine.arguments.dropFirst().first ?? "salesforce.json"
let json = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
let secrets = ProcessInfo.processInfo.environment

// The part between the marks stands in the README, word for word.
// README begin
let setup = try Configuration.load(bytes: json, path: path, environment: secrets, modules: [.altcraft, .salesforce])
let client = try await EngagementClient(
    configuration: setup,
    subject: installation,
    transport: URLSessionTransport()
)
try client.capture(.registerDevice(phone))
try client.capture(.switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "member-480013")])))
try client.set([.givenName: "Aino", .loyaltyTier: "gold"])
try client.add("poetry")
try await client.track("Order Placed", attributes: ["items": 2]).durable()
// README end

await client.idle()
for accounts in try await client.accounts() { print(accounts.json.text) }
await client.close()

/// The installation: made once, and kept for ever.
var installation: Subject { "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90" }

/// What an app knows of the device that it runs on.
var phone: Device {
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
}
