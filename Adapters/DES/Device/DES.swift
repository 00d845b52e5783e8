public import PatchbayAdapterKit

extension AdapterModule {
    /// DES, the Device Event Service of SAP Emarsys: the device API.
    public static let des = AdapterModule(
        id: DESDevice.descriptor.id,
        title: DESDevice.descriptor.title,
        apis: [DESDevice.self]
    )
}
