public import PatchbayAdapterKit
public import PatchbayModel

/// Contacts go in; what the account holds of many can't be asked for by their keys yet, so nothing is read back.
extension AdobeServer: ContactDoor {
    /// What finds a profile.
    public var keyKind: IdentifierKind {
        settings.identifierFields.first { $0.value == settings.keyField }?.key
            ?? (settings.keyField == "email" ? .email : .external)
    }

    /// The requests that an amount makes: what is said of a profile goes together, a subscription to a service by itself.
    public func work(for amount: DoorAmount) -> [DoorWork] {
        let finds = (settings.matching == .key ? 0 : amount.contacts) + amount.topics
        return [
            DoorWork("find", requests: finds, note: "each contact, and each subscription, looks for its profile first"),
            DoorWork(
                "profile",
                requests: amount.contacts,
                note: "then the profile is made or changed; the rate stands in the licence"
            ),
            DoorWork("service", requests: amount.topics, note: "which service a topic is"),
            DoorWork(
                "subscriptions",
                requests: 2 * amount.topics,
                note: "what the profile is subscribed to is asked for, and then a subscription is made or ended"
            ),
        ]
    }
}
