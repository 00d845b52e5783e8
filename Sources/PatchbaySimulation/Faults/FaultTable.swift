import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// The set-ups of randomized runs over all APIs. The seed selects one.
public struct FaultTable: Sendable {
    /// The number of steps of a run.
    public static let steps = 20

    private let devices, servers: [SceneAPI]
    private static let purposes: [Set<Purpose>] = [
        [.tracking], [.profile], [.tracking, .profile], [.tracking, .profile, .messaging],
    ]

    /// Creates a table over APIs, at least two of them device APIs.
    public init(apis: [SceneAPI]) {
        devices = apis.filter { $0.side == .device }
        servers = apis.filter { $0.side == .server }
    }

    /// The kinds of set-up. A kind with a second case, such as `alone2`, is used twice as often.
    private enum Kind: CaseIterable {
        case alone, consent, change, shared, several, alone2, share, consent2, shadow, fanOut, change2

        var needsOthers: Bool {
            switch self {
            case .alone, .alone2, .consent, .consent2, .shared: false
            case .change, .change2, .several, .share, .shadow, .fanOut: true
            }
        }
    }

    private static func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// Returns the other vendors' APIs, in order. A vendor with several test profiles uses one of them.
    private static func others(than api: SceneAPI, in apis: [SceneAPI], _ seed: UInt64) -> [SceneAPI] {
        let scenes = Dictionary(grouping: apis, by: \.id)
        return unique(apis.map(\.id)).filter { $0 != api.id }.compactMap { id in
            scenes[id].map { $0[Int(seed / 8 % UInt64($0.count))] }
        }
    }

    /// The names of all set-ups, in order.
    public var names: [String] {
        let apis = Self.unique((devices + servers).map(\.id))
        return apis.map { "\($0) alone" } + apis.map { "\($0), consent required" }
            + ["two at once, one dead", "two processes"]
            + RoutingPlan.SwitchPolicy.allCases.map { "a switch, \($0.rawValue)" }
            + ["shares of the contacts", "a shadow run", "three at random"]
            + apis.map { "\($0), changing facts" }
            + RoutingPlan.SwitchPolicy.allCases.map { "changing facts and a switch, \($0.rawValue)" }
    }

    /// The route of a provider in one configuration.
    private struct Route {
        var mode: RoutingPlan.Mode?
        var share = Share.all
        var sends = false

        static let live = Route(mode: .live)
        static let paused = Route(mode: .paused)
        static let none = Route(mode: nil)
        static let shadow = Route(mode: .shadow)
        static let sandbox = Route(mode: .shadow, sends: true)

        /// Returns a route for a share of the contacts, in percent.
        static func part(_ percent: Range<Int>) -> Route {
            Route(mode: .percentage, share: Share(percent.lowerBound * 100..<percent.upperBound * 100))
        }
    }

