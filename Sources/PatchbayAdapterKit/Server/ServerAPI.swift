import PatchbayJSON
public import PatchbayModel

/// A server API on the base that all server APIs share.
///
/// The base decides the order: it completes operations that need no request, waits until a pause ends, requests a token, and
/// then sends the first operation together with those that share its request. It also treats replies about tokens, temporary
/// failures and suspensions alike. An adapter provides a table of ``conventions`` and the functions below, which know its
/// requests and its replies.
public protocol ServerAPI: ContactAPI where Memory: ServerAPIMemory, Step: ServerStep {
    /// The tables that the base uses.
    static var conventions: ServerConventions<Endpoint> { get }

    // MARK: Capture

    /// Returns the findings about the contact's key.
    func problems(ofKeyOf operation: EngagementOperation) -> [Finding]
    /// Returns the findings about the operation's options for this API. The default reports each of them as unknown.
    func problems(ofOptionsOf operation: EngagementOperation) -> [Finding]
    /// Returns the findings about the operation's content. Log-ins, devices and consents have no counterpart in a server API;
    /// the base reports them.
    func problems(ofContentOf operation: EngagementOperation) -> [Finding]

    // MARK: Planning

    /// Returns the verdict of an operation that needs no request; nil if it needs one.
    func verdictWithoutRequest(_ pending: Pending<Self>) -> Verdict<Self>?
    /// Returns the verdicts of operations that need no request, or that must start again. If there are any, the plan settles
    /// only these. The default asks ``verdictWithoutRequest(_:)`` about each operation.
    func settled(in pending: PendingOperations<Self>) -> [OperationID: Verdict<Self>]
    /// Returns the request for a token. The default is nil, for an API without tokens.
    func tokenRequest(_ memory: Memory) -> WireRequest?
    /// Returns the request for the first operation, with the operations of the window that share it.
    func transmission(
        for head: Pending<Self>,
        in pending: PendingOperations<Self>,
        _ memory: Memory
    ) -> Transmission<Self>

    // MARK: Replies

    /// Interprets an exchange before the base does. The default returns nil, which leaves it to the base.
    func interpretException(_ exchange: Exchange<Self>, _ row: ReplyRow, memory: inout Memory) -> Interpretation<Self>?
    /// Whether a reply refuses the token. The default is status 401.
    func refusesToken(_ reply: WireResponse) -> Bool
    /// Interprets an accepted request. Returns nil if the reply lacks what the vendor documents: the request is repeated as
    /// after a failure, and its effect is uncertain.
    func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>?
    /// Interprets a refused request.
    func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self>
    /// Returns the verdict of an operation that must not simply be sent again after a temporary failure. The default returns
    /// nil.
    ///
    /// `isUncertain` is true if the vendor may have processed the request.
    func verdict(
        on pending: Pending<Self>,
        afterFailureOf exchange: Exchange<Self>,
        isUncertain: Bool
    ) -> Verdict<Self>?
    /// Returns the delay that the vendor asks for. The default is the header `Retry-After`.
    func requestedDelay(_ exchange: Exchange<Self>) -> Duration?
    /// Returns the finding for a suspended provider. The default names the HTTP status.
    func suspension(_ row: FindingRow, after exchange: Exchange<Self>) -> Finding
}

/// The progress of an operation at a server API.
public protocol ServerStep {
    /// The maximum number of operations in its request, after a refusal of a larger group; nil for no limit.
    var most: Int? { get set }
    /// The step of an operation without progress.
    static var initial: Self { get }
}

/// The memory of a server API, which contains what the base remembers.
public protocol ServerAPIMemory: AdapterMemory {
    /// The token and the pauses.
    var server: ServerMemory { get set }
}

/// The tables of the base, as plain values.
public struct ServerConventions<Endpoint: AdapterEndpoint>: Hashable, Sendable, Codable {
    /// The meanings of replies.
    public let replies: ReplyTable
    /// The delays after failures and the lifetime of tokens.
    public let pace: TokenPolicy
    /// The request for a token, a maintenance request; nil if each request carries the credential of the settings.
    let tokenEndpoint: Endpoint?
    let findings: BaseFindings

