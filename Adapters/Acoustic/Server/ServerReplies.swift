import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON

/// A reply of the vendor's XML interface: a result, or a fault with a number.
struct CallReply: Sendable {
    /// The result; nil if the reply has none.
    let result: XMLTree?
    /// Whether the call succeeded.
    let isSuccess: Bool
    /// The fault's number; nil if the reply has none or the call succeeded.
    let fault: Int?

    /// Reads a reply; nil if it is not one of the XML interface.
    init?(_ response: WireResponse) {
        guard response.body.first.map({ $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") }) ?? false,
            let envelope = XMLTree(parsing: response.body), envelope.name == "Envelope", let body = envelope["Body"]
        else { return nil }
        result = body["RESULT"]
        // S10: its letter case is not always the same.
        isSuccess = result?["SUCCESS"]?.text.trimmed.lowercased() == "true"
        let text = body["Fault"]?["detail"]?["error"]?["errorid"]?.text.trimmed
        fault = isSuccess ? nil : text.flatMap { $0.isVendorNumber ? Int($0) : nil }
        if fault == nil, body["Fault"] == nil, result == nil { return nil }
    }
}

/// The meanings of the vendor's fault numbers.
enum FaultTable: Sendable {
    /// A meaning and its fault numbers.
    struct Row: Sendable {
        let numbers: Set<Int>
        let meaning: ReplyMeaning
        let finding: FindingRow
        let rule: RuleID
    }

    /// All fault numbers that the vendor's clients know, by meaning.
    static let rows: [Row] = [
        row([145], .retry, ServerFinding.unauthenticated, "S3"),
        row([50, 120, 1003, 1005], .retry, ServerFinding.faultOfServer, "S12"),
        row([150], .suspend, ServerFinding.faultOfOrganisation, "S13"),
        row([106, 310], .suspend, ServerFinding.databaseUnknown, "S13"),
        row([122], .refused, ServerFinding.contactThere, "S8"),
        row([123, 128, 1008], .refused, ServerFinding.contactUnknown, "S8"),
        row([1018], .refused, ServerFinding.listHasIt, "S55"),
        row([129], .refused, ServerFinding.optedOut, "S30"),
        row([146, 161, 188, 313, 314, 1007, 1011], .refused, ServerFinding.faultOfColumn, "S11"),
        row([121, 326, 1006, 1016, 1017], .refused, ServerFinding.faultOfValue, "S11"),
        row(
            [51, 52, 100, 114, 116, 117, 118, 119, 131, 132, 133, 134, 135, 141, 316, 329],
            .refused,
            ServerFinding.faultOfCall,
            "S11"
        ),
    ]

    private static func row(_ numbers: Set<Int>, _ meaning: ReplyMeaning, _ finding: FindingRow, _ rule: String) -> Row
    {
        Row(numbers: numbers, meaning: meaning, finding: finding, rule: .acoustic(rule))
    }

    /// The table as rows of replies. A fault without a row and any other failure are refusals.
    static var replies: [ReplyRow] {
        rows.map { row in
            let numbers = row.numbers.sorted().map(String.init).joined(separator: ", ")
            return ReplyRow.reply(
                "XML fault \(numbers)",
                row.meaning,
                row.finding,
                rule: row.rule,
                where: .success,
                .xml("Envelope.Body.Fault.detail.error.errorid", .number(row.numbers.sorted())),
                .not(hasSucceeded)
            )
        } + [
            .reply(
                "any other XML fault, or SUCCESS that is not true",
                .refused,
                ServerFinding.fault,
                rule: .acoustic("S10"),
                where: .success,
                .any([.xml("Envelope.Body.Fault", .exists), .xml("Envelope.Body.RESULT", .exists)]),
                .not(hasSucceeded)
            )
        ]
    }

    /// The call succeeded. S10: the letter case is not always the same.
    private static let hasSucceeded = ReplyCondition.xml("Envelope.Body.RESULT.SUCCESS", .word("true"))

    /// The table as Markdown.
    static var markdown: String {
        let lines = rows.map { row in
            "| \(row.numbers.sorted().map(String.init).joined(separator: ", ")) | \(row.meaning) | \(row.finding.reason) | \(row.rule.number) |"
        }
        return (["| fault | meaning | reason | rule |", "|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}

extension ReplyTable {
    /// The meanings of the server API's replies. Two cases are handled elsewhere: the adapter renews a refused token
    /// once (S3), and an existing or missing contact leads to the other call (S8).
    static let acousticServer = ReplyTable(
        [.webPage(.retry, ServerFinding.page, rule: .acoustic("S45"))] + FaultTable.replies + [
            .reply(
                "HTTP 200–299 with `generalErrors` or `fieldErrors`",
                .refused,
                ServerFinding.hiddenRefusal,
                rule: .acoustic("S42"),
                where: .success,
                .any(["meta.generalErrors", "meta.fieldErrors"].map { .json($0, .filled) })
            ),
            .status(200...299, .accepted, rule: .acoustic("S10")),
            .status(401...401, .retry, ServerFinding.unauthenticated, rule: .acoustic("S3")),
            .status(403...403, .suspend, ServerFinding.forbidden, rule: .acoustic("S44")),
            .status(404...404, .refused, ServerFinding.notFound, rule: .acoustic("S44")),
            .status(408...408, .retry, ServerFinding.unavailable, rule: .acoustic("S43")),
            .status(409...409, .refused, ServerFinding.conflict, rule: .acoustic("S42")),
            .status(429...429, .retry, ServerFinding.throttled, rule: .acoustic("S43")),
            .status(500...599, .retry, ServerFinding.unavailable, rule: .acoustic("S43")),
            .noAnswer(.retry, ServerFinding.noReply, rule: .acoustic("S43")),
        ],
        otherwise: .otherwise(.refused, ServerFinding.refused, rule: .acoustic("S42")),
        codes: [.member("error")]
    )
}
