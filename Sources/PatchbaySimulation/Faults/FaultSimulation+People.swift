import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The people who used an installation. The period in which one person uses it is an era, numbered from 0.
///
/// A contact who logs in after an anonymous person is the same person, in the same era.
struct PersonHistory {
    var era = 0
    /// The contact of each era with a known person.
    var contacts: [Int: String] = [:]
    /// The last well-formed push token of the app.
    var token = FaultSimulation.pushTokens[0]
    /// The last consent of each contact to push messages.
    var messaging: [String: Consent.State] = [:]
    /// The contacts whose last decision ended their subscription to push.
    var unsubscribed: Set<String> = []

    /// Records whether the current person refuses push messages.
    mutating func noteRefusal(in snapshot: SubjectSnapshot) {
        // An erasure deletes the refusals of all people of the installation.
        if snapshot == SubjectSnapshot() { (messaging, unsubscribed) = ([:], []) }
        guard let contact = contacts[era] else { return }
        messaging[contact] = snapshot.consent(for: .messaging, channel: .push)
        unsubscribed.remove(contact)
        let push = snapshot.subscriptions.values.first { $0.channel == .push && $0.topic == nil }
        if let push, push.state != .subscribed { unsubscribed.insert(contact) }
    }
}

/// Runs in which people, consents, configurations, credentials and push tokens change.
extension FaultSimulation {
    static let pushTokens = ["0f1e2d3c4b5a6978", "1f1e2d3c4b5a6979", "2f1e2d3c4b5a697a"]
    static let malformedPushToken = "not a token!"

    /// Returns the mark in captured values that identifies their owner: the contact, or the era of an anonymous person.
    static func mark(_ contact: String?, era: Int) -> String {
        "zq" + (contact.map { $0.filter { $0 != "-" } } ?? "a\(era)") + "qz"
    }

    /// Returns the owners in a text's marks, such as `c1` and `a3`.
    static func owners(in text: String) -> [String] {
        // By bytes, for speed: every text of every record is searched after every request.
        let bytes = Array(text.utf8)
        var (owners, start): ([String], Int?) = ([], nil)
        for place in bytes.indices.dropFirst() {
            if bytes[place - 1] == UInt8(ascii: "z"), bytes[place] == UInt8(ascii: "q") { start = place + 1 }
            guard let first = start, bytes[place - 1] == UInt8(ascii: "q"), bytes[place] == UInt8(ascii: "z") else {
                continue
            }
            owners.append(String(decoding: bytes[first..<place - 1], as: UTF8.self))
            start = nil
        }
        return owners
    }

    /// Adds a registration with the new person's ids after a change of person, if an app passes such ids.
    func withIdentities(_ actions: [Action]) -> [Action] {
        guard let facts = setup.facts, facts.scenes.values.contains(where: { !$0.identities(nil).isEmpty }) else {
            return actions
        }
        return actions.flatMap { action in
            action.kind == .switchContact ? [action, .registerDevice(ScenePhone.device(token: ""))] : [action]
        }
    }

    /// Writes the owner into the values of an action, and the person's ids into a registration.
    func personal(_ action: Action, _ contact: String?, _ subject: Subject) -> Action {
        var history = people[subject] ?? PersonHistory()
        defer { people[subject] = history }
        if case .switchContact(let change) = action {
            if (snapshots[subject] ?? SubjectSnapshot()).isAnotherPerson(change) { history.era += 1 }
            history.contacts[history.era] = contact
            return action
        }
        let mark = Self.mark(contact, era: history.era)
        func marked(_ value: AttributeValue, _ separator: String) -> AttributeValue {
            if case .string(let text) = value { .string(text + separator + mark) } else { value }
        }
        switch action {
        case .registerDevice(var device):
            // An empty token stands for the current token of the app.
            if device.pushToken?.value == "" { device.pushToken = PushToken(history.token) }
            if let token = device.pushToken?.value, token != Self.malformedPushToken { history.token = token }
            for scene in setup.facts?.scenes.inOrder.map(\.value) ?? [] {
                device.identities.merge(scene.identities(contact)) { $1 }
            }
            return .registerDevice(device)
        case .changeAttributes(let changes):
            // A third of the attribute changes have the same values for all people, to detect values that are not sent
            // because another person already had them.
            if captureCount.isMultiple(of: 3) { return action }
            return .changeAttributes(
                changes.mapValues { change in
                    if case .set(let value) = change { .set(marked(value, " ")) } else { change }
                }
            )
        case .track(.custom(let name, let attributes)):
            return .track(.custom(name: name + "_" + mark, attributes: attributes.mapValues { marked($0, " ") }))
        case .identify(let identifiers):
            // An identification of a known person repeats that person's identifier, so that the person does not change.
            let known = contact ?? history.contacts[history.era]
            return .identify(
                identifiers.map { identifier in
                    switch identifier.kind {
                    case .external:
                        history.contacts[history.era] = known ?? identifier.value
                        return Identifier(.external, known ?? identifier.value)
                    case .email: return Identifier(.email, mark + identifier.value)
                    default: return identifier
                    }
                }
            )
        case .erase:
            history.era += 1
            return action
        default: return action
        }
    }

