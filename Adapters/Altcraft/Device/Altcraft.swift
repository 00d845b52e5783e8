public import PatchbayAdapterKit

extension AdapterModule {
    /// The device API of Altcraft, for apps.
    public static let altcraft = AdapterModule(
        id: AltcraftDevice.descriptor.id,
        title: AltcraftDevice.descriptor.title,
        apis: [AltcraftDevice.self]
    )
}
