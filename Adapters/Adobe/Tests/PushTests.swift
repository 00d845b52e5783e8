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
        let driver = try StandardDriver()
        _ = driver.push(interaction, changes, appState: appState)
        #expect(driver.state.violations == [])
        return driver.requests.compactMap { URLText.queryItems(of: $0.url).first?.value.split(separator: ",").last }
            .map(String.init)
    }

    // MARK: Tracking flag

    @Test(.shows("adobe/G1", "adobe/G3"), arguments: ["off", "", "true", "on ", "0ff", "yes"])
    func `drops the event if the tracking flag is not on`(_ flag: String) throws {
        let driver = try StandardDriver()
        let verdict = driver.push(.tapped, ["_acsDeliveryTracking": .string(flag)])
        #expect(verdict?.code == "adobe.push.trackingOff")
        #expect(verdict?.isDropped == true)
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/G3"), arguments: ["on", "ON", "On", "oN"])
    func `reads the tracking flag case-insensitively`(_ flag: String) throws {
        #expect(try actions(.received, ["_acsDeliveryTracking": .string(flag)]) == ["7"])
        #expect(try actions(.received, ["_acsDeliveryTracking": "ON"]) == ["7"])
    }

    @Test(.shows("adobe/G2"))
    func `tracks a delivery without a flag`() throws {
        #expect(try actions(.tapped, ["_acsDeliveryTracking": JSONValue?.none]) == ["2", "1"])
    }

    @Test(.shows("adobe/G4"), arguments: [JSONValue.bool(false), 0, nil, ["off"], ["on": "off"]])
    func `treats a tracking flag that is not text as missing`(_ flag: JSONValue) throws {
        #expect(try actions(.dismissed, ["_acsDeliveryTracking": flag]) == ["2"])
    }

    @Test(
        .shows("adobe/G5"),
        arguments: ["_mId", "_dId"],
        [JSONValue?.none, "", 17, nil, ["h2f0aa1"]]
    )
    func `sends nothing without both ids`(_ name: String, _ value: JSONValue?) throws {
        let driver = try StandardDriver()
        let verdict = driver.push(.tapped, [name: value])
        #expect(verdict?.code == "adobe.push.idMissing")
        #expect(verdict?.finding?.path == "action.event.payload.\(name)")
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/G7"), arguments: ["h2f,0aa1", "h2f\n0aa1"])
    func `rejects an id that would read as two`(_ id: String) throws {
        let driver = try StandardDriver()
        #expect(driver.push(.tapped, ["_mId": .string(id)])?.code == "adobe.push.idForm")
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/G6", "adobe/A6"))
    func `a delivery that the server does not track is refused with 404`() throws {
        let driver = try StandardDriver(account: ["untracked": ["c81e4"]])
        let verdict = driver.push(.received)
        #expect(verdict?.code == "adobe.reply.notFound")
        #expect(verdict?.finding?.reason.contains("HTTP 404") == true)
        #expect(driver.push(.tapped)?.code == "adobe.reply.notFound")
        #expect(driver.requests.count == 3)
    }

    // MARK: Actions

    @Test(.shows("adobe/A1", "adobe/A2"))
    func `reports a received message as an impression in every app state`() throws {
        for state in AppState.allCases { #expect(try actions(.received, appState: state) == ["7"]) }
    }

    @Test(.shows("adobe/A5"))
    func `reports a dismissed message as a click only`() throws {
        #expect(try actions(.dismissed, appState: .background) == ["2"])
    }

    @Test(.shows("adobe/A6", "adobe/T2"), arguments: [PushInteraction.tapped, .opened])
    func `reports a tapped message as a click and then an open with the same ids`(_ interaction: PushInteraction) throws
    {
        let driver = try StandardDriver()
        #expect(driver.push(interaction, appState: .inactive)?.isAccepted == true)
        let ids = driver.requests.map { URLText.queryItems(of: $0.url)[0].value }
        #expect(ids == ["h2f0aa1,c81e4,2", "h2f0aa1,c81e4,1"])
        #expect(driver.state.actions(of: "h2f0aa1") == ["2", "1"])
    }

    @Test(.shows("adobe/A9"))
    func `reports a button as a tap, or as a click in the background by a setting`() throws {
        let buy = Action.track(.push(.tapped, payload: Fixture.payload, actionID: "buy"))
        for (setting, state, count) in [
            ("open", AppState.background, 2), ("click", .background, 1), ("click", .active, 2),
        ] {
            let driver = try StandardDriver(["backgroundActions": .string(setting)])
            #expect(driver.deliver(buy, appState: state)?.isAccepted == true)
            #expect(driver.requests.count == count)
        }
    }

    @Test(.shows("adobe/Q10"))
    func `reports an event twice if it is captured twice`() throws {
        let driver = try StandardDriver()
        for _ in 0..<2 { #expect(driver.push(.dismissed)?.code == "accepted") }
        #expect(driver.state.reports.map(\.count) == [2])
    }

    @Test(.shows("adobe/A8"))
    func `reports no message if the app is opened in another way`() throws {
        let driver = try StandardDriver()
        driver.deliver(.track(.sessionStarted))
        #expect(driver.state.reports.isEmpty)
        #expect(driver.requests.map(\.method) == ["POST"])
    }

    @Test(.shows("adobe/A10"))
    func `reads the other names of a local notification, which has no flag`() throws {
        let driver = try StandardDriver()
        let payload: JSONObject = ["broadlogId": "h3b07", "deliveryId": "c8200"]
        for interaction in [PushInteraction.received, .tapped] {
            #expect(driver.deliver(.track(.push(interaction, payload: payload)))?.isAccepted == true)
        }
        #expect(driver.state.actions(of: "h3b07") == ["7", "2", "1"])
        #expect(driver.examine(.track(.push(.tapped, payload: ["deliveryId": "77"]))).map(\.severity) == [.foreign])
        let broken = driver.deliver(.track(.push(.tapped, payload: ["broadlogId": "h3b07"])))
        #expect(broken?.finding?.path == "action.event.payload.deliveryId")
    }

    @Test(.shows("adobe/A4", "adobe/A7"))
    func `reports why a delivery cannot be tracked`() throws {
        func codes(_ interaction: PushInteraction, _ state: AppState, _ payload: JSONObject) throws -> [String] {
            let driver = try StandardDriver()
            let event = Action.track(.push(interaction, payload: payload))
            driver.appState = state
            return driver.examine(event).map(\.code)
        }
        let plain = Fixture.payload(["aps": ["alert": "Back in stock"]])
        #expect(try codes(.received, .background, plain) == ["adobe.push.contentAvailable"])
        #expect(try codes(.received, .active, plain) == [])
        #expect(try codes(.dismissed, .background, plain) == ["adobe.push.category"])
        #expect(try codes(.dismissed, .background, Fixture.payload) == [])
        // Firebase messages have no such part.
        #expect(try codes(.received, .background, ["_mId": "h1", "_dId": "d1"]) == [])
        #expect(try codes(.dismissed, .background, ["_mId": "h1", "_dId": "d1"]) == [])
        #expect(AdobeDevice.descriptor.capabilities[.push(.received)].note.contains("unreliable on iOS"))
        #expect(AdobeDevice.descriptor.capabilities[.push(.dismissed)].note.contains("customDismissAction"))
    }

    // MARK: System callbacks

    @Test(.shows("adobe/A3"))
    func `converts system callbacks to events`() throws {
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

    @Test func `rejects a value that a push payload cannot hold and names its path`() {
        let error = #expect(throws: ModelError.self) {
            try TrackingEvent(.willPresent, userInfo: ["aps": ["at": [Date.now]] as [String: Any]])
        }
        #expect(error?.path == "aps.at[0]")
    }
}
