package import PatchbayAdapterKit
import PatchbayModel

extension ConsentTable {
    /// Salesforce's consent values, of files and of the server API.
    package static let salesforce: ConsentTable = {
        let subscriber = "help: Import File Requirements for Email Studio; SubscriberStatus of the SOAP API"
        let view = "data views _PushAddress, _MobileAddress and _MobileSubscription; help article 005314329"
        let optOut = "data views _PushAddress, _MobileSubscription and _SMSSubscriptionLog (opt-out status)"
        let column = "data extensions: fields of the type Boolean"
        let words = ["Held", "Bounced", "Deleted", "Active"]
        return ConsentTable([
            Row(statusColumns, "messages on every channel", ["Unsubscribed", "Unsubscribe"], .denied, subscriber),
            Row(statusColumns, "messages on every channel", words, .silent, subscriber),
            Row(statusColumns, "messages on every channel", ["Inactive", "1", "2"], .silent, view),
            Row(
                [mobileStatus],
                "sms",
                ["Unsubscribe", "Unsubscribed"],
                .state(.unsubscribed),
                "import of mobile contacts"
            ),
            Row([mobileStatus], "sms", words + ["Inactive", "1", "2"], .state(.unknown), "import of mobile contacts"),
            Row(optOutColumns, "push, or sms in a view of MobileConnect", ["1"], .state(.unsubscribed), optOut),
            Row(optOutColumns, "push, or sms in a view of MobileConnect", ["0"], .silent, optOut),
            Row([boolean], "the subscription of the column", ["True", "1", "Yes"], .state(.subscribed), column),
            Row([boolean], "the subscription of the column", ["False", "0", "No"], .state(.unsubscribed), column),
        ])
    }()

    package static let statusColumns = ["_Status", "Status", "Subscriber Status", "SubscriberStatus"]
    package static let optOutColumns = ["_OptOutStatusID", "OptOutStatusID"]
    /// `_Status` of an import of mobile contacts.
    package static let mobileStatus = "_Status of mobile contacts"
    /// Columns of the setting `subscriptionColumns`.
    static let boolean = "subscriptionColumns"
}
