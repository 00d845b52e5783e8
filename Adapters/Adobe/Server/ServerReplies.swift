import PatchbayAdapterKit
import PatchbayAdobe

/// The vendor's codes in error texts. They mark client errors, although the status is 500 (B27).
enum VendorCode: Sendable {
    /// A code and its meaning.
    struct Row: Sendable {
        let code: String
        let what: String
        let finding: FindingRow
    }

    /// Every code that is known.
    static let rows: [Row] = [
        Row(code: "RST-360011", what: "a value or a document is not there", finding: ServerFinding.value),
        Row(code: "RST-360012", what: "a key is to be changed", finding: ServerFinding.keyChange),
        Row(code: "PGS-220000", what: "a key is there already", finding: ServerFinding.duplicate),
        Row(code: "XTK-170036", what: "the vendor's key is none", finding: ServerFinding.profileKey),
        Row(code: "BAS-010040", what: "a value has another type", finding: ServerFinding.value),
    ]

    /// The codes.
    private static let codes = rows.map(\.code)

    /// The reply contains a code, before any other known one.
    static func comesFirst(_ code: String) -> ReplyCondition { .firstText(code, among: codes) }

    /// Returns the first known code in the text of a reply; nil if there is none.
    static func first(in reply: WireResponse) -> String? { reply.first(of: codes) }

    /// The table as rows of replies.
    static var replies: [ReplyRow] {
        rows.map { row in
            .reply(
                "HTTP 400–599 with `\(row.code)`, but 404",
                .refused,
                row.finding,
                rule: .adobe("B27"),
                where: .any([400...400, 402...402, 405...599].map { .status($0) }),
                comesFirst(row.code)
            )
        }
    }

    /// The table as Markdown.
    static var markdown: String {
        (["| code | meaning |", "|---|---|"] + rows.map { "| `\($0.code)` | \($0.what) |" })
            .joined(separator: "\n")
    }
}

extension ReplyTable {
    /// The meanings of the server API's replies. Two cases are handled elsewhere: the adapter renews the token once after a 401
    /// (B3), and a missing object leads to another request.
    static let adobeServer = ReplyTable(
        [
            .webPage(.retry, ServerFinding.page, rule: .adobe("B33")),
            .reply(
                "HTTP 200–299 with `error_code`, with `code` and `message`, or with a known code",
                .refused,
                ServerFinding.hiddenRefusal,
                rule: .adobe("B32"),
                where: .success,
                hiddenRefusal
            ),
            .status(200...299, .accepted, rule: .adobe("B38")),
        ] + VendorCode.replies + [
            .reply(
                "HTTP 500 or 502 with a number as `code`",
                .suspend,
                ServerFinding.organization,
                rule: .adobe("B28"),
                where: .any([.status(500...500), .status(502...502)]),
                .json("code", .number([]))
            ),
            .status(401...401, .retry, ServerFinding.unauthenticated, rule: .adobe("B3")),
            .status(403...403, .suspend, ServerFinding.forbidden, rule: .adobe("B29")),
            .reply(
                "HTTP 404 with `RST-360011`",
                .refused,
                ServerFinding.absent,
                rule: .adobe("B27"),
                where: .status(404...404),
                VendorCode.comesFirst("RST-360011")
            ),
            .status(404...404, .refused, ServerFinding.notFound, rule: .adobe("B32")),
            .status(408...408, .retry, ServerFinding.unavailable, rule: .adobe("B30")),
            .status(429...429, .retry, ServerFinding.tooOften, rule: .adobe("B30")),
            .status(500...500, .retry, ServerFinding.unexplained, rule: .adobe("B31")),
            .status(501...599, .retry, ServerFinding.unavailable, rule: .adobe("B30")),
            .noAnswer(.retry, ServerFinding.noReply, rule: .adobe("B30")),
        ],
        otherwise: .otherwise(.refused, ServerFinding.refused, rule: .adobe("B32")),
        codes: [.member("error_code"), .member("code")]
    )

    /// One of the known errors in a successful reply. A known code counts if the body is text.
    private static let hiddenRefusal = ReplyCondition.any([
        .json("error_code", .exists),
        .all([.json("code", .number([])), .json("message", .exists)]),
        .all([
            .any([.not(.json("", .exists)), .json("", .string)]),
            .any(VendorCode.rows.map { VendorCode.comesFirst($0.code) }),
        ]),
    ])
}
