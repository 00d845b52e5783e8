import PatchbayAdapterKit
import PatchbayJSON
import PatchbaySalesforce

extension ReplyTable {
    /// The meanings of the server API's replies. Two cases are handled elsewhere: the adapter renews the token once after a 401
    /// (V3), and 404 and 409 on a contact lead to the other request (V18).
    static let salesforceServer = ReplyTable(
        [
            .webPage(.retry, ServerFinding.page, rule: .salesforce("V33")),
            .reply(
                "HTTP 200–299 with `CustomObjectNotFound`",
                .suspend,
                ServerFinding.notQueued,
                rule: .salesforce("V14")
            ) { $0.isSuccess && $0.names("CustomObjectNotFound") },
            .reply(
                "HTTP 200–299 with `AsyncRequestStatusNotFound`",
                .refused,
                ServerFinding.jobUnknown,
                rule: .salesforce("V46")
            ) { $0.isSuccess && $0.names("AsyncRequestStatusNotFound") },
            .reply(
                "HTTP 200–299 with `hasErrors`, another `operationStatus` than OK, an error code or a message of an error",
                .refused,
                ServerFinding.hiddenRefusal,
                rule: .salesforce("V21")
            ) { $0.isSuccess && $0.hidesRefusal },
            .status(200...299, .accepted, rule: .salesforce("V8")),
            .reply("HTTP 401 with `invalid_client`", .suspend, ServerFinding.clientUnknown, rule: .salesforce("V1")) {
                $0.status == 401 && $0.json?["error"]?.string == "invalid_client"
            },
            .status(401...401, .retry, ServerFinding.unauthenticated, rule: .salesforce("V3")),
            .status(403...403, .suspend, ServerFinding.forbidden, rule: .salesforce("V30")),
            .status(404...404, .refused, ServerFinding.notFound, rule: .salesforce("V31")),
            .status(408...408, .retry, ServerFinding.unavailable, rule: .salesforce("V28")),
            .status(409...409, .refused, ServerFinding.conflict, rule: .salesforce("V18")),
            .reply("HTTP 429 with code 50200", .retry, ServerFinding.blocked, rule: .salesforce("V27")) {
                $0.status == 429 && $0.errorCode == 50200
            },
            .status(429...429, .retry, ServerFinding.throttled, rule: .salesforce("V26")),
            .status(596...596, .refused, ServerFinding.refused, rule: .salesforce("V32")),
            .status(500...599, .retry, ServerFinding.unavailable, rule: .salesforce("V28")),
            .noAnswer(.retry, ServerFinding.noReply, rule: .salesforce("V29")),
        ],
        otherwise: .otherwise(.refused, ServerFinding.refused, rule: .salesforce("V32")),
        codes: [.member("errorcode"), .member("error")],
        requestIDs: [.member("requestServiceMessageID"), .member("requestId")] + ReplyTable.commonRequestIDs
    )
}

extension WireResponse {
    /// The vendor's error number.
    fileprivate var errorCode: Int64? { json?["errorcode"]?.integer }

    /// The messages of a reply. Those of results are one level deeper.
    private var messages: [JSONValue] {
        (json?["resultMessages"]?.array ?? []).map { $0["resultMessage"] ?? $0 }
    }

    fileprivate func names(_ code: String) -> Bool {
        messages.contains { $0["resultCode"]?.string == code }
    }

    /// Whether a successful reply contains an error.
    fileprivate var hidesRefusal: Bool {
        guard let object = json?.object else { return false }
        if object["hasErrors"]?.bool == true || object["errorcode"]?.integer ?? 0 != 0 { return true }
        if let word = object["operationStatus"]?.string, word != "OK" { return true }
        if object["operationInitiated"]?.bool == false { return true }
        return messages.contains { $0["resultClass"]?.string == "Error" }
    }
}
