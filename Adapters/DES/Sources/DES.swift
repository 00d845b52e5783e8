public import PatchbayAdapterKit

extension AdapterModule {
    /// DES, the Device Event Service of SAP Emarsys: the door for apps. The vendor's files of contacts belong to another
    /// product, so there is no file format.
    public static let des = AdapterModule(
        id: DESDevice.descriptor.id,
        title: DESDevice.descriptor.title,
        doors: [DESDevice.self],
        formats: [.desContacts]
    )
}
