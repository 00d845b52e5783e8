import PatchbayJSON
import PatchbayModel
import Testing

private func decimal(_ text: String) throws -> AttributeValue { .decimal(try #require(ExactDecimal(text: text))) }

@Suite("Names that look alike") struct LookalikeTests {
    @Test func `names that look alike are different subjects and people`() {
        let (composed, decomposed): (Subject, Subject) = ("Zo\u{EB}", "Zoe\u{308}")
        #expect(composed != decomposed && Set([composed, decomposed, composed]).count == 2)
        var snapshot = SubjectSnapshot()
        snapshot.identifiers = [Identifier(.external, composed.rawValue)]
        let change = { ContactSwitch(.logIn, identifiers: [Identifier(.external, $0)]) }
        #expect(snapshot.isAnotherPerson(change(decomposed.rawValue)))
        #expect(!snapshot.isAnotherPerson(change(composed.rawValue)))
    }
}

@Suite("Changes of attributes") struct AttributeChangeTests {
    @Test func `set replaces and unset removes a value`() {
        #expect(AttributeChange.set("").applied(to: 7) == "")
        #expect(AttributeChange.unset.applied(to: 7) == nil)
    }

    @Test func `increment keeps the number type if possible`() throws {
        let half = AttributeChange.increment(try #require(ExactDecimal(text: "0.50")))
        let one = AttributeChange.increment(ExactDecimal(1))
        #expect(one.applied(to: 41) == 42)
        #expect(one.applied(to: nil) == 1)
        #expect(half.applied(to: nil) == (try decimal("0.50")))
        #expect(half.applied(to: 41) == (try decimal("41.50")))
        #expect(half.applied(to: try decimal("1.5")) == (try decimal("2.00")))
        #expect(one.applied(to: .integer(.max)) == .integer(.max))
        #expect(one.applied(to: "text") == "text")
    }

    @Test func `append adds to a list and remove deletes from it`() {
        #expect(AttributeChange.append(["b"]).applied(to: .list(["a"])) == .list(["a", "b"]))
        #expect(AttributeChange.append(["b"]).applied(to: nil) == .list(["b"]))
        #expect(AttributeChange.append(["b"]).applied(to: "a") == .list(["a", "b"]))
        #expect(AttributeChange.append(["b"]).applied(to: .choices(["a"])) == .list(["a", "b"]))
        #expect(AttributeChange.remove(["a"]).applied(to: .list(["a", "b", "a"])) == .list(["b"]))
    }

    @Test func `removing from a missing value leaves it missing`() {
        #expect(AttributeChange.remove(["a"]).applied(to: nil) == nil)
    }

    @Test func `increment leaves a number unchanged when the sum is not exact`() throws {
        let long = try #require(ExactDecimal(text: String(repeating: "9", count: 400)))
        #expect(AttributeChange.increment(long).applied(to: .decimal(long)) == .decimal(long))
        let tiny = try #require(ExactDecimal(text: "0." + String(repeating: "0", count: 398) + "1"))
        #expect(AttributeChange.increment(tiny).applied(to: 1234) == 1234)
    }
}

@Suite("Tags and consent") struct TagAndConsentTests {
    @Test func `a tag change replaces, then removes, then adds`() {
        let tags: Set<PatchbayModel.Tag> = ["a", "b"]
        #expect(TagChange(add: ["c"], remove: ["a"]).applied(to: tags) == ["b", "c"])
        #expect(TagChange(replace: []).applied(to: tags) == [])
        #expect(TagChange(replace: ["x", "y"], add: ["x"], remove: ["x", "y"]).applied(to: tags) == ["x"])
        #expect(TagChange().applied(to: tags) == tags)
    }

    private static let states = Consent.State.allCases

    @Test func `merging consent does not depend on order, grouping or repetition`() {
        for a in Self.states {
            #expect(Consent.merged(a, a) == a)
            for b in Self.states {
                #expect(Consent.merged(a, b) == Consent.merged(b, a))
                #expect(Consent.merged(a, b) <= a)
                for c in Self.states {
                    let merged = Consent.merged(Consent.merged(a, b), c)
                    #expect(merged == Consent.merged(a, Consent.merged(b, c)))
                    #expect(merged == Consent.merged(c, Consent.merged(b, a)))
                    #expect((merged == .granted) == (a == .granted && b == .granted && c == .granted))
                    #expect((merged == .denied) == [a, b, c].contains(.denied))
                }
            }
        }
    }
}

@Suite("The subject snapshot") struct SnapshotTests {
    private func operation(_ action: Action, contact: String? = "c-1") -> EngagementOperation {
        EngagementOperation(
            id: "o",
            subject: "s",
            contact: contact,
            capturedAt: Instant(milliseconds: 0),
            action: action
        )
    }

    private func snapshot(_ actions: Action...) -> SubjectSnapshot {
        actions.reduce(into: SubjectSnapshot()) { $0.apply(operation($1)) }
    }

    @Test func `keeps the newest value of each kind`() {
        let snapshot = snapshot(
            .identify([Identifier(.email, "old"), Identifier(.external, "c-1")]),
            .identify([Identifier(.email, "new")]),
            .changeAttributes(["a": .set(1), "b": .set("x")]),
            .changeAttributes(["a": .increment(ExactDecimal(2)), "b": .unset]),
            .changeTags(TagChange(add: ["t", "u"])),
            .changeTags(TagChange(remove: ["u"])),
            .changeSubscription(Subscription(channel: .email, state: .subscribed)),
            .changeSubscription(Subscription(channel: .email, state: .unsubscribed)),
            .setConsent(Consent(purpose: .tracking, state: .granted)),
            .setConsent(Consent(purpose: .tracking, channel: .push, state: .denied))
        )
        #expect(snapshot.identifiers == [Identifier(.email, "new"), Identifier(.external, "c-1")])
        #expect(snapshot.attributes == ["a": 3])
        #expect(snapshot.tags == ["t"])
        #expect(snapshot.subscriptions.values.map(\.state) == [.unsubscribed])
        #expect(snapshot.consent(for: .tracking) == .granted)
        #expect(snapshot.consent(for: .tracking, channel: .push) == .denied)
        #expect(snapshot.consent(for: .tracking, channel: .sms) == .granted)
        #expect(snapshot.consent(for: .messaging) == .unknown)
    }

    @Test func `an erasure clears the whole snapshot`() {
        #expect(snapshot(.changeAttributes(["a": .set(1)]), .erase) == SubjectSnapshot())
    }

    @Test func `a query does not change the snapshot`() {
        var snapshot = snapshot(.changeAttributes(["a": .set(1)]))
        let before = snapshot
        snapshot.apply(operation(.readBack(ReadRequest("profile")), contact: "c-2"))
        #expect(snapshot == before)
    }

    @Test func `does not replay a former person's identities for the next person`() {
        func device(in snapshot: SubjectSnapshot) -> Device? {
            for case .registerDevice(let device) in snapshot.replay { return device }
            return nil
        }
        let given = Device(allowsPush: true, identities: ["vendor.user": "u-1"])
        func logIn(_ name: String) -> Action {
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, name)]))
        }
        var snapshot = SubjectSnapshot()
        snapshot.apply(operation(.registerDevice(given), contact: nil))
        snapshot.apply(operation(logIn("aino"), contact: "aino"))
        #expect(device(in: snapshot)?.identities == given.identities)
        snapshot.apply(operation(.registerDevice(given), contact: "aino"))
        #expect(device(in: snapshot)?.identities == given.identities)
        for next in ["bert", nil] {
            var later = snapshot
            later.apply(operation(next.map(logIn) ?? .switchContact(ContactSwitch(.logOut)), contact: next))
            #expect(device(in: later)?.identities == [:] && device(in: later)?.allowsPush == true)
            #expect(later.device == given)
            later.apply(operation(.registerDevice(given), contact: next))
            #expect(device(in: later)?.identities == given.identities)
        }
    }

    @Test func `replaying a snapshot reproduces its state`() {
        let snapshot = snapshot(
            .setConsent(Consent(purpose: .tracking, state: .granted)),
            .registerDevice(Device(allowsPush: false)),
            .identify([Identifier(.external, "c-1"), Identifier(.email, "e")]),
            .changeAttributes(["a": .set(1), "b": .set(.list(["x"]))]),
            .changeTags(TagChange(add: ["t"])),
            .changeSubscription(Subscription(channel: .sms, topic: "z", state: .suspended)),
            .changeSubscription(Subscription(channel: .email, state: .subscribed))
        )
        var copy = SubjectSnapshot()
        for action in snapshot.replay { copy.apply(operation(action)) }
        #expect(copy == snapshot)
        #expect(
            snapshot.replay.map(\.kind) == [
                .setConsent, .registerDevice, .identify, .changeAttributes, .changeTags, .changeSubscription,
                .changeSubscription,
            ]
        )
    }

    @Test func `a log-in of another person replaces the identifiers`() {
        let snapshot = snapshot(
            .identify([Identifier(.external, "c-1"), Identifier(.email, "e")]),
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-2")]))
        )
        #expect(snapshot.identifiers == [Identifier(.external, "c-2")])
        #expect(snapshot.contactSwitch?.direction == .logIn)
    }

    @Test func `does not carry the state of one person over to the next`() {
        let actions: [Action] = [
            .registerDevice(Device(allowsPush: true)), .identify([Identifier(.external, "anna")]),
            .changeAttributes(["tier": .set("gold")]), .changeTags(TagChange(add: ["sports"])),
            .changeSubscription(Subscription(channel: .push, state: .subscribed)),
            .setConsent(Consent(purpose: .tracking, state: .granted)),
        ]
        for change in [
            ContactSwitch(.logIn, identifiers: [Identifier(.external, "bo")]), ContactSwitch(.logOut),
        ] {
            var snapshot = SubjectSnapshot()
            for action in actions + [.switchContact(change)] { snapshot.apply(operation(action)) }
            #expect(snapshot.attributes.isEmpty && snapshot.tags.isEmpty && snapshot.subscriptions.isEmpty)
            #expect(snapshot.consent(for: .tracking) == .unknown)
            #expect(snapshot.device?.allowsPush == true)
        }
    }

    @Test func `restores a person's denials when the person returns`() {
        func logIn(_ name: String) -> Action {
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, name)]))
        }
        let push = Subscription(channel: .push, state: .unsubscribed).key
        var snapshot = SubjectSnapshot()
        for action in [
            logIn("anna"), .setConsent(Consent(purpose: .tracking, state: .denied)),
            .setConsent(Consent(purpose: .profile, state: .granted)),
            .changeSubscription(Subscription(channel: .push, state: .unsubscribed)),
        ] { snapshot.apply(operation(action, contact: "anna")) }
        snapshot.apply(operation(logIn("bo"), contact: "bo"))
        #expect(snapshot.consents.isEmpty && snapshot.subscriptions.isEmpty)
        snapshot.apply(operation(.switchContact(ContactSwitch(.logOut)), contact: nil))
        // An anonymous person grants it in between. That is not anna's decision.
        snapshot.apply(operation(.setConsent(Consent(purpose: .tracking, state: .granted)), contact: nil))
        snapshot.apply(operation(logIn("anna"), contact: "anna"))
        #expect(snapshot.consent(for: .tracking) == .denied && snapshot.consent(for: .profile) == .unknown)
        #expect(snapshot.subscriptions[push]?.state == .unsubscribed)
        snapshot.apply(operation(.setConsent(Consent(purpose: .tracking, state: .granted)), contact: "anna"))
        #expect(snapshot.consent(for: .tracking) == .granted)
    }

    @Test func `keeps an anonymous person's denials for the person who logs in`() {
        var snapshot = SubjectSnapshot()
        for action in [
            .identify([Identifier(.email, "visitor@shop.example")]), .changeTags(TagChange(add: ["guest"])),
            .setConsent(Consent(purpose: .messaging, state: .denied)),
            .setConsent(Consent(purpose: .tracking, state: .granted)),
            .changeSubscription(Subscription(channel: .push, state: .unsubscribed)),
        ] as [Action] { snapshot.apply(operation(action, contact: nil)) }
        let logIn = ContactSwitch(.logIn, identifiers: [Identifier(.external, "anna")])
        snapshot.apply(operation(.switchContact(logIn), contact: "anna"))
        #expect(snapshot.consent(for: .messaging) == .denied && snapshot.push.isEnded)
        #expect(snapshot.consent(for: .tracking) == .unknown && snapshot.tags.isEmpty)
    }

    @Test func `keeps the state at a log-in after an anonymous phase and at a log-in of the same person`() {
        let anonymous = snapshot(
            .changeAttributes(["tier": .set("gold")]),
            .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "anna")])),
            .switchContact(
                ContactSwitch(
                    .logIn,
                    identifiers: [Identifier(.external, "anna"), Identifier(.email, "a@example.org")]
                )
            )
        )
        #expect(anonymous.attributes == ["tier": "gold"])
    }
}
