import PatchbayAdapterKit

extension ReplyTable {
    /// The meanings of the vendor's replies. The classification is an assumption, because the vendor publishes none.
    static let acoustic = ReplyTable(
        [
            .webPage(.retry, .replyPage, rule: .acoustic("R6")),
            .status(200...299, .accepted, rule: .acoustic("R1")),
            .status(401...401, .suspend, .replyStopped, rule: .acoustic("Q5")),
            .status(403...403, .suspend, .replyStopped, rule: .acoustic("Q5")),
            .status(404...404, .suspend, .replyStopped, rule: .acoustic("Q5")),
            .status(410...410, .suspend, .replyStopped, rule: .acoustic("Q5")),
            .status(408...408, .retry, .replyUnavailable, rule: .acoustic("R2")),
            .status(425...425, .retry, .replyUnavailable, rule: .acoustic("R2")),
            .status(429...429, .retry, .replyThrottled, rule: .acoustic("R3")),
            .status(400...499, .refused, .updateRefused, rule: .acoustic("Q6")),
            .status(500...599, .retry, .replyUnavailable, rule: .acoustic("R2")),
            .noAnswer(.retry, .noReply, rule: .acoustic("R4")),
        ],
        otherwise: .otherwise(.retry, .replyStrange, rule: .acoustic("R5"))
    )
}
