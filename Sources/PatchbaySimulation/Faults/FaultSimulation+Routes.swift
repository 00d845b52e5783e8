import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The invariants of routes: the providers of each operation, pending operations after a switch, and answers to queries.
extension FaultSimulation {
    /// Returns the pending operations by provider. The value of each operation states whether the provider has started
    /// to process it.
    func pendingByProvider() throws -> [String: [OperationID: Bool]] {
        var pending: [String: [OperationID: Bool]] = [:]
        for provider in try world.store.state.providers() {
            let journaled = Set(try world.store.state.journal(provider: provider.name).flatMap(\.operations))
            try world.store.queues.forEachRow(provider: provider.name, subject: nil) { row in
                let isBegun =
                    row.step != nil || row.requests.contains(.uncertain) || journaled.contains(row.operation.id)
                pending[provider.name, default: [:]][OperationID(rawValue: row.operation.id)] = isBegun
            }
        }
        // Staged captures are routed before any operation moves.
        for id in try world.stagedCaptures().map(OperationID.init(rawValue:)) {
            for provider in receivedBy[id] ?? [] { pending[provider, default: [:]][id] = false }
        }
        return pending
    }

    /// Returns the accounts and the pending ids of every provider. The waits of the accounts are omitted, because their
    /// next attempts depend on the configuration.
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

    /// Returns the providers that can take over an operation from a provider that no longer receives it; nil if that
    /// provider still receives it, or did not receive it before.
    private func takers(
        of operation: EngagementOperation,
        from removedProvider: String,
        _ old: RoutingPlan,
        _ new: RoutingPlan
    ) -> [RoutingPlan.Provider]? {
        func receives(_ plan: RoutingPlan) -> Bool {
            plan.providers.contains { $0.name == removedProvider && $0.isRouted && $0.isSide(of: operation) }
        }
        guard receives(old), !receives(new) else { return nil }
        return new.providers.filter { taker in
            taker.name != removedProvider && taker.isRouted && taker.isSide(of: operation)
                && !taker.adapter.examine(operation).contains { $0.severity == .foreign }
        }
    }

    /// Records the providers that may receive pending operations because of a change of the configuration. Operations that
    /// wait for a consent move under every policy.
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

    /// Checks that after a switch each pending operation is at the providers that the switch policy requires.
    func checkSwitch(from old: RoutingPlan, to new: RoutingPlan, _ before: [String: [OperationID: Bool]]) throws {
        guard new.onSwitch != .drain else { return }
        let after = try pendingByProvider()
        var moved: [String: Set<OperationID>] = [:]
        var completed: [String: Set<OperationID>] = [:]
        for outcome in try world.store.history.outcomes(after: 0, limit: .max) {
            let id = OperationID(rawValue: outcome.entry.id)
            switch outcome.entry.term {
            case "moved": moved[outcome.entry.provider, default: []].insert(id)
            case "shadowed": break
            default: completed[outcome.entry.provider, default: []].insert(id)
            }
        }
        // In order, so that the same seed reports the same problems.
        for (removedProvider, ids) in before.inOrder {
            for (id, wasBegun) in ids.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where receivedBy[id] != nil {
                guard let operation = known[id], let takers = takers(of: operation, from: removedProvider, old, new),
                    !takers.isEmpty
                else { continue }
                let stays = after[removedProvider]?[id]
                // A person who has left, or an anonymous person between two others, may be known to the old provider
                // only.
                let current = snapshots[operation.subject]
                let isIdentified = operation.contact == nil && current?.identifiers.isEmpty == false
                let isOfFormer = past.contains(id) || isIdentified || operation.contact != current?.contact
                // An operation in flight may have received its outcome before the switch.
                let hasEnded = completed[removedProvider]?.contains(id) ?? false
                let isMoved = stays == nil && !hasEnded && moved[removedProvider]?.contains(id) ?? false
                if new.onSwitch == .retarget, let isBegun = stays {
                    // An erasure or an opt-out concerns the vendor that is left.
                    let staysByRule = operation.action == .erase || Self.isOptOut(operation.action) || isOfFormer
                    expect(
                        wasBegun || isBegun || staysByRule,
                        "\(id.rawValue.suffix(4)) is still pending for the removed provider \(removedProvider)"
                    )
                }
                guard isMoved || (new.onSwitch == .both && stays == false && !wasBegun && !isOfFormer) else { continue }
                for taker in takers {
                    let joins = !old.providers.contains {
                        $0.name == taker.name && $0.isRouted && $0.isSide(of: operation)
                    }
                    guard joins || operation.action.kind == .track else { continue }
                    expect(
                        after[taker.name]?[id] != nil || completed[taker.name]?.contains(id) ?? false,
                        "\(id.rawValue.suffix(4)) (\(operation.action.kind)) was moved from \(removedProvider), but not to \(taker.name)"
                    )
                }
            }
        }
    }

