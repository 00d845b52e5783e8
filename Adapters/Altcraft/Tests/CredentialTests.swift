import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

@Suite("Altcraft credentials") struct CredentialTests {
    private static let action = Action.changeAttributes(["visits": .set(1)])

    @Test(.shows("altcraft/A2", "altcraft/A7"))
    func `reads the claim as text or object and passes its matching mode unchanged`() throws {
        let claims = [
            Token.make(#"{"db_id":"12","matching":"email_phone_sub","email":"a@b.example"}"#),
            Token.signed(#"{"matching":{"db_id":12,"matching":"email_phone_sub","field_value":7}}"#),
        ]
        for claim in claims {
            var fixture = try PlanFixture()
            fixture.credential = claim
            #expect(fixture.request(RequestTests.subscribe)?.url.contains("matching_mode=email_phone_sub") == true)
        }
    }

    @Test(
        .shows("altcraft/A3", "altcraft/A4", "altcraft/A5", "altcraft/A6", "altcraft/A9"),
        arguments: [
            (nil, "altcraft.credential.missing", ""),
            (Secret(""), "altcraft.credential.missing", ""),
            (Secret("no token"), "altcraft.credential.unreadable", "not a JSON Web Token"),
            (Secret("a.b!.c"), "altcraft.credential.unreadable", "not a JSON Web Token"),
            (Secret(Token.aino.value + "\r\nX-Extra: 1"), "altcraft.credential.unreadable", "not a JSON Web Token"),
            (Token.signed(#"{"sub":"x"}"#), "altcraft.credential.unreadable", "the claim is missing"),
            (Token.make("[]"), "altcraft.credential.unreadable", "the claim is not an object"),
            (Token.make(#"{"email":"a@b.example"}"#), "altcraft.credential.incomplete", "db_id, matching"),
            (Token.make(#"{"db_id":1,"matching":"","email":"a@b"}"#), "altcraft.credential.incomplete", "matching"),
            (Token.make(#"{"db_id":1,"matching":"email"}"#), "altcraft.credential.noIdentifier", ""),
            (
                Token.make(
                    #"{"db_id":1,"matching":"email","email":""# + String(repeating: "a", count: 16_384) + #""}"#
                ),
                "altcraft.credential.tooLarge", ""
            ),
        ] as [(Secret?, String, String)]
    )
    func `waits if the credential cannot be used`(_ token: Secret?, _ code: String, _ detail: String)
        throws
    {
        var fixture = try PlanFixture()
        fixture.credential = token
        guard case .wait(nil, let because) = fixture.plan(fixture.pending(Self.action)) else {
            Issue.record("It does not wait.")
            return
        }
        #expect(because.code == code)
        #expect(detail.isEmpty || because.reason.contains(detail))
        #expect(!because.remedy.isEmpty)
    }

    @Test func `reports an unreadable token in the configuration, unless a role token is used`() throws {
        #expect(try PlanFixture().adapter.examine(Secret("junk"))?.code == "altcraft.credential.unreadable")
        #expect(try PlanFixture().adapter.examine(Token.aino) == nil)
        #expect(try PlanFixture(["rToken": "role-1"]).adapter.examine(Secret("junk")) == nil)
    }

    @Test(.shows("altcraft/A1", "altcraft/A8", "altcraft/Q3"))
    func `prefers a role token to the contact's token`() throws {
        let fixture = try PlanFixture(["rToken": "role-1"])
        let request = try #require(fixture.request(RequestTests.subscribe))
        #expect(request[header: "Authorization"] == "Bearer rtoken@role-1")
        #expect(request.url.contains("matching_mode=push_sub&"))
        let ios = try PlanFixture(["rToken": "role-1", "rTokenMatching": "token"]).request(RequestTests.subscribe)
        #expect(ios?.url.contains("matching_mode=role-1&") == true)
        var changed = try PlanFixture(["rToken": "role-1"])
        changed.memory.hold(nil, of: nil, at: PushAddress(provider: "ios-apns", token: "old"))
        #expect(changed.request(.registerDevice(Corpus.phone))?.url.hasSuffix("subscription_id=old&sync=true") == true)
    }

    @Test(.shows("altcraft/A10"))
    func `rejects a role token that a header cannot contain`() throws {
        for token in ["  ", "role 1", "role\r\nX-Extra: 1", "rôle", "role\u{0}"] {
            let error = #expect(throws: SettingsError.self) { try PlanFixture(["rToken": .string(token)]) }
            #expect(error?.findings.map(\.path) == ["settings.rToken"])
            #expect(error?.description.contains("role") == false)
        }
        let fragment = #expect(throws: SettingsError.self) {
            try PlanFixture(["apiUrl": "https://push.altcraft.example/#a"])
        }
        #expect(fragment?.findings.map(\.path) == ["settings.apiUrl"])
    }

    @Test(.shows("altcraft/Q11"))
    func `sends attributes with the push token if a role token is used`() throws {
        let role: JSONObject = ["rToken": "role-1"]
        let driver = try Driver(settings: role, account: ["rToken": "role-1", "rTokenDatabase": 5])
        driver.deliver(Driver.operation(RequestTests.subscribe, "s"))
        #expect(driver.deliver(Driver.operation(Self.action, "a"))?.isAccepted == true)
        #expect(driver.endpoints == [.subscribe, .subscribe])
        #expect(driver.state.profiles(in: 5).map(\.fields) == [["visits": 1]])
        let named = try PlanFixture(["rToken": "role-1", "profileUpdates": "profileUpdate"])
        #expect(named.request(Self.action)?.url.hasSuffix("/profile/update") == true)
        #expect(named.examine(Self.action).map(\.code) == ["altcraft.profile.whose"])
        #expect(try PlanFixture(role).examine(Self.action).isEmpty)
        #expect(try PlanFixture().examine(Self.action).isEmpty)
    }

    @Test(.shows("altcraft/M12"))
    func `requires an event with a role token to name the profile of its fields`() throws {
        let event = Action.track(.custom(name: "Ordered"))
        let fields: JSONObject = ["profileFields": ["tier": "gold"]]
        let fixture = try PlanFixture(["rToken": "role-1"])
        #expect(fixture.examine(event, options: fields).map(\.path) == ["options.altcraft.profileFields"])
        #expect(fixture.examine(event).isEmpty)
        var whole = fields
        whole["matching"] = "push_sub"
        whole["matchingIDs"] = ["provider": "ios-apns", "subscription_id": .string(Fixture.token)]
        #expect(fixture.examine(event, options: whole).isEmpty)
        let driver = try Driver(settings: ["rToken": "role-1"], account: ["rToken": "role-1"])
        driver.deliver(Driver.operation(RequestTests.subscribe, "s"))
        #expect(driver.deliver(Driver.operation(event, "a", options: fields))?.isRejected == true)
        #expect(driver.deliver(Driver.operation(event, "b", options: whole))?.isAccepted == true)
        #expect(driver.state.profiles.map(\.fields) == [["tier": "gold"]])
    }

    @Test(.shows("altcraft/T10"), arguments: ["role-2", nil])
    func `discards operations and state of the old role token after a change`(_ token: String?) throws {
        var fixture = try PlanFixture(["rToken": token.map(JSONValue.string) ?? .null])
        fixture.memory.signature = .init(
            mark: AltcraftMemory.Signature.mark(of: try PlanFixture(["rToken": "role-1"]).adapter.settings),
            since: .beforeAll
        )
        fixture.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        fixture.show("subscribed")
        let hour = Corpus.start + .seconds(-3600)
        let old = [RequestTests.subscribe, Self.action, .track(.custom(name: "Ordered"))].enumerated().map {
            fixture.pending($1, id: "old-\($0)", since: hour)
        }
        let push = Action.track(.push(.opened, payload: Fixture.payload))
        let opened = fixture.pending(push, id: "push", since: hour)
        let fresh = fixture.pending(RequestTests.subscribe, id: "fresh")
        let window = PendingOperations(old + [opened, fresh])
        let moment = Moment(now: Corpus.start, date: Corpus.start)
        guard case .settle(let verdicts, let next?) = fixture.adapter.plan(window, memory: fixture.memory, at: moment)
        else {
            Issue.record("Nothing ends.")
            return
        }
        #expect(verdicts.count == 3)
        #expect(verdicts.values.allSatisfy { $0.isRejected && $0.finding?.code == "altcraft.roleToken.changed" })
        #expect(next.saved == nil)
        #expect(next.shownSubscription == nil)
        #expect(next.device == Corpus.phone)
        fixture.memory = next
        #expect(fixture.plan(fresh).request != nil)
        #expect(fixture.plan(opened).request != nil)
        // An operation outside the window is as old as the others.
        #expect(fixture.plan(old[0]).settled?.finding?.code == "altcraft.roleToken.changed")
    }

    @Test func `keeps waiting operations when the first role token is set`() throws {
        let hour = Corpus.start + .seconds(-3600)
        var fixture = try PlanFixture(["rToken": "role-1"])
        let waiting = fixture.pending(RequestTests.subscribe, since: hour)
        fixture.memory = AltcraftMemory()
        guard case .settle(let verdicts, let next?) = fixture.plan(waiting) else {
            Issue.record("The role token is not noted.")
            return
        }
        #expect(verdicts.isEmpty)
        #expect(next.saved == nil)
        #expect(next.signature?.mark?.count == 8)
    }

    @Test(.shows("altcraft/L4"))
    func `rejects a log-in with a role token`() throws {
        let findings = try PlanFixture(["rToken": "role-1"]).examine(.switchContact(ContactSwitch(.logIn)))
        #expect(findings.map(\.code) == ["altcraft.switch.roleToken"])
    }

    @Test func `decodes Base64URL strictly`() {
        #expect(Base64URL.decode("-_8") == [0xFB, 0xFF])
        #expect(Base64URL.decode("YQ==") == [0x61])
        #expect(Base64URL.decode("") == [])
        for broken in ["Y", "YR", "+/8", "Y Q", "YWJ=j"] { #expect(Base64URL.decode(broken) == nil) }
    }

    @Test func `reports all invalid settings at once`() throws {
        let object: JSONObject = ["apiUrl": "push", "onUnauthorized": "maybe", "rtoken": "x"]
        let error = #expect(throws: SettingsError.self) {
            try AltcraftSettings.table.read(object, over: AltcraftSettings(), at: "settings")
        }
        #expect(
            error?.findings.map(\.path) == ["settings.rtoken", "settings.apiUrl", "settings.onUnauthorized"]
        )
        #expect(throws: SettingsError.self) { try AltcraftDevice(settings: AltcraftSettings()) }
    }
}
