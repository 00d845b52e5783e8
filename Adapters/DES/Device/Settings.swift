public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The settings of one application at the vendor.
public struct DESSettings: AdapterSettings {
    /// The generation of the interface for events and inline messages.
    public enum EventService: String, NeutralWord {
        /// Views and clicks are sent once each; the server counts on top of the returned state.
        case v4
        /// All stored views and clicks each time.
        case v3
    }

    /// Whether the build is for debugging.
    public enum Mode: String, NeutralWord {
        /// Released apps.
        case production
        /// Test builds.
        case debug
    }

    /// The form of a campaign id.
    public enum CampaignIDs: String, NeutralWord {
        /// As text, as the SDKs do.
        case text
        /// As a number, as in the vendor's page.
        case number
    }

    /// The form of points in time.
    public enum Timestamps: String, NeutralWord {
        /// UTC with a Z, as the SDKs do.
        case utc
        /// Local time with its offset, as in the vendor's page.
        case local
    }

    /// The proof of a contact's identity.
    public enum ContactProof: String, NeutralWord {
        /// Nothing: the field's value is sent.
        case value
        /// The contact's OpenID Connect ID token, which the app passes as credential.
        case openIDToken = "openIdToken"
    }

    /// The choice among several inline messages for one view.
    public enum InlineChoice: String, NeutralWord {
        /// The last, as on iOS.
        case last
        /// The first, as on Android.
        case first
    }

    /// The treatment of a request whose host cannot be found.
    public enum HostNotFound: String, NeutralWord {
        /// It stays, and the queue stops, as on Android.
        case keep
        /// It is rejected, as on iOS.
        case reject
    }

    /// The application's code.
    public var applicationCode = ""
    /// The number of the field that identifies contacts.
    public var contactFieldID = 0
    /// Which identifier of a contact is that field's value.
    public var contactIdentifier = IdentifierKind.external.rawValue
    /// The proof of a contact's identity.
    public var contactProof = ContactProof.value
    /// The merchant id; empty for none.
    public var merchantID = ""
    /// The address for clients and contacts.
    public var clientServiceURL = "https://me-client.eservice.emarsys.net"
    /// The address for events and inline messages.
    public var eventServiceURL = "https://mobile-events.eservice.emarsys.net"
    /// The address for the inbox.
    public var inboxServiceURL = "https://me-inbox.eservice.emarsys.net"
    /// The address for remote configuration.
    public var remoteConfigURL = "https://mobile-sdk-config.gservice.emarsys.net"
    /// The generation of the interface for events and inline messages.
    public var eventService = EventService.v4
    /// Whether the remote configuration applies.
    public var obeysRemoteConfig = true
    /// Whether the build is for debugging.
    public var mode = Mode.production
    /// The version of the library that requests name.
    public var sdkVersion = Sender.version
    /// The form of a campaign id.
    public var campaignIDs = CampaignIDs.text
    /// The form of points in time.
    public var timestamps = Timestamps.utc
    /// Whether a request for inline messages carries views too, as the vendor's page can be read.
    public var inlineViews = false
    /// The choice among several inline messages for one view.
    public var inlineChoice = InlineChoice.last
    /// Whether events name language and versions.
    public var deviceFieldsInEvents = true
    /// Whether `dnd` is sent when it is false, too.
    public var alwaysSendsDND = false
    /// Whether queries for inbox and geofences use basic authorization.
    public var basicAuthorization = true
    /// Whether the request for the anonymous contact carries the present contact token.
    public var tokenWithAnonymous = true
    /// The treatment of a request whose host cannot be found.
    public var onHostNotFound = HostNotFound.keep
    /// Whether the device event state outlives a change of the application code.
    public var keepsStateOnNewCode = true

    /// The defaults; application code and contact field are missing.
    public init() {}

    /// Whether events and inline messages use v4: by the settings, unless the remote configuration disables v4.
    func usesV4(_ memory: DESMemory) -> Bool {
        eventService == .v4 && (!obeysRemoteConfig || memory.remote.usesV4 != false)
    }

