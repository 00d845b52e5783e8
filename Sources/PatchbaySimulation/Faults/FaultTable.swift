import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// The set-ups of random runs over all doors; the seed chooses one.
public struct FaultTable: Sendable {
    /// How many things happen in a run.
    public static let steps = 20

    private let doors: [FaultDoor]
    private static let purposes: [Set<Purpose>] = [
        [.tracking], [.profile], [.tracking, .profile], [.tracking, .profile, .messaging],
    ]

    /// A table over these doors, at least two.
    public init(doors: [FaultDoor]) { self.doors = doors }

    /// The kinds of set-up. Each stands as often as it is listed.
    private enum Kind: CaseIterable { case alone, alone2, alone3, consent, consent2, fanOut, drain, retarget, several }

    /// The names of all set-ups, in order.
    public var names: [String] {
        doors.map { "\($0.id) alone" } + doors.map { "\($0.id), consent required" }
            + ["two at once, one dead", "a switch, drained", "a switch, retargeted", "three at random"]
    }

    /// The set-up that a seed chooses, its vendors new.
    public func setup(for seed: UInt64) throws -> FaultSimulation.Setup {
        var random = SeededGenerator(seed: seed ^ 0x5DEE_CE66_D1CE_4E5B)
        let kind = Kind.allCases[Int(seed % UInt64(Kind.allCases.count))]
        let door = doors[Int(seed / UInt64(Kind.allCases.count) % UInt64(doors.count))]
        let others = doors.filter { $0.id != door.id }
        switch kind {
        case .alone, .alone2, .alone3:
            var setup = try setup("\(door.id) alone", [door], [[.live]])
            setup.subjects = random.below(5) == 0 ? 2 : 1
            return setup
        case .consent, .consent2:
            return try setup(
                "\(door.id), consent required",
                [door],
                [[.live]],
                requiredConsent: random.pick(Self.purposes)
            )
        case .fanOut:
            var setup = try setup("two at once, one dead", [door, random.pick(others)], [[.live, .live]])
            setup.deadProvider = setup.plans[0].providers[random.below(2)].name
            return setup
        case .drain, .retarget:
            let policy: RoutingPlan.SwitchPolicy = kind == .drain ? .drain : .retarget
            let name = kind == .drain ? "a switch, drained" : "a switch, retargeted"
            return try setup(name, [door, random.pick(others)], [[.live, nil], [nil, .live]], policy)
        case .several:
            let three = [door] + others.shuffled(using: &random).prefix(2)
            var plans: [[RoutingPlan.Mode?]] = []
            for _ in 0..<3 {
                var modes = three.map { _ in random.pick([.live, .live, .paused, nil] as [RoutingPlan.Mode?]) }
                if !modes.contains(.live) { modes[random.below(modes.count)] = .live }
                plans.append(modes)
            }
            let consent: Set<Purpose> = random.below(3) == 0 ? random.pick(Self.purposes) : []
            var setup = try setup(
                "three at random",
                three,
                plans,
                random.pick([.drain, .retarget]),
                requiredConsent: consent
            )
            setup.subjects = 2
            return setup
        }
    }

    private func setup(
        _ name: String,
        _ doors: [FaultDoor],
        _ modes: [[RoutingPlan.Mode?]],
        _ policy: RoutingPlan.SwitchPolicy = .drain,
        requiredConsent: Set<Purpose> = []
    ) throws -> FaultSimulation.Setup {
        let plans = modes.map { modes in
            RoutingPlan(
                providers: zip(doors, modes).map { .init(name: $0.id, adapter: $0.adapter, mode: $1) },
                onSwitch: policy,
                onLoss: .reject,
                requiredConsent: Set(requiredConsent.map { Consent.Scope($0) })
            )
        }
        var setup = FaultSimulation.Setup(
            plans: plans,
            vendors: Dictionary(try doors.map { ($0.id, try $0.makeVendor()) }) { first, _ in first },
            credentials: { provider, contact in doors.first { $0.id == provider }?.credential(contact) },
            steps: Self.steps
        ) { random, number in
            doors.count == 1 ? doors[0].say(number, &random) : random.pick(doors).say(number, &random)
        }
        (setup.name, setup.allowsLies) = (name, true)
        setup.closing = doors.map(\.closing)
        setup.laws = Dictionary(doors.map { ($0.id, $0.law) }) { first, _ in first }
        return setup
    }
}
