import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON

extension ReplyTable {
    /// The meanings of the server API's replies and of an import's results per profile. The number in the body determines the
    /// meaning, otherwise the status.
    static let altcraftServer = ReplyTable(
        [
            .webPage(.retry, ServerFinding.page, rule: .altcraft("V23")),
            .reply(
                "success without JSON",
                .retry,
                ServerFinding.unreadable,
                rule: .altcraft("V23"),
                where: .success,
                .not(.json("", .object))
            ),
            .reply("HTTP 200–299 with `error` 0", .accepted, rule: .altcraft("V10"), where: .success, .not(hasError)),
            code(401, .suspend, ServerFinding.unauthenticated, "V2"),
            code(402, .suspend, ServerFinding.tariff, "V10"),
            code(403, .suspend, ServerFinding.forbidden, "V10"),
            code(404, .refused, ServerFinding.notFound, "V15"),
            code(408, .retry, ServerFinding.unavailable, "V22"),
            code(413, .refused, ServerFinding.tooLarge, "V7"),
            code(429, .retry, ServerFinding.tooOften, "V21"),
            .reply(
                "HTTP or `error` 500–599",
                .retry,
                ServerFinding.unavailable,
                rule: .altcraft("V22"),
                where: code(500...599)
            ),
            .profileField,
            .noAnswer(.retry, ServerFinding.noReply, rule: .altcraft("V22")),
        ],
        otherwise: .otherwise(.refused, ServerFinding.refused, rule: .altcraft("V10")),
        codes: [.member("error")]
    )

    private static func code(_ code: Int, _ meaning: ReplyMeaning, _ finding: FindingRow, _ rule: String) -> ReplyRow {
        .reply("HTTP or `error` \(code)", meaning, finding, rule: .altcraft(rule), where: self.code(code...code))
    }

    /// The vendor's error number, otherwise the status, is in a range of failures.
    private static func code(_ range: ClosedRange<Int>) -> ReplyCondition {
        .any([.json("error", .number([range])), .all([.not(hasError), .status(range)])])
    }

    /// The body has an error number other than 0.
    private static let hasError = ReplyCondition.all([
        .json("error", .number([])), .not(.json("error", .number([0...0]))),
    ])
}