    /// Every setting.
    public static let table = SettingsTable<DESSettings>([
        .text(
            "applicationCode",
            \.applicationCode,
            isRequired: true,
            rule: .des("R2"),
            "The application's code at the vendor, like `ABCD1-234E6`."
        ) { code in
            placeholders.contains(code.lowercased())
                ? .init(
                    "The value is a placeholder, not an application code.",
                    "Give the application code that the vendor shows."
                ) : nil
        },
        .integer(
            "contactFieldId",
            \.contactFieldID,
            in: 1...Int(Int32.max),
            isRequired: true,
            rule: .des("B4"),
            "The number of the vendor's field that identifies contacts."
        ),
        .text(
            "contactIdentifier",
            \.contactIdentifier,
            default: "external",
            rule: .des("U6"),
            "Which kind of identifier is that field's value."
        ),
        .choice(
            "contactProof",
            \.contactProof,
            default: .value,
            rule: .des("B4"),
            "Whether the field's value is sent, or the ID token that the app gives as the contact's credential."
        ),
        .text("merchantId", \.merchantID, rule: .des("H5"), "The merchant id, if recommendations are used beside."),
        .service("clientServiceUrl", \.clientServiceURL, "The address for clients and contacts."),
        .service("eventServiceUrl", \.eventServiceURL, "The address for events and inline messages."),
        .service("inboxServiceUrl", \.inboxServiceURL, "The address for the inbox."),
        .service("remoteConfigUrl", \.remoteConfigURL, "The address for remote configuration."),
        .choice(
            "eventService",
            \.eventService,
            default: .v4,
            rule: .des("R1"),
            "The interface for events and inline messages."
        ),
        .flag(
            "obeysRemoteConfig",
            \.obeysRemoteConfig,
            default: true,
            rule: .des("C1"),
            "Whether a remote configuration that the app reads is applied; its signature is passed on unchecked."
        ),
        .choice("mode", \.mode, default: .production, rule: .des("H6"), "Whether the build is for debugging."),
        .text(
            "sdkVersion",
            \.sdkVersion,
            default: Sender.version,
            rule: .des("H6"),
            "The library's version in requests."
        ),
        .choice(
            "campaignIds",
            \.campaignIDs,
            default: .text,
            rule: .des("R29"),
            "How campaign ids are written: `text` as the SDKs, `number` as the vendor's page."
        ),
        .choice(
            "timestamps",
            \.timestamps,
            default: .utc,
            rule: .des("R30"),
            "How points in time are written: `utc` as the SDKs, `local` with offset as the vendor's page."
        ),
        .flag(
            "inlineViews",
            \.inlineViews,
            default: false,
            rule: .des("R20"),
            "Whether a request for inline messages carries views too, as the vendor's page can be read; the SDKs don't."
        ),
        .choice(
            "inlineChoice",
            \.inlineChoice,
            default: .last,
            rule: .des("R22"),
            "Which of several messages for one view is taken: `last` as on iOS, `first` as on Android."
        ),
        .flag(
            "deviceFieldsInEvents",
            \.deviceFieldsInEvents,
            default: true,
            rule: .des("B9"),
            "Whether events name language and versions as on iOS; Android leaves them out."
        ),
        .flag(
            "alwaysSendsDnd",
            \.alwaysSendsDND,
            default: false,
            rule: .des("B8"),
            "Whether `dnd` is sent when it is false, too; newer libraries do."
        ),
        .flag(
            "basicAuthorization",
            \.basicAuthorization,
            default: true,
            rule: .des("H7"),
            "Whether inbox and geofences are asked for with basic authorisation, as on iOS."
        ),
        .flag(
            "tokenWithAnonymous",
            \.tokenWithAnonymous,
            default: true,
            rule: .des("H8"),
            "Whether the anonymous contact is asked for with the contact token that is held, as on iOS."
        ),
        .choice(
            "onHostNotFound",
            \.onHostNotFound,
            default: .keep,
            rule: .des("T5"),
            "What becomes of a request whose host can't be found: `keep` as on Android, `reject` as on iOS."
        ),
        .flag(
            "keepsStateOnNewCode",
            \.keepsStateOnNewCode,
            default: true,
            rule: .des("R39"),
            "Whether device event state, views and clicks outlive a change of the application code, as in the SDKs."
        ),
    ])

    /// Placeholders that count as a missing code.
    private static let placeholders = ["0", "null", "nil"]
}

extension SettingRow<DESSettings> {
    fileprivate static func service(
        _ name: String,
        _ path: any WritableKeyPath<DESSettings, String> & Sendable,
        _ summary: String
    ) -> SettingRow {
        .url(name, path, isRequired: false, rule: .des("T4"), "\(summary) The default is the vendor's.")
    }

    fileprivate static func integer(
        _ name: String,
        _ path: any WritableKeyPath<DESSettings, Int> & Sendable,
        in range: ClosedRange<Int>,
        isRequired: Bool,
        rule: RuleID,
        _ summary: String
    ) -> SettingRow {
        SettingRow(
            name,
            form: "whole number above 0",
            schema: ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)],
            isRequired: isRequired,
            rule: rule,
            summary
        ) { value, settings in
            guard let number = value.integer, range.contains(Int(number)) else {
                return Problem(
                    value.number == nil ? "The value is \(value.typePhrase)." : "The value is out of range.",
                    "Give the field's number, as the vendor's list of fields has it."
                )
            }
            settings[keyPath: path] = Int(number)
            return nil
        }
    }
}
