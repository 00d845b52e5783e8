import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAdobe

/// Drivers for one installation, connected to a Campaign simulator.
typealias StandardDriver = AdapterTestDriver<AdobeDevice, AdobeSimulator>
typealias ClassicDriver = AdapterTestDriver<AdobeClassicDevice, AdobeClassicSimulator>

extension AdapterTestDriver {
    /// The sent requests, in order.
    var requests: [WireRequest] { sent.map(\.request) }

    /// Delivers an action captured in an app state.
    @discardableResult
    func deliver(_ action: Action, appState: AppState) -> OperationOutcome? {
        self.appState = appState
        return deliver(action)
    }
}

extension AdapterTestDriver<AdobeDevice, AdobeSimulator> {
    /// Creates an installation that is registered at the engine. Only its push token has been sent.
    convenience init(_ settings: JSONObject = [:], account: JSONObject = [:], device: Device? = Corpus.phone) throws {
        try self.init(Fixture.adapter(settings), AdobeSimulator(settings: account), subject: "phone")
        if let device { deliver(.registerDevice(device)) }
        forgetHistory()
    }

    /// The current identity of the installation.
    var ecid: String { memory.identities.last?.ecid(of: subject) ?? "" }
    /// The push tokens that the identity service holds, by identity.
    var heldTokens: [String: String] {
        state.tokens.reduce(into: [:]) { if !$1.token.isEmpty { $0[$1.ecid] = $1.token } }
    }
    /// The mobile profile fields of the current identity.
    var fields: [String: String]? { state.profiles.first { $0.ecid == ecid }?.fields }

    @discardableResult
    func push(
        _ interaction: PushInteraction,
        _ changes: [String: JSONValue?] = [:],
        appState: AppState = .active
    ) -> OperationOutcome? {
        deliver(.track(.push(interaction, payload: Fixture.payload(changes))), appState: appState)
    }
}

extension AdapterTestDriver<AdobeClassicDevice, AdobeClassicSimulator> {
    convenience init(_ settings: JSONObject = [:], account: JSONObject = [:]) throws {
        try self.init(ClassicFixture.adapter(settings), AdobeClassicSimulator(settings: account), subject: "phone")
    }
}

extension Action {
    static func logIn(_ person: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, person)]))
    }
    static let logOut = Action.switchContact(ContactSwitch(.logOut))
    static func consent(_ purpose: Purpose, _ state: Consent.State, on channel: Channel? = nil) -> Action {
        .setConsent(Consent(purpose: purpose, channel: channel, state: state))
    }
    static func set(_ name: AttributeName, _ value: String) -> Action {
        .changeAttributes([name: .set(.string(value))])
    }
}

extension OperationOutcome {
    /// The finding's code, or the name of the outcome.
    var code: String { finding?.code ?? term.rawValue }
}

/// Failures without a reply.
enum NoReply {
    static let timedOut = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let offline = Outcome.failed(TransportFailure(.notSent, "offline"))
    static let unknownHost = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
}

extension Outcome {
    static func status(_ status: Int) -> Outcome { .replied(WireResponse(status)) }
}
