public import PatchbayAdapterKit

extension AdapterModule {
    /// The device API of Acoustic Campaign, for apps.
    public static let acoustic = AdapterModule(
        id: AcousticDevice.descriptor.id,
        title: AcousticDevice.descriptor.title,
        apis: [AcousticDevice.self]
    )
}
