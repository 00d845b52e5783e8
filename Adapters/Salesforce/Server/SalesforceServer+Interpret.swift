public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce

extension SalesforceServer {
    public func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>? {
        switch exchange.endpoint {
        case .rows, .createContact, .updateContact: Interpretation(finalVerdicts(exchange.operations))
        case .asyncRows: interpretJob(exchange)
        case .asyncStatus: interpretStatus(exchange)
        case .asyncResults: interpretResults(exchange)
        case .deleteContacts: interpretDeletion(exchange)
        case .event: interpretEvent(exchange)
        case .readRows: interpretPage(exchange)
        case .token: Interpretation()
        }
    }

    /// Reads the REST host that comes with a token. A client that is refused requests a token once more.
    public func interpretException(_ exchange: Exchange<Self>, _ row: ReplyRow, memory: inout Memory)
        -> Interpretation<Self>?
    {
        guard exchange.endpoint == .token, let reply = exchange.outcome.reply else { return nil }
        if settings.restURL.isEmpty, row.meaning == .accepted, reply.accessToken != nil {
            guard let host = ServerToken.host(reply.json?["rest_instance_url"]?.string) else {
                return Interpretation(suspension: ServerFinding.hostUnknown.at())
            }
            memory.restURL = host
        }
        return reply.status == 401 && memory.asksForTokenAgain(exchange, ServerPace.tokens) ? Interpretation() : nil
    }

    /// Returns the delay that the vendor asks for, in its header or in the body.
    public func requestedDelay(_ exchange: Exchange<Self>) -> Duration? {
        exchange.retryAfter ?? exchange.outcome.reply?.retryAfterInBody
    }

    public func verdict(on pending: Pending<Self>, afterFailureOf exchange: Exchange<Self>, isUncertain: Bool)
        -> Verdict<Self>?
    {
        guard exchange.endpoint == .event, isUncertain, settings.uncertainEvents == .reject else { return nil }
        return .rejected(ServerFinding.eventUnknown.at("action.event"))
    }

    // MARK: Refusals

