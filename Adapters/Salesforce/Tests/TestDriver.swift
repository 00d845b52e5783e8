import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// An installation with a vendor whose replies the test determines.
typealias TestDriver = ExchangeTestDriver<SalesforceDevice>

extension ExchangeTestDriver<SalesforceDevice> {
    static var configuration: JSONObject {
        [
            "endpoint": "https://mc0123456789abcdefghijklmnop.device.marketingcloudapis.com/",
            "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
            "accessToken": "q1w2e3r4t5y6u7i8o9p0zxcv",
        ]
    }
    static var subject: Subject { "6b0c7e51-2f6d-4d0b-9a51-0e5e7b1c9d22" }
    static var wall: Instant { Instant(milliseconds: 1_930_806_311_042) }

    convenience init(_ settings: JSONObject = [:]) throws {
        try self.init(TestDriver.adapter(settings), subject: TestDriver.subject, start: TestDriver.wall)
    }

    static func adapter(_ settings: JSONObject = [:]) throws(SettingsError) -> SalesforceDevice {
        try SalesforceDevice(
            settings: TestDriver.settings(settings.reduce(into: configuration) { $0[$1.name] = $1.value })
        )
    }

    static func settings(_ object: JSONObject) throws(SettingsError) -> SalesforceSettings {
        try SalesforceSettings.table.read(object, over: SalesforceSettings(), at: "settings")
    }

    /// Creates an installation that is registered at second 0, with more actions in the same request.
    static func registered(_ settings: JSONObject = [:], _ actions: Action...) throws -> TestDriver {
        let driver = try TestDriver(settings)
        for action in [.registerDevice(.sample)] + actions { driver.capture(action, at: 0) }
        try driver.exchange(at: 0, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-1")]))
        return driver
    }

    static func at(_ seconds: Int) -> Instant { Instant(milliseconds: Int64(seconds) * 1000) }

    /// Returns the codes of findings, each with its severity: `error salesforce.tag.blank`.
    func words(_ action: Action) -> [String] { examine(action).map { "\($0.severity.rawValue) \($0.code)" } }

    /// Returns the body that is sent at a second.
    func body(at seconds: Int) throws -> JSONValue { try #require(transmission(at: seconds).request.json) }

    /// Sends the next request and gives it a reply.
    @discardableResult
    func exchange(at seconds: Int, _ response: WireResponse = WireResponse(201)) throws -> WireRequest {
        try exchange(at: seconds, .replied(response))
    }

    /// Returns the app's answer for an accepted operation.
    func answer(_ id: OperationID) -> JSONValue? { outcome(of: id)?.answer }
}

extension RegistrationRecord {
    /// Returns the registration of a device without other operations.
    static func of(_ device: Device) -> JSONObject? {
        guard let driver = try? TestDriver() else { return nil }
        driver.capture(.registerDevice(device), at: 0)
        return try? driver.body(at: 0).object
    }
}

extension Device {
    static let sample = Device(
        pushToken: PushToken("0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
        facts: DeviceFacts(
            platform: "iOS",
            platformVersion: "19.2",
            model: "iPhone17,3",
            locale: "fi_FI",
            utcOffsetSeconds: 7200,
            appID: "com.example.shop",
            appVersion: "4.11.0"
        )
    )
}

extension Action {
    static func identify(_ key: String) -> Action { .identify([Identifier(.external, key)]) }
    static func logIn(_ key: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, key)]))
    }
    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
    static func add(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(add: tags)) }
    static func remove(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(remove: tags)) }
    static func push(_ state: Subscription.State, topic: String? = nil) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: topic, state: state))
    }
}

extension JSONValue {
    /// The attributes of a registration as `name=value`.
    var pairs: [String] {
        (self["attributes"]?.array ?? []).map { "\($0["key"]?.string ?? "?")=\($0["value"]?.string ?? "?")" }
    }

    /// The tags of a registration.
    var tags: [String] { self["tags"]?.array?.compactMap(\.string) ?? [] }
}

let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
let notSent = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
let interrupted = Outcome.failed(TransportFailure(.interrupted, "processDied"))
