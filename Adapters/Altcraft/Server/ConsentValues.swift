import PatchbayAdapterKit
import PatchbayModel

extension ConsentTable {
    /// Altcraft's statuses of a subscription and of a whole profile, of files and of the server API.
    static let altcraft: ConsentTable = {
        let source =
            "Altcraft documentation: Subscription status (a word and a number are both valid), Profile data object"
        let shown = ShownSubscription.statuses.map { entry in
            Row(
                [status],
                "the channel and resource of the entry",
                [entry.word, String(entry.number)],
                .state(entry.state),
                source
            )
        }
        let global = ShownSubscription.statuses.map { entry in
            Row(
                [ShownSubscription.globalStatus],
                "messages on every channel",
                [entry.word, String(entry.number)],
                entry.state.isOptOut ? .denied : .silent,
                source
            )
        }
        return ConsentTable(shown + global)
    }()

    static let status = "subscriptions.status"
}
