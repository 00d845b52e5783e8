public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The samples of goldens and conformance checks: readable people and orders, the same for every vendor.
///
/// The corpus is not random, and a sample keeps its ids when others are added.
public struct Corpus: Sendable {
    /// The subject of the operations: the installation at a device API, the contact at a server API.
    public let subject: Subject
    /// The vendor's own push message.
    public let pushPayload: JSONObject
    /// A query that the vendor's API answers.
    public let readBack: ReadRequest

    /// Creates the corpus for one API.
    ///
    /// - Parameters:
    ///   - side: Device or server.
    ///   - pushPayload: A push message as this vendor sends it, without personal data.
    ///   - readBack: A query in the adapter's terms.
    public init(
        side: AdapterDescriptor.Side = .device,
        pushPayload: JSONObject = Corpus.plainPush,
        readBack: ReadRequest = ReadRequest("profile")
    ) {
        subject = side == .server ? Subject(rawValue: Corpus.customerNumber) : Corpus.installation
        (self.pushPayload, self.readBack) = (pushPayload, readBack)
    }

    /// The installation of all device samples.
    public static let installation: Subject = "3f2a8c1e-6b54-4d0f-9a77-51c0de2b8e90"
    /// Aino's customer number: the contact of all samples that do not have another one.
    public static let customerNumber = "c-1001"
    /// The capture time of the first sample, by the wall clock: 2031-03-09T07:05:11.042Z.
    public static let start = Instant(milliseconds: 1_930_806_311_042)
    /// A push message of no vendor.
    public static let plainPush: JSONObject = [
        "aps": ["alert": ["title": "Spring sale", "body": "Everything in blue"]]
    ]
    /// A push message of another vendor, which no adapter may accept as its own.
    public static let foreignPush: JSONObject = [
        "aps": ["alert": "Your parcel is on its way"], "parcel_service": ["shipment": "98-1177"],
    ]

    /// Every attribute name of the ordinary samples, with its type. The vendor's account must have them.
    public static let attributes: [(name: AttributeName, type: AttributeType)] = [
        (.givenName, .string), (.familyName, .string), (.birthDate, .date), (.country, .country), (.city, .string),
        (.loyaltyTier, .string), ("favourite_colour", .string), ("visits", .integer), ("lifetime_value", .decimal),
        ("newsletter_reader", .boolean), ("first_purchase", .date), ("delivery_hour", .time),
        ("last_visit", .timestamp), ("shipping_country", .country), ("interests", .choices), ("recent_orders", .list),
        ("address", .object),
    ]

    /// Returns an operation with an id of the corpus, made of the number of the sample and the position of the
    /// operation in it, from 0.
    ///
    /// Samples of an adapter use numbers from 500.
    public func operation(
        _ number: Int,
        _ position: Int,
        contact: String? = Corpus.customerNumber,
        group: String? = nil,
        appState: AppState? = .active,
        options: [AdapterID: JSONObject] = [:],
        _ action: Action
    ) -> EngagementOperation {
        let digits = String(number * 1000 + position)
        let tail = String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-\(tail)"),
            subject: subject,
            contact: contact,
            group: group,
            capturedAt: Corpus.start + .seconds(number * 60 + position),
            appState: appState,
            options: options,
            action: action
        )
    }

    /// The operations before every sample that does not start afresh: the app was installed and Aino logged in.
    public var installation: [EngagementOperation] {
        [
            operation(0, 0, contact: nil, .registerDevice(Corpus.phone)),
            operation(0, 1, .switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))),
        ]
    }

    /// Aino's identifiers.
    public static let aino: [Identifier] = [
        Identifier(.external, customerNumber), Identifier(.email, "aino.virtanen@example.com"),
        Identifier(.phone, "+358401234567"),
    ]

    /// Aino's phone, with a token.
    public static let phone = Device(
        pushToken: PushToken(
            "7c1f3ad09be24c5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d9",
            environment: .production,
            appID: "com.example.shop"
        ),
        facts: DeviceFacts(
            platform: "iOS",
            platformVersion: "24.3",
            model: "iPhone21,2",
            deviceName: "Aino's phone",
            locale: "fi_FI",
            timeZone: "Europe/Helsinki",
            utcOffsetSeconds: 7200,
            appID: "com.example.shop",
            appVersion: "8.4.1"
        ),
        allowsBackgroundPush: true
    )

    /// Returns the value of a text of the corpus. A golden shows a text that does not fit its type.
    static func typed(_ text: String, _ type: AttributeType) -> AttributeValue {
        AttributeValue(text: text, as: type) ?? .string(text)
    }

    /// Texts that incorrect encoders corrupt.
    public static let hostileTexts: [(name: String, text: String)] = [
        ("quotes", #"He said "no", she said 'yes' \ maybe"#),
        ("markup", "<b>&amp;</b> ]]> <![CDATA[ x ]]> <!-- -->"),
        ("emoji", "Grüße 👩🏽‍🚀🇫🇮 e\u{301}"),
        ("right_to_left", "\u{202E}שלום עולם\u{202C} مرحبا"),
        ("lines", "one\r\ntwo\tthree\u{0}\u{1F}\u{2028}four"),
        ("separators", "a;b,c|d&e=f?g#h%20+i/j"),
        ("spaces", "  two before,  two between, one after "),
    ]

    /// A text of 10,000 characters.
    public static let longText = String(repeating: "Patchwork ", count: 1000)
}