    /// Creates conventions.
    ///
    /// - Parameters:
    ///   - replies: The meanings of replies.
    ///   - pace: The delays after failures and the lifetime of tokens.
    ///   - tokenEndpoint: The request for a token; nil if the API has no tokens.
    ///   - findings: The findings that the base reports.
    public init(
        replies: ReplyTable,
        pace: TokenPolicy,
        tokenEndpoint: Endpoint? = nil,
        findings: any ServerFindings.Type
    ) {
        (self.replies, self.pace) = (replies, pace)
        (self.tokenEndpoint, self.findings) = (tokenEndpoint, BaseFindings(of: findings))
    }

    /// The findings that the base reports. It is a class, because conventions are copied for each operation.
    final class BaseFindings: Hashable, Sendable, Codable {
        let contactSwitch, device, consent, optionUnknown, closed, forbidden, refused: FindingRow
        let tokenLater, tokenRefused, tokenRefusedTwice: FindingRow

        init(of findings: any ServerFindings.Type) {
            (contactSwitch, device, consent) = (findings.contactSwitch, findings.device, findings.consent)
            (optionUnknown, closed) = (findings.optionUnknown, findings.closed)
            (forbidden, refused) = (findings.forbidden, findings.refused)
            (tokenLater, tokenRefused) = (findings.tokenLater, findings.tokenRefused)
            tokenRefusedTwice = findings.tokenRefusedTwice
        }

        private var rows: [FindingRow] {
            [contactSwitch, device, consent, optionUnknown, closed, forbidden, refused]
                + [tokenLater, tokenRefused, tokenRefusedTwice]
        }

        static func == (left: BaseFindings, right: BaseFindings) -> Bool { left.rows == right.rows }

        func hash(into hasher: inout Hasher) { hasher.combine(rows) }
    }
}

extension EngagementOperation {
    /// The key of the operation's contact at a server API: the contact that the operation was captured for, otherwise its
    /// subject, which is the contact at a back end. Without surrounding white space.
    public var contactKey: String { (contact ?? subject.rawValue).trimmed }
}

// MARK: Capture

extension ServerAPI {
    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let content = allProblems(ofContentOf: operation)
        if content.contains(where: { $0.severity == .foreign }) { return content }
        return problems(ofKeyOf: operation) + problems(ofOptionsOf: operation) + content
    }

    private func allProblems(ofContentOf operation: EngagementOperation) -> [Finding] {
        let findings = Self.conventions.findings
        return switch operation.action {
        case .switchContact: [findings.contactSwitch.at("action.switch")]
        case .registerDevice: [findings.device.at("action.device")]
        case .setConsent: [findings.consent.at("action")]
        default: problems(ofContentOf: operation)
        }
    }

    public func problems(ofOptionsOf operation: EngagementOperation) -> [Finding] {
        let id = Self.descriptor.id
        return (operation.options[id] ?? [:]).map { option in
            Self.conventions.findings.optionUnknown.at("options.\(id.rawValue)".dot(option.name))
        }
    }
}

// MARK: Planning

extension ServerAPI {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        planNext(pending, memory: memory, at: moment)
    }

    /// Plans as the base does, for an adapter that plans something first.
    public func planNext(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let settled = settled(in: pending)
        if !settled.isEmpty { return .settle(settled) }
        let conventions = Self.conventions
        switch memory.server.gate(at: moment.now, needsToken: conventions.tokenEndpoint != nil) {
        case .closed(let end): return .wait(until: end, because: conventions.findings.closed.at())
        case .needsTokenLater(let start): return .wait(until: start, because: conventions.findings.tokenLater.at())
        case .needsToken:
            guard let endpoint = conventions.tokenEndpoint, let request = tokenRequest(memory) else { break }
            return .send(Transmission(maintenanceRequest: endpoint, request))
        case .open: break
        }
        return .send(transmission(for: pending[0], in: pending, memory))
    }

    public func settled(in pending: PendingOperations<Self>) -> [OperationID: Verdict<Self>] {
        verdictsWithoutRequest(in: pending)
    }

    /// Returns the verdicts of all operations that need no request.
    public func verdictsWithoutRequest(in pending: PendingOperations<Self>) -> [OperationID: Verdict<Self>] {
        Dictionary(pending.compactMap { one in verdictWithoutRequest(one).map { (one.id, $0) } }) { first, _ in first }
    }

    public func tokenRequest(_ memory: Memory) -> WireRequest? { nil }

    /// Returns the operations that share a request with the first one: at most `limit` that pass the test, all with the same
    /// limit from earlier refusals. A query whose caller waits shares no request.
    public func group(
        of head: Pending<Self>,
        in pending: PendingOperations<Self>,
        atMost limit: Int,
        oncePerQueue: Bool = false,
        where test: (Pending<Self>) -> Bool
    ) -> [Pending<Self>] {
        pending.batch(min(limit, head.step?.most ?? limit), oncePerQueue: oncePerQueue) { one in
            !one.isImmediate && one.step?.most == head.step?.most && test(one)
        }
    }
}

