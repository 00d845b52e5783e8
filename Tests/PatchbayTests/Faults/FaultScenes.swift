import PatchbayAcoustic
import PatchbayAcousticServer
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayAdobeServer
import PatchbayAdobeSimulator
import PatchbayAltcraft
import PatchbayAltcraftServer
import PatchbayAltcraftSimulator
import PatchbayDES
import PatchbayDESSimulator
import PatchbaySalesforce
import PatchbaySalesforceServer
import PatchbaySalesforceSimulator
import PatchbaySimulation

/// Every API with its scene.
enum FaultScenes {
    private static let modules: [AdapterModule] = [
        .acoustic, .acousticServer, .adobe, .adobeServer, .altcraft, .altcraftServer, .des, .salesforce,
        .salesforceServer,
    ]
    private static let scenes: [any VendorScene.Type] = [
        AcousticScene.self, AcousticServerScene.self, AdobeScene.self, AdobeClassicScene.self,
        AdobeServerScene.self, AltcraftScene.self, AltcraftServerScene.self, DESScene.self, DESProofScene.self,
        SalesforceScene.self, SalesforceServerScene.self, SalesforceServerRowsScene.self,
    ]

    static func apis() throws -> [SceneAPI] { try scenes.map { try SceneAPI($0, among: modules.flatMap(\.apis)) } }

    static func table() throws -> FaultTable { FaultTable(apis: try apis()) }
}
