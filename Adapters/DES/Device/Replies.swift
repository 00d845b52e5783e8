import PatchbayAdapterKit

extension ReplyTable {
    /// The meanings of replies to queued requests. A query is never repeated, and a 401 is handled first (R33).
    static let des = ReplyTable(
        [
            .webPage(.retry, .replyPage, rule: .des("R41")),
            .status(200...299, .accepted, rule: .des("R31")),
            .status(401...401, .refused, .replyUnauthenticated, rule: .des("R33")),
            .status(408...408, .retry, .replyLater, rule: .des("R31")),
            .status(429...429, .retry, .replyLater, rule: .des("R31")),
            .status(400...400, .refused, .replyRefused, rule: .des("A5")),
            .status(402...499, .refused, .replyRefused, rule: .des("R31")),
            .noAnswer(.retry, .noReply, rule: .des("R37")),
        ],
        otherwise: .otherwise(.retry, .replyLater, rule: .des("R31")),
        codes: [.member("error.code"), .member("code")]
    )
}
