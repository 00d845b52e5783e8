import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The invariants during a run.
extension FaultSimulation {
    /// Checks that a request may leave now with all its operations.
    func checkLeaving(_ sent: VirtualWorld.Sent) {
        guard let provider = plan.providers.first(where: { $0.name == sent.provider }) else {
            return expect(false, "request \(sent.number) went to a provider that is not configured")
        }
        expect(provider.mode != .paused, "request \(sent.number) went to a provider that is paused")
        processAnswers()
        // After a power failure, the timeline continues from the time on the disk.
        let before = world.sent.dropLast().last { !world.forgotten.contains($0.number) }
        expect(
            before.map { $0.now <= sent.now } ?? true,
            "request \(sent.number) has an earlier time than the request before it"
        )
        // A process that lost the lease and acquired it again does not know its earlier requests.
        let others = world.inFlight.map { world.sent[$0 - 1] }
            .filter { $0.process == sent.process && $0.tenure == sent.tenure }
        expect(
            !others.contains { $0.provider == sent.provider && $0.lane == sent.lane },
            "request \(sent.number) left while another request of its lane was in flight"
        )
        let owners = owners(of: sent)
        let texts = texts(of: sent)
        // A misleading reply may have contained the token of another installation.
        expect(
            deceived.contains(sent.provider)
                || !(tokens[sent.provider] ?? [:]).contains { $0.value != sent.lane && texts.contains($0.key) },
            "request \(sent.number) carries a token that the vendor issued to another installation"
        )
        for id in sent.operations {
            if known[id] == nil { try? learnWhatWasCreated() }
            guard let operation = known[id] else {
                expect(false, "request \(sent.number) carries an unknown operation")
                continue
            }
            // A vendor whose provider was removed still receives the unregistration.
            let mayBeSent = operation.action == .unregister || !forgotten.contains(id)
            expect(mayBeSent, "request \(sent.number) carries an operation that an erasure deleted")
            expect(answers[id] == nil, "request \(sent.number) carries a query that was already answered")
            // An erasure is delivered to every vendor that received data of the person before.
            let isShadowRun = provider.mode == .shadow && !provider.sendsShadow && operation.action != .erase
            expect(
                !isShadowRun || !isOnlyShadowed(id, provider.name),
                "request \(sent.number) carries \(operation.action.kind) to the vendor of a shadow run"
            )
            expect(
                setup.facts != nil || permitted.contains(id),
                "request \(sent.number) carries \(operation.action.kind) \(id.rawValue.suffix(4)) without the person's consent"
            )
            expect(
                owners?.contains(operation.contact) ?? true,
                "request \(sent.number) carries \(operation.action.kind) \(id.rawValue.suffix(4)) with another person's credential"
            )
        }
    }

    /// Returns the contacts for whom the app provided the credential of a request; nil for a request without a credential.
    private func owners(of sent: VirtualWorld.Sent) -> Set<String?>? {
        let texts = texts(of: sent) + [sent.request.url]
        let borne = credentials[sent.provider]?.filter { credential in
            texts.contains { $0.contains(credential.key) }
        }
        // If one credential contains another, only the longer one counts.
        return borne?.max { $0.key.utf8.count < $1.key.utf8.count }?.value
    }

    /// Returns the texts of a request that may contain a credential or a token: headers, and texts of its body.
    private func texts(of sent: VirtualWorld.Sent) -> [String] {
        sent.request.headers.map(\.value) + (sent.request.json?.object?.compactMap(\.value.string) ?? [])
    }

    /// Returns the purposes for which an action needs consent. The computation is independent of the engine.
    static func purposes(of action: Action) -> Set<Purpose> {
        switch action {
        case .switchContact(let change) where change.direction == .logOut: []
        case .track: [.tracking]
        case .changeSubscription(let subscription) where subscription.channel == .push && !isOptOut(action):
            [.messaging, .profile]
        case .changeSubscription: [.messaging]
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags, .readBack: [.profile]
        case .setConsent, .unregister, .erase: []
        }
    }

