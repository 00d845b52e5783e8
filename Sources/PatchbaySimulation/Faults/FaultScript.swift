import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// A generator of the steps of a run from its seed.
struct FaultScript {
    private let setup: FaultSimulation.Setup
    private var random: SeededGenerator
    private var count = 0

    /// Returns the steps of a run.
    static func steps(seed: UInt64, _ setup: FaultSimulation.Setup) -> [FaultStep] {
        var script = FaultScript(setup: setup, random: SeededGenerator(seed: seed))
        return script.steps()
    }

    private init(setup: FaultSimulation.Setup, random: SeededGenerator) { (self.setup, self.random) = (setup, random) }

    private var providers: Int { setup.plans[0].providers.count }

    private mutating func steps() -> [FaultStep] {
        var steps: [FaultStep] = []
        for provider in 0..<providers {
            let isDead = setup.plans[0].providers[provider].name == setup.deadProvider
            steps.append(step(.faultMode(provider: provider, isDead ? .down : faultMode())))
        }
        if let facts = setup.facts {
            if facts.isApp, random.below(2) > 0 {
                // Some people log in before the app has a valid credential for them.
                for contact in ["c-0", "c-1"] {
                    steps.append(step(.credential(contact: contact, random.pick([.missing, .expired]))))
                }
            }
            for _ in 0..<setup.steps { for what in changes(facts) { steps.append(step(what)) } }
            return steps
        }
        for _ in 0..<setup.steps { steps.append(step(next())) }
        if setup.opposites.count == 2, random.below(2) == 0 {
            for what in changeOfMind() { steps.append(step(what)) }
        }
        return steps
    }

    /// Returns steps in which the app captures an action, then its opposite with an uncertain delivery, then the action
    /// again.
    private func changeOfMind() -> [FaultStep.What] {
        func say(_ word: Int) -> FaultStep.What { .capture([setup.opposites[word]], subject: 0, isGroup: false) }
        return [
            .faultMode(provider: 0, .fine), .capture(setup.closing, subject: 0, isGroup: false), say(0),
            .pass(.seconds(7200)),
            .faultMode(provider: 0, .mute), say(1), .pass(.seconds(70)), say(0), .faultMode(provider: 0, .fine),
        ]
    }

    private mutating func step(_ what: FaultStep.What) -> FaultStep {
        let process = setup.processes > 1 ? random.below(setup.processes) : 0
        return FaultStep(what: what, process: process, seed: random.next())
    }

    /// Returns a fault mode. Most of them let the vendor process many requests, so that runs reach deep states. In a
    /// run with a dead vendor, the other vendors have no faults.
    private mutating func faultMode() -> FaultMode {
        guard setup.deadProvider == nil else { return .fine }
        return random.pick([
            .fair, .fair, .fair, .rough, .rough, .rough, .down, .slow, .limiting,
            setup.allowsMisleadingReplies ? .misleading : .rough,
        ])
    }

    private mutating func next() -> FaultStep.What {
        if setup.processes > 1, random.below(6) == 0 { return random.below(2) > 0 ? .suspend : .kill }
        if setup.plans.count > 1, random.below(8) == 0 { return configure() }
        switch random.below(32) {
        case 0..<13: return capture()
        case 13..<19: return .pass(.milliseconds(1 + random.below(90_000)))
        // Shorter steps in a run with a dead vendor, to which an adapter may send a request every half minute.
        case 19..<22 where setup.deadProvider != nil: return .pass(.seconds(60 + random.below(1200)))
        case 19, 20: return .pass(.seconds(60 + random.below(3600)))
        case 21: return .pass(.seconds(600 + random.below(random.below(6) > 0 ? 10_000 : 200_000)))
        case 22: return random.below(4) > 0 ? .jump(.seconds(random.below(4_000_000) - 2_000_000)) : .epoch
        case 23 where random.below(2) > 0: return ask()
        case 23: return .flush
        case 24: return random.below(3) > 0 ? .wake : .resume(provider: random.below(providers))
        case 25: return .kill
        case 26, 27: return .die(afterPoints: random.below(8))
        case 28: return .storageFails(afterPoints: random.below(8), times: 1 + random.below(3))
        case 29: return .reboot(after: .seconds(random.below(setup.deadProvider == nil ? 100_000 : 600)))
        case 30 where setup.plans.count > 1: return configure()
        default:
            let provider = random.below(providers)
            guard setup.plans[0].providers[provider].name != setup.deadProvider else { return .wake }
            return .faultMode(provider: provider, faultMode())
        }
    }

    private mutating func ask() -> FaultStep.What {
        let provider = random.below(providers)
        let name = setup.plans[0].providers[provider].name
        return .ask(provider: provider, setup.questions[name] ?? ReadRequest("state"))
    }

    private mutating func configure() -> FaultStep.What {
        let number = random.below(setup.plans.count)
        return random.below(2) > 0 ? .reconfigure(number) : .configure(number)
    }

    private mutating func capture() -> FaultStep.What {
        let size = 1 + random.below(4)
        var actions: [Action] = []
        for _ in 0..<size {
            count += 1
            actions.append(action())
        }
        let subject = setup.subjects > 1 ? random.below(setup.subjects) : 0
        return .capture(actions, subject: subject, isGroup: size > 1 && random.below(4) == 0)
    }

