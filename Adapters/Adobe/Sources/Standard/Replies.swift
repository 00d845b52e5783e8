import PatchbayAdapterKit
import PatchbayModel

/// What the vendor's answers mean. Three services, three laws; all repeat after the same pause, for ever.
enum RetryLaw: CaseIterable {
    /// Tracking and registrations.
    case hits
    /// Attributes, and tracking by the postback of old SDKs.
    case postbacks
    /// Push tokens.
    case identity

    /// Between two attempts: constant, never longer, without an end.
    static let pause = Duration.seconds(30)

    static func law(of endpoint: AdobeDevice.Endpoint, _ settings: AdobeSettings) -> RetryLaw {
        switch endpoint {
        case .tracking: settings.trackingForm == .postback ? .postbacks : .hits
        case .registration: .hits
        case .attributes: .postbacks
        case .pushToken: .identity
        }
    }

    /// The answers of this service.
    var table: ReplyTable {
        switch self {
        case .hits: .adobeHits
        case .postbacks: .adobePostbacks
        case .identity: .adobeIdentity
        }
    }

    func row(for outcome: Outcome) -> ReplyRow { table.row(for: outcome) }

    /// What a row means under the settings, which widen what the vendor's SDKs differ about.
    func meaning(_ row: ReplyRow, _ outcome: Outcome, _ settings: AdobeSettings) -> ReplyMeaning {
        switch outcome {
        case .replied(let reply) where self == .hits && reply.isSuccess && settings.successStatuses == .any2xx:
            return .accepted
        case .replied: return row.meaning
        case .failed(let failure):
            guard words.contains(failure.code) else { return settings.noAnswer == .retry ? .retry : .refused }
            RuleID.adobe("Q6").fire()
            return .retry
        }
    }

    /// The transport's words for failures that the vendor's iOS SDK repeats.
    private var words: Set<String> {
        switch self {
        case .hits: ["offline"]
        case .postbacks: ["offline", "timedOut", "cannotConnect", "connectionLost"]
        case .identity: []
        }
    }
}

extension ReplyTable {
    /// Tracking and registrations: 200 alone is a yes.
    static let adobeHits = ReplyTable(
        [
            .status(200...200, .accepted, rule: .adobe("Q4")),
            .status(201...299, .refused, .replyNotOK, rule: .adobe("Q4")),
            .status(404...404, .refused, .replyNotFound, rule: .adobe("G6")),
        ] + again + [.noAnswer(.retry, .noReply, rule: .adobe("Q7"))],
        otherwise: .otherwise(.refused, .replyRefused, rule: .adobe("Q5")),
        codes: adobeCodes
    )

    /// Attributes: every 2xx is a yes.
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

    /// Tracking and registrations may be answered with a page: their address is that of the vendor's redirections.
    private static let page = ReplyRow.webPage(.retry, .replyPage, rule: .adobe("Q11"))

    private static let again: [ReplyRow] = [408, 503, 504].map {
        .status($0...$0, .retry, .replyLater, rule: .adobe("Q3"))
    }
}
