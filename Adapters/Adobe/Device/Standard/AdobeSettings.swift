public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The settings of one mobile app in Campaign Standard.
///
/// They contain no credential: this API needs none, and those of the REST interface must never be part of an app.
public struct AdobeSettings: AdapterSettings {
    /// The requests that postpone the next registration.
    public enum RegistrationClock: String, NeutralWord {
        /// Every successful request of the queue, including push events, as in the vendor's SDKs.
        case anyHit
        /// A successful registration.
        case registration
    }

    /// The statuses that mean success for a tracking or registration request.
    public enum SuccessStatuses: String, NeutralWord {
        /// 200 alone, as in the vendor's SDKs.
        case ok
        /// 200 to 299.
        case any2xx
    }

    /// The treatment of a request that got no reply although the device was online.
    public enum NoAnswer: String, NeutralWord {
        /// It is repeated, as on Android.
        case retry
        /// It is rejected unless the vendor's iOS SDK would repeat it.
        case iOS
    }

    /// The form of push events.
    public enum TrackingForm: String, NeutralWord {
        /// The request of present SDKs.
        case request
        /// The postback of a rule, as with old SDKs.
        case postback
    }

    /// The meaning of a notification's button while the app stays in the background.
    public enum BackgroundAction: String, NeutralWord {
        /// A click and an open, as in the vendor's sample.
        case open
        /// A click alone.
        case click
    }

    /// The posted value of an attribute that was removed.
    public enum Unset: String, NeutralWord {
        /// An empty text, as the vendor's own rule posts where a value is missing.
        case empty
        /// Nothing: it is refused.
        case refuse
    }

    /// The form of points in time.
    public enum TimeForm: String, NeutralWord {
        /// `2031-05-06 07:08:09.123Z`.
        case spaced
        /// `2031-05-06T07:08:09.123Z`.
        case iso
    }

    /// The marketing server's host.
    public var server = ""
    /// The app's id at the vendor. If empty, the device is not registered.
    public var pkey = ""
    /// The organization of the identity service. If empty, push tokens can't be sent.
    public var organizationID = ""
    /// The identity service's host.
    public var identityServer = "dpm.demdex.net"
    /// The interval between two registrations in days; 0 registers at each session.
    public var registrationDelay = 7
    /// Whether nothing is registered.
    public var registrationPaused = false
    /// The requests that postpone the next registration.
    public var registrationClock = RegistrationClock.anyHit
    /// The statuses that mean success.
    public var successStatuses = SuccessStatuses.ok
    /// The treatment of a request without a reply.
    public var noAnswer = NoAnswer.retry
    /// The form of push events.
    public var trackingForm = TrackingForm.request
    /// The meaning of a button while the app stays in the background.
    public var backgroundActions = BackgroundAction.open
    /// Field ids by attribute.
    public var attributeFields: [AttributeName: String] = [:]
    /// Field ids by kind of identifier.
    public var identifierFields: [IdentifierKind: String] = [:]
    /// Field ids by tag.
    public var tagFields: [Tag: String] = [:]
    /// The posted value of an attribute that was removed.
    public var unsetAttributes = Unset.empty
    /// Whether values that the vendor already holds are left out.
    public var onlyChanges = true
    /// The form of points in time.
    public var timeForm = TimeForm.spaced
    /// The address that replaces the vendor's hosts in tests; empty by default.
    public var testAddress = ""

    /// The defaults; the host is empty.
    public init() {}

    /// The base address of the marketing server.
    var base: String { testAddress.isEmpty ? "https://\(server)" : testAddress }
    /// The base address of the identity service.
    var identityBase: String { testAddress.isEmpty ? "https://\(identityServer)" : testAddress }

    /// Every setting.
    public static let table = SettingsTable<AdobeSettings>([
        .host(
            "server",
            \.server,
            isRequired: true,
            rule: .adobe("S1"),
            "The marketing server: a bare host, without `https://`, port or path."
        ),
        .text("pkey", \.pkey, rule: .adobe("R8"), "The mobile app's id, as Campaign shows it."),
        .text(
            "organizationId",
            \.organizationID,
            rule: .adobe("I6"),
            "The organisation's id at the identity service (`…@AdobeOrg`); without it no push token is sent."
        ),
        .host(
            "identityServer",
            \.identityServer,
            default: "dpm.demdex.net",
            rule: .adobe("I4"),
            "The identity service: a bare host."
        ),
        .integer(
            "registrationDelay",
            \.registrationDelay,
            in: 0...3650,
            default: 7,
            rule: .adobe("R5"),
            "Days between two registrations of the same device; 0 registers at each new session."
        ),
        .flag(
            "registrationPaused",
            \.registrationPaused,
            default: false,
            rule: .adobe("R6"),
            "Whether nothing is registered. The vendor advises against it."
        ),
        .choice(
            "registrationClock",
            \.registrationClock,
            default: .anyHit,
            rule: .adobe("R7"),
            "What postpones the next registration: any request of the queue, as in the vendor's SDKs, or a registration alone."
        ),
        .choice(
            "successStatuses",
            \.successStatuses,
            default: .ok,
            rule: .adobe("Q4"),
            "What counts as a success of tracking and registration: 200 alone, as in the vendor's SDKs, or `any2xx`."
        ),
        .choice(
            "noAnswer",
            \.noAnswer,
            default: .retry,
            rule: .adobe("Q7"),
            "What becomes of a request whose answer is lost: it is repeated, as on Android, or treated as on `iOS`."
        ),
        .choice(
            "trackingForm",
            \.trackingForm,
            default: .request,
            rule: .adobe("T5"),
            "How push events are reported: by the tracking `request`, or by the `postback` of old SDKs. Never both."
        ),
        .choice(
            "backgroundActions",
            \.backgroundActions,
            default: .open,
            rule: .adobe("A9"),
            "What a button that leaves the app in the background means: click and `open` as in the vendor's sample, or a `click`."
        ),
        .names("attributeFields", \.attributeFields, rule: .adobe("P2"), "Field ids by attribute name."),
        .names(
            "identifierFields",
            \.identifierFields,
            rule: .adobe("P9"),
            "Field ids by kind of identifier, such as `email`: what the vendor reconciles a profile by."
        ),
        .names("tagFields", \.tagFields, rule: .adobe("P8"), "Field ids by tag; each takes `true` or `false`."),
        .choice(
            "unsetAttributes",
            \.unsetAttributes,
            default: .empty,
            rule: .adobe("P7"),
            "What is posted for an attribute that lost its value: an `empty` text, or nothing (`refuse`)."
        ),
        .flag(
            "onlyChanges",
            \.onlyChanges,
            default: true,
            rule: .adobe("P6"),
            "Whether a value that the vendor took already is left out."
        ),
        .choice(
            "timeForm",
            \.timeForm,
            default: .spaced,
            rule: .adobe("P3"),
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