    /// Checks that no operation waits without a named reason.
    func checkReasons() throws {
        guard world.delivers, let now = world.now, failedAt.map({ now > $0 + .seconds(10) }) ?? true else { return }
        // Operations that the engine plans again within two seconds need no reason.
        if let next = world.nextAdvance, next <= now + .seconds(2) { return }
        let flying = Set(world.inFlight.map { world.sent[$0 - 1].provider })
        for provider in plan.providers where provider.mode != .paused && !flying.contains(provider.name) {
            let pending = try world.store.operations.pendingCount(provider: provider.name)
            guard pending > 0, try world.suspended(provider.name) == nil else { continue }
            let holds = try world.store.operations.holds(provider: provider.name)
            for hold in holds {
                expect(hold.hold.hasPrefix("consent."), "an operation is held for the unknown reason \"\(hold.hold)\"")
            }
            if holds.reduce(0, { $0 + $1.count }) == pending { continue }
            let waits = try world.waits(of: provider.name)
            let blocks = try world.store.closedQueues.list(provider: provider.name, lane: nil)
            expect(
                !waits.isEmpty || !blocks.isEmpty,
                "\(provider.name): \(pending) operations are pending without a reason"
            )
            if setup.facts != nil { try checkLanes(of: provider.name) }
            let farthest = now + .seconds(366 * 86_400)
            expect(
                blocks.allSatisfy { $0.orWoken || $0.until.map { $0 <= farthest.milliseconds } ?? false },
                "\(provider.name) has a closed queue that nothing reopens"
            )
        }
    }

    /// Checks that a dead vendor does not delay the others.
    func checkOtherProviders() throws {
        guard let dead = setup.deadProvider else { return }
        note("all providers except \(dead) get an hour")
        cancelStorageFaults()
        world.host.jump(by: world.host.trueDate - world.host.date())
        try restartingAfterDeath { try close() }
        try restartingAfterDeath { try world.advance(by: .seconds(1800)) }
        try restartingAfterDeath {
            noteWake()
            try world.performMaintenance()
            try world.wake()
            try world.advance(by: .seconds(1800))
        }
        for account in try world.accounts() where account.provider != dead && account.suspended == nil {
            let held = account.held.values.reduce(0, +) + waitingForApp(account)
            expect(
                account.pending == held
                    || plan.providers.contains { $0.name == account.provider && $0.mode == .paused },
                "\(account.provider): \(account.pending - held) operations wait although only \(dead) is unavailable"
            )
        }
    }
}

/// The invariants at the end of a run.
extension FaultSimulation {
    func check() throws {
        let outcomes = try world.store.history.outcomes(after: 0, limit: .max)
        for accounts in try world.accounts() { setup.facts == nil ? check(accounts) : checkWaiting(accounts) }
        for fault in try world.store.maintenance.verify().faults { expect(false, "outbox: \(fault.detail)") }
        for violation in world.leaseViolations { expect(false, violation) }
        processAnswers()
        try checkAcknowledged(outcomes)
        if setup.facts == nil {
            checkRefusals(outcomes)
            try checkPlaces(outcomes)
        } else {
            try checkHoldings(outcomes)
        }
        for provider in plan.providers {
            let own = outcomes.filter { $0.entry.provider == provider.name && $0.entry.term != "moved" }
            checkOutcomes(provider.name, own)
            checkAccepted(provider.name, own.map(\.entry))
            // The order is not comparable if the settings, and with them the queues, have changed, or if a replayed
            // operation follows requests that were sent meanwhile.
            if setup.facts == nil || setup.plans.count == 1 && replayed.isEmpty {
                checkOrder(provider, outcomes.filter { $0.entry.provider == provider.name })
            }
            try checkMemory(provider.name)
            guard replayed.isEmpty else { continue }
            guard let policy = setup.invariants[provider.name], let vendor = setup.vendors[provider.name] else {
                continue
            }
            for lane in Set(world.sent.filter { $0.provider == provider.name }.map(\.lane)).sorted() {
                // A shadow sends to a sandbox and not to the vendor, so each phase is checked separately.
                for phase in 0...(phases[provider.name] ?? 0) {
                    let story = try story(of: provider, lane: lane, phase, own)
                    for problem in policy(story, vendor) { expect(false, "\(provider.name): \(problem)") }
                }
            }
        }
    }

