import PatchbayAdapterKit
import PatchbayModel

/// The meanings of the vendor's replies, in four tables. All retry at the same interval, without a limit.
enum RetryPolicy: CaseIterable {
    /// Tracking.
    case hits
    /// Registrations.
    case registrations
    /// Attributes, and tracking by the postback of old SDKs.
    case postbacks
    /// Push tokens and opt-outs.
    case identity

    /// The interval between two attempts: constant, or the interval that the server asks for if longer, up to an hour.
    static let backoff = Backoff([.seconds(30)], longest: .seconds(3600))

    static func policy(of endpoint: AdobeDevice.Endpoint, _ settings: AdobeSettings) -> RetryPolicy {
        switch endpoint {
        case .tracking: settings.trackingForm == .postback ? .postbacks : .hits
        case .registration: .registrations
        case .attributes: .postbacks
        case .pushToken, .optOut: .identity
        }
    }

    /// The reply table.
    var table: ReplyTable {
        switch self {
        case .hits: .adobeHits
        case .registrations: .adobeRegistrations
        case .postbacks: .adobePostbacks
        case .identity: .adobeIdentity
        }
    }

    func row(for outcome: Outcome) -> ReplyRow { table.row(for: outcome) }

    /// Returns the meaning of a row under the settings, which cover differences between the vendor's SDKs.
    ///
    /// With `endsReach`, the request takes a push token back or reports an opt-out. It is repeated until a reply arrives,
    /// regardless of the settings.
    func meaning(_ row: ReplyRow, _ outcome: Outcome, _ settings: AdobeSettings, endsReach: Bool = false)
        -> ReplyMeaning
    {
        let hasOwnSuccess = self == .hits || self == .registrations
        switch outcome {
        case .replied(let reply)
        where hasOwnSuccess && row.meaning == .refused && reply.isSuccess && settings.successStatuses == .any2xx:
            return .accepted
        case .replied(let reply) where self == .hits && reply.redirects(within: settings.base):
            return .accepted
        // A fault of the service does not complete an opt-out.
        case .replied(let reply) where endsReach && (reply.status >= 500 || reply.status == 429): return .retry
        case .replied: return row.meaning
        case .failed(let failure):
            let isRetried = settings.noAnswer == .retry || endsReach || retriedFailures.contains(failure.code)
            return isRetried ? .retry : .refused
        }
    }

    /// The transport's codes of failures that the vendor's iOS SDK retries.
    private var retriedFailures: Set<String> {
        switch self {
        case .hits, .registrations, .identity: ["offline"]
        case .postbacks: ["offline", "timedOut", "cannotConnect", "connectionLost"]
        }
    }
}

extension ReplyTable {
    /// Tracking: 200 alone is a success, and its body is not looked at.
    static let adobeHits = adobe([redirect] + onlyOK)

    /// Registrations: 200 alone is a success, unless it is a web page.
    static let adobeRegistrations = adobe([page] + onlyOK)

    /// Attributes: every 2xx is a success.
    static let adobePostbacks = adobe([page, .status(200...299, .accepted, rule: .adobe("Q8"))] + retried)

    /// Push tokens.
    static let adobeIdentity = adobe(
        [page, .status(200...200, .accepted, rule: .adobe("I7"))] + retried,
        otherwise: "I7"
    )

    /// Creates a table that refuses all other replies. The error code is a text or, from the gateway, a number.
    private static func adobe(_ rows: [ReplyRow], otherwise rule: String = "Q5") -> ReplyTable {
        ReplyTable(
            rows,
            otherwise: .otherwise(.refused, .replyRefused, rule: .adobe(rule)),
            codes: [.member("error_code"), .member("code")]
        )
    }

    private static let onlyOK: [ReplyRow] =
        [
            .status(200...200, .accepted, rule: .adobe("Q4")),
            .status(201...299, .refused, .replyNotOK, rule: .adobe("Q4")),
            .status(404...404, .refused, .replyNotFound, rule: .adobe("G6")),
        ] + retried

    /// A redirect to another host than the tracking server. `RetryPolicy.meaning` accepts a redirect within that host.
    private static let redirect = ReplyRow.reply(
        "a redirect to another host",
        .retry,
        .replyPage,
        rule: .adobe("Q12"),
        where: .status(300...399),
        .header("Location")
    )

    /// Tracking may be answered with a page: its address is that of the vendor's redirects.
    private static let page = ReplyRow.webPage(.retry, .replyPage, rule: .adobe("Q11"))

    private static let retried: [ReplyRow] =
        [408, 503, 504].map { .status($0...$0, .retry, .replyLater, rule: .adobe("Q3")) }
        + [.noAnswer(.retry, .noReply, rule: .adobe("Q7"))]
}

extension WireResponse {
    /// Whether the reply is a redirect to the server that sent it.
    fileprivate func redirects(within base: String) -> Bool {
        guard (300...399).contains(status), let location = self[header: "Location"] else { return false }
        if location.hasPrefix("/"), !location.hasPrefix("//") { return true }
        guard let target = WebAddress(location), let server = WebAddress(base) else { return false }
        return target.host == server.host
    }
}
