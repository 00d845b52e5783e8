public import PatchbayAdapterKit

extension AdapterModule {
    /// The device APIs of Adobe Campaign Standard and Adobe Campaign Classic, for apps.
    public static let adobe = AdapterModule(
        id: AdobeDevice.descriptor.id,
        title: "Adobe Campaign",
        apis: [AdobeDevice.self, AdobeClassicDevice.self]
    )
}