    public func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        let endpoint = exchange.endpoint
        switch endpoint {
        case .rows, .asyncRows, .readRows:
            if finding == ServerFinding.notFound { return suspended(exchange, ServerFinding.dataExtensionUnknown) }
        case .createContact where finding == ServerFinding.conflict,
            .updateContact where finding == ServerFinding.notFound || finding == ServerFinding.hiddenRefusal:
            let other: Settings.Verb = endpoint == .createContact ? .update : .create
            return Interpretation(exchange.operations) { pending in
                guard pending.step?.verb == nil else { return .rejected(finding.at("action")) }
                var step = pending.step ?? Step()
                step.verb = other
                return .inProgress(step)
            }
        case .asyncResults where exchange.operations.first?.step?.hasFailed == true:
            return halved(exchange.operations, of: exchange.operations.first?.step?.rows, ServerFinding.jobRefused)
        case .asyncStatus, .asyncResults: return lost(exchange)
        case .createContact, .updateContact, .deleteContacts, .event, .token: break
        }
        return halved(exchange.operations, finding)
    }

    /// Splits a refused group in halves until the operation at fault is alone (V10). Rows leave the refused job.
    private func halved(
        _ operations: [Pending<Self>],
        of rows: Int? = nil,
        _ finding: FindingRow,
        vendor: VendorReply? = nil
    ) -> Interpretation<Self> {
        var rejection = finding.at("action")
        rejection.vendor = vendor
        return halved(operations, of: rows ?? 0, rejecting: rejection) { step in
            step = Step(lostJobs: step.lostJobs, verb: step.verb)
        }
    }

    // MARK: Accepted requests

    /// Returns the verdicts after a successful write. An operation whose values a later one of the same request
    /// replaced completely is superseded.
    private func finalVerdicts(_ operations: [Pending<Self>]) -> [OperationID: Verdict<Self>] {
        let cells = Dictionary(operations.map { ($0.id, self.cells(of: $0.operation)) }) { first, _ in first }
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for row in ContactRow.folding(operations, self.cells) {
            for id in row.operations {
                let later = row.replacement(of: id, cells[id] ?? [])
                verdicts[id] = later.map { .superseded(by: $0) } ?? .accepted()
            }
        }
        return verdicts
    }

    private func interpretDeletion(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        guard exchange.outcome.reply?.json?["operationInitiated"]?.bool == true else { return nil }
        return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.eraseLater.at()) }
    }

    private func interpretEvent(_ exchange: Exchange<Self>) -> Interpretation<Self> {
        let id = exchange.outcome.reply?.json?["eventInstanceId"]
        return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.eventTaken.at(), answer: id) }
    }

    private func interpretPage(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        guard let page = RowsPage(exchange.outcome.reply?.json) else { return nil }
        return Interpretation(exchange.operations) { _ in .accepted(answer: page.answer) }
    }

    // MARK: Jobs

    private func interpretJob(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        let id = exchange.outcome.reply?.json?["requestId"]?.string
        guard let id, exchange.outcome.reply?.status == 202, ServerToken.isJob(id) else { return nil }
        let rows = ContactRow.folding(exchange.operations, cells)
        var places: [OperationID: Int] = [:]
        for (place, row) in rows.enumerated() { for id in row.operations { places[id] = place } }
        let next = poll(exchange)
        return Interpretation(exchange.operations) { pending in
            var step = Step(most: pending.step?.most, lostJobs: pending.step?.lostJobs)
            (step.job, step.row, step.rows) = (id, places[pending.id], rows.count)
            return .inProgress(step, next)
        }
    }

    private func poll(_ exchange: Exchange<Self>) -> When { .at(exchange.moment.now + .seconds(settings.pollSeconds)) }

    private func interpretStatus(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        guard let status = exchange.outcome.reply?.json?["status"], let word = status["requestStatus"]?.string else {
            return nil
        }
        switch word {
        case "Complete" where status["hasErrors"]?.bool == false:
            return Interpretation(finalVerdicts(exchange.operations))
        case "Complete", "Error":
            return Interpretation(exchange.operations) { pending in
                var step = pending.step
                step?.isDone = true
                if word == "Error" { step?.hasFailed = true }
                return .inProgress(step)
            }
        default:
            let next = poll(exchange)
            return Interpretation(exchange.operations) { .inProgress($0.step, next) }
        }
    }

    /// Handles a job that the vendor does not know. Its rows go into another job; after three lost jobs they are
    /// rejected.
    private func lost(_ exchange: Exchange<Self>) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            let jobs = (pending.step?.lostJobs ?? 0) + 1
            guard jobs < ServerPace.lostJobs else { return .rejected(ServerFinding.jobLost.at("action")) }
            return .inProgress(Step(most: pending.step?.most, lostJobs: jobs), poll(exchange))
        }
    }

    private func interpretResults(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        let first = exchange.operations.first?.step
        let hasFailed = first?.hasFailed == true
        let reply = exchange.outcome.reply?.json
        guard let reply, let items = reply["items"]?.array else {
            // A job that ended with an error may have no results. Its rows are sent again in halves.
            return hasFailed && exchange.outcome.reply?.json != nil
                ? halved(exchange.operations, of: first?.rows, ServerFinding.jobRefused)
                : nil
        }
        let page = (first?.row ?? 0) / ServerPace.resultsPage
        let awaited = min(ServerPace.resultsPage, (first?.rows ?? 0) - page * ServerPace.resultsPage)
        let isWhole =
            reply["count"]?.integer == Int64(first?.rows ?? 0) && items.count == awaited
            && reply["page"]?.integer ?? Int64(page + 1) == Int64(page + 1)
        // Without one result per row, the rows can't be judged separately and are sent again in halves.
        guard isWhole else {
            let finding = hasFailed ? ServerFinding.jobRefused : ServerFinding.rowRefused
            return halved(exchange.operations, of: first?.rows, finding)
        }
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for (row, operations) in Dictionary(grouping: exchange.operations, by: { $0.step?.row ?? 0 }) {
            let item = items[min(max(0, row - page * ServerPace.resultsPage), items.count - 1)]
            if item["status"]?.string == "OK", hasFailed {
                // The documents do not state whether a failed job stores its good rows.
                let meaning = halved(operations, of: first?.rows, ServerFinding.jobRefused)
                verdicts.merge(meaning.verdicts) { first, _ in first }
            } else if item["status"]?.string == "OK" {
                verdicts.merge(finalVerdicts(operations)) { first, _ in first }
            } else {
                let vendor = VendorReply(status: 200, code: item["errorCode"]?.string)
                let meaning = halved(operations, ServerFinding.rowRefused, vendor: vendor)
                verdicts.merge(meaning.verdicts) { first, _ in first }
            }
        }
        return Interpretation(verdicts)
    }
}

extension WireResponse {
    /// The delay in seconds that a refusal's body asks for.
    fileprivate var retryAfterInBody: Duration? {
        guard status == 429 || status == 503, let seconds = json?["retryAfter"]?.integer, seconds > 0 else {
            return nil
        }
        return .seconds(min(seconds, 86_400))
    }
}

/// Checks values of replies that become part of later requests.
enum ServerToken: Sendable {
    /// Whether a job's id can be part of a path.
    static func isJob(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2D
            }
    }

    /// Returns the REST host that the vendor names, with or without scheme and slash (V4); nil if it is not permitted.
    static func host(_ text: String?) -> String? {
        guard var host = text?.trimmed, !host.isEmpty else { return nil }
        while host.hasSuffix("/") { host.removeLast() }
        if !host.contains("://") { host = "https://\(host)" }
        guard let address = WebAddress(host), address.isPrivate, !host.contains("?"), !host.contains("#"),
            !address.climbs
        else { return nil }
        return host
    }
}

/// The answer to a query for a page of rows.
struct RowsPage: Sendable {
    let answer: JSONValue

    /// Reads the page of a reply; nil if it is none. Without `items` a page is empty (V34).
    init?(_ reply: JSONValue?) {
        guard let reply, let count = reply["count"]?.integer, let page = reply["page"]?.integer,
            let pageSize = reply["pageSize"]?.integer, page > 0, pageSize > 0
        else { return nil }
        let items = reply["items"]?.array ?? []
        let (seen, hasOverflown) = page.multipliedReportingOverflow(by: pageSize)
        let isLast = hasOverflown || items.count < pageSize || seen >= count
        answer = [
            "count": .integer(count), "page": .integer(page), "pageSize": .integer(pageSize), "isLast": .bool(isLast),
            "items": .array(items),
        ]
    }
}
