import PatchbayAdapterKit
import PatchbaySalesforce

extension ReplyTable {
    /// The meanings of the server API's replies. Two cases are handled elsewhere: the adapter renews the token once
    /// after a 401 (V3), and 404 and 409 on a contact lead to the other request (V18).
    static let salesforceServer = ReplyTable(
        [
            .webPage(.retry, ServerFinding.page, rule: .salesforce("V33")),
            .reply(
                "HTTP 200–299 with `CustomObjectNotFound`",
                .suspend,
                ServerFinding.notQueued,
                rule: .salesforce("V14"),
                where: .success,
                result("resultCode", "CustomObjectNotFound")
            ),
            .reply(
                "HTTP 200–299 with `AsyncRequestStatusNotFound`",
                .refused,
                ServerFinding.jobUnknown,
                rule: .salesforce("V46"),
                where: .success,
                result("resultCode", "AsyncRequestStatusNotFound")
            ),
            .reply(
                "HTTP 200–299 with `hasErrors`, another `operationStatus` than OK, an error code or a message of an error",
                .refused,
                ServerFinding.hiddenRefusal,
                rule: .salesforce("V21"),
                where: .success,
                hiddenRefusal
            ),
            .status(200...299, .accepted, rule: .salesforce("V8")),
            .reply(
                "HTTP 401 with `invalid_client`",
                .suspend,
                ServerFinding.clientUnknown,
                rule: .salesforce("V1"),
                where: .status(401...401),
                .json("error", .text(["invalid_client"]))
            ),
            .status(401...401, .retry, ServerFinding.unauthenticated, rule: .salesforce("V3")),
            .status(403...403, .suspend, ServerFinding.forbidden, rule: .salesforce("V30")),
            .status(404...404, .refused, ServerFinding.notFound, rule: .salesforce("V31")),
            .status(408...408, .retry, ServerFinding.unavailable, rule: .salesforce("V28")),
            .status(409...409, .refused, ServerFinding.conflict, rule: .salesforce("V18")),
            .reply(
                "HTTP 429 with code 50200",
                .retry,
                ServerFinding.blocked,
                rule: .salesforce("V27"),
                where: .status(429...429),
                .json("errorcode", .number([50200...50200]))
            ),
            .status(429...429, .retry, ServerFinding.throttled, rule: .salesforce("V26")),
            .status(596...596, .refused, ServerFinding.refused, rule: .salesforce("V32")),
            .status(500...599, .retry, ServerFinding.unavailable, rule: .salesforce("V28")),
            .noAnswer(.retry, ServerFinding.noReply, rule: .salesforce("V29")),
        ],
        otherwise: .otherwise(.refused, ServerFinding.refused, rule: .salesforce("V32")),
        codes: [.member("errorcode"), .member("error")],
        requestIDs: [.member("requestServiceMessageID"), .member("requestId")] + ReplyTable.commonRequestIDs
    )

    /// A member of the results has a value. Those of jobs are one level deeper.
    private static func result(_ member: String, _ value: String) -> ReplyCondition {
        .any(
            ["resultMessages.*.", "resultMessages.*.resultMessage."].map { .json($0 + member, .text([value])) }
        )
    }

    /// An error in a successful reply.
    private static let hiddenRefusal = ReplyCondition.any([
        .json("hasErrors", .flag(true)),
        .all([.json("errorcode", .number([])), .not(.json("errorcode", .number([0...0])))]),
        .all([.json("operationStatus", .string), .not(.json("operationStatus", .text(["OK"])))]),
        .json("operationInitiated", .flag(false)),
        result("resultClass", "Error"),
    ])
}
