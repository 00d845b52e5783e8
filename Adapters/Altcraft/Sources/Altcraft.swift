public import PatchbayAdapterKit

extension AdapterModule {
    /// Altcraft: the API for apps, the API for back ends, and the file of profiles to import.
    public static let altcraft = AdapterModule(
        id: AltcraftDevice.descriptor.id,
        title: AltcraftDevice.descriptor.title,
        apis: [AltcraftDevice.self, AltcraftServer.self]
    )
}
