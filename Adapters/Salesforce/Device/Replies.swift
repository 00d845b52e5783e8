import PatchbayAdapterKit

extension ReplyTable {
    /// The meanings of the vendor's replies. It documents no permanent failures, so all failures are retried without
    /// limit.
    static let salesforce = ReplyTable(
        [
            .webPage(.retry, .replyPage, rule: .salesforce("R8")),
            .status(200...299, .accepted, rule: .salesforce("R1")),
            .status(429...429, .retry, .replyTooOften, rule: .salesforce("R2")),
            .status(401...401, .retry, .replyCredentials, rule: .salesforce("R3")),
            .status(403...403, .retry, .replyCredentials, rule: .salesforce("R3")),
            .status(408...408, .retry, .replyUnavailable, rule: .salesforce("R5")),
            .status(500...599, .retry, .replyUnavailable, rule: .salesforce("R5")),
            .noAnswer(.retry, .noReply, rule: .salesforce("R6")),
        ],
        otherwise: .otherwise(.retry, .replyRefused, rule: .salesforce("R4")),
        codes: [.member("errorcode"), .member("errorCode"), .member("error")],
        requestIDs: [.member("requestId")] + ReplyTable.commonRequestIDs
    )
}