// MARK: Replies

extension ServerAPI {
    public func interpretException(
        _ exchange: Exchange<Self>,
        _ row: ReplyRow,
        memory: inout Memory
    ) -> Interpretation<Self>? { nil }

    public func refusesToken(_ reply: WireResponse) -> Bool { reply.status == 401 }

    public func requestedDelay(_ exchange: Exchange<Self>) -> Duration? { exchange.retryAfter }

    public func verdict(
        on pending: Pending<Self>,
        afterFailureOf exchange: Exchange<Self>,
        isUncertain: Bool
    ) -> Verdict<Self>? { nil }

    public func suspension(_ row: FindingRow, after exchange: Exchange<Self>) -> Finding {
        row.at(detail: exchange.outcome.reply.map { "HTTP \($0.status)" })
    }

    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        interpretReply(exchange, memory: &memory)
    }

    /// Interprets as the base does, for an adapter that adds to it.
    public func interpretReply(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let conventions = Self.conventions
        let row = conventions.replies.row(for: exchange.outcome)
        if let meaning = interpretException(exchange, row, memory: &memory) { return meaning }
        if let tokenEndpoint = conventions.tokenEndpoint {
            if exchange.endpoint == tokenEndpoint {
                let asked = requestedDelay(exchange)
                return memory.server.interpretToken(exchange, row.meaning, asked: asked, conventions.pace)
                    ?? Interpretation(suspension: conventions.findings.tokenRefused.at())
            }
            if exchange.outcome.reply.map(refusesToken) ?? false {
                return memory.server.interpretRefusedToken(exchange)
                    ?? suspended(exchange, conventions.findings.tokenRefusedTwice)
            }
        }
        if row.meaning == .retry {
            // Status 503 means that the vendor did not process the request.
            let isUncertain = exchange.mayHaveWorked && exchange.outcome.reply?.status != 503
            return interpretFailure(exchange, isUncertain: isUncertain, memory: &memory)
        }
        memory.server.noteReply(at: exchange.moment.now)
        switch row.meaning {
        case .suspend: return suspended(exchange, row.finding ?? conventions.findings.forbidden)
        case .refused: return interpretRefusal(exchange, row.finding ?? conventions.findings.refused)
        case .accepted, .retry:
            return interpretAccepted(exchange, memory: &memory)
                ?? interpretFailure(exchange, isUncertain: true, memory: &memory)
        }
    }

    /// Interprets a temporary failure: every lane waits, and the operations' own delays grow.
    private func interpretFailure(
        _ exchange: Exchange<Self>,
        isUncertain: Bool,
        memory: inout Memory
    ) -> Interpretation<Self> {
        memory.server.stayAway(exchange, asked: requestedDelay(exchange), Self.conventions.pace) { pending in
            verdict(on: pending, afterFailureOf: exchange, isUncertain: isUncertain)
        }
    }

    /// Suspends the provider until a person acts. The operations stay pending.
    public func suspended(_ exchange: Exchange<Self>, _ row: FindingRow) -> Interpretation<Self> {
        var meaning = Interpretation<Self>(exchange.operations) { .inProgress($0.step) }
        meaning.suspension = suspension(row, after: exchange)
        return meaning
    }

    /// Splits a refused group in halves until the operation at fault is alone, and rejects that one.
    ///
    /// - Parameters:
    ///   - operations: The refused operations.
    ///   - count: The size of their group, if it was larger.
    ///   - finding: The reason of the rejection.
    ///   - again: Changes the step with which an operation is sent again.
    /// - Returns: The interpretation.
    public func halved(
        _ operations: [Pending<Self>],
        of count: Int = 0,
        rejecting finding: @autoclosure () -> Finding,
        again: (inout Step) -> Void = { _ in }
    ) -> Interpretation<Self> {
        let count = max(operations.count, count)
        guard count > 1 else {
            let finding = finding()
            return Interpretation(operations) { _ in .rejected(finding) }
        }
        return Interpretation(operations) { pending in
            var step = pending.step ?? .initial
            again(&step)
            step.most = (count + 1) / 2
            return .inProgress(step)
        }
    }
}
