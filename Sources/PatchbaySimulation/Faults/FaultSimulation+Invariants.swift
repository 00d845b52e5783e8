import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The invariants of runs in which people, consents, configurations, credentials and push tokens change.
extension FaultSimulation {
    private func records(of provider: String) -> [VendorRecord] {
        guard let scene = setup.facts?.scenes[provider], let vendor = setup.vendors[provider] else { return [] }
        return scene.records(vendor.anyState)
    }

    /// Returns the destinations to which the vendor may send messages because of these records.
    private static func reached(by records: [VendorRecord]) -> Set<String> {
        records.reduce(into: []) { $0.formUnion($1.reaches) }
    }

    /// Lets a vendor process a request, and checks the vendor's state afterwards.
    func respond(_ vendor: SimulatedVendor, to sent: VirtualWorld.Sent) -> WireResponse {
        guard let facts = setup.facts, let scene = facts.scenes[sent.provider] else {
            return vendor.respond(to: sent.request, now: sent.now)
        }
        let before = vendor.anyState
        let reachedBefore = Dictionary(grouping: scene.records(before), by: \.person)
            .mapValues(Self.reached)
        let allReachedBefore = Self.reached(by: scene.records(before))
        var request = sent.request
        if facts.mutation == .valuesOfAnother { request = request.withValuesOfAnother }
        if facts.mutation == .countedTwice { request = request.withListsTwice }
        let response = vendor.respond(to: request, now: sent.now)
        let kinds = Set(sent.operations.compactMap { known[$0]?.action.kind })
        switch facts.mutation {
        case .confirmedNotStored where kinds.contains(.changeAttributes) || kinds.contains(.track):
            vendor.restore(before)
        case .optOutIgnored, .unregisterIgnored:
            let isMeant = kinds.contains(facts.mutation == .optOutIgnored ? .changeSubscription : .unregister)
            let now = Self.reached(by: scene.records(vendor.anyState))
            if isMeant, !now.isSuperset(of: allReachedBefore) { vendor.restore(before) }
        case .newTokenIgnored:
            let now = Self.reached(by: scene.records(vendor.anyState))
            let isNew = !now.subtracting(allReachedBefore).isDisjoint(with: Self.pushTokens)
            if isNew, !allReachedBefore.isDisjoint(with: Self.pushTokens) { vendor.restore(before) }
        case .optOutForgotten:
            let now = Self.reached(by: scene.records(vendor.anyState))
            if let former = formerStates.removeValue(forKey: sent.provider) {
                vendor.restore(former)
            } else if !now.isSuperset(of: allReachedBefore) {
                formerStates[sent.provider] = before
            }
        default: break
        }
        checkRecords(scene.records(vendor.anyState), reachedBefore, sent, scene)
        return response
    }

