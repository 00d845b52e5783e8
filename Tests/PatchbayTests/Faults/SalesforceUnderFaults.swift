import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce
import PatchbaySalesforceSimulator
import PatchbaySimulation

/// What the vendor must hold, and must not have seen, after a run.
enum SalesforceUnderFaults {
    static let settings: JSONObject = [
        "endpoint": "https://mc.device.test", "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
        "accessToken": "0123456789abcdefghijklmn",
    ]

    static func adapter() throws -> SalesforceDevice {
        try SalesforceDevice(
            settings: SalesforceSettings.table.read(settings, over: SalesforceSettings(), at: "settings")
        )
    }

    static func vendor() throws -> SimulatedVendor { SimulatedVendor(try SalesforceSimulator(settings: [:])) }

    /// What an app says, at random, that this vendor has a place for.
    static func action(_ random: inout SeededGenerator, _ number: Int) -> Action {
        if number == 1 { return .registerDevice(device(locale: "fi_FI")) }
        switch random.below(8) {
        case 0: return .registerDevice(device(locale: random.pick(["fi_FI", "de_DE", "pt_BR"])))
        case 1: return .identify([Identifier(.external, "member-\(random.below(3))")])
        case 2: return .changeTags(TagChange(add: [random.pick(["sports", "weather", "music"])]))
        case 3: return .changeTags(TagChange(remove: [random.pick(["sports", "weather", "music"])]))
        case 4: return .changeAttributes([random.pick(["tier", "store"]): .unset])
        case 5:
            return .changeSubscription(Subscription(channel: .push, state: random.pick([.subscribed, .unsubscribed])))
        case 6: return .track(.custom(name: "Lesson \(number)"))
        default: return .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }

    static func device(locale: String) -> Device {
        Device(
            pushToken: PushToken("0f1e2d3c4b5a6978"),
            facts: DeviceFacts(
                platform: "iOS",
                platformVersion: "19.2",
                model: "iPhone17,3",
                locale: locale,
                utcOffsetSeconds: 7200,
                appVersion: "4.11.0"
            )
        )
    }

    /// The vendor's last registration equals the state that the app has spoken, and its pacing was kept.
    static func check(_ run: FaultSimulation, _ vendor: SimulatedVendor) throws {
        guard let account = vendor.state(as: SalesforceAccount.self) else { return run.expect(false, "no state") }
        for violation in account.violations { run.expect(false, "the vendor's rules: \(violation.what)") }
        guard run.acknowledged.contains(where: { $0.action.kind == .registerDevice }) else { return }
        guard let mirror = try run.world.mirror(of: "9D2C5B7E-6A14-4E3B-8F6D-0C1A2B3D4E5F"),
            let registration = account.devices.first?.registration
        else { return run.expect(false, "the vendor holds no registration") }
        let held = Dictionary(
            (registration["attributes"]?.array ?? []).compactMap { pair -> (String, String)? in
                guard let key = pair["key"]?.string, let value = pair["value"]?.string, !value.isEmpty else {
                    return nil
                }
                return (key, value)
            }
        ) { _, last in last }
        let wanted = Dictionary(
            uniqueKeysWithValues: mirror.attributes.map { ($0.key.rawValue, $0.value.plainText ?? "") }
        )
        run.expect(held == wanted, "the vendor holds attributes \(held), the app said \(wanted)")
        let tags = Set((registration["tags"]?.array ?? []).compactMap(\.string)).subtracting(["ALL", "IOS"])
        run.expect(
            tags == Set(mirror.tags.map(\.rawValue)),
            "the vendor holds tags \(tags), the app said \(mirror.tags)"
        )
        run.expect(
            registration["subscriberKey"]?.string == mirror.identifiers.first(.external),
            "the vendor holds another contact key than the app said"
        )
        run.expect(registration["locale"]?.string == mirror.device?.facts?.locale, "the vendor holds another locale")
    }
}
