public import PatchbayAdapterKit

extension AdapterModule {
    /// DES, the Device Event Service of SAP Emarsys: the door for apps, and the contact files of the platform behind it.
    public static let des = AdapterModule(
        id: DESDevice.descriptor.id,
        title: DESDevice.descriptor.title,
        doors: [DESDevice.self],
        loads: LoadDoor.des,
        formats: [.desContacts]
    )
}
