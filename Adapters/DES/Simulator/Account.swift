import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The settings of a simulated application. An empty list means that every value is known.
struct Account: AdapterSettings {
    var applicationCodes: [String] = []
    var takesAnonymous = true
    var tokenLifetime = 28_800
    var handsOutState = true
    var answersEmpty = false
    var takesInlineViews = false
    var messages: JSONObject = [:]
    var actions: JSONObject = [:]
    var inlineMessages: [JSONValue] = []
    var inbox: [JSONValue] = []
    var geofences: JSONObject = [:]
    var remoteConfig: JSONObject = [:]
    var cancelledCampaigns: [String] = []

    static let table = SettingsTable<Account>([
        .list("applicationCodes", \.applicationCodes, "Codes of the applications that exist."),
        .flag("anonymousContacts", \.takesAnonymous, default: true, "Whether there are anonymous contacts."),
        .integer(
            "tokenLifetimeSeconds",
            \.tokenLifetime,
            in: 1...1_000_000,
            default: 28_800,
            "How long a contact token is good, in seconds."
        ),
        .flag("clientState", \.handsOutState, default: true, "Whether answers carry a client state."),
        .flag("emptyAnswers", \.answersEmpty, default: false, "Whether events are answered with 204 and no body."),
        .flag("inlineViews", \.takesInlineViews, default: false, "Whether inline requests may carry views."),
        .object("messages", \.messages, "Messages to show, by the name of the event that brings them."),
        .object("actions", \.actions, "Actions, by the name of the event that brings them."),
        .array("inlineMessages", \.inlineMessages, "Inline messages: campaignId, viewId, html."),
        .array("inbox", \.inbox, "Messages of the inbox."),
        .object("geofences", \.geofences, "The answer to a question for geofences."),
        .object("remoteConfig", \.remoteConfig, "The configuration from afar."),
        .list("cancelledCampaigns", \.cancelledCampaigns, "Cancelled campaigns: views and clicks are not needed."),
    ])
}

extension SettingRow<Account> {
    fileprivate static func object(
        _ name: String,
        _ path: any WritableKeyPath<Account, JSONObject> & Sendable,
        _ summary: String
    ) -> SettingRow {
        SettingRow(name, form: "object", schema: ["type": "object"], summary) { value, account in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            account[keyPath: path] = object
            return nil
        }
    }

    fileprivate static func array(
        _ name: String,
        _ path: any WritableKeyPath<Account, [JSONValue]> & Sendable,
        _ summary: String
    ) -> SettingRow {
        SettingRow(name, form: "list of objects", schema: ["type": "array", "items": ["type": "object"]], summary) {
            value,
            account in
            guard let list = value.array, list.allSatisfy({ $0.object != nil }) else {
                return Problem("It is no list of objects.", "Give a list of objects.")
            }
            account[keyPath: path] = list
            return nil
        }
    }
}