    /// Records whether the current person allows a profile.
    func noteProfile(_ subject: Subject, _ contact: String?) {
        guard setup.facts != nil, let snapshot = snapshots[subject] else { return }
        let isRequired = setup.plans.contains { $0.requiredConsent.contains { $0.purpose == .profile } }
        let states = [snapshot.consent(for: .profile), snapshot.consent(for: .profile, channel: .push)]
        guard states.contains(where: { $0 == .denied || isRequired && $0 == .unknown }) else { return }
        let mark = Self.mark(contact ?? snapshot.contact, era: people[subject]?.era ?? 0)
        withoutProfile.insert(String(mark.dropFirst(2).dropLast(2)))
    }

    /// Returns the current credential of the app.
    func givenCredential(_ provider: String, _ contact: String?) -> Secret? {
        switch credentialStates[contact] ?? .valid {
        case .valid, .refused: setup.credentials(provider, contact)
        case .missing: nil
        case .expired:
            setup.facts?.scenes[provider]?.expiredCredential(contact) ?? setup.credentials(provider, contact)
        }
    }

    /// Returns whether a request contains a credential that the vendor refuses.
    func isRefused(_ sent: VirtualWorld.Sent) -> Bool {
        guard setup.facts != nil else { return false }
        return credentialStates.contains { contact, state in
            guard state == .refused, let secret = setup.credentials(sent.provider, contact)?.value else { return false }
            return sent.request.headers.contains { $0.value.contains(secret) }
        }
    }

    func replayRejects(of provider: String) throws {
        noteWake()
        // The rejects are recorded first, because a process that dies during the replay may already have replayed them.
        let rejects = try world.store.rejects.list(provider: provider, limit: 1000)
        replayed.formUnion(rejects.map { OperationID(rawValue: $0.operation.id) })
        try world.replayRejects(of: provider)
        try learnWhatWasCreated()
    }

    // MARK: End of a run

    /// Removes all faults, and provides everything that an operation may wait for: a token, the permission,
    /// credentials, consents.
    func removeFaultsAndProvideEverything() throws {
        note("all faults are removed, and the app provides everything that an operation may wait for")
        cancelStorageFaults()
        (isHealthy, credentialStates) = (true, [:])
        world.host.jump(by: world.host.trueDate - world.host.date())
        try begin()
        guard let facts = setup.facts else { return }
        for subject in 0..<max(1, facts.contacts.count) {
            let consents = [Purpose.profile, .tracking, .messaging].flatMap { purpose in
                [nil, .push, .email].map { Consent(purpose: purpose, channel: $0, state: .granted) }
            }
            let device: [Action] = facts.isApp ? [.registerDevice(ScenePhone.device(token: ""))] : []
            try capture(consents.map(Action.setConsent) + device + setup.closing, subject: subject, isGroup: false)
        }
        try settle()
    }

    /// Delivers all operations that can be delivered.
    func settle() throws {
        for provider in plan.providers { try world.resume(provider.name) }
        noteWake()
        try world.wake()
        try world.drain(atMost: .seconds(90 * 86_400))
        try learnWhatWasCreated()
    }

