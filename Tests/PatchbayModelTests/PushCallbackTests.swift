import Foundation
import PatchbayJSON
import PatchbayModel
import Testing

@Suite("Push callbacks") struct PushCallbackTests {
    private static let payload: JSONObject = ["aps": ["alert": "Hello"], "id": "7"]

    private static let calls: [(PushCallback, TrackingEvent?)] = [
        (.willPresent, .push(.received, payload: payload)),
        (.didReceiveRemote(.background), .push(.received, payload: payload)),
        (.didReceiveRemote(.inactive), .push(.received, payload: payload)),
        (.didReceiveRemote(.active), nil),
        (.didRespond(action: "com.apple.UNNotificationDefaultActionIdentifier"), .push(.tapped, payload: payload)),
        (.didRespond(action: "com.apple.UNNotificationDismissActionIdentifier"), .push(.dismissed, payload: payload)),
        (.didRespond(action: "reply"), .push(.tapped, payload: payload, actionID: "reply")),
    ]

    @Test(arguments: calls)
    func `converts a system callback to a push event`(_ callback: PushCallback, _ event: TrackingEvent?) throws {
        #expect(TrackingEvent(callback, payload: Self.payload) == event)
        #expect(
            try TrackingEvent(callback, userInfo: ["id": "7", "aps": ["alert": "Hello"] as [String: Any]]) == event
        )
    }

    /// The same values as Swift's own types and as Foundation's, which a notification's `userInfo` holds.
    @Test func `converts userInfo to JSON with sorted members`() throws {
        let expected: JSONValue = try JSONValue(
            parsing: #"{"a":{"b":[true,false,null,1,-2.5,"x"]},"n":0,"yes":true}"#
        )
        let plain: [AnyHashable: Any] = [
            "yes": true, "n": 0, "a": ["b": [true, false, NSNull(), 1, -2.5, "x"] as [Any]] as [String: Any],
        ]
        #expect(try JSONValue.object(JSONObject(userInfo: plain)) == expected)
        let foreign: [AnyHashable: Any] = [
            "yes": NSNumber(value: true), "n": NSNumber(value: 0),
            "a": [
                "b": [
                    NSNumber(value: true), NSNumber(value: false), NSNull(), NSNumber(value: 1), NSNumber(value: -2.5),
                    "x",
                ] as [Any]
            ]
                as [String: Any],
        ]
        #expect(try JSONValue.object(JSONObject(userInfo: foreign)) == expected)
        #expect(try JSONObject(userInfo: [:]).isEmpty)
    }

    @Test func `refuses a value that is not JSON and reports its path`() {
        let values: [(Any, String)] = [(Date.now, "a[0].b"), (Double.nan, "a[0].b"), (Data([1]), "a[0].b")]
        for (value, path) in values {
            let error = #expect(throws: ModelError.self) {
                try JSONObject(userInfo: ["a": [["b": value] as [String: Any]] as [Any]])
            }
            #expect(error?.path == path)
        }
        #expect(throws: ModelError.self) { try JSONObject(userInfo: [7: "x"]) }
    }
}
