import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft

@Suite("Altcraft credentials") struct CredentialTests {
    private static let action = Action.changeAttributes(["visits": .set(1)])

    @Test(.shows("altcraft/A2", "altcraft/A7", of: AltcraftDevice.self))
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
        .shows("altcraft/A3", "altcraft/A4", "altcraft/A5", "altcraft/A6", "altcraft/A9", of: AltcraftDevice.self),
        arguments: [
            (nil, "altcraft.credential.missing", ""),
            (Secret(""), "altcraft.credential.missing", ""),
            (Secret("no token"), "altcraft.credential.unreadable", "not a JWT"),
            (Secret("a.b!.c"), "altcraft.credential.unreadable", "not a JWT"),
            (Token.signed(#"{"sub":"x"}"#), "altcraft.credential.unreadable", "no claim"),
            (Token.make("[]"), "altcraft.credential.unreadable", "the claim is no object"),
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
        #expect(because.reason.contains(detail))
        #expect(!because.remedy.isEmpty)
    }

    @Test(.shows("altcraft/A1", "altcraft/A8", "altcraft/Q3", of: AltcraftDevice.self))
    func `a role token wins over the contact's token`() throws {
        let scene = try Scene(["rToken": "role-1"])
        let request = try #require(scene.request(RequestTests.subscribe))
        #expect(request[header: "Authorization"] == "Bearer rtoken@role-1")
        #expect(request.url.contains("matching_mode=push_sub&"))
        let ios = try Scene(["rToken": "role-1", "rTokenMatching": "token"]).request(RequestTests.subscribe)
        #expect(ios?.url.contains("matching_mode=role-1&") == true)
        var changed = try Scene(["rToken": "role-1"])
        changed.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        #expect(changed.request(.registerDevice(Corpus.phone))?.url.hasSuffix("subscription_id=old&sync=true") == true)
    }

    @Test(.shows("altcraft/L4", of: AltcraftDevice.self))
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