    /// Returns the set-up of a seed, with vendors in their initial state.
    public func setup(for seed: UInt64) throws -> FaultSimulation.Setup {
        var random = SeededGenerator(seed: seed ^ 0x5DEE_CE66_D1CE_4E5B)
        let kind = Kind.allCases[Int(seed % UInt64(Kind.allCases.count))]
        // One of eight seeds uses server APIs, which are never combined with device APIs. Seeds of one kind use the
        // APIs in turn: the quotient of the seed determines the API, because the remainder determines the kind.
        let playsServers = seed % 8 == 7 && !servers.isEmpty
        let apis = playsServers ? servers : devices
        let turn = seed / UInt64(Kind.allCases.count) / (playsServers ? 8 : 1)
        let api = apis[Int(turn % UInt64(apis.count))]
        let others = Self.others(than: api, in: apis, seed)
        switch others.isEmpty && kind.needsOthers ? .alone : kind {
        case .alone, .alone2:
            var setup = try setup("\(api.id) alone", [api], [[.live]])
            setup.subjects = random.below(5) == 0 ? 2 : 1
            return setup
        case .consent, .consent2:
            return try setup(
                "\(api.id), consent required",
                [api],
                [[.live]],
                requiredConsent: random.pick(Self.purposes)
            )
        case .fanOut:
            var setup = try setup("two at once, one dead", [api, random.pick(others)], [[.live, .live]])
            setup.deadProvider = setup.plans[0].providers[random.below(2)].name
            return setup
        case .shared:
            var setup = try setup("two processes", [api], [[.live]])
            setup.processes = 2
            return setup
        case .change, .change2:
            let policy = random.pick(RoutingPlan.SwitchPolicy.allCases)
            let plans: [[Route]] = [[.live, .none], [.none, .live]]
            return try setup(
                "a switch, \(policy.rawValue)",
                [api, random.pick(others)],
                plans,
                policy,
                random.pick([.reject, .refuse])
            )
        case .share:
            // The shares place the known contacts at 51, 65 and 90 percent, and the anonymous installations at 43 and
            // 78.
            let plans = (0..<3).map { _ -> [Route] in
                let border = random.pick([0, 48, 60, 80, 100])
                return [.part(0..<border), .part(border..<(random.below(4) > 0 ? 100 : max(border, 85)))]
            }
            var setup = try setup(
                "shares of the contacts",
                [api, random.pick(others)],
                plans,
                random.pick(RoutingPlan.SwitchPolicy.allCases)
            )
            setup.subjects = 2
            return setup
        case .shadow:
            let routes: [Route] = [.shadow, .sandbox, .live, .none]
            let plans = (0..<3).map { _ -> [Route] in [.live, random.pick(routes)] }
            return try setup(
                "a shadow run",
                [api, random.pick(others)],
                [[.live, random.pick([.shadow, .sandbox])]] + plans + [[random.pick([.none, .shadow]), .live]],
                random.pick(RoutingPlan.SwitchPolicy.allCases)
            )
        case .several:
            let three = [api] + others.shuffled(using: &random).prefix(2)
            var plans: [[Route]] = []
            for _ in 0..<3 {
                var routes = three.map { _ in
                    random.pick([.live, .live, .paused, .none, .shadow, .part(0..<60), .part(60..<100)] as [Route])
                }
                if !routes.contains(where: { $0.mode == .live }) { routes[random.below(routes.count)] = .live }
                plans.append(routes)
            }
            let consent: Set<Purpose> = random.below(3) == 0 ? random.pick(Self.purposes) : []
            var setup = try setup(
                "three at random",
                three,
                plans,
                random.pick(RoutingPlan.SwitchPolicy.allCases),
                random.pick([.reject, .refuse]),
                requiredConsent: consent
            )
            setup.subjects = 2
            return setup
        }
    }

    private func setup(
        _ name: String,
        _ apis: [SceneAPI],
        _ routes: [[Route]],
        _ policy: RoutingPlan.SwitchPolicy = .drain,
        _ onLoss: RoutingPlan.LossPolicy = .reject,
        requiredConsent: Set<Purpose> = []
    ) throws -> FaultSimulation.Setup {
        let plans = routes.map { routes in
            RoutingPlan(
                providers: zip(apis, routes).map {
                    .init(name: $0.id, adapter: $0.adapter, mode: $1.mode, share: $1.share, sendsShadow: $1.sends)
                },
                onSwitch: policy,
                onLoss: onLoss,
                requiredConsent: Set(requiredConsent.map { Consent.Scope($0) })
            )
        }
        var setup = FaultSimulation.Setup(
            plans: plans,
            vendors: Dictionary(try apis.map { ($0.id, try $0.makeVendor()) }) { first, _ in first },
            credentials: { provider, contact in apis.first { $0.id == provider }?.credential(contact) },
            steps: Self.steps
        ) { random, number in
            apis.count == 1 ? apis[0].say(number, &random) : random.pick(apis).say(number, &random)
        }
        (setup.name, setup.allowsMisleadingReplies) = (name, true)
        setup.closing = apis.map(\.closing)
        if apis.count == 1 { setup.opposites = apis[0].opposites }
        setup.questions = Dictionary(apis.map { ($0.id, $0.question) }) { first, _ in first }
        if plans.contains(where: { $0.providers.contains(where: \.isShadowed) }) {
            setup.sandboxes = Dictionary(try apis.map { ($0.id, try $0.makeVendor()) }) { first, _ in first }
        }
        setup.expectedStates = Dictionary(apis.map { ($0.id, $0.expectedState) }) { first, _ in first }
        setup.waitsForApp = Dictionary(apis.map { ($0.id, $0.waitsForApp) }) { first, _ in first }
        setup.handedOut = Dictionary(apis.map { ($0.id, $0.handedOut) }) { first, _ in first }
        setup.invariants = Dictionary(apis.map { ($0.id, $0.invariant) }) { first, _ in first }
        return setup
    }
}

