import PatchbayAdapterKit
import PatchbayModel

extension ConsentTable {
    /// The consent values of Emarsys contact files.
    static let des: ConsentTable = {
        let field = "Emarsys help: The Emarsys system fields (field 31, Opt-In)"
        return ConsentTable([
            Row([optIn], "email", ["True", "1"], .state(.subscribed), field),
            Row([optIn], "email", ["False", "2"], .state(.unsubscribed), field),
            Row([optIn], "email", ["Yes"], .state(.subscribed), "Emarsys import wizard: matching of opt-in values"),
            Row([optIn], "email", ["No"], .state(.unsubscribed), "Emarsys import wizard: matching of opt-in values"),
        ])
    }()

    static let optIn = "Opt-In"
}
