import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting

@testable import PatchbayDES

/// A driver for one installation, connected to the DES simulator.
typealias Driver = AdapterTestDriver<DESDevice, DESSimulator>

extension AdapterTestDriver<DESDevice, DESSimulator> {
    /// Creates an installation that was never started.
    ///
    /// - Parameters:
    ///   - settings: Changes to the fixture's settings.
    ///   - account: The vendor account.
    /// - Throws: ``SettingsError`` if the settings or the account are invalid.
    convenience init(_ settings: JSONObject = [:], account: JSONObject = Fixture.account) throws {
        try self.init(Fixture.adapter(settings), DESSimulator(settings: account))
    }

    /// Creates an installation that is registered and, with a contact, logged in. Its history is cleared.
    static func started(
        _ settings: JSONObject = [:],
        account: JSONObject = Fixture.account,
        contact: String? = "c-1001"
    ) throws -> Driver {
        let driver = try Driver(settings, account: account)
        driver.capture(.registerDevice(Corpus.phone))
        if let contact { driver.capture(.logIn(contact)) }
        driver.forgetHistory()
        return driver
    }

    var client: DESState.Client? { state.clients.last }
    var verdicts: [OperationID: OperationOutcome] { outcomes }
    var script: [Outcome?] {
        get { nextOutcomes }
        set { nextOutcomes = newValue }
    }
    var waits: Finding? { waitReason }

    func forget() { forgetHistory() }

    /// Captures an action and returns its outcome.
    func verdict(_ action: Action) -> OperationOutcome? { outcome(of: capture(action)) }

    /// Restarts the process with changes to the fixture's settings.
    func restart(_ settings: JSONObject) throws { try restart(with: Fixture.adapter(settings)) }

    /// Advances the time by a number of milliseconds.
    func advance(_ milliseconds: Int64) { advance(by: .milliseconds(milliseconds)) }
}

extension AdapterTestDriver<DESDevice, DESSimulator>.Sent {
    /// The names of the events in the body.
    var eventNames: [String] { body["events"]?.array?.compactMap { $0["name"]?.string } ?? [] }
}

extension Action {
    static func logIn(_ value: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, value)]))
    }
    static let logOut = Action.switchContact(ContactSwitch(.logOut))
    static func event(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> Action {
        .track(.custom(name: name, attributes: attributes))
    }
    static func view(_ campaign: String) -> Action { .track(.messageViewed(messageID: campaign)) }
    static func click(_ campaign: String, _ button: String? = "cta") -> Action {
        .track(.messageClicked(messageID: campaign, buttonID: button))
    }
    static func push(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, state: state))
    }
    static func inApp(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .inApp, state: state))
    }
    static func inline(_ view: String) -> Action {
        .readBack(ReadRequest("inline", arguments: ["viewId": .string(view)]))
    }
    static func tag(_ name: String, _ message: String, _ tag: String) -> Action {
        .event(name, ["messageId": .string(message), "tag": .string(tag)])
    }
}

extension Outcome {
    static func status(_ status: Int, _ json: JSONValue? = nil, state: String? = nil) -> Outcome {
        let headers = state.map { [WireHeader("X-CLIENT-STATE", $0)] } ?? []
        return .replied(
            json.map { WireResponse(status, headers: headers, json: $0) } ?? WireResponse(status, headers: headers)
        )
    }
}

extension JSONValue {
    /// The campaigns of a list of views or clicks.
    func campaigns(_ name: String) -> [String] { self[name]?.array?.compactMap { $0["campaignId"]?.string } ?? [] }
}

extension Optional<JSONValue> {
    func campaigns(_ name: String) -> [String] { self?.campaigns(name) ?? [] }
}
