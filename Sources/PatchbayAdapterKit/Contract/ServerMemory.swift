import PatchbayJSON
public import PatchbayModel

/// What all lanes of a server API share where the vendor wants a token: the token, and the vendor's word to stay away.
/// Nothing of a person.
///
/// One token serves all requests. It is asked for by a maintenance request when there is something to send, and kept until it ends. A
/// refused one is renewed once; where a fresh one is refused too, a person has to act. What fails keeps every lane away.
public struct ServerMemory: AdapterMemory {
    /// The token; nil while there is none that can be used.
    public private(set) var token: Secret?
    /// When it came; nil where its text alone tells one token from another.
    public private(set) var tokenSince: Instant?
    /// Until when it can be used.
    public private(set) var tokenUntil: Instant?
    /// The host that came with it, where the vendor names one.
    public var restURL: String?
    /// Whether the last token was refused, and none was taken since.
    public private(set) var isRefused = false
    /// Failed requests for a token in a row.
    public private(set) var tokenFailures = 0
    /// Whether the vendor refused to give a token, and has given none since.
    public private(set) var isTokenDenied: Bool?
    /// When the next may leave.
    public private(set) var tokenNotBefore: Instant?
    /// Failed requests in a row.
    public private(set) var failures = 0
    /// When the next may leave, whatever its lane.
    public private(set) var closedUntil: Instant?

    public init() {}

    public var afterErase: Self { self }

    /// The header that a request with this token carries.
    public var authorization: String { "Bearer \(token?.value ?? "")" }
}

/// How a vendor hands out tokens.
public struct TokenLaw: Sendable {
    /// How long to wait after a failed request, for a token or with one.
    public let backoff: Backoff
    /// Seconds that a token lives where its reply does not say.
    public let life: Int64
    /// Whether the vendor hands out the same text again while it is good, so that the text does not tell two apart.
    public let repeatsTexts: Bool

    /// A law.
    public init(backoff: Backoff, life: Int64, repeatsTexts: Bool = false) {
        (self.backoff, self.life, self.repeatsTexts) = (backoff, life, repeatsTexts)
    }
}

// MARK: Before a request

extension ServerMemory {
    /// What stands between an API and its next request.
    public enum Gate: Sendable, Equatable {
        /// Nothing.
        case open
        /// Every lane stays away until then.
        case closed(until: Instant)
        /// A token, which is to be asked for now.
        case needsToken
        /// A token, which may be asked for then.
        case needsTokenLater(Instant)
    }

    /// What stands between the API and its next request now.
    public func gate(at now: Instant) -> Gate {
        if let closedUntil, closedUntil > now { return .closed(until: closedUntil) }
        if token != nil, let tokenUntil, tokenUntil > now { return .open }
        if let tokenNotBefore, tokenNotBefore > now { return .needsTokenLater(tokenNotBefore) }
        return .needsToken
    }
}

extension ServerMemory {
    /// What an API does now: what needs no request ends at once, then come the vendor's word to stay away, the token, and the
    /// first of the window with all that goes with it.
    ///
    /// - Parameters:
    ///   - pending: the window.
    ///   - moment: now.
    ///   - closed: why every lane stays away.
    ///   - tokenLater: why a token can't be asked for yet.
    ///   - ending: how an operation ends that needs no request; nil where it needs one.
    ///   - token: the question for a token.
    ///   - work: the request for the first of the window.
    /// - Returns: the plan.
    public func plan<Adapter>(
        _ pending: PendingOperations<Adapter>,
        at moment: Moment,
        closed: @autoclosure () -> Finding,
        tokenLater: @autoclosure () -> Finding,
        ending: (EngagementOperation) -> Verdict<Adapter>?,
        token: () -> Transmission<Adapter>,
        work: (Pending<Adapter>) -> Transmission<Adapter>
    ) -> Plan<Adapter> {
        let idle = pending.compactMap { one in ending(one.operation).map { (one.id, $0) } }
        if !idle.isEmpty { return .settle(Dictionary(idle) { first, _ in first }) }
        switch gate(at: moment.now) {
        case .closed(let end): return .wait(until: end, because: closed())
        case .needsTokenLater(let start): return .wait(until: start, because: tokenLater())
        case .needsToken: return .send(token())
        case .open: return .send(work(pending[0]))
        }
    }
}

