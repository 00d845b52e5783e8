import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What must hold of routes: who hears whom, what a switch does to pending work, and what callers are told.
extension FaultSimulation {
    /// Everything that is pending, by provider.
    func pendingByProvider() throws -> [String: [OperationID: Bool]] {
        var pending: [String: [OperationID: Bool]] = [:]
        for provider in try world.store.providers() {
            let journaled = Set(try world.store.journal(provider: provider.name).flatMap(\.operations))
            try world.store.forEachRow(provider: provider.name, subject: nil) { row in
                let isBegun =
                    row.step != nil || row.requests.contains(.uncertain) || journaled.contains(row.operation.id)
                pending[provider.name, default: [:]][OperationID(rawValue: row.operation.id)] = isBegun
            }
        }
        // What has arrived and has no place yet gets it before anything moves.
        for id in try world.stagedCaptures().map(OperationID.init(rawValue:)) {
            for provider in heardBy[id] ?? [] { pending[provider, default: [:]][id] = false }
        }
        return pending
    }

    /// The outbox of every provider: its accounts, and the ids that are pending. The waits of the accounts are left out: their
    /// next attempts depend on the configuration that is asked.
    func standing() throws -> [String: [String]] {
        var standing: [String: [String]] = [:]
        for var accounts in try ProviderAccounts.read(world.store) {
            (accounts.waits, accounts.otherWaits) = ([], 0)
            standing[accounts.provider, default: []] += ["\(accounts.json)"]
        }
        for (provider, pending) in try pendingByProvider() {
            standing[provider, default: []] += pending.map { "\($0.key.rawValue) \($0.value)" }.sorted()
        }
        return standing
    }

    /// Those who would take an operation over from a provider that no longer hears it; nil if it still hears it.
    private func takers(
        of operation: EngagementOperation,
        from removedProvider: String,
        _ old: RoutingPlan,
        _ new: RoutingPlan
    ) -> [RoutingPlan.Provider]? {
        func hears(_ plan: RoutingPlan) -> Bool {
            plan.providers.contains { $0.name == removedProvider && $0.isRouted && $0.isSide(of: operation) }
        }
        guard hears(old), !hears(new) else { return nil }
        return new.providers.filter { taker in
            taker.name != removedProvider && taker.isRouted && taker.isSide(of: operation)
                && !taker.adapter.examine(operation).contains { $0.severity == .foreign }
        }
    }

    /// A change of the configuration that moves pending work lets others have it. What waits for a consent moves under every
    /// policy.
    func allowMoves(from old: RoutingPlan, to new: RoutingPlan, _ pending: [String: [OperationID: Bool]]) {
        for (removedProvider, ids) in pending {
            for id in ids.keys {
                guard let operation = known[id], let takers = takers(of: operation, from: removedProvider, old, new)
                else {
                    continue
                }
                allowed[id, default: []].formUnion(takers.map(\.name))
            }
        }
    }

