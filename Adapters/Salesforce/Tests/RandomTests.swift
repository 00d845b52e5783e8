import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbaySimulation
import PatchbayTesting
import Synchronization
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

/// Runs the real engine with random operations, faults and crashes. Compares the vendor's final state and the app's
/// answers with the app's operations.
@Suite("Salesforce under random faults") struct RandomTests {
    /// Seeds from the environment (`PATCHBAY_SEEDS=1000`, `7-7`), or twenty.
    private static let seeds: [UInt64] = {
        let text = ProcessInfo.processInfo.environment["PATCHBAY_SEEDS"] ?? "1-20"
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        return Array((bounds.count == 2 ? bounds[0] : 1)...(bounds.last ?? 100))
    }()

    private static let groups = stride(from: 0, to: seeds.count, by: 10).map {
        Array(seeds[$0..<min($0 + 10, seeds.count)])
    }

    struct World: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var settings: JSONObject = [:]
        var vendor: JSONObject = [:]

        static let all = [
            World(testDescription: "default settings"),
            World(testDescription: "delayed registration", settings: ["delayRegistrationUntilContactKeyIsSet": true]),
            World(testDescription: "short-lived tokens", vendor: ["tokenLifetime": 100_000]),
            World(
                testDescription: "other settings",
                settings: ["unset": "stopSending", "tagsIgnoreCase": false, "registrationIdKey": "uuid", "debug": true]
            ),
        ]
    }

    @Test(arguments: World.all, groups) func `the vendor's final state matches the app's operations`(
        _ world: World,
        seeds: [UInt64]
    )
        throws
    {
        for seed in seeds {
            let adapter = try TestDriver.adapter(world.settings)
            let vendor = SimulatedVendor(try SalesforceSimulator(settings: world.vendor))
            let user = Mutex("aino")
            let run = try FaultSimulation(
                seed: seed,
                FaultSimulation.Setup(
                    plans: [RoutingPlan(providers: [.init(name: "a", adapter: adapter, mode: .live)])],
                    vendors: ["a": vendor],
                    steps: 80,
                    closing: .registerDevice(.sample),
                    action: { random, number in
                        if number == 1 { return .registerDevice(.sample) }
                        if number == 2 { return .logIn("aino") }
                        let action = user.withLock { Self.action(&random, number, user: &$0) }
                        // No log-in follows the last erasure, so a delayed device would wait permanently.
                        return action == .erase && adapter.settings.delayRegistrationUntilContactKeyIsSet
                            ? .push(.subscribed) : action
                    }
                )
            )
            try run.run()
            let account = try #require(vendor.state(as: SalesforceAccount.self))
            for violation in account.violations { run.expect(false, "rule violated: \(violation.what)") }
            for refusal in account.devices.flatMap(\.refusedLater) { run.expect(false, "refused: \(refusal.reasons)") }
            check(run, account, adapter.settings)
            let trace = "seed \(seed)\n" + run.trace.joined(separator: "\n")
            #expect(run.problems == [], "\(trace)")
        }
    }

    // MARK: The app's operations

    /// An operation of the app. `user` is the person who logged in last.
    private static func action(_ random: inout SeededGenerator, _ number: Int, user: inout String) -> Action {
        let name: AttributeName = random.pick(["tier", "store", "Status", " visits "])
        let tag = PatchbayModel.Tag(rawValue: random.pick(["sports", "SPORTS", "music", "ALL", " art "]))
        switch random.below(17) {
        case 0: return .registerDevice(device(&random))
        case 1: return .identify(random.pick([user, user, " \(user) "]))
        case 2:
            user = random.pick(["aino", "bo", "eve"])
            return .logIn(user)
        case 3, 4: return .add(tag)
        case 5: return .remove(tag)
        case 6: return .changeTags(TagChange(replace: random.below(2) == 0 ? [] : [tag, "news"]))
        case 7: return .changeAttributes([name: .unset])
        case 8:
            return .changeAttributes([
                name: .set(.string("v\(random.below(3))")), "city": .set(.integer(Int64(number))),
            ])
        case 9: return .push(random.pick([.subscribed, .unsubscribed, .suspended, .unknown]))
        case 10: return .push(random.pick([.subscribed, .unsubscribed]), topic: "theatre")
        case 11, 12, 13:
            return .track(.custom(name: "Lesson \(number)", attributes: ["a.b": 1, "n": .integer(Int64(number))]))
        case 14 where random.below(4) == 0: return .erase
        default: return .set(name, .string("w\(random.below(3))"))
        }
    }

    private static func device(_ random: inout SeededGenerator) -> Device {
        var device = Device.sample
        device.allowsPush = random.below(3) > 0
        device.facts?.locale = random.pick(["fi_FI", "de-DE"])
        device.facts?.utcOffsetSeconds = random.pick([7200, 10_800])
        if random.below(3) == 0 { device.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"] }
        if random.below(5) == 0 { device.pushToken = nil }
        if random.below(5) == 0 { device.facts = nil }
        return device
    }

    // MARK: The expected state

    /// The state that the vendor must hold after the app's operations, computed independently of the adapter.
    private struct ExpectedState {
        var key: String?
        var attributes: [String: String] = [:]
        var tags: [String] = []
        var locale: String?
        var allowsPush = false
        var subscription: Subscription.State?
        /// The last push decision of each person. The key nil holds the decision of an anonymous person, which belongs
        /// to the next person.
        var decisions: [String?: Subscription.State] = [:]
        /// Whether any person opted out of push on this device.
        private var hasOptedOut = false
        /// Whether the device may still be opted out by a former person, whose later opt-in was not sent before the
        /// present person logged in.
        private(set) var mayInheritOptOut = false
        let settings: SalesforceSettings

        init(settings: SalesforceSettings) { self.settings = settings }

        mutating func apply(_ action: Action) {
            switch action {
            case .identify(let identifiers): logIn(identifiers)
            case .switchContact(let change): logIn(change.identifiers)
            case .registerDevice(let device):
                allowsPush = device.allowsPush
                locale = device.facts?.locale.replacing("-", with: "_") ?? locale
            case .changeAttributes(let changes):
                for (name, change) in changes where name.rawValue.lowercased() != "status" {
                    if case .set(let value) = change {
                        attributes[name.rawValue.trimmed] = value.plainText
                    } else {
                        attributes[name.rawValue.trimmed] = nil
                    }
                }
            case .changeTags(let change):
                if let replace = change.replace {
                    tags = []
                    replace.forEach { add($0.rawValue.trimmed) }
                }
                change.remove.forEach { remove($0.rawValue.trimmed) }
                change.add.forEach { add($0.rawValue.trimmed) }
            case .changeSubscription(let subscription):
                if let topic = subscription.topic {
                    subscription.state == .subscribed ? add(topic) : remove(topic)
                } else {
                    (self.subscription, decisions[key]) = (subscription.state, subscription.state)
                    hasOptedOut = hasOptedOut || subscription.state != .subscribed
                    mayInheritOptOut = false
                }
            case .erase: self = ExpectedState(settings: settings)
            default: break
            }
        }

        /// Applies identifiers. Another person's key removes the previous person's values and restores the person's own
        /// push decision.
        private mutating func logIn(_ identifiers: [Identifier]) {
            let new = identifiers.first?.value.trimmed
            if key != nil, key != new { (attributes, tags) = ([:], []) }
            key = new
            if let anonymous = decisions.removeValue(forKey: nil) { decisions[new] = anonymous }
            mayInheritOptOut = hasOptedOut && decisions[new] == nil
            subscription = decisions[new] ?? subscription
        }

        private func same(_ left: String, _ right: String) -> Bool {
            settings.tagsIgnoreCase ? left.lowercased() == right.lowercased() : left == right
        }

        private mutating func remove(_ tag: String) { tags = tags.filter { !same($0, tag) } }

        private mutating func add(_ tag: String) {
            guard tag != "ALL" else { return }
            remove(tag)
            tags.append(tag)
        }
    }

    /// Whether a person who is logged in got another person's key, because a crash lost the log-in of that person. Both
    /// keys then belong to the person, so a decision under either of them counts.
    private static func hasMixedKeys(_ operations: [EngagementOperation]) -> Bool {
        operations.contains { operation in
            guard case .identify(let identifiers) = operation.action, let contact = operation.contact else {
                return false
            }
            return identifiers.first?.value.trimmed != contact.trimmed
        }
    }

    private func check(_ run: FaultSimulation, _ account: SalesforceAccount, _ settings: SalesforceSettings) {
        if Self.hasMixedKeys(run.acknowledged) { return }
        var expected = ExpectedState(settings: settings)
        var keys: [OperationID: [String]] = [:]
        for operation in run.acknowledged {
            expected.apply(operation.action)
            if let key = expected.key { for id in keys.keys { keys[id]?.append(key) } }
            if operation.action.kind == .track, let key = expected.key { keys[operation.id] = [key] }
        }
        guard
            let device = account.devices.max(by: {
                ($0.lastReceived ?? .init(milliseconds: 0)) < ($1.lastReceived ?? .init(milliseconds: 0))
            }),
            let registration = device.registration
        else {
            return run.expect(
                settings.delayRegistrationUntilContactKeyIsSet && expected.key == nil || run.acknowledged.isEmpty,
                "the vendor knows no device"
            )
        }
        if settings.delayRegistrationUntilContactKeyIsSet, expected.key == nil { return }
        compare(run, registration, expected)
        compareAnswers(run, account, keys)
    }

    private func compare(_ run: FaultSimulation, _ registration: JSONValue, _ expected: ExpectedState) {
        let held = Dictionary(
            (registration["attributes"]?.array ?? []).compactMap { pair -> (String, String)? in
                guard let key = pair["key"]?.string, let value = pair["value"]?.string, !value.isEmpty else {
                    return nil
                }
                return (key, value)
            }
        ) { $1 }
        run.expect(held == expected.attributes, "attributes: held \(held), expected \(expected.attributes)")
        let tags = Set(registration.tags).subtracting(["ALL", "IOS", "DEBUG"])
        run.expect(tags == Set(expected.tags), "tags: held \(tags), expected \(expected.tags)")
        run.expect(registration["subscriberKey"]?.string == expected.key, "the contact key differs")
        run.expect(registration["locale"]?.string == expected.locale, "the locale differs")
        let isOn = expected.allowsPush && (expected.subscription == nil || expected.subscription == .subscribed)
        let isEnabled = registration["push_Enabled"]?.bool
        run.expect(isEnabled == isOn || expected.mayInheritOptOut && isEnabled == false, "the push state differs")
    }

    /// Checks that each accepted change is in the registration of its answer. Checks that every accepted event is at
    /// the vendor, under a contact of its time or later.
    private func compareAnswers(_ run: FaultSimulation, _ account: SalesforceAccount, _ keys: [OperationID: [String]]) {
        let events = Dictionary(account.devices.flatMap(\.events).map { ($0.id, $0) }) { first, _ in first }
        let bodies = Set(
            run.world.sent.filter { run.processed.contains($0.number) }.compactMap { $0.request.json?.text }
        )
        for operation in run.acknowledged {
            guard let outcome = run.world.outcome(of: operation.id, on: "a"), outcome.term == .accepted else {
                continue
            }
            if operation.action.kind == .track {
                let event = events[UUIDText.named(operation.id.rawValue, in: "patchbay.salesforce.event")]
                run.expect(event != nil, "an accepted event is lost")
                let isRight = event?.contactKey.map { keys[operation.id]?.contains($0) ?? true } ?? true
                run.expect(isRight, "an event is assigned to an earlier contact")
            } else if let answer = outcome.answer {
                run.expect(bodies.contains(answer.text), "the answer is a registration that the vendor did not receive")
                run.expect(
                    holds(answer, operation.action),
                    "\(operation.action.kind) was accepted and is not in its answer"
                )
            } else {
                run.expect(operation.action == .erase, "\(operation.action.kind) was accepted without an answer")
            }
        }
    }

    /// Whether a registration contains a complete change. A change that a later one replaced is superseded or partly
    /// replaced.
    private func holds(_ registration: JSONValue, _ action: Action) -> Bool {
        switch action {
        case .identify(let identifiers): registration["subscriberKey"]?.string == identifiers.first?.value.trimmed
        case .switchContact(let change):
            registration["subscriberKey"]?.string == change.identifiers.first?.value.trimmed
        case .changeTags(let change) where change.replace == nil && change.remove.isEmpty:
            change.add.allSatisfy { registration.tags.contains($0.rawValue.trimmed) || $0.rawValue == "ALL" }
        default: registration["deviceID"] != nil
        }
    }
}