// MARK: After a request

extension ServerMemory {
    /// Whoever says yes, or no by name, took the token, and is there.
    public mutating func heard(at now: Instant) {
        (isRefused, failures) = (false, 0)
        if let closed = closedUntil, closed <= now { closedUntil = nil }
    }

    /// The answer to the question for a token.
    ///
    /// - Parameters:
    ///   - exchange: the maintenance request.
    ///   - meaning: what the API's reply table says of it; a 401 is a refusal of the client, whatever stands there.
    ///   - asked: how long the vendor asks to wait.
    ///   - law: how this vendor hands out tokens.
    /// - Returns: nil where the client was refused: a person has to act.
    public mutating func interpretToken<Adapter>(
        _ exchange: Exchange<Adapter>,
        _ meaning: ReplyMeaning,
        asked: Duration?,
        _ law: TokenLaw
    ) -> Interpretation<Adapter>? {
        let reply = exchange.outcome.reply
        if meaning != .accepted, meaning != .retry || reply?.status == 401 { return nil }
        guard meaning == .accepted, let new = reply?.accessToken else {
            tokenNotBefore = law.backoff.next(after: tokenFailures, asked: asked, at: exchange.moment)
            tokenFailures += 1
            return Interpretation()
        }
        let now = exchange.moment.now
        let life = reply?.json?["expires_in"]?.integer.map { min(max(60, $0), 86_400) } ?? law.life
        (token, tokenSince) = (new, law.repeatsTexts ? now : nil)
        tokenUntil = max(exchange.startedAt + .seconds(life), now + .seconds(1))
        (tokenFailures, tokenNotBefore, isTokenDenied) = (0, nil, nil)
        return Interpretation()
    }

    /// Notes that the vendor refused to give a token, and returns whether it is asked once more: the first refusal in a row
    /// may be a passing one.
    public mutating func asksForTokenAgain<Adapter>(_ exchange: Exchange<Adapter>, _ law: TokenLaw) -> Bool {
        guard isTokenDenied != true else {
            isTokenDenied = nil
            return false
        }
        isTokenDenied = true
        tokenNotBefore = law.backoff.next(after: tokenFailures, asked: nil, at: exchange.moment)
        tokenFailures += 1
        return true
    }

    /// The vendor refused the token: it is asked for once more, and the same goes again.
    ///
    /// What left with an older token, or before the present one came, says nothing of the present one.
    ///
    /// - Returns: nil where a fresh token was refused too: a person has to act.
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

    /// Not now: every lane stays away for a time, and what was carried for longer each time, unless `ending` ends it.
    ///
    /// - Parameters:
    ///   - exchange: what failed.
    ///   - asked: how long the vendor asks to wait.
    ///   - law: how long it is waited otherwise.
    ///   - ending: how an operation ends that must not go again; nil where it goes again.
    /// - Returns: a verdict for each.
    public mutating func stayAway<Adapter>(
        _ exchange: Exchange<Adapter>,
        asked: Duration?,
        _ law: TokenLaw,
        ending: (Pending<Adapter>) -> Verdict<Adapter>? = { _ in nil }
    ) -> Interpretation<Adapter> {
        let moment = exchange.moment
        let next = law.backoff.stayAway(&failures, until: &closedUntil, asked: asked, at: moment)
        return Interpretation(exchange.operations) { pending in
            if let end = ending(pending) { return end }
            return .retry(.at(max(law.backoff.next(after: pending.failures, asked: asked, at: moment), next)))
        }
    }
}

extension WireResponse {
    /// The token of a reply; nil if there is none that can stand in a header.
    public var accessToken: Secret? {
        guard let text = json?["access_token"]?.string, (1...8192).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(text)
    }
}