    private func check(_ accounts: ProviderAccounts) {
        let name = accounts.provider
        checkBalance(accounts)
        let mode = plan.providers.first { $0.name == name }?.mode
        // A provider without a route, or without this share of the contacts, receives no more operations. Operations
        // that wait for another operation may then keep waiting, with a reason. A provider that received a misleading
        // reply may lack data that the reply withheld.
        let isSilent = mode == nil || mode == .shadow || mode == .percentage || deceived.contains(name)
        // A misleading reply may name a wrong account. The vendor then refuses requests, which suspends the provider.
        let isMisled = deceived.contains(name) && accounts.suspended?.code.hasPrefix("engine.") == false
        let mayWait = mode == .paused || isMisled || isSilent && !accounts.waits.isEmpty
        let held = accounts.held.values.reduce(0, +)
        let forApp = waitingForApp(accounts)
        let reasons = (accounts.waits.flatMap(\.reasons) + [accounts.suspended].compactMap { $0 }).map(\.code).joined(
            separator: " "
        )
        expect(
            mayWait || accounts.pending == held + forApp,
            "\(name): \(accounts.pending - held - forApp) operations are still pending: \(reasons)"
        )
        expect(accounts.suspended == nil || isMisled, "\(name): suspended: \(accounts.suspended?.code ?? "")")
        expect(
            held == 0,
            "\(name): operations are held for \(accounts.held.keys.sorted()) after all consents were granted"
        )
    }

    /// Checks that no operation has two outcomes on one route, and that no request carries an operation with a known
    /// verdict.
    ///
    /// A shadowed operation may be delivered later.
    private func checkOutcomes(_ provider: String, _ outcomes: [NumberedOutcome]) {
        var shadowed: Set<String> = []
        for outcome in outcomes where outcome.entry.term == "shadowed" {
            expect(
                shadowed.insert(outcome.entry.id).inserted,
                "\(provider): an operation has two outcomes of a shadow run: \(outcome.entry.id)"
            )
        }
        var ended: [String: Int64] = [:]
        for outcome in outcomes
        where outcome.entry.term != "shadowed" && !replayed.contains(OperationID(rawValue: outcome.entry.id)) {
            let first = ended[outcome.entry.id]
            ended[outcome.entry.id] = first ?? outcome.number
            expect(first == nil, "\(provider): an operation has two outcomes: \(outcome.entry.id)")
        }
        for sent in world.sent where sent.provider == provider && !uncountedRequests.contains(sent.number) {
            for id in sent.operations {
                guard let number = ended[id.rawValue] else { continue }
                expect(
                    number > sent.endedBefore,
                    "request \(sent.number) carries \(id.rawValue.suffix(4)), whose verdict was known"
                )
            }
        }
    }

    /// Checks that the vendor acknowledged a request with each accepted operation.
    private func checkAccepted(_ provider: String, _ history: [HistoryEntry]) {
        guard !deceived.contains(provider) else { return }
        // The process may have died after the commit of a reply.
        let answered = world.sent.filter { sent in
            let settled = world.settled[sent.number]
            return sent.provider == provider
                && (settled.map { $0.outcome.reply != nil } ?? processed.contains(sent.number))
        }
        let acknowledged = Set(answered.flatMap(\.operations).map(\.rawValue))
        for entry in history where entry.term == "accepted" && !acknowledged.contains(entry.id) {
            guard let kind = known[OperationID(rawValue: entry.id)]?.action.kind, kind != .readBack else { continue }
            expect(
                false,
                "\(provider): \(kind) \(entry.id.suffix(4)) is accepted (\(entry.code)), but no reply acknowledged it"
            )
        }
    }