    /// Checks that no record holds another person's values, and that the request did not make the vendor reach a person
    /// who refuses messages.
    private func checkRecords(
        _ records: [VendorRecord],
        _ reachedBefore: [VendorRecord.Person: Set<String>],
        _ sent: VirtualWorld.Sent,
        _ scene: ChangingScene
    ) {
        for record in records {
            for text in record.texts + (record.attributes.map { Array($0.values) } ?? []) {
                for owner in Self.owners(in: text) where !mayHold(record.person, owner, scene) {
                    guard leaks.insert("\(sent.provider) \(owner) \(record.person)").inserted else { continue }
                    expect(
                        false,
                        "\(sent.provider): a value captured for \(owner) is in the record of \(record.person) (request \(sent.number), \(sent.endpoint))"
                    )
                }
            }
        }
        guard setup.facts?.isApp ?? false, let snapshot = snapshots[Self.subjects[0]] else { return }
        let required = setup.plans[position].requiredConsent
        let mustAnswer = required.contains { $0.covers(Consent.Scope(.messaging, channel: .push)) }
        for record in records {
            guard case .contact(let name) = record.person,
                people.values.contains(where: { history in
                    let state = history.messaging[name]
                    return state == .denied || mustAnswer && state == .unknown
                        || scene.hasSubscription(.push) && history.unsubscribed.contains(name)
                })
            else { continue }
            expect(
                record.reaches.isSubset(of: reachedBefore[record.person] ?? []),
                "\(sent.provider): request \(sent.number) (\(sent.endpoint)) lets messages reach \(name), who refuses push or has not allowed it"
            )
        }
        let reachedBefore = reachedBefore.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        let reached = Self.reached(by: records)
        let denies = [Purpose.profile, .messaging].allSatisfy { snapshot.consent(for: $0, channel: .push) == .denied }
        expect(
            !denies || reached.isSubset(of: reachedBefore),
            "\(sent.provider): request \(sent.number) (\(sent.endpoint)) registers or subscribes although the person denies profile and messaging"
        )
        let isUnanswered = [Purpose.profile, .messaging].allSatisfy { purpose in
            required.contains { $0.covers(Consent.Scope(purpose, channel: .push)) }
                && snapshot.consent(for: purpose, channel: .push) == .unknown
        }
        expect(
            !isUnanswered || reached.isSubset(of: reachedBefore),
            "\(sent.provider): request \(sent.number) (\(sent.endpoint)) registers or subscribes although no decision about profile and messaging exists"
        )
    }

    /// Returns whether a value of an owner may be in a person's record.
    private func mayHold(_ person: VendorRecord.Person, _ owner: String, _ scene: ChangingScene) -> Bool {
        let contact = owner.hasPrefix("a") ? contactOfEra(Int(owner.dropFirst()) ?? 0) : nil
        switch person {
        case .installation: return true
        // A person who denies a profile stays anonymous at the vendor.
        case .anonymous: return owner.hasPrefix("a") || withoutProfile.contains(owner)
        case .contact(let name):
            if owner.hasPrefix("a") { return contact == name || !scene.canLogOut }
            return name.filter { $0 != "-" } == owner
        }
    }

    private func contactOfEra(_ era: Int) -> String? { people.values.first?.contacts[era] }

    /// Checks that each waiting lane has a reason, and that each reason names a remedy.
    func checkLanes(of provider: String) throws {
        let waits = try world.waitsByLane(of: provider)
        for (_, wait) in waits.inOrder {
            expect(!wait.remedy.isEmpty, "\(provider): the finding \(wait.code) of a wait has no remedy")
        }
        var lanes: Set<String> = []
        try world.store.queues.forEachRow(provider: provider, subject: nil) { row in
            if row.hold == nil { lanes.insert(row.lane) }
        }
        for lane in lanes.sorted() where waits[lane] == nil {
            expect(
                try !world.store.closedQueues.list(provider: provider, lane: lane).isEmpty,
                "\(provider): a lane waits without a reason"
            )
        }
    }

    // MARK: End of a run

    func checkBalance(_ accounts: ProviderAccounts) {
        expect(
            accounts.balances,
            "\(accounts.provider): the accounts do not balance: \(accounts.incoming) received, \(accounts.ended) completed, \(accounts.pending) pending"
        )
    }

    /// Checks that no operation still waits, after the run has provided everything that an operation can wait for.
    func checkWaiting(_ accounts: ProviderAccounts, mayHold: Bool = false) {
        let name = accounts.provider
        checkBalance(accounts)
        let reasons = (accounts.waits.flatMap(\.reasons) + [accounts.suspended].compactMap { $0 }).map(\.code)
        let held = mayHold ? accounts.held.values.reduce(0, +) : 0
        let waiting = accounts.pending - held - waitingForApp(accounts)
        expect(
            waiting == 0,
            "\(name): \(waiting) operations wait although everything was provided: \(Set(reasons + accounts.held.keys).sorted().joined(separator: " "))"
        )
    }