    /// Runs the last opt-out or the switch to another provider, and checks the invariants.
    func playEpilogue() throws {
        guard let facts = setup.facts else { return }
        for provider in plan.providers where provider.mode == nil { checkNoPersonIsReached(provider.name) }
        switch facts.epilogue {
        case .optOut(let with): try optOut(with, facts)
        case .leave(let number):
            if facts.isApp { try subscribe() }
            let left = plan.providers.filter(\.isRouted).map(\.name)
            note("another process begins with configuration \(number)")
            try learnWhatWasCreated()
            position = number
            try begin()
            try settle()
            for provider in plan.providers where left.contains(provider.name) && provider.mode == nil {
                checkNoPersonIsReached(provider.name)
            }
        }
        // A person whose consent was reset, or who logged in last, may still have to decide.
        let mayHold = [.optOut(.consentTakenBack), .optOut(.anotherPerson)].contains(facts.epilogue)
        for accounts in try world.accounts() { checkWaiting(accounts, mayHold: mayHold) }
    }

    /// Captures an opt-in to push, and checks that every vendor with subscriptions reaches the newest push token.
    private func subscribe() throws {
        note("the app subscribes")
        try capture([.changeSubscription(Subscription(channel: .push, state: .subscribed))], subject: 0, isGroup: false)
        let subscription = acknowledged[acknowledged.count - 1].id
        try settle()
        try checkReach(subscription)
    }

    private func optOut(_ with: ChangingFacts.Epilogue.With, _ facts: ChangingFacts) throws {
        guard facts.isApp else { return try optOutContacts(facts) }
        try subscribe()
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let person = snapshots[Self.subjects[0]]?.contact
        note("the last opt-out, with \(with)")
        func say(_ actions: [Action]) throws { try capture(actions, subject: 0, isGroup: false) }
        switch with {
        case .nothing: try say([optOut])
        case .lostPermission:
            var device = ScenePhone.device(token: "")
            device.allowsPush = false
            try say([.registerDevice(device), optOut])
        case .lostToken:
            var device = ScenePhone.device()
            (device.pushToken, device.allowsPush) = (nil, false)
            try say([.registerDevice(device), optOut])
        case .consentTakenBack:
            try say(
                setup.requiredConsent.sorted { $0.rawValue < $1.rawValue }.map {
                    .setConsent(Consent(purpose: $0, state: .unknown))
                } + [optOut]
            )
        case .denials:
            // A denial of messages ends push even without an opt-out.
            if random.below(2) == 0 { try say([optOut]) }
            for purpose in [Purpose.tracking, .messaging, .profile].shuffled(using: &random) {
                try say([.setConsent(Consent(purpose: purpose, state: .denied))])
                try world.advance(by: .seconds(random.below(3)))
            }
        case .anotherPerson:
            for provider in plan.providers { faultMode[provider.name] = .out }
            isHealthy = false
            try say([optOut])
            try world.advance(by: .seconds(5))
            try say([
                .switchContact(
                    ContactSwitch(.logIn, identifiers: [Identifier(.external, person == "c-1" ? "c-2" : "c-1")])
                )
            ])
            try world.advance(by: .seconds(5))
            isHealthy = true
        case .otherSettings:
            for provider in plan.providers { faultMode[provider.name] = .out }
            isHealthy = false
            try say([optOut])
            try world.advance(by: .seconds(5))
            let routes = plan.providers.map(\.mode)
            position = setup.plans.indices.last { setup.plans[$0].providers.map(\.mode) == routes } ?? position
            try begin()
            isHealthy = true
        }
        try settle()
        for provider in plan.providers where provider.isRouted {
            guard let scene = facts.scenes[provider.name], scene.hasSubscription(.push) else { continue }
            // The vendor may reach the next person. A vendor without a log-out may still reach a former one.
            let isOfOnePerson =
                try with == .anotherPerson || !scene.canLogOut || !tookEveryChangeOfPerson(provider.name)
            checkNoPersonIsSubscribed(provider.name, of: isOfOnePerson ? VendorRecord.Person(person) : nil)
        }
    }

    private func optOutContacts(_ facts: ChangingFacts) throws {
        note("the last opt-outs")
        let channels = [Channel.email, .push].filter { channel in
            plan.providers.allSatisfy { facts.scenes[$0.name]?.hasSubscription(channel) ?? false }
        }
        for subject in facts.contacts.indices {
            let actions = channels.map { Action.changeSubscription(Subscription(channel: $0, state: .unsubscribed)) }
            if !actions.isEmpty { try capture(actions, subject: subject, isGroup: false) }
        }
        try settle()
        guard !channels.isEmpty else { return }
        for provider in plan.providers where provider.isRouted { checkNoPersonIsSubscribed(provider.name, of: nil) }
    }
}