    /// Pending work is where the policy wants it.
    func checkSwitch(from old: RoutingPlan, to new: RoutingPlan, _ before: [String: [OperationID: Bool]]) throws {
        guard new.onSwitch != .drain else { return }
        let after = try pendingByProvider()
        var moved: [String: Set<OperationID>] = [:]
        var heard: [String: Set<OperationID>] = [:]
        for ending in try world.store.endings(behind: 0, limit: .max) {
            let id = OperationID(rawValue: ending.entry.id)
            switch ending.entry.term {
            case "moved": moved[ending.entry.provider, default: []].insert(id)
            case "shadowed": break
            default: heard[ending.entry.provider, default: []].insert(id)
            }
        }
        // In order: the same seed tells the same.
        for (removedProvider, ids) in before.sorted(by: { $0.key < $1.key }) {
            for (id, wasBegun) in ids.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where heardBy[id] != nil {
                guard let operation = known[id], let takers = takers(of: operation, from: removedProvider, old, new),
                    !takers.isEmpty
                else { continue }
                let stays = after[removedProvider]?[id]
                // The old provider alone may know a person who has left, and an anonymous person between two others.
                let current = snapshots[operation.subject]
                let isIdentified = operation.contact == nil && current?.identifiers.isEmpty == false
                let isOfFormer = past.contains(id) || isIdentified || operation.contact != current?.contact
                // What was to end first may have ended as it should, and what has come back had left before.
                let hasEnded = heard[removedProvider]?.contains(id) ?? false
                let isMoved = stays == nil && !hasEnded && moved[removedProvider]?.contains(id) ?? false
                if new.onSwitch == .retarget, let isBegun = stays {
                    // An erasure or an opt-out concerns the vendor that is left.
                    let staysByRule = operation.action == .erase || Self.isOptOut(operation.action) || isOfFormer
                    expect(
                        wasBegun || isBegun || staysByRule,
                        "\(id.rawValue.suffix(4)) was left with \(removedProvider)"
                    )
                }
                guard isMoved || (new.onSwitch == .both && stays == false && !wasBegun && !isOfFormer) else { continue }
                for taker in takers {
                    let joins = !old.providers.contains {
                        $0.name == taker.name && $0.isRouted && $0.isSide(of: operation)
                    }
                    guard joins || operation.action.kind == .track else { continue }
                    expect(
                        after[taker.name]?[id] != nil || heard[taker.name]?.contains(id) ?? false,
                        "\(id.rawValue.suffix(4)) (\(operation.action.kind)) left \(removedProvider) and did not come to \(taker.name)"
                    )
                }
            }
        }
    }

    /// A switch is refused for operations that wait, and that everybody refuses who would take them.
    func check(_ refusal: SwitchRefusal, of plan: RoutingPlan) throws {
        let pending = try pendingByProvider()
        guard !refusal.operations.isEmpty else {
            let served = setup.plans[self.served ?? 0]
            // What is on its way to a place there holds it up, too.
            let arriving = Set(try world.stagedCaptures().flatMap { heardBy[OperationID(rawValue: $0)] ?? [] })
            let isNeedless = plan.providers.allSatisfy { shadowed in
                let wasRouted = served.providers.contains { $0.name == shadowed.name && $0.isRouted }
                return !shadowed.isShadowed
                    || !wasRouted && !arriving.contains(shadowed.name) && pending[shadowed.name]?.isEmpty ?? true
            }
            return expect(!isNeedless, "a switch was refused for a shadow run that holds up nothing")
        }
        expect(plan.onLoss == .refuse && plan.onSwitch == .retarget, "a switch was refused that may lose something")
        let rejections = try world.store.endings(behind: 0, limit: .max).filter { $0.entry.term == "rejected" }
        for lost in refusal.operations {
            expect(
                pending[lost.provider]?[lost.id] != nil,
                "a switch was refused for \(lost.id.rawValue.suffix(4)), which is not pending at \(lost.provider)"
            )
            guard let operation = known[lost.id] else { continue }
            for (name, refusal) in lost.refusals {
                if refusal.code == "engine.switch.person" {
                    let hasLeft = operation.contact.map { $0 != snapshots[operation.subject]?.contact } ?? false
                    expect(
                        hasLeft,
                        "a switch was refused although the person of \(lost.id.rawValue.suffix(4)) is there"
                    )
                    continue
                }
                let findings = plan.providers.first { $0.name == name }?.adapter.examine(operation) ?? []
                // Who refused it once is not asked again.
                let wasRejected = rejections.contains { $0.entry.id == lost.id.rawValue && $0.entry.provider == name }
                expect(
                    wasRejected || findings.contains { $0.severity == .error },
                    "a switch was refused although \(name) takes \(lost.id.rawValue.suffix(4))"
                )
            }
        }
    }

