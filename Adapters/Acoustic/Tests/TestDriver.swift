import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

/// An installation with a vendor whose replies the test determines.
typealias TestDriver = ExchangeTestDriver<AcousticDevice>

extension ExchangeTestDriver<AcousticDevice> {
    static var subject: Subject { "3f2a8c1e-6b54-4d0f-9a77-51c0de2b8e90" }
    static var ids: JSONValue { ["userId": "user-1", "channelId": "channel-1"] }

    convenience init(_ settings: JSONObject = [:]) throws {
        try self.init(
            AcousticDevice(settings: TestDriver.settings(settings)),
            subject: TestDriver.subject,
            start: Instant(milliseconds: 1_930_806_311_042)
        )
    }

    static func settings(_ more: JSONObject = [:]) throws(SettingsError) -> AcousticSettings {
        try AcousticSettings.table.read(Fixture.settings(more), over: AcousticSettings(), at: "settings")
    }

    /// Creates an installation with ids and with changes that the vendor accepted at second 0.
    static func ready(_ settings: JSONObject = [:], _ actions: Action...) throws -> TestDriver {
        let driver = try TestDriver(settings)
        driver.capture(.registerDevice(Fixture.adopted), at: 0)
        driver.settle(at: 0)
        for action in actions {
            driver.capture(action, at: 0)
            if !driver.pending.isEmpty { try driver.exchange(at: 0, flush: true) }
        }
        return driver
    }

    static func at(_ seconds: Int) -> Instant { Instant(milliseconds: Int64(seconds) * 1000) }

    /// Returns the codes of findings, each with its severity: `error value.type`.
    func words(_ action: Action, options: JSONObject = [:]) -> [String] {
        examine(action, options: options).map { "\($0.severity.rawValue) \($0.code.dropFirst("acoustic.".count))" }
    }

    /// Sends the next request and replies with an empty success.
    @discardableResult
    func exchange(at seconds: Int, flush: Bool = false) throws -> WireRequest {
        try exchange(at: seconds, flush: flush, .replied(WireResponse(200, json: [:])))
    }

    /// Returns the outcome of an operation without the vendor's prefix: `accepted update.visibleLater`.
    func summary(_ id: OperationID) -> String? { summary(of: id)?.replacing(" acoustic.", with: " ") }

    /// Returns the finding of a completed operation.
    func finding(_ id: OperationID) -> Finding? { outcome(of: id)?.finding }
}

extension Action {
    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
    static func unset(_ name: AttributeName) -> Action { .changeAttributes([name: .unset]) }
    static func add(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(add: tags)) }
    static func remove(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(remove: tags)) }
    static func push(_ state: Subscription.State, topic: String? = nil) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: topic, state: state))
    }
    static func event(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> Action {
        .track(.custom(name: name, attributes: attributes))
    }
    static func logIn(_ member: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, member)]))
    }
}

extension ColumnValues {
    var isEmpty: Bool { json.isEmpty }
    subscript(name: String) -> WireValue? { self[ScalarString(name)] }
}

extension WireRequest {
    /// The method, the last path component and the content, such as `PATCH attributes City=Turku`.
    var words: String {
        let parts = URLText.path(of: url).split(separator: "/")
        let entries = (json?["attributes"]?.array ?? []).map {
            "\($0["key"]?.string ?? "?")=\($0["value"]?.string ?? $0["value"]?.text ?? "?")"
        }
        let keys = (json?["keys"]?.array ?? []).compactMap(\.string)
        let events = (json?["events"]?.array ?? []).map { "\($0["type"]?.string ?? "?")/\($0["name"]?.string ?? "?")" }
        return ([method, String(parts.last ?? "")] + entries + keys + events).joined(separator: " ")
    }
}

let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
let notSent = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))

/// Returns a reply without a body.
func reply(_ status: Int, retryAfter: Int? = nil) -> Outcome {
    .replied(WireResponse(status, headers: retryAfter.map { [WireHeader("Retry-After", String($0))] } ?? []))
}

/// Parses a text as a value of a type.
func typed(_ text: String, _ type: AttributeType) throws -> AttributeValue {
    try #require(AttributeValue(text: text, as: type))
}
