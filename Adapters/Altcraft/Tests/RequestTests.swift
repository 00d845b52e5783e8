import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

@Suite("Altcraft requests") struct RequestTests {
    static let subscribe = Action.changeSubscription(Subscription(channel: .push, state: .subscribed))

    @Test(
        .shows(
            "altcraft/B1",
            "altcraft/B2",
            "altcraft/B3",
            "altcraft/B4",
            "altcraft/B5",
            "altcraft/B7",
            "altcraft/Q2",
            "altcraft/Q10",
            "altcraft/H1",
            "altcraft/H2",
            "altcraft/H3",
            "altcraft/Q9"
        ),
        arguments: [Subscription.State.subscribed, .unsubscribed, .suspended]
    )
    func `subscribe, suspend and unsubscribe requests differ only in the status`(_ state: Subscription.State) throws {
        let fixture = try PlanFixture()
        let request = try #require(
            fixture.request(.changeSubscription(Subscription(channel: .push, state: state)))
        )
        #expect(request.method == "POST")
        #expect(
            request.url == "https://push.altcraft.example/subscription/push/subscribe/"
                + "?provider=ios-apns&matching_mode=phone&sync=true"
        )
        #expect(request[header: "Authorization"] == "Bearer \(Token.aino.value)")
        #expect(request[header: "Request-ID"] == "0b5e4c1a-2d3f-4a6b-8c7d-000000000001")
        #expect(request[header: "Content-Type"] == "application/json")
        var body = try #require(request.json?.object)
        #expect(body["subscription"]?["status"] == .string(state.rawValue))
        #expect(body["subscription"]?["subscription_id"] == .string(Fixture.token))
        #expect(body["subscription"]?["provider"] == "ios-apns")
        #expect(body["subscription"]?["cats"] == [])
        body["subscription"] = nil
        #expect(
            JSONValue.object(body)
                == [
                    "time": 1_930_806_311, "subscription_id": .string(Fixture.token), "replace": false,
                    "skip_triggers": false,
                ]
        )
    }

    @Test(.shows("altcraft/F3", "altcraft/F6", "altcraft/F5"))
    func `sends device facts as subscription fields`() throws {
        var device = Corpus.phone
        device.facts?.allowsAdTracking = true
        device.facts?.advertisingID = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
        device.facts?.utcOffsetSeconds = -12_600
        device.identities["altcraft.app_iid"] = "inst-0007"
        let request = try #require(PlanFixture(device: device).request(Self.subscribe))
        #expect(
            request.json?["subscription"]?["fields"]
                == [
                    "_os": "IOS", "_os_tz": "-0330", "_os_language": "fi", "_device_type": "Mobile",
                    "_device_model": "iPhone21,2", "_device_name": "Aino's phone", "_os_ver": "24.3", "_ad_track": true,
                    "_ad_id": "6D92078A-8246-4BA4-AE5B-76104861E7DC", "_app_id": "com.example.shop",
                    "_app_iid": "inst-0007", "_app_ver": "8.4.1",
                ]
        )
    }

    @Test func `omits the advertising id without tracking permission and sets the device type`() throws {
        var device = Corpus.phone
        device.facts?.advertisingID = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
        let request = try #require(
            PlanFixture(["deviceType": "mob", "appFields": false, "flagText": "digits"], device: device).request(
                Self.subscribe
            )
        )
        let fields = try #require(request.json?["subscription"]?["fields"]?.object)
        #expect(fields["_ad_id"] == nil)
        #expect(fields["_app_ver"] == nil)
        #expect(fields["_device_type"] == "mob")
        #expect(request.url.hasSuffix("sync=1"))
    }

    @Test(.shows("altcraft/F2", "altcraft/F4", "altcraft/F18", "altcraft/B6", "altcraft/F1"))
    func `sends all six parameters, and caller fields take precedence`() throws {
        let action = Action.changeSubscription(
            Subscription(channel: .push, state: .subscribed, fields: ["_os": "mine", "shop": 7])
        )
        let request = try #require(
            PlanFixture().request(
                action,
                options: [
                    "sync": false, "profileFields": ["_fname": "Aino", "tree": ["a": [1, nil]]],
                    "customFields": ["_device_name": "phone", "shop": 8, "gone": nil],
                    "cats": [["name": "football", "active": true, "title": "Football", "steady": false]],
                    "replace": true, "skipTriggers": true,
                ]
            )
        )
        #expect(request.url.contains("sync=false"))
        let body = try #require(request.json)
        #expect(body["profile_fields"] == ["_fname": "Aino", "tree": ["a": [1, nil]]])
        #expect(body["replace"] == true)
        #expect(body["skip_triggers"] == true)
        #expect(body["subscription"]?["cats"] == [["name": "football", "active": true]])
        let fields = body["subscription"]?["fields"]
        #expect(fields?["_os"] == "mine")
        #expect(fields?["shop"] == 8)
        #expect(fields?["_device_name"] == "phone")
        #expect(fields?["gone"] == .null)
    }

    @Test(.shows("altcraft/Q1"))
    func `keeps the query of the API address`() throws {
        let fixture = try PlanFixture(["apiUrl": "https://push.altcraft.example/mobile?region=fi"])
        let update = try #require(fixture.request(.changeAttributes(["visits": .set(1)])))
        #expect(update.url == "https://push.altcraft.example/mobile/profile/update?region=fi")
        let subscribe = try #require(fixture.request(Self.subscribe))
        #expect(
            subscribe.url == "https://push.altcraft.example/mobile/subscription/push/subscribe/"
                + "?region=fi&provider=ios-apns&matching_mode=phone&sync=true"
        )
    }

    @Test func `percent-encodes reserved characters of a token in the query`() throws {
        var device = Corpus.phone
        device.pushToken = PushToken("fcm:AP+91/b=&x", service: .fcm)
        let request = try #require(PlanFixture(device: device).request(.switchContact(ContactSwitch(.logIn))))
        #expect(request.url.contains("subscription_id=fcm%3AAP%2B91%2Fb%3D%26x"))
        #expect(request.url.contains("provider=ios-firebase"))
    }

    @Test(.shows("altcraft/Q4", "altcraft/B9", "altcraft/L1"))
    func `a change of person sends unsuspend first`() throws {
        let request = try #require(PlanFixture().request(.switchContact(ContactSwitch(.logIn))))
        #expect(
            request.url == "https://push.altcraft.example/subscription/push/unsuspend/"
                + "?provider=ios-apns&matching_mode=phone&subscription_id=\(Fixture.token)"
        )
        #expect(
            request.json == [
                "subscription": ["subscription_id": .string(Fixture.token), "provider": "ios-apns"], "replace": true,
            ]
        )
    }

    @Test(.shows("altcraft/H2"))
    func `gives each request of an operation its own id and repeats it on retries`() throws {
        let fixture = try PlanFixture()
        let login = Action.switchContact(ContactSwitch(.logIn))
        let first = try #require(fixture.request(login)?[header: "Request-ID"])
        let second = try #require(fixture.request(login, step: .subscribe)?[header: "Request-ID"])
        #expect(first != second)
        #expect(fixture.request(login, step: .subscribe)?[header: "Request-ID"] == second)
        #expect(RequestID.text(for: "ABCDEF01-2345-4789-8ABC-DEF012345678") == "abcdef01-2345-4789-8abc-def012345678")
        let made = RequestID.text(for: "order-17")
        #expect(made == RequestID.text(for: "order-17"))
        #expect(made != RequestID.text(for: "order-18"))
        #expect(made.utf8.count == 36)
        #expect(Array(made)[14] == "8")
        #expect("89ab".contains(Array(made)[19]))
    }

    @Test(
        .shows("altcraft/Q5", "altcraft/T6", "altcraft/Q12"),
        arguments: [
            (ReadRequest("latest"), "matching_mode=phone"),
            (ReadRequest("latestForProvider"), "provider=ios-apns&matching_mode=phone"),
            (
                ReadRequest("latestForProvider", arguments: ["provider": "ios-huawei"]),
                "provider=ios-huawei&matching_mode=phone"
            ),
            (ReadRequest("current"), "provider=ios-apns&matching_mode=phone&subscription_id=saved"),
        ]
    )
    func `sends the parameters of each kind of query`(_ read: ReadRequest, _ query: String) throws {
        var fixture = try PlanFixture()
        fixture.memory.saved = PushAddress(provider: "ios-apns", token: "saved")
        let request = try #require(fixture.request(.readBack(read)))
        #expect(request.method == "GET")
        #expect(request.body.isEmpty)
        #expect(request[header: "Content-Type"] == "application/json")
        #expect(request.url == "https://push.altcraft.example/subscription/push/status/?\(query)")
    }

    @Test(.shows("altcraft/T8", "altcraft/Q5", "altcraft/T7"))
    func `rejects an invalid query`() throws {
        let fixture = try PlanFixture(device: nil)
        #expect(
            fixture.plan(fixture.pending(.readBack(ReadRequest("current")))).settled?.finding?.code
                == "altcraft.read.noToken"
        )
        #expect(fixture.examine(.readBack(ReadRequest("everything"))).map(\.code) == ["altcraft.read.unknown"])
        let unknownProvider = ReadRequest("latestForProvider", arguments: ["provider": "ios-carrier-pigeon"])
        #expect(fixture.examine(.readBack(unknownProvider)).map(\.path) == ["action.read.arguments.provider"])
    }

    @Test(.shows("altcraft/Q6", "altcraft/P2", "altcraft/P3", "altcraft/P5", "altcraft/P4"))
    func `sends a push event with two fields, its kind in the path and a separate queue`() throws {
        let fixture = try PlanFixture()
        let arrived = try #require(fixture.request(.track(.push(.received, payload: Fixture.payload))))
        #expect(arrived.url == "https://push.altcraft.example/event/push/delivery?matching_mode=phone")
        #expect(arrived.json == ["time": 1_930_806_311, "smid": "a81f3c-9e"])
        let opened = try #require(fixture.request(.track(.push(.tapped, payload: Fixture.payload))))
        #expect(opened.url == "https://push.altcraft.example/event/push/open?matching_mode=phone")
        let places = ["a", "b"].map {
            fixture.adapter.place(Driver.operation(.track(.push(.opened, payload: Fixture.payload)), $0)).queue
        }
        #expect(places == ["push/a", "push/b"])
    }

    @Test(.shows("altcraft/P1", "altcraft/P2", "altcraft/P3"))
    func `recognizes the vendor's pushes by their payload`() throws {
        let fixture = try PlanFixture()
        let own: JSONObject = ["_ac_push": "1"]
        #expect(fixture.examine(.track(.push(.opened, payload: Corpus.foreignPush))).map(\.severity) == [.foreign])
        #expect(fixture.examine(.track(.push(.opened, payload: own))).map(\.code) == ["altcraft.push.uid"])
        #expect(fixture.examine(.track(.push(.opened, payload: own)), options: ["uid": "m-9"]).isEmpty)
        #expect(fixture.request(.track(.push(.opened, payload: own)), options: ["uid": "m-9"])?.json?["smid"] == "m-9")
        let both = fixture.request(.track(.push(.opened, payload: Fixture.payload)), options: ["uid": "m-9"])
        #expect(both?.json?["smid"] == "a81f3c-9e")
        #expect(
            fixture.examine(.track(.push(.dismissed, payload: Fixture.payload))).map(\.code)
                == ["altcraft.push.interaction"]
        )
    }

    @Test(
        .shows(
            "altcraft/Q7",
            "altcraft/M2",
            "altcraft/M3",
            "altcraft/M4",
            "altcraft/M5",
            "altcraft/M6",
            "altcraft/M7",
            "altcraft/M9"
        )
    )
    func `sends a custom event as a form in a fixed order`() throws {
        let request = try #require(
            PlanFixture(["clientId": "ac-5"])
                .request(
                    .track(.custom(name: "Ordered", attributes: ["items": 3])),
                    options: ["messageID": "m-1", "utm": ["source": "qr", "campaign": "spring"], "matching": ""]
                )
        )
        #expect(request.url == "https://push.altcraft.example/event/post?i=SHOP-PX-7&tr=px&t=open&v=2")
        let boundary = "Boundary-0b5e4c1a-2d3f-4a6b-8c7d-000000000001"
        #expect(request[header: "Content-Type"] == "multipart/form-data; boundary=\(boundary)")
        let parts: [(String, String, String)] = [
            ("tz", "text/plain", "-120"), ("t", "text/plain", "1930806311"), ("aci", "text/plain", "ac-5"),
            ("wn", "text/plain", "Ordered"), ("cn", "text/plain", "spring"), ("cs", "text/plain", "qr"),
            ("wd", "application/json", #"{"items":3}"#), ("mi", "application/json", #""m-1""#),
        ]
        let expected = parts.map { name, type, text in
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n"
                + "Content-Type: \(type); charset=utf-8\r\n\r\n\(text)\r\n"
        }
        #expect(String(decoding: request.body, as: UTF8.self) == expected.joined() + "--\(boundary)--\r\n")
    }

    @Test func `chooses a boundary that does not occur in a part`() throws {
        let name = "Boundary-0b5e4c1a-2d3f-4a6b-8c7d-000000000001"
        let request = try #require(PlanFixture().request(.track(.custom(name: name))))
        #expect(request[header: "Content-Type"]?.hasSuffix("-000000000001-0") == true)
    }

    @Test(.shows("altcraft/M1", "altcraft/M3", "altcraft/M5"))
    func `rejects an invalid event and reports all faults`() throws {
        let action = Action.track(.custom(name: " ", attributes: ["lines": .list(["a"]), "tags": .choices(["b"])]))
        let findings = try PlanFixture(["pixel": nil]).examine(action)
        #expect(
            findings.map(\.path) == [
                "action.event", "action.event.name", "action.event.attributes.lines", "action.event.attributes.tags",
            ]
        )
        #expect(try PlanFixture().examine(.track(.sessionStarted)).map(\.code) == ["altcraft.event.kind"])
    }

    @Test(.shows("altcraft/B1"))
    func `rejects an operation captured before 1970`() throws {
        var operation = Driver.operation(Self.subscribe, "op")
        operation.capturedAt = Instant(milliseconds: 999)
        #expect(try PlanFixture().adapter.examine(operation).map(\.code) == ["altcraft.time.missing"])
    }

    @Test func `accepts a message id from the app instead of a payload`() throws {
        let fixture = try PlanFixture()
        let opened = Action.track(.push(.opened, payload: [:]))
        #expect(fixture.examine(opened, options: ["uid": "m-9"]).isEmpty)
        #expect(fixture.request(opened, options: ["uid": "m-9"])?.json?["smid"] == "m-9")
        #expect(fixture.examine(opened).map(\.severity) == [.foreign])
        let foreign = Action.track(.push(.opened, payload: Corpus.foreignPush))
        #expect(fixture.examine(foreign, options: ["uid": "m-9"]).map(\.severity) == [.foreign])
    }

    @Test(.shows("altcraft/M10", "altcraft/M7"))
    func `takes pixel and client id from event options and the message form from settings`() throws {
        let fixture = try PlanFixture(["pixel": nil, "clientId": "ac-5", "messageIDForm": "text"])
        let event = Action.track(.custom(name: "Ordered"))
        #expect(fixture.examine(event).map(\.code) == ["altcraft.event.pixel"])
        let options: JSONObject = ["pixel": "OTHER 2", "clientID": "ac-6", "messageID": "m-1"]
        #expect(fixture.examine(event, options: options).isEmpty)
        let request = try #require(fixture.request(event, options: options))
        #expect(request.url.contains("?i=OTHER%202&"))
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(body.contains("name=\"aci\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nac-6\r\n"))
        #expect(body.contains("name=\"mi\"\r\nContent-Type: application/json; charset=utf-8\r\n\r\nm-1\r\n"))
    }

    @Test(.shows("altcraft/M11"))
    func `reports an event without a known time zone`() throws {
        let event = Action.track(.custom(name: "Ordered"))
        var nowhere = try PlanFixture(device: nil)
        let unknown = nowhere.verdict(event, .replied(WireResponse(200))).verdict
        #expect(unknown?.finding?.code == "altcraft.event.zone")
        let body = String(decoding: try #require(nowhere.request(event)).body, as: UTF8.self)
        #expect(body.contains("name=\"tz\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n0\r\n"))
        var fixture = try PlanFixture()
        #expect(fixture.verdict(event, .replied(WireResponse(200))).verdict?.finding == nil)
    }

    @Test(.shows("altcraft/Q4"))
    func `includes the matching mode in unsuspend unless the settings disable it`() throws {
        let login = Action.switchContact(ContactSwitch(.logIn))
        let url = try #require(PlanFixture(["releaseMatching": false]).request(login)?.url)
        #expect(url.hasSuffix("/unsuspend/?provider=ios-apns&subscription_id=\(Fixture.token)"))
    }

    @Test(arguments: [
        "a/b ?#+%&=", "“quoted” \"x\" 'y'", "😀🏳️‍🌈", "שלום עולם", "nul\u{0}nul", "\r\n--Boundary", "é e\u{301}",
    ])
    func `transmits unusual texts unchanged in every field`(_ text: String) throws {
        let driver = try Driver()
        var device = Corpus.phone
        device.pushToken = PushToken("t-1:x/y", service: .fcm)
        device.facts?.deviceName = text
        driver.deliver(Driver.operation(.registerDevice(device), "d"))
        let options: JSONObject = [
            "customFields": ["own": .string(text)],
            "profileFields": ["_fname": .string(text)], "cats": [["name": .string(text), "active": true]],
        ]
        #expect(
            driver.deliver(Driver.operation(Self.subscribe, "s", contact: "aino", options: options))?.isAccepted == true
        )
        let profile = try #require(driver.state.profiles(in: 12).first)
        let subscription = try #require(profile.subscriptions.first)
        #expect(subscription.token == "t-1:x/y")
        #expect(subscription.fields["own"] == .string(text))
        #expect(subscription.fields["_device_name"] == .string(text))
        #expect(subscription.categories[text] == true)
        #expect(profile.fields["_fname"] == .string(text))
        let asked = driver.deliver(Driver.operation(.readBack(ReadRequest("current")), "q", contact: "aino"))
        #expect(asked?.answer.flatMap(AltcraftAnswer.init)?.profile?.subscription?.subscriptionID == "t-1:x/y")
        let event = Action.track(.custom(name: "n\(text)", attributes: ["note": .string(text)]))
        let words: JSONObject = ["utm": ["source": .string(text)], "messageID": .string(text)]
        #expect(driver.deliver(Driver.operation(event, "e", contact: "aino", options: words))?.isAccepted == true)
        let kept = try #require(driver.state.customEvents.first)
        #expect(kept["wn"] == "n\(text)")
        #expect(kept["cs"] == text)
        #expect(try JSONValue(parsing: kept["mi"] ?? "") == .string(text))
        let push = Action.track(.push(.opened, payload: ["_ac_push": "1", "_uid": .string("u\(text)")]))
        #expect(driver.deliver(Driver.operation(push, "p", contact: "aino"))?.isAccepted == true)
        #expect(driver.state.pushEvents.map(\.message) == ["u\(text)"])
    }

    @Test func `rejects half a surrogate pair when options are parsed`() {
        #expect(throws: (any Error).self) { try JSONValue(parsing: #"{"customFields":{"own":"\ud83d"}}"#) }
    }
}
