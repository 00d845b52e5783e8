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

    /// The answers of this service.
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
            guard words.contains(failure.code) else {
                return settings.noAnswer == .retry || endsReach ? .retry : .refused
            }
            return .retry
        }
    }

    /// The transport's codes of failures that the vendor's iOS SDK retries.
    private var words: Set<String> {
        switch self {
        case .hits, .registrations, .identity: ["offline"]
        case .postbacks: ["offline", "timedOut", "cannotConnect", "connectionLost"]
        }
    }
}

extension ReplyTable {
    /// Tracking: 200 alone is a success, and its body is not looked at.
    static let adobeHits = ReplyTable(
        [redirect] + okAlone,
        otherwise: .otherwise(.refused, .replyRefused, rule: .adobe("Q5")),
        codes: adobeCodes
    )

    /// Registrations: 200 alone is a success, unless it is a web page.
    static let adobeRegistrations = ReplyTable(
        [page] + okAlone,
        otherwise: .otherwise(.refused, .replyRefused, rule: .adobe("Q5")),
        codes: adobeCodes
    )

    private static let okAlone: [ReplyRow] =
        [
            .status(200...200, .accepted, rule: .adobe("Q4")),
            .status(201...299, .refused, .replyNotOK, rule: .adobe("Q4")),
            .status(404...404, .refused, .replyNotFound, rule: .adobe("G6")),
        ] + again + [.noAnswer(.retry, .noReply, rule: .adobe("Q7"))]

    /// A redirect to another host than the tracking server. `RetryPolicy.meaning` accepts a redirect within that host.
    private static let redirect = ReplyRow.reply(
        "a redirect to another host",
        .retry,
        .replyPage,
        rule: .adobe("Q12"),
        where: .status(300...399),
        .header("Location")
    )

    /// Attributes: every 2xx is a success.
    static let adobePostbacks = ReplyTable(
        [page, .status(200...299, .accepted, rule: .adobe("Q8"))] + again
            + [.noAnswer(.retry, .noReply, rule: .adobe("Q7"))],
        otherwise: .otherwise(.refused, .replyRefused, rule: .adobe("Q5")),
        codes: adobeCodes
    )

    /// Push tokens.
    static let adobeIdentity = ReplyTable(
        [page, .status(200...200, .accepted, rule: .adobe("I7"))] + again
            + [.noAnswer(.retry, .noReply, rule: .adobe("Q7"))],
        otherwise: .otherwise(.refused, .replyRefused, rule: .adobe("I7")),
        codes: adobeCodes
    )

    /// A code as text or, from the gateway, as number.
    private static let adobeCodes: [ReplyPlace] = [.member("error_code"), .member("code")]

    /// Tracking may be answered with a page: its address is that of the vendor's redirects.
    private static let page = ReplyRow.webPage(.retry, .replyPage, rule: .adobe("Q11"))

    private static let again: [ReplyRow] = [408, 503, 504].map {
        .status($0...$0, .retry, .replyLater, rule: .adobe("Q3"))
    }
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
