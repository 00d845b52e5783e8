// README.md shows the part between the marks.
// README begin
import Foundation
import Patchbay
import PatchbayAltcraft
import PatchbayHTTP
import PatchbayModel
import PatchbaySalesforce

let file = CommandLine.arguments.dropFirst().first ?? "salesforce.json"
let json = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
let secrets = ProcessInfo.processInfo.environment
let setup = try Configuration.load(bytes: json, path: file, environment: secrets, modules: [.altcraft, .salesforce])
let client = try await EngagementClient(configuration: setup, subject: "phone-1", transport: HTTPTransport(setup))
try client.capture(.registerDevice(phone))
try client.set([.givenName: "Aino", .loyaltyTier: "gold"])
try await client.track("Order Placed", attributes: ["items": 2]).durable()
// README end

await client.idle()
for accounts in try await client.accounts() { print(accounts.json.text) }
await client.close()

/// The device of this example; an app reads these facts from the system.
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
