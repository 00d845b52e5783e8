import Patchbay
package import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// The state of the app's credential for a contact.
public enum CredentialState: String, Sendable, CaseIterable {
    /// The app has a valid credential.
    case valid
    /// The app has no credential.
    case missing
    /// The app has an expired credential, if the vendor's credentials expire.
    case expired
    /// The vendor replies 401 to the app's credential.
    case refused
}

/// The facts that change in a run in addition to the network: people, consents, configurations, credentials, push tokens.
struct ChangingFacts {
    /// The last part of a run, after all faults were removed.
    enum Epilogue: Equatable {
        /// A last opt-out, together with another change.
        case optOut(With)
        /// A switch to the configuration with this number, which has another provider.
        case leave(to: Int)

        /// A change together with an opt-out.
        enum With: CaseIterable {
            case nothing, lostPermission, lostToken, consentTakenBack, denials, anotherPerson, otherSettings
        }
    }

    /// The test profiles of the vendors, by the provider's name.
    var scenes: [String: ChangingScene]
    /// The contacts of a back end; empty for an app, whose installation several people use.
    var contacts: [Subject] = []
    /// The last part of the run.
    var epilogue = Epilogue.optOut(.nothing)
    /// The defect of the simulated vendors that the run must find; nil for none.
    var mutation = SimulationMutation.present

    /// Returns the contact of a back end; nil for an app.
    func contact(_ number: Int) -> Subject? { contacts.isEmpty ? nil : contacts[number] }
    /// Whether the run simulates an app and not a back end.
    var isApp: Bool { contacts.isEmpty }
}

/// The properties of a vendor for runs with changing facts.
package struct ChangingScene: Sendable {
    /// The adapters, one for each variant of the settings.
    package let adapters: [any VendorAdapter]
    package let makeVendor: @Sendable () throws -> SimulatedVendor
    let action: @Sendable (Int, inout SeededGenerator) -> Action
    package let identities: @Sendable (String?) -> [Device.IdentityName: String]
    let expiredCredential: @Sendable (String?) -> Secret?
    package let records: @Sendable (any Sendable) -> [VendorRecord]
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

    /// Returns the same vendor with other adapters.
    func replacing(_ change: (any VendorAdapter) -> any VendorAdapter) -> ChangingScene {
        ChangingScene(self, adapters.map(change))
    }

    private init(_ scene: ChangingScene, _ adapters: [any VendorAdapter]) {
        (self.adapters, makeVendor, action) = (adapters, scene.makeVendor, scene.action)
        (identities, expiredCredential, records) = (scene.identities, scene.expiredCredential, scene.records)
        (interactionCounts, retriesWhenWoken) = (scene.interactionCounts, scene.retriesWhenWoken)
        capabilities = scene.capabilities
    }

    /// Whether the vendor supports log-outs. Without them, the record still belongs to the former contact after a
    /// log-out.
    var canLogOut: Bool { capabilities[.contact(.logOut)].isAvailable }
    /// Whether the vendor supports the unregistration of an installation.
    var canLeave: Bool { capabilities[.operation(.unregister)].isAvailable }

    /// Returns whether the vendor has subscriptions on a channel.
    func hasSubscription(_ channel: Channel) -> Bool { capabilities[.subscription(channel)].isAvailable }
}

/// A defect of a simulated vendor or of the network, to prove that an invariant detects it. It exists in simulations only.
public enum SimulationMutation: String, Sendable, CaseIterable {
    /// A value of one contact arrives in a request of another.
    case valuesOfAnother
    /// The vendor confirms an opt-out and does not carry it out.
    case optOutIgnored
    /// The vendor confirms an unregistration and does not carry it out.
    case unregisterIgnored
    /// The vendor confirms a change of attributes or an event and does not store it.
    case confirmedNotStored
    /// The vendor counts each view and each click twice.
    case countedTwice
    /// The vendor confirms a new push token and keeps the former one.
    case newTokenIgnored
    /// The vendor forgets an opt-out with the next request.
    case optOutForgotten

    /// The mutation for the runs of the current task; nil for none.
    @TaskLocal public static var present: SimulationMutation?
}
