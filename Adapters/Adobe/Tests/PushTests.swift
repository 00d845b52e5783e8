import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

@Suite("Adobe push tracking") struct PushTests {
    /// Returns the actions that the server received, as numbers.
    private func actions(
        _ interaction: PushInteraction,
        _ changes: [String: JSONValue?] = [:],
        appState: AppState = .active
    ) throws -> [String] {
        let phone = try StandardPhone()
        _ = phone.push(interaction, changes, appState: appState)
        #expect(phone.state.violations == [])
        return phone.requests.compactMap { URLText.queryItems(of: $0.url).first?.value.split(separator: ",").last }
            .map(String.init)
    }

    // MARK: Gate

    @Test(.shows("adobe/G1", "adobe/G3"), arguments: ["off", "", "true", "on ", "0ff", "yes"])
    func `a flag that does not say on drops the event`(_ flag: String) throws {
        let phone = try StandardPhone()
        let verdict = phone.push(.tapped, ["_acsDeliveryTracking": .string(flag)])
        #expect(verdict?.code == "adobe.push.trackingOff")
        #expect(verdict?.isDropped == true)
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/G3"), arguments: ["on", "ON", "On", "oN"])
    func `on is on in any case`(_ flag: String) throws {
        #expect(try actions(.received, ["_acsDeliveryTracking": .string(flag)]) == ["7"])
        #expect(try actions(.received, ["_acsDeliveryTracking": "ON"]) == ["7"])
    }

    @Test(.shows("adobe/G2"))
    func `a delivery without a flag is tracked`() throws {
        #expect(try actions(.tapped, ["_acsDeliveryTracking": JSONValue?.none]) == ["2", "1"])
    }

    @Test(.shows("adobe/G4"), arguments: [JSONValue.bool(false), 0, nil, ["off"], ["on": "off"]])
    func `a flag that is no text counts as missing`(_ flag: JSONValue) throws {
        #expect(try actions(.dismissed, ["_acsDeliveryTracking": flag]) == ["2"])
    }

    @Test(
        .shows("adobe/G5"),
        arguments: ["_mId", "_dId"],
        [JSONValue?.none, "", 17, nil, ["h2f0aa1"]]
    )
    func `without both ids nothing is sent`(_ name: String, _ value: JSONValue?) throws {
        let phone = try StandardPhone()
        let verdict = phone.push(.tapped, [name: value])
        #expect(verdict?.code == "adobe.push.idMissing")
        #expect(verdict?.finding?.path == "action.event.payload.\(name)")
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/G7"), arguments: ["h2f,0aa1", "h2f\n0aa1"])
    func `an id that would read as two is refused`(_ id: String) throws {
        let phone = try StandardPhone()
        #expect(phone.push(.tapped, ["_mId": .string(id)])?.code == "adobe.push.idForm")
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/G6", "adobe/A6"))
    func `a delivery that the server does not track is refused with 404`() throws {
        let phone = try StandardPhone(account: ["untracked": ["c81e4"]])
        let verdict = phone.push(.received)
        #expect(verdict?.code == "adobe.reply.notFound")
        #expect(verdict?.finding?.reason.contains("HTTP 404") == true)
        #expect(phone.push(.tapped)?.code == "adobe.reply.notFound")
        #expect(phone.requests.count == 3)
    }

    // MARK: Actions

    @Test(.shows("adobe/A1", "adobe/A2"))
    func `a message that arrives is an impression, wherever the app is`() throws {
        for state in AppState.allCases { #expect(try actions(.received, appState: state) == ["7"]) }
    }

    @Test(.shows("adobe/A5"))
    func `a dismissed message is a click alone`() throws {
        #expect(try actions(.dismissed, appState: .background) == ["2"])
    }

    @Test(.shows("adobe/A6", "adobe/T2"), arguments: [PushInteraction.tapped, .opened])
    func `a tapped message is a click and then an open of the same ids`(_ interaction: PushInteraction) throws {
        let phone = try StandardPhone()
        #expect(phone.push(interaction, appState: .inactive)?.isAccepted == true)
        let ids = phone.requests.map { URLText.queryItems(of: $0.url)[0].value }
        #expect(ids == ["h2f0aa1,c81e4,2", "h2f0aa1,c81e4,1"])
        #expect(phone.state.actions(of: "h2f0aa1") == ["2", "1"])
    }

    @Test(.shows("adobe/A9"))
    func `a button is a tap, and by a setting a click if the app stays in the background`() throws {
        let buy = Action.track(.push(.tapped, payload: Fixture.payload, actionID: "buy"))
        for (setting, state, count) in [
            ("open", AppState.background, 2), ("click", .background, 1), ("click", .active, 2),
        ] {
            let phone = try StandardPhone(["backgroundActions": .string(setting)])
            #expect(phone.deliver(buy, appState: state)?.isAccepted == true)
            #expect(phone.requests.count == count)
        }
    }

    @Test(.shows("adobe/Q10"))
    func `the same event twice is told twice`() throws {
        let phone = try StandardPhone()
        for _ in 0..<2 { #expect(phone.push(.dismissed)?.code == "accepted") }
        #expect(phone.state.reports.map(\.count) == [2])
    }

    @Test(.shows("adobe/A8"))
    func `an app that is opened in another way tells nothing of a message`() throws {
        let phone = try StandardPhone()
        phone.deliver(.track(.sessionStarted))
        #expect(phone.state.reports.isEmpty)
        #expect(phone.requests.map(\.method) == ["POST"])
    }

    @Test(.shows("adobe/A10"))
    func `a local notification has other names and no flag`() throws {
        let phone = try StandardPhone()
        let payload: JSONObject = ["broadlogId": "h3b07", "deliveryId": "c8200"]
        for interaction in [PushInteraction.received, .tapped] {
            #expect(phone.deliver(.track(.push(interaction, payload: payload)))?.isAccepted == true)
        }
        #expect(phone.state.actions(of: "h3b07") == ["7", "2", "1"])
        #expect(phone.examine(.track(.push(.tapped, payload: ["deliveryId": "77"]))).map(\.severity) == [.foreign])
        let broken = phone.deliver(.track(.push(.tapped, payload: ["broadlogId": "h3b07"])))
        #expect(broken?.finding?.path == "action.event.payload.deliveryId")
    }

    @Test(.shows("adobe/A4", "adobe/A7"))
    func `a lint tells what a delivery needs to be heard of`() throws {
        func codes(_ interaction: PushInteraction, _ state: AppState, _ payload: JSONObject) throws -> [String] {
            let phone = try StandardPhone()
            let event = Action.track(.push(interaction, payload: payload))
            phone.appState = state
            return phone.examine(event).map(\.code)
        }
        let plain = Fixture.payload(["aps": ["alert": "Back in stock"]])
        #expect(try codes(.received, .background, plain) == ["adobe.push.contentAvailable"])
        #expect(try codes(.received, .active, plain) == [])
        #expect(try codes(.dismissed, .background, plain) == ["adobe.push.category"])
        #expect(try codes(.dismissed, .background, Fixture.payload) == [])
        // Messages of Firebase have no such part.
        #expect(try codes(.received, .background, ["_mId": "h1", "_dId": "d1"]) == [])
        #expect(try codes(.dismissed, .background, ["_mId": "h1", "_dId": "d1"]) == [])
        #expect(AdobeDevice.descriptor.capabilities[.push(.received)].note.contains("unreliable on iOS"))
        #expect(AdobeDevice.descriptor.capabilities[.push(.dismissed)].note.contains("customDismissAction"))
    }

    // MARK: Calls of the system

    @Test(.shows("adobe/A3"))
    func `the system's calls become events`() throws {
        let userInfo: [AnyHashable: Any] = [
            "aps": ["alert": "Back in stock", "content-available": 1, "badge": 2.5, "quiet": true] as [String: Any],
            "_mId": "h2f0aa1", "_dId": "c81e4", "list": ["a", 1] as [Any],
        ]
        let payload: JSONObject = [
            "_dId": "c81e4", "_mId": "h2f0aa1",
            "aps": [
                "alert": "Back in stock", "badge": .number(try #require(JSONNumber(text: "2.5"))),
                "content-available": 1, "quiet": true,
            ],
            "list": ["a", 1],
        ]
        let calls: [(PushCallback, TrackingEvent?)] = [
            (.willPresent, .push(.received, payload: payload)),
            (.didReceiveRemote(.background), .push(.received, payload: payload)),
            (.didReceiveRemote(.inactive), .push(.received, payload: payload)),
            (.didReceiveRemote(.active), nil),
            (.didRespond(action: PushCallback.dismissAction), .push(.dismissed, payload: payload)),
            (.didRespond(action: PushCallback.defaultAction), .push(.tapped, payload: payload)),
            (.didRespond(action: "buy"), .push(.tapped, payload: payload, actionID: "buy")),
        ]
        for (call, event) in calls {
            #expect(try AdobeNotification.event(call, userInfo: userInfo) == event)
            #expect(try TrackingEvent(call, userInfo: userInfo) == event)
        }
        #expect(AdobeNotification.event(.willPresent, payload: Corpus.foreignPush) == nil)
    }

    @Test func `what no push message can hold is refused at its place`() {
        let error = #expect(throws: ModelError.self) {
            try TrackingEvent(.willPresent, userInfo: ["aps": ["at": [Date.now]] as [String: Any]])
        }
        #expect(error?.path == "aps.at[0]")
    }
}
