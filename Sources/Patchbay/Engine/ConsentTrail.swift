import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The trail of what people allowed, as an outbox keeps it.
package enum ConsentTrail {
    static let saltKey = "consentSalt"

    /// The name of a subject in the trail of that outbox; nil while it has no trail.
    package static func digest(of subject: Subject, in store: OutboxStore) throws -> String? {
        guard let salt = try store.meta(saltKey) else { return nil }
        return SHA256.digest(of: Array("\(salt)/\(subject.rawValue)".utf8)).hexText
    }
}
