import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation
import Testing

/// A change of person waits in an outage while the configuration switches to another vendor, for every device API.
@Suite("A switch during an outage") struct SwitchDuringOutageTests {
    /// The policy with which the configuration removes the first vendor.
    enum Way: CaseIterable {
        case drain, retarget, both, percentage

        var policy: RoutingPlan.SwitchPolicy {
            switch self {
            case .drain, .percentage: .drain
            case .retarget: .retarget
            case .both: .both
            }
        }
    }

    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    private static func logIn(_ contact: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, contact)]))
    }

    static let deviceAPIs = ["acoustic", "adobe", "adobe-classic", "altcraft", "des", "salesforce"]

    @Test(arguments: deviceAPIs, Way.allCases)
    func `a removed vendor reaches no person on this device`(_ left: String, way: Way) throws {
        for change in [Self.logOut, Self.logIn("c-2")] {
            let story = try Story(leaving: left, way)
            try story.capture(.registerDevice(ScenePhone.device()))
            try story.capture(.changeSubscription(Subscription(channel: .push, state: .subscribed)))
            try story.capture(Self.logIn("c-1"))
            try story.capture(.changeSubscription(Subscription(channel: .push, state: .subscribed)))
            try story.world.advance(by: .seconds(600))
            #expect(!story.reached.isEmpty, "the removed vendor should reach a person before the outage")
            story.isOnline = false
            try story.capture(change)
            try story.world.advance(by: .seconds(5))
            try story.switchVendors()
            try story.world.advance(by: .seconds(5))
            story.isOnline = true
            try story.world.wake()
            _ = try story.world.drain()
            // With a percentage the vendor stays in use, but must not reach the person who has logged out.
            let reached = way == .percentage ? story.reached.filter { $0 == .contact("c-1") } : story.reached
            #expect(reached.isEmpty, "\(change)")
            let accounts = try #require(try story.world.accounts().first { $0.provider == left })
            #expect(accounts.pending == 0 && accounts.balances, "\(accounts.waits.map(\.text))")
        }
    }
}

/// One installation, whose route leads from one vendor to another.
private final class Story {
    let world: VirtualWorld
    var isOnline = true
    private let left: SceneAPI
    private let way: SwitchDuringOutageTests.Way
    private let other: SceneAPI
    private let vendors: [String: SimulatedVendor]
    private var contact: String?
    private var count = 0

    init(leaving id: String, _ way: SwitchDuringOutageTests.Way) throws {
        let apis = try FaultScenes.apis()
        left = try #require(apis.first { $0.id == id })
        other = try #require(apis.first { $0.id == (id == "salesforce" ? "acoustic" : "salesforce") })
        self.way = way
        world = try VirtualWorld()
        vendors = [left.id: try left.changing.makeVendor(), other.id: try other.changing.makeVendor()]
        world.network = { [unowned self] sent in
            guard isOnline, let vendor = vendors[sent.provider] else { return .outcome(.offline) }
            return .outcome(.replied(vendor.respond(to: sent.request, now: sent.vendorDate)))
        }
        let credentials = [left.id: left.credential, other.id: other.credential]
        world.credentials = { provider, contact in credentials[provider]?(contact) }
        try world.start(RoutingPlan(providers: [provider(left, .live), provider(other, nil)], onSwitch: way.policy))
    }

    /// The people whom the removed vendor reaches.
    var reached: [VendorRecord.Person] {
        guard let vendor = vendors[left.id] else { return [] }
        return left.changing.records(vendor.anyState).filter { !$0.reaches.isEmpty }.map(\.person)
    }

    func switchVendors() throws {
        let isPercentage = way == .percentage
        let providers = [
            provider(left, isPercentage ? .live : nil, isPercentage ? Share(0..<1) : .all),
            provider(other, .live, isPercentage ? Share(1..<100) : .all),
        ]
        try world.reconfigure(RoutingPlan(providers: providers, onSwitch: way.policy, onLoss: .reject))
    }

    private func provider(_ api: SceneAPI, _ mode: RoutingPlan.Mode?, _ share: Share = .all) -> RoutingPlan.Provider {
        RoutingPlan.Provider(name: api.id, adapter: api.changing.adapters[0], mode: mode, share: share)
    }

    /// Captures an action; after a change of person the app registers the device again, with the person's identities.
    func capture(_ action: Action) throws {
        if case .switchContact(let change) = action { contact = change.identifiers.first?.value }
        var device = ScenePhone.device()
        device.identities = left.changing.identities(contact)
        let isRegistration = action.kind == .registerDevice
        let actions = action.kind == .switchContact ? [action, .registerDevice(device)] : [action]
        try world.capture(
            actions.map { action in
                count += 1
                return EngagementOperation(
                    id: OperationID(rawValue: "op-\(count)"),
                    subject: "installation-1",
                    contact: contact,
                    capturedAt: world.host.date(),
                    action: isRegistration ? .registerDevice(device) : action
                )
            }
        )
    }
}