    /// Returns the number of operations that wait only for an operation of the app, such as a log-in.
    ///
    /// The number is 0 for a provider without a route, because it receives no more operations. In a run with changing
    /// facts it is also 0 for a device API if a contact is logged in on every installation.
    func waitingForApp(_ accounts: ProviderAccounts) -> Int {
        let codes = setup.waitsForApp[accounts.provider] ?? []
        guard let provider = plan.providers.first(where: { $0.name == accounts.provider && $0.isRouted }) else {
            return 0
        }
        let isDevice = type(of: provider.adapter).descriptor.side == .device
        // Without changing facts, a log-in may wait permanently for a consent.
        guard setup.facts == nil || !isDevice || snapshots.values.contains(where: { $0.contact == nil }) else {
            return 0
        }
        return accounts.waits.filter { wait in wait.reasons.allSatisfy { codes.contains($0.code) } }
            .reduce(0) { $0 + $1.operations }
    }

    func checkNoPersonIsReached(_ provider: String) {
        guard setup.facts?.isApp ?? false, setup.facts?.scenes[provider]?.canLeave ?? false else { return }
        let people = records(of: provider).filter { !$0.reaches.isEmpty }.map { "\($0.person)" }.sorted()
        expect(people.isEmpty, "\(provider) was left and still reaches \(people.joined(separator: ", "))")
    }

    func checkNoPersonIsSubscribed(_ provider: String, of person: VendorRecord.Person?) {
        let people = records(of: provider).filter { !$0.reaches.isEmpty && (person == nil || $0.person == person) }
            .map { "\($0.person)" }.sorted()
        expect(people.isEmpty, "\(provider): after the last opt-out \(people.joined(separator: ", ")) is subscribed")
    }

    /// Returns the outcome of each operation at a provider.
    private static func terms(_ outcomes: [NumberedOutcome], of provider: String) -> [OperationID: String] {
        var terms: [OperationID: String] = [:]
        for outcome in outcomes.sorted(by: { $0.number < $1.number }) where outcome.entry.provider == provider {
            guard !["moved", "shadowed"].contains(outcome.entry.term) else { continue }
            terms[OperationID(rawValue: outcome.entry.id)] = outcome.entry.term
        }
        return terms
    }

    /// Returns whether a vendor accepted every change of person. If it refused one, the change is kept for replay, and
    /// the vendor still has the former person.
    func tookEveryChangeOfPerson(_ provider: String) throws -> Bool {
        let terms = Self.terms(try world.store.history.outcomes(after: 0, limit: .max), of: provider)
        return known.allSatisfy { id, operation in
            operation.action.kind != .switchContact || terms[id] == nil || isTaken(terms[id])
        }
    }

    /// Checks that after a settled opt-in each vendor reaches the current person through the newest push token, and no
    /// other person.
    func checkReach(_ subscription: OperationID) throws {
        guard let facts = setup.facts, let history = people[Self.subjects[0]] else { return }
        let snapshot = snapshots[Self.subjects[0]] ?? SubjectSnapshot()
        let present = Set(snapshot.identifiers.map(\.value) + [snapshot.contact].compactMap(\.self))
        for provider in plan.providers where provider.mode == .live {
            guard let scene = facts.scenes[provider.name], scene.hasSubscription(.push) else { continue }
            let terms = Self.terms(try world.store.history.outcomes(after: 0, limit: .max), of: provider.name)
            let reaching = records(of: provider.name).filter { !$0.reaches.isEmpty }
            let usesTokens = reaching.contains { !$0.reaches.isDisjoint(with: Self.pushTokens) }
            expect(
                !isTaken(terms[subscription]) || reaching.isEmpty || !usesTokens
                    || reaching.contains { $0.reaches.contains(history.token) },
                "\(provider.name): the newest push token is not reached after an opt-in"
            )
            guard scene.canLogOut, try tookEveryChangeOfPerson(provider.name) else { continue }
            for record in reaching {
                guard case .contact(let other) = record.person, !present.contains(other) else { continue }
                expect(false, "\(provider.name): \(other) has left the installation, but is still reached on it")
            }
        }
    }

