import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Creates an adapter whose type is known only by its id.
struct AdapterMaker {
    /// The settings that may hold an adapter's attribute names. An adapter that can rename attributes has one of them.
    static let nameSettings = ["attributeNames", "fieldNames"]

    /// The names of the secret settings.
    let secretNames: [String]
    /// The setting that holds the attribute names; nil if there is none.
    let nameSetting: String?
    /// Whether the adapter uses the credentials of contacts.
    let usesCredentials: Bool
    /// Reads the settings and creates the adapter. With `checkOnly`, it only reads the settings and returns nil.
    let make: (_ settings: JSONObject, _ path: String, _ checkOnly: Bool) throws(SettingsError) -> (any VendorAdapter)?

    init(_ api: any VendorAdapter.Type) { self = Self.open(api) }

    private init<Adapter: VendorAdapter>(of type: Adapter.Type) {
        let table = Adapter.Settings.table
        secretNames = table.secretNames
        nameSetting = Self.nameSettings.first(where: table.rows.map(\.name).contains)
        usesCredentials = Adapter.descriptor.delivery.usesCredentials
        make = { (settings, path, checkOnly) throws(SettingsError) in
            let settings = try table.read(settings, over: Adapter.Settings(), at: path)
            do throws(SettingsError) {
                return checkOnly ? nil : try Adapter(settings: settings)
            } catch {
                throw SettingsError(error.findings.map { $0.moved(from: "settings", to: path) })
            }
        }
    }

    private static func open<Adapter: VendorAdapter>(_ api: Adapter.Type) -> AdapterMaker { AdapterMaker(of: api) }
}

extension Finding {
    /// Returns the finding with its path moved from the adapter's `root` to a path in the configuration.
    fileprivate func moved(from root: String, to path: String) -> Finding {
        guard self.path == root || self.path.hasPrefix("\(root).") else { return self }
        var moved = self
        moved.path = path + self.path.dropFirst(root.count)
        return moved
    }
}
