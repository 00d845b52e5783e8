public import PatchbayAdapterKit

extension AdapterModule {
    /// DES, the Device Event Service of SAP Emarsys: the API for apps, and the contact files of the platform behind it.
    public static let des = AdapterModule(
        id: DESDevice.descriptor.id,
        title: DESDevice.descriptor.title,
        apis: [DESDevice.self],
        loads: ImportRoute.des,
        formats: [.desContacts]
    )
}
