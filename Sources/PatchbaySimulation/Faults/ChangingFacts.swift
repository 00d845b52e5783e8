import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The state of the app's credential for a contact.
public enum CredentialState: String, Sendable, CaseIterable {
    /// The app has a valid one.
    case valid
    /// The app has none.
    case missing
    /// The app has one that has expired, where the vendor's credentials expire.
    case expired
    /// The vendor answers 401 to the one that the app has.
    case refused
}

/// What changes in a run beside the network: people, consents, configurations, credentials, push tokens.
struct ChangingFacts {
    /// The last part of a run, after everything has healed.
    enum Epilogue: Equatable {
        /// The last opt-out, and what is changed with it.
        case optOut(With)
        /// A change to the configuration of that number, in which another provider is served.
        case leave(to: Int)

        /// What is changed with an opt-out.
        enum With: CaseIterable {
            case nothing, lostPermission, lostToken, consentTakenBack, denials, anotherPerson, otherSettings
        }
    }

    /// The vendors, by the provider's name.
    var scenes: [String: ChangingScene]
    /// The contacts of a back end; empty for an app, on whose installation people come and go.
    var contacts: [Subject] = []
    /// What happens after everything has healed.
    var epilogue = Epilogue.optOut(.nothing)
    /// The defect of the simulated vendors that the run is to find; nil for none.
    var mutation = SimulationMutation.present

    /// Returns the contact of a back end; nil for an app.
    func contact(_ number: Int) -> Subject? { contacts.isEmpty ? nil : contacts[number] }
    /// Whether an app is played, not a back end.
    var isApp: Bool { contacts.isEmpty }
}

/// What runs with changing facts know of a vendor.
struct ChangingScene: Sendable {
    /// The adapter with each of its settings.
    let adapters: [any VendorAdapter]
    let makeVendor: @Sendable () throws -> SimulatedVendor
    let action: @Sendable (Int, inout SeededGenerator) -> Action
    let identities: @Sendable (String?) -> [Device.IdentityName: String]
    let expiredCredential: @Sendable (String?) -> Secret?
    let records: @Sendable (any Sendable) -> [VendorRecord]
    let interactionCounts: @Sendable (any Sendable) -> [String: Int]?
    let retriesWhenWoken: Bool
    let capabilities: Capabilities

    init<Scene: VendorScene>(of scene: Scene.Type, _ adapters: [any VendorAdapter]) {
        self.adapters = adapters
        makeVendor = { SimulatedVendor(try Scene.Simulator(settings: Scene.changingAccount)) }
        action = { Scene.action($0, &$1) }
        identities = { Scene.identities(of: $0) }
        expiredCredential = { Scene.expiredCredential(of: $0) }
        records = { ($0 as? Scene.Simulator.State).map(Scene.records) ?? [] }
        interactionCounts = { ($0 as? Scene.Simulator.State).flatMap(Scene.interactionCounts) }
        retriesWhenWoken = Scene.retriesWhenWoken
        capabilities = adapters.first.map { type(of: $0).descriptor.capabilities } ?? [:]
    }

    /// The same vendor with other adapters.
    func replacing(_ change: (any VendorAdapter) -> any VendorAdapter) -> ChangingScene {
        ChangingScene(self, adapters.map(change))
    }

    private init(_ scene: ChangingScene, _ adapters: [any VendorAdapter]) {
        (self.adapters, makeVendor, action) = (adapters, scene.makeVendor, scene.action)
        (identities, expiredCredential, records) = (scene.identities, scene.expiredCredential, scene.records)
        (interactionCounts, retriesWhenWoken) = (scene.interactionCounts, scene.retriesWhenWoken)
        capabilities = scene.capabilities
    }

    /// Whether a log-out reaches the vendor; otherwise the record stays the former contact's.
    var canLogOut: Bool { capabilities[.contact(.logOut)].isAvailable }
    /// Whether the vendor can be told that an installation leaves.
    var canLeave: Bool { capabilities[.operation(.unregister)].isAvailable }

    /// Whether the vendor has subscriptions on that channel.
    func hasSubscription(_ channel: Channel) -> Bool { capabilities[.subscription(channel)].isAvailable }
}

/// A defect of a vendor or of the network, for the proof that an invariant finds it. The product knows nothing of it.
public enum SimulationMutation: String, Sendable, CaseIterable {
    /// A value of one contact arrives in a request of another.
    case valuesOfAnother
    /// The vendor confirms an opt-out and does not carry it out.
    case optOutIgnored
    /// The vendor confirms an unregister and does not carry it out.
    case unregisterIgnored
    /// The vendor confirms a change of attributes or an event and does not store it.
    case confirmedNotStored
    /// The vendor counts each view and each click twice.
    case countedTwice
    /// The vendor confirms a new push token and keeps the one before.
    case newTokenIgnored
    /// The vendor forgets an opt-out with the next request.
    case optOutForgotten

    /// The mutation of this task.
    @TaskLocal public static var present: SimulationMutation?
}
