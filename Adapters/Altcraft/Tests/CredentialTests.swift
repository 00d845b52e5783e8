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
    func `the claim is text or an object, and its matching mode passes unchanged`() throws {
        let claims = [
            Token.make(#"{"db_id":"12","matching":"email_phone_sub","email":"a@b.example"}"#),
            Token.signed(#"{"matching":{"db_id":12,"matching":"email_phone_sub","field_value":7}}"#),
        ]
        for claim in claims {
            var scene = try Scene()
            scene.credential = claim
            #expect(scene.request(RequestTests.subscribe)?.url.contains("matching_mode=email_phone_sub") == true)
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
    func `a credential that can't be used lets the operation wait`(_ token: Secret?, _ code: String, _ detail: String)
        throws
    {
        var scene = try Scene()
        scene.credential = token
        guard case .wait(nil, let because) = scene.plan(scene.pending(Self.action)) else {
            Issue.record("It does not wait.")
            return
        }
        #expect(because.code == code)
        #expect(detail.isEmpty || because.reason.contains(detail))
        #expect(!because.remedy.isEmpty)
    }

    @Test func `a configuration's token that is none is reported, unless a role token signs`() throws {
        #expect(try Scene().adapter.examine(Secret("junk"))?.code == "altcraft.credential.unreadable")
        #expect(try Scene().adapter.examine(Token.aino) == nil)
        #expect(try Scene(["rToken": "role-1"]).adapter.examine(Secret("junk")) == nil)
    }

    @Test(.shows("altcraft/A1", "altcraft/A8", "altcraft/Q3"))
    func `a role token wins over the contact's token`() throws {
        let scene = try Scene(["rToken": "role-1"])
        let request = try #require(scene.request(RequestTests.subscribe))
        #expect(request[header: "Authorization"] == "Bearer rtoken@role-1")
        #expect(request.url.contains("matching_mode=push_sub&"))
        let ios = try Scene(["rToken": "role-1", "rTokenMatching": "token"]).request(RequestTests.subscribe)
        #expect(ios?.url.contains("matching_mode=role-1&") == true)
        var changed = try Scene(["rToken": "role-1"])
        changed.memory.hold(nil, of: nil, at: PushAddress(provider: "ios-apns", token: "old"))
        #expect(changed.request(.registerDevice(Corpus.phone))?.url.hasSuffix("subscription_id=old&sync=true") == true)
    }

    @Test(.shows("altcraft/A10"))
    func `a role token that no header can hold is refused in the configuration`() throws {
        for token in ["  ", "role 1", "role\r\nX-Extra: 1", "rôle", "role\u{0}"] {
            let error = #expect(throws: SettingsError.self) { try Scene(["rToken": .string(token)]) }
            #expect(error?.findings.map(\.path) == ["settings.rToken"])
            #expect(error?.description.contains("role") == false)
        }
        let fragment = #expect(throws: SettingsError.self) { try Scene(["apiUrl": "https://push.altcraft.example/#a"]) }
        #expect(fragment?.findings.map(\.path) == ["settings.apiUrl"])
    }

    @Test(.shows("altcraft/Q11"))
    func `with a role token attributes go where the push token is named`() throws {
        let role: JSONObject = ["rToken": "role-1"]
        let driver = try Driver(settings: role, account: ["rToken": "role-1", "rTokenDatabase": 5])
        driver.deliver(Driver.operation(RequestTests.subscribe, "s"))
        #expect(driver.deliver(Driver.operation(Self.action, "a"))?.isAccepted == true)
        #expect(driver.endpoints == [.subscribe, .subscribe])
        #expect(driver.state.profiles(in: 5).map(\.fields) == [["visits": 1]])
        let named = try Scene(["rToken": "role-1", "profileUpdates": "profileUpdate"])
        #expect(named.request(Self.action)?.url.hasSuffix("/profile/update") == true)
        #expect(named.examine(Self.action).map(\.code) == ["altcraft.profile.whose"])
        #expect(try Scene(role).examine(Self.action).isEmpty)
        #expect(try Scene().examine(Self.action).isEmpty)
    }

    @Test(.shows("altcraft/M12"))
    func `with a role token an event says whose fields it carries`() throws {
        let event = Action.track(.custom(name: "Ordered"))
        let fields: JSONObject = ["profileFields": ["tier": "gold"]]
        let scene = try Scene(["rToken": "role-1"])
        #expect(scene.examine(event, options: fields).map(\.path) == ["options.altcraft.profileFields"])
        #expect(scene.examine(event).isEmpty)
        var whole = fields
        whole["matching"] = "push_sub"
        whole["matchingIDs"] = ["provider": "ios-apns", "subscription_id": .string(Fixture.token)]
        #expect(scene.examine(event, options: whole).isEmpty)
        let driver = try Driver(settings: ["rToken": "role-1"], account: ["rToken": "role-1"])
        driver.deliver(Driver.operation(RequestTests.subscribe, "s"))
        #expect(driver.deliver(Driver.operation(event, "a", options: fields))?.isRejected == true)
        #expect(driver.deliver(Driver.operation(event, "b", options: whole))?.isAccepted == true)
        #expect(driver.state.profiles.map(\.fields) == [["tier": "gold"]])
    }

    @Test(.shows("altcraft/T10"), arguments: ["role-2", nil])
    func `a changed role token ends what was captured and known under the old one`(_ token: String?) throws {
        var scene = try Scene(["rToken": token.map(JSONValue.string) ?? .null])
        scene.memory.signature = .init(
            mark: AltcraftMemory.Signature.mark(of: try Scene(["rToken": "role-1"]).adapter.settings),
            since: .beforeAll
        )
        scene.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        scene.stand("subscribed")
        let hour = Corpus.start + .seconds(-3600)
        let old = [RequestTests.subscribe, Self.action, .track(.custom(name: "Ordered"))].enumerated().map {
            scene.pending($1, id: "old-\($0)", since: hour)
        }
        let push = Action.track(.push(.opened, payload: Fixture.payload))
        let opened = scene.pending(push, id: "push", since: hour)
        let fresh = scene.pending(RequestTests.subscribe, id: "fresh")
        let window = PendingOperations(old + [opened, fresh])
        let moment = Moment(now: Corpus.start, date: Corpus.start)
        guard case .settle(let verdicts, let next?) = scene.adapter.plan(window, memory: scene.memory, at: moment)
        else {
            Issue.record("Nothing ends.")
            return
        }
        #expect(verdicts.count == 3)
        #expect(verdicts.values.allSatisfy { $0.isRejected && $0.finding?.code == "altcraft.roleToken.changed" })
        #expect(next.saved == nil)
        #expect(next.standing == nil)
        #expect(next.device == Corpus.phone)
        scene.memory = next
        #expect(scene.plan(fresh).request != nil)
        #expect(scene.plan(opened).request != nil)
        // An operation outside the window is as old as the others.
        #expect(scene.plan(old[0]).settled?.finding?.code == "altcraft.roleToken.changed")
    }

    @Test func `a first role token ends nothing`() throws {
        let hour = Corpus.start + .seconds(-3600)
        var scene = try Scene(["rToken": "role-1"])
        let waiting = scene.pending(RequestTests.subscribe, since: hour)
        scene.memory = AltcraftMemory()
        guard case .settle(let verdicts, let next?) = scene.plan(waiting) else {
            Issue.record("The role token is not noted.")
            return
        }
        #expect(verdicts.isEmpty)
        #expect(next.saved == nil)
        #expect(next.signature?.mark?.count == 8)
    }

    @Test(.shows("altcraft/L4"))
    func `with a role token nobody logs in`() throws {
        let findings = try Scene(["rToken": "role-1"]).examine(.switchContact(ContactSwitch(.logIn)))
        #expect(findings.map(\.code) == ["altcraft.switch.roleToken"])
    }

    @Test func `base 64 for URLs is read strictly`() {
        #expect(Base64URL.decode("-_8") == [0xFB, 0xFF])
        #expect(Base64URL.decode("YQ==") == [0x61])
        #expect(Base64URL.decode("") == [])
        for broken in ["Y", "YR", "+/8", "Y Q", "YWJ=j"] { #expect(Base64URL.decode(broken) == nil) }
    }

    @Test func `settings name every fault at once`() throws {
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
