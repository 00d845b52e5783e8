package import PatchbayAdapterKit
import PatchbayJSON

extension ReplyTable {
    /// The meanings of the vendor's replies. Their text distinguishes the three known refusals.
    static let altcraft = ReplyTable(
        [
            .reply(
                "a web page with HTTP 200–299",
                .retry,
                .replyPage,
                rule: .altcraft("R13"),
                where: .success,
                .webPage
            ),
            .status(200...299, .accepted, rule: .altcraft("R1")),
            .status(401...401, .refused, .replyCredential, rule: .altcraft("R10")),
            .status(403...403, .refused, .replyCredential, rule: .altcraft("R10")),
            .status(300...399, .refused, .replyRedirect, rule: .altcraft("R4")),
            .status(500...599, .retry, .replyUnavailable, rule: .altcraft("R2")),
            .reply(
                "a subscription field is refused",
                .refused,
                .replySubscriptionField,
                rule: .altcraft("F16"),
                where: .errorText("failed convert custom field")
            ),
            .reply(
                "a category is refused",
                .refused,
                .replyCategory,
                rule: .altcraft("F17"),
                where: .errorText("category not found in resource")
            ),
            .profileField,
            .noAnswer(.retry, .noReply, rule: .altcraft("R3")),
        ],
        otherwise: .otherwise(.refused, .replyRefused, rule: .altcraft("R4")),
        codes: [.member("error")],
        requestIDs: [.sent("Request-ID")]
    )
}

extension ReplyCondition {
    /// The vendor's error text contains a text.
    fileprivate static func errorText(_ text: String) -> ReplyCondition { .json("error_text", .contains(text)) }
}

extension ReplyRow {
    /// The refusal of a profile field, which both APIs express alike.
    package static let profileField = reply(
        "a profile field is refused",
        .refused,
        .replyField,
        rule: .altcraft("F15"),
        where: .errorText(": Incorrect field")
    )
}

extension WireResponse {
    /// The field that the vendor's error text names; nil if it names none.
    var refusedField: String? {
        guard let text = json?["error_text"]?.string, let start = text.firstRange(of: "field \"")?.upperBound,
            let end = text[start...].firstIndex(of: "\"")
        else { return nil }
        return String(text[start..<end])
    }
}

/// The vendor's event codes for outcomes, before and after their renumbering. They serve people and logs; no decision
/// depends on them.
struct EventCodes: Sendable, Equatable {
    /// The numbers for success, a final failure, and a failure that is repeated; nil for an outcome that does not occur.
    struct Numbers: Sendable, Equatable {
        let success: Int?
        let final: Int?
        let repeated: Int?

        init(_ success: Int?, _ final: Int?, _ repeated: Int?) {
            (self.success, self.final, self.repeated) = (success, final, repeated)
        }
    }

    /// The subject of the numbers: an endpoint, with a status for subscriptions.
    let name: String
    /// The numbers on the vendor's page and in the first SDKs; nil if there was no such request.
    let first: Numbers?
    /// As in newer SDKs.
    let renumbered: Numbers

    /// Every row.
    static let all: [EventCodes] = [
        EventCodes(name: "subscribed", first: .init(230, 430, 530), renumbered: .init(230, 430, 530)),
        EventCodes(name: "suspended", first: .init(230, 430, 530), renumbered: .init(231, 431, 531)),
        EventCodes(name: "unsubscribed", first: .init(230, 430, 530), renumbered: .init(232, 432, 532)),
        EventCodes(name: "tokenUpdate", first: .init(231, 431, 531), renumbered: .init(233, 433, 533)),
        EventCodes(name: "unsuspend", first: .init(232, 432, nil), renumbered: .init(234, 434, nil)),
        EventCodes(name: "status", first: .init(233, 433, nil), renumbered: .init(235, 435, nil)),
        EventCodes(name: "pushEvent", first: .init(234, 434, 534), renumbered: .init(236, 436, 536)),
        EventCodes(name: "customEvent", first: .init(235, 435, 535), renumbered: .init(237, 437, 537)),
        EventCodes(name: "profileUpdate", first: nil, renumbered: .init(238, 438, 538)),
    ]

    /// Returns the row of a request. Subscription requests have a row per status.
    static func row(_ endpoint: AltcraftDevice.Endpoint, status: String?) -> EventCodes? {
        let name = endpoint == .subscribe ? status ?? "" : endpoint.rawValue
        return all.first { $0.name == name }
    }
}
