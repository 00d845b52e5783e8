public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The settings of one mobile app in Campaign Classic (v7, v8).
public struct AdobeClassicSettings: AdapterSettings {
    /// The platform of the app, which determines details of the form.
    public enum Platform: String, NeutralWord {
        /// As the vendor's SDK for iOS.
        case ios
        /// As the vendor's SDK for Android.
        case android
    }

    /// The number of bits of a message's id that are sent.
    public enum MessageBits: String, NeutralWord {
        /// All bits: the id that the server means.
        case full = "64"
        /// The low 32, as the SDK for iOS up to 5.0.0.
        case low = "32"
    }

    /// The host that receives registrations.
    public var marketingServer = ""
    /// The host that receives push interactions.
    public var trackingServer = ""
    /// The app's key at the vendor.
    public var integrationKey = ""
    /// The kind of identifier that becomes the user key.
    public var userKey = IdentifierKind.email.rawValue
    /// The platform of the app.
    public var platform = Platform.ios
    /// The number of bits of a message's id that are sent.
    public var messageBits = MessageBits.full
    /// Names of parameters by attribute, where they differ.
    public var parameterNames: [AttributeName: String] = [:]
    /// Names of parameters by kind of identifier.
    public var identifierParameters: [IdentifierKind: String] = [:]
    /// Names of parameters by tag.
    public var tagParameters: [Tag: String] = [:]
    /// The form of points in time.
    public var timeForm = AdobeSettings.TimeForm.spaced
    /// The address that replaces the vendor's hosts in tests; empty by default.
    public var testAddress = ""

    /// The defaults; hosts and key are empty.
    public init() {}

    /// A digest of the server and the app.
    var account: String { Person.digest("\(marketingServer)\n\(integrationKey)") }
    /// The base address of registrations.
    var marketingBase: String { testAddress.isEmpty ? "https://\(marketingServer)" : testAddress }
    /// The base address of tracking.
    var trackingBase: String { testAddress.isEmpty ? "https://\(trackingServer)" : testAddress }

    /// Every setting.
    public static let table = SettingsTable<AdobeClassicSettings>([
        .host(
            "marketingServer",
            \.marketingServer,
            isRequired: true,
            rule: .adobe("C1"),
            "The host that takes registrations: bare, without `https://`, port or path."
        ),
        .host(
            "trackingServer",
            \.trackingServer,
            isRequired: true,
            rule: .adobe("C1"),
            "The host that takes what became of push messages: bare."
        ),
        .text(
            "integrationKey",
            \.integrationKey,
            isRequired: true,
            rule: .adobe("C10"),
            "The integration key of the mobile app, as Campaign shows it."
        ),
        .text(
            "userKey",
            \.userKey,
            default: "email",
            rule: .adobe("C11"),
            "The kind of identifier that becomes the user key: `email`, `external` or another."
        ),
        .choice(
            "platform",
            \.platform,
            default: .ios,
            rule: .adobe("C12"),
            "The app's platform, which decides the script and small differences of form."
        ),
        .choice(
            "messageBits",
            \.messageBits,
            default: .full,
            rule: .adobe("C6"),
            "How much of a message's number is sent: `64` bits, or the low `32` as the SDK for iOS up to 5.0.0."
        ),
        .names(
            "parameterNames",
            \.parameterNames,
            rule: .adobe("C13"),
            "Names of additional parameters by attribute; an attribute that is not listed keeps its own name."
        ),
        .names(
            "identifierParameters",
            \.identifierParameters,
            rule: .adobe("C11"),
            "Names of additional parameters by kind of identifier, for those that are not the user key."
        ),
        .names(
            "tagParameters",
            \.tagParameters,
            rule: .adobe("C14"),
            "Names of additional parameters by tag; each is `true` or `false`."
        ),
        .choice(
            "timeForm",
            \.timeForm,
            default: .spaced,
            rule: .adobe("C13"),
            "How a point in time is written: with a space between day and time, or as `iso`."
        ),
        .url(
            "testAddress",
            \.testAddress,
            isRequired: false,
            rule: .adobe("S2"),
            "Where everything goes instead of the vendor's hosts: a sandbox."
        ),
    ])
}
