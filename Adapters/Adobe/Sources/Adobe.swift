public import PatchbayAdapterKit

extension AdapterModule {
    /// Adobe Campaign: the API for apps of Campaign Standard, the one of Campaign Classic, and that for back ends.
    public static let adobe = AdapterModule(
        id: AdobeDevice.descriptor.id,
        title: "Adobe Campaign",
        apis: [AdobeDevice.self, AdobeClassicDevice.self, AdobeServer.self]
    )
}
