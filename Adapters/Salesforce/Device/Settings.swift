public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The settings of one MobilePush app.
public struct SalesforceSettings: AdapterSettings {
    /// The effect of removing an attribute at the vendor.
    public enum Unset: String, NeutralWord {
        /// The attribute is sent with an empty value, which empties it at the vendor.
        case blank
        /// The attribute is omitted from then on, and the vendor keeps its last value.
        case stopSending
    }

    /// The treatment of attributes and tags when the device changes to another contact.
    public enum ContactChange: String, NeutralWord {
        /// The attributes are sent with empty values and the tags are removed.
        case clear
        /// They stay and are sent under the next contact key, as the vendor's own SDK does.
        case keep
    }

    /// The name of a registration's id, which differs between the vendor's own versions.
    public enum RegistrationIDKey: String, NeutralWord {
        /// As in the vendor's user-data page.
        case registrationId
        /// As in its newer field list.
        case uuid
    }

    /// The account's device host, without a slash at its end.
    public var endpoint = ""
    /// The MobilePush application id.
    public var applicationID = ""
    /// The app's MobilePush access token: 24 characters.
    public var accessToken: Secret?
    /// Whether nothing is sent before the contact key is known.
    public var delayRegistrationUntilContactKeyIsSet = false
    /// The kind of identifier that becomes the contact key.
    public var contactKeyIdentifier = IdentifierKind.external.rawValue
    /// The account's names of attributes, where they differ from the neutral ones.
    public var attributeNames: [AttributeName: String] = [:]
    /// The attributes that the account defines; if empty, names are not checked.
    public var accountAttributes: [String] = []
    /// The effect of removing an attribute.
    public var unset = Unset.blank
    /// The treatment of attributes and tags when the device changes to another contact.
    public var contactChange = ContactChange.clear
    /// Whether tags that differ in case alone are one tag.
    public var tagsIgnoreCase = true
    /// Whether this is a debug build, which carries the tag DEBUG.
    public var isDebugBuild = false
    /// Whether the registration is sent again to renew a refused subscriber token.
    public var renewSubscriberToken = true
    /// The name of a registration's id.
    public var registrationIDKey = RegistrationIDKey.registrationId

    /// The defaults; host, application and token are empty.
    public init() {}

    /// Every setting.
    public static let table = SettingsTable<SalesforceSettings>([
        .url(
            "endpoint",
            \.endpoint,
            rule: .salesforce("W25"),
            "The account's device host, for example `https://mc….device.marketingcloudapis.com`."
        ),
        .text(
            "applicationId",
            \.applicationID,
            isRequired: true,
            rule: .salesforce("W1"),
            "The MobilePush application id, a GUID; white space around it is removed.",
            check: { text in
                UUIDText.isValid(text)
                    ? nil
                    : .init(
                        "The value is not a GUID.",
                        "Copy the application id from the MobilePush administration page."
                    )
            }
        ),
        .secret(
            "accessToken",
            \.accessToken,
            rule: .salesforce("W26"),
            "The app's MobilePush access token, exactly 24 characters.",
            check: { text in
                let isFine = text.utf8.count == 24 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                let reason =
                    text.count == 24
                    ? "It holds spaces, control characters or other scripts."
                    : "The value has \(text.count) characters, not 24."
                return isFine
                    ? nil : .init(reason, "Copy the access token from the MobilePush administration page.")
            }
        ),
        .flag(
            "delayRegistrationUntilContactKeyIsSet",
            \.delayRegistrationUntilContactKeyIsSet,
            default: false,
            rule: .salesforce("S12"),
            "Send nothing before a contact key is known; for apps whose installs all belong to known contacts."
        ),
        .text(
            "contactKeyIdentifier",
            \.contactKeyIdentifier,
            default: "external",
            rule: .salesforce("K5"),
            "The kind of identifier that becomes the contact key: `external`, `email`, `phone` or your own."
        ),
        .names(
            "attributeNames",
            \.attributeNames,
            default: "{}",
            rule: .salesforce("A9"),
            "The account's attribute names by neutral name; an attribute without an entry keeps its neutral name."
        ),
        .list(
            "accountAttributes",
            \.accountAttributes,
            default: "[]",
            rule: .salesforce("A9"),
            "The attributes that the account defines. If given, others are not sent: one unknown attribute can cost the "
                + "whole registration."
        ),
        .choice(
            "unset",
            \.unset,
            default: .blank,
            rule: .salesforce("A7"),
            "What removing an attribute does: `blank` empties it at the vendor, `stopSending` leaves its last value there."
        ),
        .choice(
            "contactChange",
            \.contactChange,
            default: .clear,
            rule: .salesforce("A14"),
            "What happens to attributes and tags when another contact key is set: `clear` empties and removes them, `keep` "
                + "sends them under the next key, as the vendor's SDK does."
        ),
        .flag(
            "tagsIgnoreCase",
            \.tagsIgnoreCase,
            default: true,
            rule: .salesforce("T4"),
            "Tags that differ in case alone are one tag, and the last spelling wins."
        ),
        .flag(
            "debug",
            \.isDebugBuild,
            default: false,
            rule: .salesforce("T5"),
            "A debug build: adds the automatic tag `DEBUG`."
        ),
        .flag(
            "renewSubscriberToken",
            \.renewSubscriberToken,
            default: true,
            rule: .salesforce("E14"),
            "When events are refused with 401 or 403, ask for a new subscriber token by sending the registration again."
        ),
        .choice(
            "registrationIdKey",
            \.registrationIDKey,
            default: .registrationId,
            rule: .salesforce("W3"),
            "What the registration's id is called on the wire."
        ),
    ])

    /// The findings about combinations of valid settings.
    var problems: [Finding] {
        var findings: [Finding] = []
        var owners: [String: AttributeName] = [:]
        for (name, wireName) in attributeNames.inOrder {
            let path = "attributeNames.\(name.rawValue)"
            if let row = AttributeRules.problem(ofWireName: wireName.trimmed) { findings.append(row.at(path)) }
            if let owner = owners.updateValue(name, forKey: wireName.trimmed) {
                findings.append(FindingRow.attributeCollision.at(path, detail: "the same as \(owner.rawValue)"))
            }
        }
        for (place, name) in accountAttributes.enumerated() {
            if let row = AttributeRules.problem(ofWireName: name.trimmed) {
                findings.append(row.at("accountAttributes[\(place)]"))
            }
        }
        return findings.map(\.asError)
    }
}
