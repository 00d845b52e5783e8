public import PatchbayAdapterKit

extension AdapterModule {
    /// Adobe Campaign: the door for apps of Campaign Standard, and the one of Campaign Classic.
    public static let adobe = AdapterModule(
        id: AdobeDevice.descriptor.id,
        title: "Adobe Campaign",
        doors: [AdobeDevice.self, AdobeClassicDevice.self],
        loads: LoadDoor.adobe,
        formats: [.adobeProfiles]
    )
}
