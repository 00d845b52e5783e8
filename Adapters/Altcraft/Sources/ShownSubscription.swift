import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A subscription as the platform shows it, in files and in answers alike.
struct ShownSubscription: Sendable {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    /// The channel; nil if none is named.
    var channel: String? { json["channel"]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    /// The number of the resource, which may stand there as text; nil if it is no whole number from 1.
    var resource: Int? {
        let value = json["resource_id"]
        guard let number = value?.number ?? value?.string.flatMap({ JSONNumber(text: $0.trimmed) }) else { return nil }
        let parts = ExactDecimal(number)?.text.split(separator: ".") ?? []
        guard let whole = parts.first, parts.dropFirst().allSatisfy({ $0.allSatisfy { $0 == "0" } }) else { return nil }
        return Int(whole).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether a status stands there, readable or not.
    var hasStatus: Bool { json["status"].map { !$0.isNull } ?? false }

    /// What the status says, in letters of either case; nil if it is none of the vendor's words.
    var state: Subscription.State? {
        json["status"]?.string.flatMap { Subscription.State(rawValue: $0.trimmed.lowercased()) }
    }

    /// Whether the platform calls it deleted: anything but a clear no counts.
    var isDeleted: Bool { json["is_delete"].map { ![.null, false, 0].contains($0) } ?? false }
}
