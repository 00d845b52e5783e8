import PatchbayAcoustic
import PatchbayAcousticFiles
import PatchbayAcousticServer
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayAdobeFiles
import PatchbayAdobeServer
import PatchbayAdobeSimulator
import PatchbayAltcraft
import PatchbayAltcraftFiles
import PatchbayAltcraftServer
import PatchbayAltcraftSimulator
import PatchbayDES
import PatchbayDESFiles
import PatchbayDESSimulator
import PatchbayMigration
import PatchbayRecords
import PatchbaySalesforce
import PatchbaySalesforceFiles
import PatchbaySalesforceServer
import PatchbaySalesforceSimulator

/// The vendors that the program is built with. No other file of the command names a vendor.
enum Vendors {
    /// The APIs.
    static let modules: [AdapterModule] = [
        .acoustic.with(.acousticServer), .adobe.with(.adobeServer), .altcraft.with(.altcraftServer), .des,
        .salesforce.with(.salesforceServer),
    ]
    /// The file formats.
    static let files: [VendorFiles] = [.acoustic, .adobe, .altcraft, .des, .salesforce]

    /// The server APIs that are targets of migrations.
    static var serverAPIs: [any VendorAdapter.Type] {
        modules.flatMap(\.apis).filter { $0.descriptor.side == .server }
    }

    /// The import routes of a format's vendor.
    static func loads(of format: RecordFormat) -> [ImportRoute] {
        let vendor = files.first { $0.formats.contains { $0.id == format.id } }
        return (vendor?.loads ?? []).filter { $0.format ?? format.id == format.id }
    }

    /// Returns the documented reason of a finding's code; an empty text if there is none.
    static func sentence(for code: String) -> String {
        let all =
            modules.flatMap(\.apis).flatMap { $0.descriptor.tables.findings } + files.flatMap(\.findings)
            + Migration.findings
        let rows = all.filter { $0.code == code }
        // A code with several sentences does not determine which one applies.
        let reasons = Set(rows.map(\.reason))
        return reasons.count == 1 ? reasons.map { "\($0) (\(code))" }[0] : code
    }

    /// The simulators of the vendors, for the sandbox and for predicting requests.
    static let simulators: [any VendorSimulator.Type] = [
        AcousticSimulator.self, AcousticServerSimulator.self, AdobeSimulator.self, AdobeClassicSimulator.self,
        AdobeServerSimulator.self,
        AltcraftSimulator.self, AltcraftServerSimulator.self,
        DESSimulator.self, SalesforceSimulator.self, SalesforceServerSimulator.self,
    ]

    /// The test profiles of randomized fault-injection runs: the operations for each vendor, and the invariants to check.
    static let scenes: [any VendorScene.Type] = [
        AcousticScene.self, AcousticServerScene.self, AdobeScene.self, AdobeClassicScene.self,
        AdobeServerScene.self, AltcraftScene.self, AltcraftServerScene.self, DESScene.self, DESProofScene.self,
        SalesforceScene.self, SalesforceServerScene.self, SalesforceServerRowsScene.self,
    ]
}

extension AdapterModule {
    /// Returns a module that also has the APIs of another module of the same vendor.
    fileprivate func with(_ other: AdapterModule) -> AdapterModule {
        AdapterModule(id: id, title: title, apis: apis + other.apis)
    }
}
