import PatchbayAdapterKit
import PatchbayModel

/// Reports contacts that a registration leaves without a device. They cannot be reached and are billed nevertheless
/// (K12).
enum Orphans: Sendable {
    /// Returns the warning about a new or changed contact key that may take a contact's only device away.
    ///
    /// - Parameters:
    ///   - key: The key that an operation passed.
    ///   - before: The memory before the registration.
    ///   - after: The registration that the vendor acknowledged.
    ///   - row: The finding about a key that replaced another.
    ///   - change: The settings' treatment of attributes and tags of the person before.
    /// - Returns: The warning; nil if no contact loses its device.
    static func finding(
        of key: String?,
        before: SalesforceDevice.Memory,
        after: Registration,
        row: FindingRow,
        change: SalesforceSettings.ContactChange
    ) -> Finding? {
        guard let key else { return nil }
        let old = before.acceptedAs == nil ? before.heldKey : before.registration.contactKey
        let former = after.handOver.map { detail(of: $0, change) }
        if let old { return ContactKeyRules.areSame(old, key) ? nil : row.at(detail: former) }
        return before.mayBeKeyless == true ? FindingRow.contactKeyLate.at(detail: former) : nil
    }

    /// Returns the finding about attributes and tags of the person before; nil if there were none.
    static func finding(ofHandOver after: Registration, change: SalesforceSettings.ContactChange) -> Finding? {
        let row: FindingRow = change == .keep ? .attributesCarriedOver : .attributesCleared
        return after.handOver.map { row.at(detail: detail(of: $0, change)) }
    }

    /// Names the data that the device carried of the person before (A14).
    private static func detail(of former: Registration.HandOver, _ change: SalesforceSettings.ContactChange) -> String {
        let names =
            former.attributes.isEmpty ? "no attribute" : "attributes \(former.attributes.joined(separator: ", "))"
        let tags = former.tags == 1 ? "1 tag" : "\(former.tags) tags"
        switch change {
        case .clear: return "emptied of the person before: \(names); removed: \(tags)"
        case .keep: return "carried over from the person before: \(names); \(tags)"
        }
    }

    /// Returns the warning that a new device was registered without a contact key, for which the vendor may invent a
    /// contact.
    static func finding(before: SalesforceDevice.Memory, after: Registration) -> Finding? {
        let isNew = before.acceptedAs == nil && after.adoptedID == nil
        return isNew && after.contactKey == nil ? FindingRow.contactKeyLacking.at() : nil
    }
}