    private mutating func action() -> Action {
        if !setup.requiredConsent.isEmpty {
            if count <= 2 || random.below(7) == 0 { return consent() }
            if random.below(50) == 0 { return .erase }
        }
        return setup.action(&random, count)
    }

    private mutating func consent() -> Action {
        let purposes = setup.requiredConsent.sorted { $0.rawValue < $1.rawValue }
        return .setConsent(
            Consent(
                purpose: random.pick(purposes),
                state: random.pick([.granted, .granted, .granted, .denied, .unknown])
            )
        )
    }
}

// MARK: Changing facts

extension FaultScript {
    /// Returns the next steps of a run with changing facts.
    private mutating func changes(_ facts: ChangingFacts) -> [FaultStep.What] {
        switch random.below(48) {
        case 0..<10: return [said((0...random.below(3)).map { _ in ordinaryAction(facts) })]
        case 10..<17: return facts.isApp ? [said([personChange()])] : [said([ordinaryAction(facts)])]
        case 17..<19: return facts.isApp ? [said([.registerDevice(device())])] : [said([ordinaryAction(facts)])]
        case 19..<22:
            let channel: Channel = facts.isApp ? .push : random.pick([.email, .push])
            let state = random.pick([.subscribed, .subscribed, .unsubscribed, .suspended] as [Subscription.State])
            let topic = random.pick([nil, nil, "offers"] as [String?])
            return [said([.changeSubscription(Subscription(channel: channel, topic: topic, state: state))])]
        case 22..<26: return [said([consentChange()])]
        case 26..<29:
            let contact = random.pick([nil, "c-0", "c-1", "c-2"] as [String?])
            return [.credential(contact: contact, random.pick([.valid, .missing, .expired, .refused]))]
        case 29..<32 where setup.plans.count > 1: return [configure()]
        case 32: return [.replay(provider: random.below(providers))]
        case 33: return outage(facts)
        case 34..<38: return [.pass(.milliseconds(1 + random.below(5_000)))]
        case 38..<41: return [.pass(.seconds(60 + random.below(7200)))]
        case 41: return [.kill]
        case 42: return [.die(afterPoints: random.below(8))]
        case 43: return [.reboot(after: .seconds(random.below(10_000)))]
        case 44: return [random.below(2) > 0 ? .flush : .wake]
        case 45: return [.resume(provider: random.below(providers))]
        default:
            let faultMode: FaultMode = random.pick([.fine, .fair, .rough, .down, .slow, .mute, .limiting])
            return [.faultMode(provider: random.below(providers), faultMode)]
        }
    }

    /// Returns steps in which a vendor is out of service for hours while the app continues to capture.
    private mutating func outage(_ facts: ChangingFacts) -> [FaultStep.What] {
        let provider = random.below(providers)
        var steps: [FaultStep.What] = [
            .faultMode(provider: provider, random.below(2) > 0 ? .out : .busy), said([ordinaryAction(facts)]),
        ]
        for _ in 0..<3 + random.below(8) {
            steps.append(.pass(.seconds(30 + random.below(4000))))
            if random.below(2) > 0 { steps.append(said([ordinaryAction(facts)])) }
        }
        return steps + [.faultMode(provider: provider, .fine)]
    }

    private mutating func said(_ actions: [Action]) -> FaultStep.What {
        let subjects = max(1, setup.facts?.contacts.count ?? 1)
        return .capture(actions, subject: random.below(subjects), isGroup: actions.count > 1 && random.below(4) == 0)
    }

    /// Returns an action of the vendor's test profile that changes no person, device or push subscription.
    private mutating func ordinaryAction(_ facts: ChangingFacts) -> Action {
        for _ in 0..<6 {
            count += 1
            let action = setup.action(&random, count + 1)
            switch action {
            case .switchContact, .registerDevice: continue
            case .changeSubscription(let subscription) where subscription.channel == .push: continue
            case .identify(let identifiers) where identifiers.contains { $0.kind == .external }: continue
            default: return action
            }
        }
        return .changeAttributes(["tier": .set("v0")])
    }

    private mutating func personChange() -> Action {
        switch random.below(12) {
        case 0: .identify([Identifier(.external, "c-\(random.below(3))")])
        case 1..<5: .switchContact(ContactSwitch(.logOut))
        case 5 where random.below(3) == 0: .erase
        default: ScenePhone.logIn(&random)
        }
    }

    /// Returns a registration with the current push token (an empty one stands for it), another one, a malformed one or
    /// none.
    private mutating func device() -> Device {
        let tokens = FaultSimulation.pushTokens
        switch random.below(8) {
        case 0: return ScenePhone.device(token: FaultSimulation.malformedPushToken)
        case 1:
            var device = ScenePhone.device()
            (device.pushToken, device.allowsPush) = (nil, false)
            return device
        case 2:
            var device = ScenePhone.device(token: "")
            device.allowsPush = false
            return device
        case 3, 4, 5: return ScenePhone.device(token: random.pick(tokens))
        default: return ScenePhone.device(token: "")
        }
    }

    private mutating func consentChange() -> Action {
        .setConsent(
            Consent(
                purpose: random.pick([.tracking, .profile, .messaging]),
                channel: random.pick([nil, nil, .push, .email]),
                state: random.pick([.granted, .granted, .denied, .denied, .unknown])
            )
        )
    }
}