    /// Checks that a switch is refused only for pending operations that every new provider rejects.
    func check(_ refusal: SwitchRefusal, of plan: RoutingPlan) throws {
        let pending = try pendingByProvider()
        guard !refusal.operations.isEmpty else {
            let served = setup.plans[self.served ?? 0]
            // Staged captures for the provider also prevent the switch.
            let arriving = Set(try world.stagedCaptures().flatMap { receivedBy[OperationID(rawValue: $0)] ?? [] })
            let isNeedless = plan.providers.allSatisfy { shadowed in
                let wasRouted = served.providers.contains { $0.name == shadowed.name && $0.isRouted }
                return !shadowed.isShadowed
                    || !wasRouted && !arriving.contains(shadowed.name) && pending[shadowed.name]?.isEmpty ?? true
            }
            return expect(!isNeedless, "a switch was refused for a shadow run that does not prevent it")
        }
        expect(
            plan.onLoss == .refuse && plan.onSwitch == .retarget,
            "a switch was refused although its policies allow losses"
        )
        let rejections = try world.store.history.outcomes(after: 0, limit: .max).filter { $0.entry.term == "rejected" }
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
                        "a switch was refused although the person of \(lost.id.rawValue.suffix(4)) has not left"
                    )
                    continue
                }
                let findings = plan.providers.first { $0.name == name }?.adapter.examine(operation) ?? []
                // A provider that has rejected the operation does not receive it again.
                let wasRejected = rejections.contains { $0.entry.id == lost.id.rawValue && $0.entry.provider == name }
                expect(
                    wasRejected || findings.contains { $0.severity == .error },
                    "a switch was refused although \(name) accepts \(lost.id.rawValue.suffix(4))"
                )
            }
        }
    }

    /// Checks that each operation is at exactly the providers that the share of its contact and the switch policy
    /// require, and that no operation of a shadow run counts as delivered.
    func checkPlaces(_ outcomes: [NumberedOutcome]) throws {
        var terms: [OperationID: [String: [String]]] = [:]
        for outcome in outcomes {
            terms[OperationID(rawValue: outcome.entry.id), default: [:]][outcome.entry.provider, default: []]
                .append(outcome.entry.term)
        }
        for (provider, ids) in try pendingByProvider() {
            for id in ids.keys { terms[id, default: [:]][provider, default: []].append("pending") }
        }
        for id in terms.keys where answers[id] != nil { expect(false, "a query was stored") }
        for operation in acknowledged {
            guard let receivers = receivedBy[operation.id], let shadowed = shadowedBy[operation.id] else { continue }
            let (places, word) = (
                terms[operation.id] ?? [:], "\(operation.id.rawValue.suffix(4)) (\(operation.action.kind))"
            )
            // An erasure goes to every provider that received data of the person before. A push goes to the provider
            // that recognizes it.
            let mayGoLate = operation.action == .erase || operation.action.isPush
            for (provider, terms) in places.inOrder {
                expect(
                    receivers.contains(provider) || shadowed.contains(provider) || mayGoLate
                        || allowed[operation.id]?.contains(provider) ?? false,
                    "\(provider) has \(word), which was not routed to it"
                )
                for term in terms {
                    expect(
                        mayGoLate || !isOnlyShadowed(operation.id, provider)
                            || ["shadowed", "erased", "pending"].contains(term),
                        "\(provider) received \(word) in a shadow run only, but it counts as \(term)"
                    )
                    expect(
                        shadowed.contains(provider) || term != "shadowed",
                        "\(provider) received \(word) as a routed provider, but it counts as shadowed"
                    )
                }
            }
            for provider in plan.providers where receivers.contains(provider.name) || shadowed.contains(provider.name) {
                let sandboxes = placedLate[operation.id]
                let mayLack = sandboxes.map { provider.isShadowed || $0.contains(provider.name) } ?? false
                guard places[provider.name] == nil, !(mayLack && !receivers.contains(provider.name)) else { continue }
                expect(
                    provider.adapter.examine(operation).contains { $0.severity == .foreign },
                    "\(provider.name) should have \(word), but does not"
                )
            }
        }
    }

    /// Returns whether a provider received an operation as a shadow only.
    func isOnlyShadowed(_ id: OperationID, _ provider: String) -> Bool {
        func contains(_ table: [OperationID: Set<String>]) -> Bool { table[id]?.contains(provider) ?? false }
        return contains(shadowedBy) && !contains(receivedBy) && !contains(allowed)
    }

    /// Processes the answers to queries, and checks that each query is answered once and by its deadline.
    func processAnswers() {
        for entry in world.reportedEvents[processedEventCount...] {
            guard case .answered(let id, _, _) = entry.event else { continue }
            answers[id, default: 0] += 1
            expect(answers[id] == 1, "a query was answered twice")
            questions[id] = nil
        }
        processedEventCount = world.reportedEvents.count
        // After a failure of the storage at this instant, the engine has not run since.
        guard !world.isSuspended, let now = world.now, failedAt != now else { return }
        for question in questions.values where question.process == world.process {
            expect(question.deadline >= now, "a query was not answered by its deadline")
        }
    }
}

extension RoutingPlan.Provider {
    /// Whether the provider is a shadow that sends to a sandbox.
    var isShadowed: Bool { mode == .shadow && sendsShadow }

    /// Returns whether the provider's share contains an operation's contact. The computation is independent of the
    /// engine.
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