    /// Checks that each vendor's state contains all accepted values, or the later values that replaced them.
    func checkHoldings(_ outcomes: [NumberedOutcome]) throws {
        for provider in plan.providers {
            guard let scene = setup.facts?.scenes[provider.name], let vendor = setup.vendors[provider.name] else {
                continue
            }
            let terms = Self.terms(outcomes, of: provider.name)
            let records = scene.records(vendor.anyState)
            if forgotten.isEmpty {
                checkAttributes(provider.name, terms, records)
                checkEvents(provider.name, terms, records)
                checkCounts(provider.name, terms, scene.interactionCounts(vendor.anyState))
            }
            checkIntervals(provider.name, scene)
        }
    }

    private func isTaken(_ term: String?) -> Bool { ["accepted", "unchanged", "superseded"].contains(term ?? "") }

    private func checkAttributes(_ provider: String, _ terms: [OperationID: String], _ records: [VendorRecord]) {
        struct Key: Hashable { let contact: String, name: AttributeName }
        var last: [Key: (value: AttributeValue?, isComparable: Bool)] = [:]
        for id in captureOrder {
            guard let operation = known[id], let term = terms[id],
                case .changeAttributes(let changes) = operation.action,
                let contact = operation.contact
            else { continue }
            let isComparable = isTaken(term) && !replayed.contains(id)
            for (name, change) in changes {
                let key = Key(contact: contact, name: name)
                var isComparable = isComparable && last[key]?.isComparable ?? true
                // The simulation detects an operation of the engine only after its creation. Later captures may already
                // be in the order before it.
                if isCreated(id), let before = last[key], change != before.value.map(AttributeChange.set) ?? .unset {
                    isComparable = false
                }
                switch change {
                case .set(let value): last[key] = (value, isComparable)
                case .unset: last[key] = (nil, isComparable)
                default: last[key] = (nil, false)
                }
            }
        }
        for (key, entry) in last.sorted(by: { ($0.key.contact, $0.key.name) < ($1.key.contact, $1.key.name) }) {
            guard entry.isComparable, let value = entry.value?.plainText else { continue }
            // A person who denies a profile stays anonymous at the vendor.
            let isAnonymous = withoutProfile.contains(key.contact.filter { $0 != "-" })
            let own = records.filter { record in
                guard let attributes = record.attributes else { return false }
                // An anonymous record under which the person has logged in names the person.
                let isJoined = isAnonymous || attributes.values.contains(key.contact)
                return record.person == .contact(key.contact) || isJoined && record.person == .anonymous
            }
            // The record of an installation holds the values of the person who currently uses it.
            if own.isEmpty || own.contains(where: \.isOfInstallation) { continue }
            let names = [key.name, AttributeName(rawValue: key.name.rawValue.lowercased())]
            expect(
                own.contains { record in names.contains { record.attributes?[$0] == value } },
                "\(provider): the vendor does not hold the accepted \(key.name.rawValue) of \(key.contact)"
            )
        }
    }

    private func checkEvents(_ provider: String, _ terms: [OperationID: String], _ records: [VendorRecord]) {
        let texts = records.flatMap(\.texts)
        guard texts.contains(where: { $0.contains("opened_") || $0.contains("Lesson") }) else { return }
        for id in captureOrder where terms[id] == "accepted" {
            guard case .track(.custom(let name, _)) = known[id]?.action else { continue }
            expect(
                texts.contains { $0.contains(name) },
                "\(provider): the vendor does not hold the event \(name), which was accepted"
            )
        }
    }

