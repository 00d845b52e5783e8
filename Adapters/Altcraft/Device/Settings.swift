public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The settings of one Altcraft mobile push resource.
///
/// They contain no API token of the server API: it must never be part of an app.
public struct AltcraftSettings: AdapterSettings {
    /// The request that carries changes of attributes and tags.
    public enum ProfileUpdates: String, NeutralWord {
        /// The profile request with a contact's token. With a role token the subscription request, because only it
        /// contains the push token by which the profile is found.
        case automatic
        /// The request for profiles alone.
        case profileUpdate
        /// The subscription request with profile fields, as older SDKs do.
        case subscribe
    }

    /// The treatment of an operation whose reply is 401 or 403.
    public enum OnUnauthorized: String, NeutralWord {
        /// It is rejected, as the vendor documents.
        case reject
        /// It is kept, and the provider stops until a person acts.
        case suspend = "park"
    }

    /// The matching mode in the query when a role token signs.
    public enum RoleTokenMatching: String, NeutralWord {
        /// `push_sub`, as on Android: by push token.
        case pushSubscription = "push_sub"
        /// The role token itself, as on iOS.
        case token
    }

    /// The vendor's names for a phone or tablet.
    public enum DeviceType: String, NeutralWord {
        /// As in the vendor's page and the first SDKs.
        case mobile = "Mobile"
        /// As in newer SDKs.
        case mob
    }

    /// The form of Boolean values in a query.
    public enum FlagText: String, NeutralWord {
        /// `true` and `false`.
        case words
        /// `1` and `0`, as older SDKs.
        case digits
    }

    /// The form of a gender.
    public enum GenderForm: String, NeutralWord {
        /// `male` and `female`.
        case word
        /// The number of the server interface: 1 and 2.
        case code
    }

    /// The treatment of a profile or subscription field whose value is null.
    public enum NullFields: String, NeutralWord {
        /// It is sent, as on Android.
        case send
        /// The field is left out with a finding, as on iOS.
        case omit
    }

    /// The vendor's treatment of the list of categories in a subscription request.
    public enum CategoryLists: String, NeutralWord {
        /// Categories outside the list stay as they are. Only changes are sent.
        case merge
        /// Categories outside the list are removed. The whole list is sent, after a query if it is unknown.
        case replace
    }

    /// The meaning of an error number in a reply with a status of 200 to 299.
    public enum ErrorInSuccess: String, NeutralWord {
        /// The status decides, as in both SDKs. A finding reports the number.
        case accept
        /// The operation is rejected and can be replayed.
        case reject
    }

    /// The form of a message's id in a custom event.
    public enum MessageIDForm: String, NeutralWord {
        /// As a JSON string, in quotes, as on iOS.
        case json
        /// As it is, as on Android.
        case text
    }

    /// The interface's address, without a slash at its end.
    public var apiURL = ""
    /// The resource's role token. If set, it signs every request, and no contact's own token is used.
    public var roleToken: Secret?
    /// The matching mode beside a role token.
    public var roleTokenMatching = RoleTokenMatching.pushSubscription
    /// The pixel that receives custom events; empty for none.
    public var pixel = ""
    /// The client id that custom events carry.
    public var clientID = ""
    /// The profile field of type tags; empty for none.
    public var tagsField = ""
    /// The vendor's names of attributes, where they differ.
    public var fieldNames = AltcraftField.systemNames
    /// Whether `identify` writes e-mail address and phone number into the profile.
    public var identifiersAsFields = false
    /// Which request carries changes of attributes and tags.
    public var profileUpdates = ProfileUpdates.automatic
    /// Whether the app's id, installation and version are part of the subscription fields.
    public var appFields = true
    /// The treatment of an operation whose fresh credential is also refused with 401 or 403.
    public var onUnauthorized = OnUnauthorized.reject
    /// The vendor's name for a phone or tablet.
    public var deviceType = DeviceType.mobile
    /// The form of Boolean values in a query.
    public var flagText = FlagText.words
    /// The form of a gender.
    public var genderForm = GenderForm.word

    /// The treatment of a field whose value is null.
    public var nullFields = NullFields.send
    /// The vendor's treatment of a list of categories.
    public var categoryLists = CategoryLists.merge
    /// The meaning of an error number in a success.
    public var errorInSuccess = ErrorInSuccess.accept
    /// The form of a message's id in a custom event.
    public var messageIDForm = MessageIDForm.json
    /// Whether the release of a suspension names the matching mode.
    public var releaseMatching = true

    /// The role token, if there is one.
    var usedRoleToken: String? { roleToken.flatMap { $0.value.isEmpty ? nil : $0.value } }