    /// Each operation is exactly where its contact belongs and the policy wants it; a shadow run counts as nothing.
    func checkPlaces(_ endings: [Ending]) throws {
        var terms: [OperationID: [String: [String]]] = [:]
        for ending in endings {
            terms[OperationID(rawValue: ending.entry.id), default: [:]][ending.entry.provider, default: []]
                .append(ending.entry.term)
        }
        for (provider, ids) in try pendingByProvider() {
            for id in ids.keys { terms[id, default: [:]][provider, default: []].append("pending") }
        }
        for id in terms.keys where answers[id] != nil { expect(false, "a question was stored") }
        for operation in acknowledged {
            guard let heard = heardBy[operation.id], let shadowed = shadowedBy[operation.id] else { continue }
            let (places, word) = (
                terms[operation.id] ?? [:], "\(operation.id.rawValue.suffix(4)) (\(operation.action.kind))"
            )
            // An erasure goes to whoever was told of the person before; a push to whoever knows it as its own.
            let mayGoLate = operation.action == .erase || operation.action.isPush
            for (provider, terms) in places.sorted(by: { $0.key < $1.key }) {
                expect(
                    heard.contains(provider) || shadowed.contains(provider) || mayGoLate
                        || allowed[operation.id]?.contains(provider) ?? false,
                    "\(provider) has \(word), which is not its business"
                )
                for term in terms {
                    expect(
                        mayGoLate || !isOnlyShadowed(operation.id, provider)
                            || ["shadowed", "erased", "pending"].contains(term),
                        "\(provider) only shadowed \(word), and it counts as \(term)"
                    )
                    expect(
                        shadowed.contains(provider) || term != "shadowed",
                        "\(provider) heard \(word) for real, and it counts as nothing"
                    )
                }
            }
            for provider in plan.providers where heard.contains(provider.name) || shadowed.contains(provider.name) {
                let sandboxes = placedLate[operation.id]
                let mayLack = sandboxes.map { provider.isShadowed || $0.contains(provider.name) } ?? false
                guard places[provider.name] == nil, !(mayLack && !heard.contains(provider.name)) else { continue }
                expect(
                    provider.adapter.examine(operation).contains { $0.severity == .foreign },
                    "\(provider.name) should have \(word), and has not"
                )
            }
        }
    }

    /// Whether a provider saw an operation as a shadow, and neither heard it nor was given it for real.
    func isOnlyShadowed(_ id: OperationID, _ provider: String) -> Bool {
        func contains(_ table: [OperationID: Set<String>]) -> Bool { table[id]?.contains(provider) ?? false }
        return contains(shadowedBy) && !contains(heardBy) && !contains(allowed)
    }

    /// Takes in what callers were told: each is answered once, by its deadline.
    func hear() {
        for told in world.told[heardTold...] {
            guard case .answered(let id, _, _) = told.event else { continue }
            answers[id, default: 0] += 1
            expect(answers[id] == 1, "a question was answered twice")
            questions[id] = nil
        }
        heardTold = world.told.count
        // Where the storage failed at this very moment the engine has not had its turn since.
        guard !world.isSuspended, let now = world.now, failedAt != now else { return }
        for question in questions.values where question.process == world.process {
            expect(question.deadline >= now, "a question has no answer, and its time is over")
        }
    }
}

extension RoutingPlan.Provider {
    /// Whether its requests go to a sandbox, if any leave.
    var isShadowed: Bool { mode == .shadow && sendsShadow }

    /// Whether an operation's contact is on its side: written down apart from the engine.
    func isSide(of operation: EngagementOperation) -> Bool {
        share.isAll || share.places.contains(Share.place(of: operation.contact ?? operation.subject.rawValue))
    }
}

extension Action {
    fileprivate var isPush: Bool { if case .track(.push) = self { true } else { false } }
}

extension RoutingPlan {
    func isShadowed(_ provider: String) -> Bool {
        providers.first { $0.name == provider }?.isShadowed ?? false
    }
}