    /// Checks that a denial completes an operation only if the same person denied one of the operation's purposes.
    private func checkRefusals(_ outcomes: [NumberedOutcome]) {
        for outcome in outcomes
        where ["engine.consent.denied", "engine.consent.withdrawn"].contains(outcome.entry.code) {
            let id = OperationID(rawValue: outcome.entry.id)
            guard let operation = known[id] else { continue }
            expect(
                !Self.purposes(of: operation.action).isDisjoint(with: refused[id] ?? []),
                "\(outcome.entry.provider): the denial of another person completed \(outcome.entry.id.suffix(4))"
            )
        }
    }

    /// Checks that every acknowledged operation has an outcome, or is pending.
    private func checkAcknowledged(_ outcomes: [NumberedOutcome]) throws {
        var found = Set(outcomes.map(\.entry.id))
        for provider in try world.store.state.providers() {
            try world.store.queues.forEachRow(provider: provider.name, subject: nil) { found.insert($0.operation.id) }
        }
        for operation in acknowledged where !found.contains(operation.id.rawValue) {
            // A push of another vendor is not tracked if no provider recognizes it.
            let receivers = plan.providers.filter { receivedBy[operation.id]?.contains($0.name) ?? false }
            let isForeign = receivers.allSatisfy { provider in
                provider.adapter.examine(operation).contains { $0.severity == .foreign || $0.severity == .error }
            }
            expect(isForeign, "an operation was lost: \(operation.id.rawValue.suffix(4)) (\(operation.action.kind))")
        }
    }

    private static func topic(of action: Action) -> String? {
        if case .changeSubscription(let subscription) = action { subscription.topic } else { nil }
    }

    /// Checks that within a queue no operation leaves before an earlier one of its kind that needs the same consents.
    private func checkOrder(_ provider: RoutingPlan.Provider, _ outcomes: [NumberedOutcome]) {
        let ended = Dictionary(outcomes.map { ($0.entry.id, $0.number) }) { first, _ in first }
        var carried: [OperationID: VirtualWorld.Sent] = [:]
        for sent in world.sent where sent.provider == provider.name && !uncountedRequests.contains(sent.number) {
            for id in sent.operations where carried[id] == nil { carried[id] = sent }
        }
        var latest: [String: VirtualWorld.Sent] = [:]
        let own = acknowledged.filter { operation in
            guard receivedBy[operation.id]?.contains(provider.name) ?? false else { return false }
            return !provider.adapter.examine(operation).contains { $0.severity == .foreign }
        }
        // The loop runs from the last operation to the first. The first request of any later operation in the queue
        // must not precede this operation's request.
        for operation in own.reversed() {
            let place = provider.adapter.place(operation)
            // An opt-out may overtake operations that wait before it, and opt-outs of other topics by a person who has
            // left.
            let optOut = Self.isOptOut(operation.action) ? Self.topic(of: operation.action) ?? "all" : ""
            let purposes = Self.purposes(of: operation.action).map(\.rawValue).sorted().joined(separator: " ")
            let queue = "\(place.lane)|\(place.queue)|\(operation.action.kind.rawValue)|\(purposes)|\(optOut)"
            let first = carried[operation.id]
            if let later = latest[queue], first.map({ $0.number > later.number }) ?? true {
                let wasPending = ended[operation.id.rawValue].map { $0 > later.endedBefore } ?? true
                expect(
                    !wasPending,
                    "request \(later.number) to \(provider.name) overtook \(operation.id.rawValue.suffix(4)) in \(place.queue)"
                )
            }
            if let first, first.number < latest[queue]?.number ?? .max { latest[queue] = first }
        }
    }

