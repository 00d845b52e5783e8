package import PatchbayAdapterKit
import PatchbayAltcraft
package import PatchbayJSON

/// A subscription in an import record, of files and of the server API.
package struct ImportSubscription: Sendable {
    var channel: String
    var resource: Int
    var email: String?
    var phone: String?
    var provider: String?
    package var token: String?
    var status: String
    var fields: JSONValue?

    package init(
        channel: String,
        resource: Int,
        email: String?,
        phone: String?,
        provider: String?,
        token: String?,
        status: String,
        fields: JSONValue?
    ) {
        (self.channel, self.resource, self.email, self.phone) = (channel, resource, email, phone)
        (self.provider, self.token, self.status, self.fields) = (provider, token, status, fields)
    }

    package static let table = FieldTable<ImportSubscription>(
        "A subscription in it",
        [
            .required("channel", \.channel, .text, from: "subscriptions.channel", rule: .altcraft("X3")),
            .required("resource_id", \.resource, .integer, from: "settings.resources", rule: .altcraft("X3")),
            .optional("email", \.email, .text, from: "identifiers.email", rule: .altcraft("X3")),
            .optional("phone", \.phone, .text, from: "identifiers.phone", rule: .altcraft("X3")),
            .optional("provider", \.provider, .text, from: "devices.pushToken.service", rule: .altcraft("T7")),
            .optional("subscription_id", \.token, .text, from: "devices.pushToken.value", rule: .altcraft("X3")),
            .required("status", \.status, .text, from: "subscriptions.state", rule: .altcraft("X4")),
            .optional("custom_fields", \.fields, .json, from: "subscriptions.fields", rule: .altcraft("X6")),
        ]
    )
}
