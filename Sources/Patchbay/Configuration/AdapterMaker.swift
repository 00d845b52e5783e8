import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Makes an adapter whose type is known only by its id.
struct AdapterMaker {
    /// Settings that hold an adapter's names of attributes; an adapter that can rename has one of them.
    static let nameSettings = ["attributeNames", "fieldNames"]

    /// Which settings are secret.
    let secretNames: [String]
    /// The setting that holds the names of attributes, if there is one.
    let nameSetting: String?
    /// Whether contacts' credentials are asked for.
    let usesCredentials: Bool
    /// Reads settings and makes the adapter; with `checkOnly` it stops after reading and returns nil.
    let make: (_ settings: JSONObject, _ path: String, _ checkOnly: Bool) throws(SettingsError) -> (any VendorAdapter)?

    init(_ api: any VendorAdapter.Type) { self = Self.open(api) }

    private init<Adapter: VendorAdapter>(of type: Adapter.Type) {
        let table = Adapter.Settings.table
        secretNames = table.secretNames
        nameSetting = Self.nameSettings.first(where: table.rows.map(\.name).contains)
        usesCredentials = Adapter.descriptor.usesCredentials
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
    /// The finding where what an adapter knows as `root` stands in a configuration.
    fileprivate func moved(from root: String, to path: String) -> Finding {
        guard self.path == root || self.path.hasPrefix("\(root).") else { return self }
        var moved = self
        moved.path = path + self.path.dropFirst(root.count)
        return moved
    }
}
