public import PatchbayAdapterKit

extension AdapterModule {
    /// Acoustic Campaign: the device API for apps, and the server API for back ends.
    public static let acoustic = AdapterModule(
        id: AcousticDevice.descriptor.id,
        title: AcousticDevice.descriptor.title,
        apis: [AcousticDevice.self, AcousticServer.self]
    )
}