    /// Which request really carries attributes and tags: never `automatic`.
    var profileCarrier: ProfileUpdates {
        guard profileUpdates == .automatic else { return profileUpdates }
        return usedRoleToken == nil ? .profileUpdate : .subscribe
    }

    /// The defaults; the address is empty.
    public init() {}

    /// Every setting.
    public static let table = SettingsTable<AltcraftSettings>([
        .url(
            "apiUrl",
            \.apiURL,
            allowsQuery: true,
            rule: .altcraft("Q1"),
            "The address of the mobile interface, as the platform shows it. A query is kept, as the vendor's SDKs do, and each "
                + "request adds its own items to it; a fragment or a user name is refused."
        ),
        .secret(
            "rToken",
            \.roleToken,
            isRequired: false,
            rule: .altcraft("A1"),
            "The resource's role token. With it no contact's own token is used, and log-in and log-out are impossible."
        ) { token in
            Authorization.isWritable(token)
                ? nil
                : .init(
                    "The value contains a character that an HTTP header cannot contain.",
                    "Write only the token: letters, digits and signs."
                )
        },
        .choice(
            "rTokenMatching",
            \.roleTokenMatching,
            default: .pushSubscription,
            rule: .altcraft("A8"),
            "The matching mode beside a role token: `push_sub` as on Android, `token` (the role token, which then stands in addresses) as on iOS."
        ),
        .text("pixel", \.pixel, rule: .altcraft("M1"), "The id of the pixel that receives custom events."),
        .text("clientId", \.clientID, rule: .altcraft("M3"), "The Altcraft client id that custom events carry."),
        .text("tagsField", \.tagsField, rule: .altcraft("F14"), "The profile field of type tags that holds the tags."),
        .names(
            "fieldNames",
            \.fieldNames,
            default: AltcraftField.systemNames.inOrder
                .map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: " "),
            rule: .altcraft("F20"),
            "Profile fields by attribute name; an attribute that is not listed keeps its own name."
        ),
        .flag(
            "identifiersAsFields",
            \.identifiersAsFields,
            default: false,
            rule: .altcraft("E4"),
            "Whether `identify` also writes e-mail address and phone number into the profile."
        ),
        .choice(
            "profileUpdates",
            \.profileUpdates,
            default: .automatic,
            rule: .altcraft("Q11"),
            "Which request carries attributes and tags: the one for profiles, or the subscription request. `automatic`: the latter with a role token."
        ),
        .flag(
            "appFields",
            \.appFields,
            default: true,
            rule: .altcraft("F6"),
            "Whether the app's id, installation id and version stand among the subscription fields."
        ),
        .choice(
            "onUnauthorized",
            \.onUnauthorized,
            default: .reject,
            rule: .altcraft("R10"),
            "What becomes of an operation that is answered with 401 or 403, with a fresh token of its contact, too: `reject` (as documented), `park` (the provider is suspended)."
        ),
        .choice(
            "deviceType",
            \.deviceType,
            default: .mobile,
            rule: .altcraft("F3"),
            "The word for a phone: `Mobile` as in the vendor's page, `mob` as in newer SDKs."
        ),
        .choice(
            "flagText",
            \.flagText,
            default: .words,
            rule: .altcraft("Q10"),
            "How the query writes `sync`: `words` (true, false) or `digits` (1, 0) as older SDKs."
        ),
        .choice(
            "genderForm",
            \.genderForm,
            default: .word,
            rule: .altcraft("F12"),
            "How `_sex` is written: the vendor's pages differ."
        ),
        .choice(
            "nullFields",
            \.nullFields,
            default: .send,
            rule: .altcraft("F23"),
            "What becomes of a null in `profileFields` and `customFields`: `send` as on Android, `omit` as on iOS."
        ),
        .choice(
            "categoryLists",
            \.categoryLists,
            default: .merge,
            rule: .altcraft("B16"),
            "What the vendor makes of `cats`: `merge` (what is not named stays) or `replace` (the whole list is sent)."
        ),
        .choice(
            "errorInSuccess",
            \.errorInSuccess,
            default: .accept,
            rule: .altcraft("R9"),
            "What an error number in an answer of 200 to 299 means."
        ),
        .choice(
            "messageIDForm",
            \.messageIDForm,
            default: .json,
            rule: .altcraft("M7"),
            "How a custom event writes its message id: `json` (in quotes, as on iOS) or `text` (as on Android)."
        ),
        .flag(
            "releaseMatching",
            \.releaseMatching,
            default: true,
            rule: .altcraft("Q4"),
            "Whether the release of a suspension names the matching mode, as on iOS; Android does not."
        ),
    ])
}
