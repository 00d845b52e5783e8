import PatchbayJSON
public import PatchbayModel

/// The state that all lanes of a server API share if the vendor uses tokens: the token, and until when requests must wait. It
/// contains no personal data.
///
/// One token serves all requests. A maintenance request obtains it when there is something to send, and it is kept until it
/// expires. A refused token is renewed once. If the new token is refused too, a person has to act. After a failure, every lane
/// waits.
public struct ServerMemory: ServerAPIMemory {
    /// The token; nil if there is no usable one.
    public private(set) var token: Secret?
    /// The time at which the token was received; nil if its text alone identifies it.
    public private(set) var tokenSince: Instant?
    /// The time at which the token expires.
    public private(set) var tokenUntil: Instant?
    /// The host that the vendor returned with the token, if any.
    public var restURL: String?
    /// Whether the vendor refused the last token and has accepted none since.
    public private(set) var isRefused = false
    /// The number of consecutive failed token requests.
    public private(set) var tokenFailures = 0
    /// Whether the vendor refused to issue a token and has issued none since.
    public private(set) var isTokenDenied: Bool?
    /// The earliest time of the next token request.
    public private(set) var tokenNotBefore: Instant?
    /// The number of consecutive failed requests.
    public private(set) var failures = 0
    /// The earliest time of the next request of any lane.
    public private(set) var closedUntil: Instant?

    public init() {}

    /// The memory itself.
    public var server: Self {
        get { self }
        set { self = newValue }
    }

    public var afterErase: Self { self }

    /// The `Authorization` header value for a request with this token.
    public var authorization: String { "Bearer \(token?.value ?? "")" }
}

/// How a vendor issues tokens, and how to wait after failures.
public struct TokenPolicy: Hashable, Sendable, Codable {
    /// The delays after a failed request, for a token or with one.
    public let backoff: Backoff
    /// The lifetime of a token in seconds, if the vendor's reply does not state it.
    public let life: Int64
    /// Whether the vendor returns the same text while a token is valid, so that the text does not identify the token.
    public let repeatsTexts: Bool

    /// Creates a token policy. An API without tokens has only the delays.
    public init(backoff: Backoff, life: Int64 = 0, repeatsTexts: Bool = false) {
        (self.backoff, self.life, self.repeatsTexts) = (backoff, life, repeatsTexts)
    }
}

// MARK: Before a request

extension ServerMemory {
    /// What an API needs before its next request.
    public enum Gate: Sendable, Equatable {
        /// The request can be sent.
        case open
        /// Every lane waits until the instant.
        case closed(until: Instant)
        /// A token is needed and can be requested now.
        case needsToken
        /// A token is needed and can be requested at the instant.
        case needsTokenLater(Instant)
    }

    /// Returns what the API needs before its next request.
    public func gate(at now: Instant, needsToken: Bool = true) -> Gate {
        if let closedUntil, closedUntil > now { return .closed(until: closedUntil) }
        if !needsToken { return .open }
        if token != nil, let tokenUntil, tokenUntil > now { return .open }
        if let tokenNotBefore, tokenNotBefore > now { return .needsTokenLater(tokenNotBefore) }
        return .needsToken
    }
}

// MARK: After a request

extension ServerMemory {
    /// Records that the vendor accepted a request or rejected it with a specific error, which shows that it is available and
    /// accepted the token.
    public mutating func noteReply(at now: Instant) {
        (isRefused, failures) = (false, 0)
        if let closed = closedUntil, closed <= now { closedUntil = nil }
    }

    /// Interprets the reply to a token request.
    ///
    /// - Parameters:
    ///   - exchange: The maintenance request.
    ///   - meaning: The meaning of the reply in the API's reply table. Status 401 always means that the client was refused.
    ///   - asked: The delay that the vendor asks for.
    ///   - policy: The vendor's token policy.
    /// - Returns: The interpretation; nil if the client was refused, so that a person has to act.
    public mutating func interpretToken<Adapter>(
        _ exchange: Exchange<Adapter>,
        _ meaning: ReplyMeaning,
        asked: Duration?,
        _ policy: TokenPolicy
    ) -> Interpretation<Adapter>? {
        let reply = exchange.outcome.reply
        if meaning != .accepted, meaning != .retry || reply?.status == 401 { return nil }
        guard meaning == .accepted, let new = reply?.accessToken else {
            tokenNotBefore = policy.backoff.next(after: tokenFailures, asked: asked, at: exchange.moment)
            tokenFailures += 1
            return Interpretation()
        }
        let now = exchange.moment.now
        let life = reply?.json?["expires_in"]?.integer.map { min(max(60, $0), 86_400) } ?? policy.life
        (token, tokenSince) = (new, policy.repeatsTexts ? now : nil)
        tokenUntil = max(exchange.startedAt + .seconds(life), now + .seconds(1))
        (tokenFailures, tokenNotBefore, isTokenDenied) = (0, nil, nil)
        return Interpretation()
    }

    /// Records that the vendor refused to issue a token. Returns whether to request it once more, because the first of several
    /// consecutive refusals may be temporary.
    public mutating func asksForTokenAgain<Adapter>(_ exchange: Exchange<Adapter>, _ policy: TokenPolicy) -> Bool {
        guard isTokenDenied != true else {
            isTokenDenied = nil
            return false
        }
        isTokenDenied = true
        tokenNotBefore = policy.backoff.next(after: tokenFailures, asked: nil, at: exchange.moment)
        tokenFailures += 1
        return true
    }

    /// Interprets a reply that refuses the token: the token is requested once more, and the operations are sent again.
    ///
    /// A reply to a request with an older token, or one sent before the current token was received, does not affect the current
    /// token.
    ///
    /// - Returns: The interpretation; nil if a new token was refused too, so that a person has to act.
    public mutating func interpretRefusedToken<Adapter>(_ exchange: Exchange<Adapter>) -> Interpretation<Adapter>? {
        let again = Interpretation<Adapter>(exchange.operations) { _ in .retry(.now) }
        let isPresent =
            token != nil && exchange.request[header: "Authorization"] == authorization
            && tokenSince.map { $0 <= exchange.startedAt } ?? true
        guard isPresent else { return again }
        (token, tokenSince, tokenUntil) = (nil, nil, nil)
        guard !isRefused else { return nil }
        isRefused = true
        return again
    }

    /// Delays all lanes after a failure. The failed operations wait longer each time, unless they are completed.
    ///
    /// - Parameters:
    ///   - exchange: The failed exchange.
    ///   - asked: The delay that the vendor asks for.
    ///   - policy: The policy that determines the delay otherwise.
    ///   - settlement: Returns the verdict of an operation that must not be sent again; nil to send it again.
    /// - Returns: A verdict for each operation.
    public mutating func stayAway<Adapter>(
        _ exchange: Exchange<Adapter>,
        asked: Duration?,
        _ policy: TokenPolicy,
        settlement: (Pending<Adapter>) -> Verdict<Adapter>? = { _ in nil }
    ) -> Interpretation<Adapter> {
        let moment = exchange.moment
        let next = policy.backoff.stayAway(&failures, until: &closedUntil, asked: asked, at: moment)
        return Interpretation(exchange.operations) { pending in
            if let verdict = settlement(pending) { return verdict }
            return .retry(.at(max(policy.backoff.next(after: pending.failures, asked: asked, at: moment), next)))
        }
    }
}

extension WireResponse {
    /// The access token of a reply; nil if there is none that is valid in a header.
    public var accessToken: Secret? {
        guard let text = json?["access_token"]?.string, (1...8192).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(text)
    }
}
