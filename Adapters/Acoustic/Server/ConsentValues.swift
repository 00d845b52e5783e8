package import PatchbayAdapterKit
import PatchbayModel

extension ConsentTable {
    /// Acoustic's consent values, of files and of the server API.
    package static let acoustic: ConsentTable = {
        let export = "help article 360043349433: field of exported opt-outs"
        let consent =
            "documentation of the shared channel consent API (shared-channel-consent-api); import block CONSENT"
        let column = "Engage XML API: columns of the type Yes/No"
        let fields = [consentStatus, consentCode]
        return ConsentTable([
            Row([optedOut], "email", ["F"], .state(.subscribed), export),
            Row([optedOut], "email", ["T"], .state(.unsubscribed), export),
            Row([optedOut], "email", ["U"], .state(.suspended), export + " (undeliverable)"),
            Row(fields, "push, sms", ["OPTED-IN", "OPT-IN"], .state(.subscribed), consent),
            Row(fields, "push, sms", ["OPTED-OUT", "OPT-OUT"], .state(.unsubscribed), consent),
            Row([yesNo], "the subscription of the column", ["Yes"], .state(.subscribed), column),
            Row([yesNo], "the subscription of the column", ["No"], .state(.unsubscribed), column),
        ])
    }()

    package static let optedOut = "Opted Out"
    package static let consentCode = "CONSENT_STATUS_CODE"
    static let consentStatus = "status"
    /// Columns of the setting `subscriptionColumns`.
    static let yesNo = "subscriptionColumns"
}
