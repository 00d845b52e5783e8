public import PatchbayAdapterKit

extension AdapterModule {
    /// Altcraft: the door for apps, the door for back ends, and the file of profiles to import.
    public static let altcraft = AdapterModule(
        id: AltcraftDevice.descriptor.id,
        title: AltcraftDevice.descriptor.title,
        doors: [AltcraftDevice.self, AltcraftServer.self],
        loads: LoadDoor.altcraft,
        formats: [.altcraftProfiles]
    )
}