    private func checkCounts(_ provider: String, _ terms: [OperationID: String], _ counts: [String: Int]?) {
        guard let counts else { return }
        // The vendor may count a view or click later although it refused the event that reported it.
        let sent = Set(world.sent.filter { $0.provider == provider }.flatMap(\.operations))
        var taken: [String: Int] = [:]
        var refused: [String: Int] = [:]
        for (id, operation) in known {
            // A denial does not cancel a request that is in flight.
            guard terms[id] == "accepted" || ["rejected", "dropped"].contains(terms[id] ?? "") && sent.contains(id)
            else {
                continue
            }
            let name: String
            switch operation.action {
            case .track(.messageViewed(let message)): name = "view \(message)"
            case .track(.messageClicked(let message, _)): name = "click \(message)"
            default: continue
            }
            if terms[id] == "accepted" { taken[name, default: 0] += 1 } else { refused[name, default: 0] += 1 }
        }
        let isCertain =
            !uncertain.contains(provider)
            && processed.allSatisfy { world.sent[$0 - 1].provider != provider || world.settled[$0] != nil }
        for name in Set(taken.keys).union(counts.keys).sorted() {
            let (said, held) = (taken[name] ?? 0, counts[name] ?? 0)
            expect(
                held >= said && (!isCertain || held <= said + refused[name, default: 0]),
                "\(provider): the vendor counts \(held) of \(name), and \(said) were accepted"
            )
        }
    }

    // MARK: Intervals

    /// Records an attempt during an outage.
    func noteAttempt(_ sent: VirtualWorld.Sent, _ faultMode: FaultMode) {
        guard setup.facts != nil else { return }
        let isOutage = faultMode == .out || faultMode == .busy
        if isOutage {
            if lastFaultMode[sent.provider] != faultMode { outages[sent.provider, default: []].append([]) }
            let place = outages[sent.provider, default: [[]]].count - 1
            outages[sent.provider]?[place].append(sent.number)
        }
        lastFaultMode[sent.provider] = faultMode
    }

    /// Checks that during an outage no interval between attempts is shorter than the one before.
    private func checkIntervals(_ provider: String, _ scene: ChangingScene) {
        for outage in outages[provider] ?? [] {
            let attempts = Dictionary(
                grouping: outage.map { world.sent[$0 - 1] }.filter { !uncountedRequests.contains($0.number) }
            ) {
                "\($0.lane) \($0.endpoint)"
            }
            for (_, attempts) in attempts.inOrder where attempts.count > 2 {
                for place in 2..<attempts.count {
                    let (first, second, third) = (attempts[place - 2], attempts[place - 1], attempts[place])
                    // Lanes take turns during an outage, so only directly consecutive attempts are compared.
                    guard let start = outage.firstIndex(of: first.number), start + 2 < outage.count,
                        outage[start + 2] == third.number, !Set(first.operations).isDisjoint(with: second.operations),
                        !Set(second.operations).isDisjoint(with: third.operations),
                        let firstEnd = world.settled[first.number]?.now,
                        let secondEnd = world.settled[second.number]?.now
                    else { continue }
                    let (before, after) = (second.now - firstEnd, third.now - secondEnd)
                    if scene.retriesWhenWoken, isWoken(from: secondEnd, to: third.now) { continue }
                    // Jitter changes an interval by up to a fifth.
                    expect(
                        after >= before * 0.6,
                        "\(provider): \(third.endpoint) was attempted after \(before), then after \(after), without a success in between"
                    )
                }
            }
        }
    }

    private func isWoken(from start: Instant, to end: Instant) -> Bool {
        wakes.contains { $0 >= start + .seconds(-2) && $0 <= end }
    }
}

extension WireRequest {
    /// The request with every list of views and clicks repeated.
    fileprivate var withListsTwice: WireRequest {
        guard var object = json?.object else { return self }
        for name in ["viewedMessages", "clicks"] {
            if let rows = object[name]?.array, !rows.isEmpty { object[name] = .array(rows + rows) }
        }
        var request = self
        request.body = Array(JSONValue.object(object).text.utf8)
        return request
    }

    /// The request with the marks of one contact replaced by those of another.
    fileprivate var withValuesOfAnother: WireRequest {
        var request = self
        let text = String(decoding: body, as: UTF8.self)
        request.body = Array(text.replacing("zqc1qz", with: "zqc2qz").replacing("zqk1qz", with: "zqk2qz").utf8)
        return request
    }
}
