import PatchbayAdapterKit
import PatchbayModel

/// Contacts that a registration leaves without a device: out of reach, and billed all the same (K12).
enum Orphans: Sendable {
    /// The warning that a contact key came or changed, if the vendor may have lost a contact's only device by it.
    ///
    /// - Parameters:
    ///   - key: the key that an operation gave.
    ///   - before: what was known before the registration.
    ///   - row: what to say of a key that replaced another.
    /// - Returns: the warning; nil if nobody is lost.
    static func finding(
        of key: String?,
        before: SalesforceDevice.Memory,
        row: FindingRow
    ) -> Finding? {
        guard let key else { return nil }
        if let old = before.registration.contactKey {
            return ContactKeyRules.areSame(old, key) ? nil : bill(row)
        }
        return before.isUnheardOf ? nil : bill(.contactKeyLate)
    }

    /// The warning that a new device was registered without a contact key, for which the vendor may invent a contact.
    static func finding(before: SalesforceDevice.Memory, after: Registration) -> Finding? {
        let isNew = before.acceptedAs == nil && after.adoptedID == nil
        return isNew && after.contactKey == nil ? bill(.contactKeyLacking) : nil
    }

    private static func bill(_ row: FindingRow) -> Finding {
        RuleID.salesforce("K12").fire()
        return row.at()
    }
}
