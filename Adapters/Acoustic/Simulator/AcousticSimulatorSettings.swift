import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The settings of a simulated account.
struct AcousticSimulatorSettings: AdapterSettings {
    var appKey = ""
    var columns: [String: SimulatedColumn] = [:]
    var refusedColumns: [String] = []
    var knowsEveryUser = false
    var merged: [Subject: String] = [:]
    var updatesPerMinute = 60
    var eventLimit = 1000
    var showsCustomEvents = false

    static let table = SettingsTable<AcousticSimulatorSettings>([
        .text("appKey", \.appKey, "The only app of the account; any if not given."),
        SettingRow(
            "columns",
            form: "object of columns",
            schema: ["type": "object"],
            default: "{}",
            "The database's columns, as in the adapter's settings. If given, an update with another one is answered with "
                + "yes and lost."
        ) { value, settings in
            guard let object = value.object else {
                return .init("The value is \(value.typePhrase).", "Give an object.")
            }
            for member in object {
                guard let column = SimulatedColumn(member.value) else {
                    return .init("The column \"\(member.name)\" has no type.", "Give it a type.")
                }
                settings.columns[member.name] = column
            }
            return nil
        },
        .list(
            "refusedColumns",
            \.refusedColumns,
            default: "[]",
            "Columns that make the service refuse a whole request at once with 400."
        ),
        .flag(
            "knowsEveryUser",
            \.knowsEveryUser,
            default: false,
            "Whether users that never registered here are known: for ids that the app gives."
        ),
        .names(
            "merged",
            \.merged,
            default: "{}",
            "Users that the back end has merged into others, by id: the service names the other one."
        ),
        .integer(
            "updatesPerMinute",
            \.updatesPerMinute,
            in: 1...100_000,
            default: 60,
            "Updates and deletes of a user in a minute before the service throttles."
        ),
        .integer("eventLimit", \.eventLimit, in: 1...1000, default: 1000, "The most events of one request."),
        .flag(
            "showsCustomEvents",
            \.showsCustomEvents,
            default: false,
            "Whether support has switched Universal Behavior 95 on."
        ),
    ])
}
