public import PatchbayAdapterKit

extension AdapterModule {
    /// Acoustic Campaign: the door for apps.
    public static let acoustic = AdapterModule(
        id: AcousticDevice.descriptor.id,
        title: AcousticDevice.descriptor.title,
        doors: [AcousticDevice.self],
        loads: LoadDoor.acoustic,
        formats: [.acousticContacts]
    )
}
