public import PatchbayAdapterKit
public import PatchbayModel

/// Contacts go in; what the account holds of many can't be asked for by their keys yet, so nothing is read back.
extension AdobeServer: ContactDoor {
    /// What finds a profile.
    public var keyKind: IdentifierKind {
        settings.identifierFields.first { $0.value == settings.keyField }?.key
            ?? (settings.keyField == "email" ? .email : .external)
    }

    /// The requests that an amount makes.
    public func work(for amount: DoorAmount) -> [DoorWork] {
        [
            DoorWork("find", requests: amount.all, note: "each word looks for its profile first"),
            DoorWork(
                "profile",
                requests: amount.all,
                note: "then the profile is made or changed; the rate stands in the licence"
            ),
        ]
    }
}
