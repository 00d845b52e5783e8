import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// A vendor's API for randomized runs: its adapter, its account, and the checks of its policies.
public struct SceneAPI: Sendable {
    /// The adapter's id, which is also the provider's name.
    public let id: String
    /// The side of the API. A configuration has APIs of one side only.
    package var side: AdapterDescriptor.Side { type(of: adapter).descriptor.side }
    package let adapter: any VendorAdapter
    package let makeVendor: @Sendable () throws -> SimulatedVendor
    package let credential: @Sendable (String?) -> Secret?
    package let say: @Sendable (Int, inout SeededGenerator) -> Action
    let closing: Action
    package let question: ReadRequest
    let opposites: [Action]
    let expectedState: ExpectedState
    let handedOut: Set<String>
    let waitsForApp: Set<String>
    let invariant: @Sendable (SceneStory, SimulatedVendor) -> [String]
    /// The properties of the vendor for runs with changing facts.
    package let changing: ChangingScene

    /// Creates an API from a test profile.
    ///
    /// - Parameters:
    ///   - scene: The test profile of the vendor.
    ///   - apis: The available adapters.
    /// - Throws: ``SettingsError`` if the profile's settings are invalid, and an error if the profile's adapter is not
    ///   available.
    public init(_ scene: any VendorScene.Type, among apis: [any VendorAdapter.Type]) throws {
        self = try Self.open(scene, apis)
    }

    /// Returns the same API with another adapter.
    package func replacing(_ change: (any VendorAdapter) -> any VendorAdapter) -> SceneAPI {
        SceneAPI(self, change(adapter), changing.replacing(change))
    }

    private init(_ api: SceneAPI, _ adapter: any VendorAdapter, _ changing: ChangingScene) {
        self.changing = changing
        (id, self.adapter, makeVendor) = (api.id, adapter, api.makeVendor)
        (credential, say, closing) = (api.credential, api.say, api.closing)
        (question, opposites, expectedState, invariant) = (
            api.question, api.opposites, api.expectedState, api.invariant
        )
        (handedOut, waitsForApp) = (api.handedOut, api.waitsForApp)
    }

    private init<Scene: VendorScene>(of scene: Scene.Type, _ adapter: any VendorAdapter, _ changing: ChangingScene)
        throws
    {
        self.changing = changing
        id = Scene.Simulator.id.rawValue
        self.adapter = adapter
        makeVendor = { SimulatedVendor(try Scene.Simulator(settings: Scene.account)) }
        credential = { Scene.credential(of: $0) }
        say = { Scene.say($0, &$1) }
        (closing, question, opposites) = (Scene.closing, Scene.question, Scene.opposites)
        (expectedState, handedOut, waitsForApp) = (Scene.expectedState, Scene.handedOut, Scene.waitsForApp)
        invariant = { story, vendor in
            guard let state = vendor.state(as: Scene.Simulator.State.self) else { return ["the vendor has no state"] }
            return Scene.problems(in: story, at: state)
        }
    }

    private static func open<Scene: VendorScene>(_ scene: Scene.Type, _ apis: [any VendorAdapter.Type]) throws
        -> SceneAPI
    {
        guard let api = apis.first(where: { $0.descriptor.id == Scene.Simulator.id }) else {
            throw NoAdapter(id: Scene.Simulator.id)
        }
        let adapters = try Scene.changingSettings.map { try make(api, $0) }
        return try SceneAPI(of: scene, make(api, Scene.settings), ChangingScene(of: scene, adapters))
    }

    private static func make<Adapter: VendorAdapter>(_ adapter: Adapter.Type, _ settings: JSONObject) throws
        -> any VendorAdapter
    {
        try Adapter(settings: Adapter.Settings.table.read(settings, over: Adapter.Settings(), at: "settings"))
    }

    /// The error for a test profile whose adapter is not available.
    struct NoAdapter: Error { let id: AdapterID }
}