@Suite("Salesforce and uncertain contact keys") struct UncertainKeyTests {
    @Test func `events wait while the vendor may hold another person's key`() {
        var memory = SalesforceDevice.Memory()
        func registerWithoutReply(_ key: String, at sequence: Int64) {
            memory.markStateUnknown()
            (memory.registration.contactKey, memory.registration.keyAt) = (key, sequence)
        }
        (memory.acceptedAs, memory.registration.contactKey) = ("account", "aino")
        #expect(memory.unacknowledgedKeyChange == nil)
        registerWithoutReply("eve", at: 5)
        #expect(memory.unacknowledgedKeyChange == 5)
        // The acknowledged key again: the vendor may have processed the registration between.
        registerWithoutReply("aino", at: 9)
        #expect(memory.unacknowledgedKeyChange == 9)
    }
}

@Suite("Salesforce and consent") struct ConsentTimeTests {
    @Test func `sends an event that waited for consent with its time of capture`() throws {
        let adapter = try TestDriver.adapter()
        let world = try VirtualWorld()
        let vendor = SimulatedVendor(try SalesforceSimulator(settings: [:]))
        world.network = { sent in .outcome(.replied(vendor.respond(to: sent.request, now: sent.vendorDate))) }
        try world.start(
            RoutingPlan(
                providers: [.init(name: "a", adapter: adapter, mode: .live)],
                requiredConsent: [.tracking]
            )
        )
        try world.capture(.registerDevice(.sample))
        let event = try world.capture(.track(.custom(name: "Lesson")))
        try world.advance(by: .seconds(7200))
        try world.capture(.setConsent(Consent(purpose: .tracking, state: .granted)))
        try world.drain()
        let body = try #require(world.sent.last { $0.request.url.hasSuffix("/event") }).request.json?.text ?? ""
        #expect(body.contains("\"eventDateUtc\":\"\(event.capturedAt.text)\""))
    }
}