// MARK: Changing facts

extension FaultTable {
    /// Returns the set-up of a seed's second run, in which people, consents, configurations, credentials and push
    /// tokens change.
    public func changingSetup(for seed: UInt64) throws -> FaultSimulation.Setup {
        var random = SeededGenerator(seed: seed ^ 0x1F83_D9AB_FB41_BD6B)
        let playsServers = seed % 5 == 4 && !servers.isEmpty
        let apis = playsServers ? servers : devices
        let api = apis[Int(seed / 5 % UInt64(apis.count))]
        let others = playsServers ? [] : Self.others(than: api, in: devices, seed)
        let switches = !others.isEmpty && random.below(5) < 2
        let policy = random.pick(RoutingPlan.SwitchPolicy.allCases)
        let chosen = switches ? [api, random.pick(others)] : [api]
        let changesSettings = random.below(2) > 0
        let required: Set<Purpose> = random.below(3) > 0 ? [] : random.pick(Self.purposes)
        let routes: [[Route]] =
            switches
            ? [[.live, .none], [.none, .live], [.live, .live], [.part(0..<60), .part(60..<100)]] : [[.live]]
        var plans: [RoutingPlan] = []
        for number in 0..<(changesSettings ? 2 : 1) {
            for route in routes {
                plans.append(
                    RoutingPlan(
                        providers: zip(chosen, route).map { api, route in
                            let adapters = api.changing.adapters
                            let place = min(number, adapters.count - 1)
                            return .init(
                                name: api.id,
                                adapter: adapters[place],
                                mode: route.mode,
                                share: route.share,
                                settingsDigest: "\(place)"
                            )
                        },
                        onSwitch: policy,
                        onLoss: .reject,
                        requiredConsent: Set(required.map { Consent.Scope($0) })
                    )
                )
            }
        }
        var setup = FaultSimulation.Setup(
            plans: plans,
            vendors: Dictionary(try chosen.map { ($0.id, try $0.changing.makeVendor()) }) { first, _ in first },
            credentials: { provider, contact in chosen.first { $0.id == provider }?.credential(contact) },
            steps: Self.steps
        ) { random, number in random.pick(chosen).changing.action(number, &random) }
        setup.name =
            switches ? "changing facts and a switch, \(policy.rawValue)" : "\(api.id), changing facts"
        setup.closing = playsServers ? chosen.map(\.closing) : []
        setup.expectedStates = Dictionary(chosen.map { ($0.id, $0.expectedState) }) { first, _ in first }
        setup.waitsForApp = Dictionary(chosen.map { ($0.id, $0.waitsForApp) }) { first, _ in first }
        setup.handedOut = Dictionary(chosen.map { ($0.id, $0.handedOut) }) { first, _ in first }
        setup.invariants = Dictionary(chosen.map { ($0.id, $0.invariant) }) { first, _ in first }
        var facts = ChangingFacts(
            scenes: Dictionary(chosen.map { ($0.id, $0.changing) }) { first, _ in first },
            contacts: playsServers ? (0..<3).map { Subject(rawValue: "k-\($0)") } : []
        )
        facts.epilogue =
            switches && random.below(2) > 0
            ? .leave(to: random.below(2)) : .optOut(random.pick(ChangingFacts.Epilogue.With.allCases))
        setup.facts = facts
        return setup
    }
}
