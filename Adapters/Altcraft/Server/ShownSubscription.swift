import PatchbayAdapterKit
package import PatchbayJSON
package import PatchbayModel

/// A subscription as the platform shows it, in files and in replies.
package struct ShownSubscription: Sendable {
    package let json: JSONValue

    package init(_ json: JSONValue) { self.json = json }

    /// The channel; nil if the entry names none.
    package var channel: String? { json["channel"]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    /// The number of the resource, which may be text; nil if it is no whole number from 1.
    package var resource: Int? {
        let value = json["resource_id"]
        guard let number = value?.number ?? value?.string.flatMap({ JSONNumber(text: $0.trimmed) }) else { return nil }
        let parts = ExactDecimal(number)?.text.split(separator: ".") ?? []
        guard let whole = parts.first, parts.dropFirst().allSatisfy({ $0.allSatisfy { $0 == "0" } }) else { return nil }
        return Int(whole).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether the subscription has a status, readable or not.
    package var hasStatus: Bool { json["status"].map { !$0.isNull } ?? false }

    /// The state of the status, which is a name in either case or a number; nil if it is not one of the vendor's.
    package var state: Subscription.State? { json["status"].flatMap(Self.state) }

    /// Returns the state of a status; nil if it is not one of the vendor's.
    package static func state(_ status: JSONValue) -> Subscription.State? {
        let text = status.string?.trimmed.lowercased() ?? status.integer.map { String($0) }
        return text.flatMap { states[$0] }
    }

    /// The member of a profile with its global status. An opt-out in it covers every channel, an opt-in has no effect.
    package static let globalStatus = "_status"

    /// The names and numbers that are no opt-out.
    package static let neutralStatuses: [String] = states.filter { $0.value == .subscribed || $0.value == .unknown }
        .keys
        .sorted()

    /// The vendor's statuses. Each is written as its name or as its number.
    ///
    /// An address that cannot be reached (3, 6) or is not confirmed (4) is neither an opt-in nor an opt-out.
    package static let statuses: [(number: Int, word: String, state: Subscription.State)] = [
        (0, "subscribed", .subscribed), (1, "unsubscribed", .unsubscribed), (2, "complained", .unsubscribed),
        (3, "hardbounced", .unknown), (4, "unconfirmed", .unknown), (5, "suspended", .suspended),
        (6, "invalid", .unknown),
    ]

    /// The states by name and by number. The name `unknown` is the model's own.
    package static let states: [String: Subscription.State] =
        ConsentTable.altcraft.states(of: ConsentTable.status).merging(["unknown": .unknown]) { own, _ in own }

    /// The members of an entry that hold the address it is for, by the kind of identifier.
    package static let addressMembers: [(name: String, kind: IdentifierKind)] = [("email", .email), ("phone", .phone)]

    /// The address of the entry; nil if it names none.
    package var address: Identifier? {
        let channel = channel
        let members = Self.addressMembers.filter { ($0.kind == .email) == (channel == Channel.email.rawValue) }
        return members.lazy.compactMap { member in
            let text = json[member.name]?.string ?? json[member.name]?.number?.text
            return text.flatMap { $0.trimmed.isEmpty ? nil : Identifier(member.kind, $0.trimmed) }
        }.first
    }

    /// Whether the platform calls it deleted: anything but a clear no counts.
    package var isDeleted: Bool { json["is_delete"].map { ![.null, false, 0].contains($0) } ?? false }
}