    /// Checks that the vendor's state is the one that an adapter's memory expects.
    ///
    /// The comparison is skipped if an operation is pending, because its delivery may be uncertain; if the vendor sent
    /// a misleading reply; and if another installation may have changed the state.
    private func checkMemory(_ provider: String) throws {
        guard let expectedState = setup.expectedStates[provider], expectedState.isBelieving,
            let vendor = lastVendor[provider],
            setup.subjects == 1 || expectedState.isPerInstallation, !deceived.contains(provider),
            try world.store.operations.pendingCount(provider: provider) == 0
        else { return }
        for (_, text) in try world.memory(of: provider) {
            for place in expectedState.excess(of: try JSONValue(parsing: text), over: vendor.anyState) {
                expect(false, "\(provider): memory claims \(place), but the vendor's state differs")
            }
        }
    }

    /// Returns whether the vendor processed a request without the adapter's knowledge.
    ///
    /// The process of such a request died before the outcome was stored, and the endpoint is not journaled. At least
    /// one of the operations was in no later request to the endpoint that the vendor processed and whose outcome was
    /// stored, because the operation was completed in another way.
    private func isUninformed(_ provider: String) -> Bool {
        let done = world.sent.filter { $0.provider == provider && processed.contains($0.number) }
        let journaled = plan.providers.first { $0.name == provider }?.adapter.journaledEndpoints ?? []
        return done.contains { sent in
            world.settled[sent.number] == nil && !journaled.contains(sent.endpoint)
                && !sent.operations.allSatisfy { id in
                    done.contains { later in
                        later.number > sent.number && later.endpoint == sent.endpoint
                            && later.operations.contains(id) && world.settled[later.number] != nil
                    }
                }
        }
    }

    /// Returns the record of the exchanges between one lane of the engine and one vendor.
    private func story(of api: RoutingPlan.Provider, lane: String, _ phase: Int, _ outcomes: [NumberedOutcome]) throws
        -> SceneStory
    {
        let provider = api.name
        var story = SceneStory()
        for sent in world.sent
        where sent.provider == provider && sent.lane == lane && !uncountedRequests.contains(sent.number) {
            guard phaseOf[sent.number] == phase else { continue }
            let settled = world.settled[sent.number]
            story.requests.append(
                SceneStory.Request(
                    number: sent.number,
                    endpoint: sent.endpoint,
                    request: sent.request,
                    operations: sent.operations,
                    now: sent.now,
                    isProcessed: processed.contains(sent.number),
                    outcome: settled?.outcome,
                    settledAt: settled?.now,
                    isFirstOfProcess: firsts.contains(sent.number)
                )
            )
        }
        let ended = Dictionary(outcomes.map { ($0.entry.id, $0.entry) }) { first, _ in first }
        var pending: Set<String> = []
        try world.store.queues.forEachRow(provider: provider, subject: nil) { pending.insert($0.operation.id) }
        for id in captureOrder {
            guard let operation = known[id], api.adapter.place(operation).lane == lane else { continue }
            if let entry = ended[id.rawValue] {
                story.entries.append(.init(operation: operation, term: entry.term, code: entry.code))
            } else if pending.contains(id.rawValue) {
                story.entries.append(.init(operation: operation, term: nil, code: ""))
            }
        }
        story.wakes = (wakes + world.placings).sorted()
        story.snapshot = acknowledged.first.flatMap { snapshots[$0.subject] } ?? SubjectSnapshot()
        story.isInformed = !isUninformed(provider)
        story.isWhole =
            setup.facts == nil && setup.plans.count == 1 && plan.providers.count == 1 && !deceived.contains(provider)
            && setup.requiredConsent.isEmpty && setup.subjects == 1 && forgotten.isEmpty
        return story
    }
}
