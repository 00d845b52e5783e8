import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticServer {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let waiting = exchange.operations.filter(isWaiting)
        guard [.addRecipient, .updateRecipient].contains(exchange.endpoint), !waiting.isEmpty else {
            return interpretReply(exchange, memory: &memory)
        }
        // The request carries opt-outs that wait for the contact, together with the operations that write its row.
        let written = Exchange<Self>(
            endpoint: exchange.endpoint,
            operations: exchange.operations.filter { !isWaiting($0) },
            request: exchange.request,
            outcome: exchange.outcome,
            startedAt: exchange.startedAt,
            moment: exchange.moment
        )
        var meaning = interpretReply(written, memory: &memory)
        let isThere = exchange.call?.isSuccess ?? false
        for pending in waiting { meaning.verdicts[pending.id] = .inProgress(isThere ? nil : pending.step) }
        return meaning
    }

    /// The vendor also reports a refused token as a fault of a call (S3).
    public func refusesToken(_ reply: WireResponse) -> Bool { reply.status == 401 || CallReply(reply)?.fault == 145 }

    public func suspension(_ row: FindingRow, after exchange: Exchange<Self>) -> Finding {
        let isList = exchange.endpoint == .addToList && row == ServerFinding.databaseUnknown
        return (isList ? ServerFinding.listUnknown : row).at("", exchange.call)
    }

    public func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>? {
        switch exchange.endpoint {
        case .events: return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.eventTaken.at()) }
        case .gdprErasure, .gdprAccess: return interpretErasure(exchange)
        case .gdprStatus: return interpretErasureStatus(exchange)
        case .readConsent:
            guard let json = exchange.outcome.reply?.json, json.object != nil else { return nil }
            return interpretConsent(exchange, json["data"])
        case .eventErrors:
            // Only the outer frame of the reply is known. The answer is the frame's content, or the whole reply without
            // a frame.
            guard let json = exchange.outcome.reply?.json, json.object != nil || json.array != nil else { return nil }
            return Interpretation(exchange.operations) { _ in .accepted(answer: json["data"] ?? json) }
        case .channelContact:
            guard let contact = ChannelContact.json(exchange.outcome.reply?.json) else { return nil }
            return Interpretation(exchange.operations) { _ in .accepted(answer: contact) }
        case .writeConsent: return Interpretation(exchange.operations) { _ in .accepted() }
        case .token: return Interpretation()
        case .addRecipient, .updateRecipient, .selectRecipient, .optOutRecipient, .removeRecipient, .importList,
            .jobStatus, .exportList, .addToList, .createList, .listMetaData:
            break
        }
        guard let call = exchange.call, call.isSuccess, let result = call.result else { return nil }
        switch exchange.endpoint {
        case .selectRecipient: return interpretSelection(exchange, result)
        case .removeRecipient: return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.removed.at()) }
        case .addToList: return interpretMember(exchange.operations)
        case .createList: return interpretList(exchange, result)
        case .listMetaData:
            guard let (json, fits) = DatabaseColumns(result)?.answer(settings) else { return nil }
            let row = fits ? ServerFinding.columnsFit : ServerFinding.columnsDiffer
            return Interpretation(exchange.operations) { _ in .accepted(row.at(), answer: json) }
        case .exportList: return interpretExport(exchange, result)
        case .importList: return interpretImport(exchange, result)
        case .jobStatus: return interpretJob(exchange, result)
        case .addRecipient where exchange.operations.allSatisfy({ isOptOut($0.operation) }):
            // The contact was created only for its opt-out, which follows.
            return Interpretation(exchange.operations) { pending in
                var step = pending.step ?? Step()
                (step.verb, step.isFound) = (.update, true)
                return next(step)
            }
        case .addRecipient where exchange.operations.allSatisfy({ $0.operation.action.kind == .track }):
            return interpretSelection(exchange, result)
        case .addRecipient, .updateRecipient: return Interpretation(finalVerdicts(exchange.operations))
        default: return Interpretation(exchange.operations) { _ in .accepted() }
        }
    }

    // MARK: Failures

    public func verdict(on pending: Pending<Self>, afterFailureOf exchange: Exchange<Self>, isUncertain: Bool)
        -> Verdict<Self>?
    {
        if let verdict = unanswered(pending, exchange) { return verdict }
        guard isUncertain else { return nil }
        return switch exchange.endpoint {
        case .events where settings.uncertainEvents == .reject: .rejected(ServerFinding.eventUnknown.at("action.event"))
        case .createList: .rejected(ServerFinding.listUncertain.at("action"))
        case .importList: .rejected(ServerFinding.importUnknown.at("action"))
        default: nil
        }
    }

    /// Handles a server fault. It concerns this call alone. The vendor also reports malformed calls this way, so the
    /// number of attempts is limited.
    public func interpretException(_ exchange: Exchange<Self>, _ row: ReplyRow, memory: inout Memory)
        -> Interpretation<Self>?
    {
        guard exchange.endpoint != .token, row.finding == ServerFinding.faultOfServer else { return nil }
        return Interpretation(exchange.operations) { pending in
            if let verdict = unanswered(pending, exchange) { return verdict }
            guard pending.refusals + 1 < ServerPace.faults else {
                return .rejected(ServerFinding.faultOfServer.at("action", exchange.call))
            }
            return .retry(.at(ServerPace.tokens.backoff.next(after: pending.failures, asked: nil, at: exchange.moment)))
        }
    }

    // MARK: Refusals

    public func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        let call = exchange.call
        switch (exchange.endpoint, finding) {
        case (.addRecipient, ServerFinding.contactThere): return other(.update, exchange, finding, call)
        case (.updateRecipient, ServerFinding.contactUnknown)
        where exchange.operations.allSatisfy({ adds($0.operation) }):
            return other(.add, exchange, finding, call)
        case (.selectRecipient, ServerFinding.contactUnknown), (.removeRecipient, ServerFinding.contactUnknown):
            return Interpretation(exchange.operations) { pending in
                switch pending.operation.action {
                case .erase: return .accepted(ServerFinding.nothingToErase.at())
                case .track where adds(pending.operation) && pending.step?.verb == nil:
                    var step = pending.step ?? Step()
                    step.verb = .add
                    return next(step)
                default:
                    return absence(of: pending, at: exchange.moment)
                        ?? .rejected(ServerFinding.contactUnknown.at("contact", call))
                }
            }
        case (.addToList, ServerFinding.listHasIt): return interpretMember(exchange.operations)
        case (.addToList, ServerFinding.contactUnknown):
            return interpretUnknownContact(exchange.operations, finding.at("contact", call))
        case (.optOutRecipient, ServerFinding.optedOut):
            return Interpretation(exchange.operations) { _ in .unchanged(ServerFinding.alreadyOut.at()) }
        case (.optOutRecipient, ServerFinding.contactUnknown):
            return Interpretation(exchange.operations) { pending in
                guard settings.isKeyedByEmail, adds(pending.operation), pending.step?.verb == nil else {
                    return absence(of: pending, at: exchange.moment)
                        ?? .rejected(ServerFinding.contactUnknown.at("contact", call))
                }
                // The address is known, so the contact is added and opted out at once.
                var step = pending.step ?? Step()
                step.verb = .add
                return next(step)
            }
        case (.eventErrors, ServerFinding.notFound):
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.eventErrorsNowhere.at("action")) }
        case (.channelContact, ServerFinding.notFound):
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.contactUnknown.at("contact")) }
        case (.readConsent, ServerFinding.notFound), (.writeConsent, ServerFinding.notFound):
            return Interpretation(exchange.operations) { pending in
                // A push consent is kept under its contact, so without the contact it can't be written yet.
                let isPush = consent(of: pending)?.channel == .push && exchange.endpoint == .writeConsent
                return (isPush ? absence(of: pending, at: exchange.moment) : nil)
                    ?? .rejected(ServerFinding.consentNone.at("action"))
            }
        case (.readConsent, ServerFinding.conflict), (.writeConsent, ServerFinding.conflict):
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.refused.at("action")) }
        case (.gdprStatus, ServerFinding.notFound): return lost(exchange)
        case (_, ServerFinding.notFound): return suspended(exchange, finding)
        default: return halved(exchange.operations, finding, call)
        }
    }

    /// Continues with the other call, once, if the first did not fit (S8).
    private func other(_ verb: Step.Verb, _ exchange: Exchange<Self>, _ finding: FindingRow, _ call: CallReply?)
        -> Interpretation<Self>
    {
        Interpretation(exchange.operations) { pending in
            guard pending.step?.verb == nil else { return .rejected(finding.at("action", call)) }
            var step = pending.step ?? Step()
            step.verb = verb
            return next(step)
        }
    }

    /// Splits a refused group in halves until the operation at fault is alone (S26). Erasures leave the refused job.
    private func halved(_ operations: [Pending<Self>], _ finding: FindingRow, _ call: CallReply?)
        -> Interpretation<Self>
    {
        halved(operations, rejecting: finding.at("action", call)) { $0.job = nil }
    }

    // MARK: Accepted requests

    /// Returns the verdicts after a successful write. An operation whose values a later one of the same call replaced
    /// completely is superseded.
    private func finalVerdicts(_ operations: [Pending<Self>]) -> [OperationID: Verdict<Self>] {
        guard let first = operations.first else { return [:] }
        let row = RecipientRow(operations, key: first.operation.contactKey, settings)
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for one in operations {
            let later = row.replacement(of: one.id, cells(of: one.operation))
            guard lists(of: one.operation).isEmpty else {
                var step = one.step ?? Step()
                step.isWritten = true
                verdicts[one.id] = .inProgress(step)
                continue
            }
            let leftOut = ServerCells(one.operation, settings).leftOut.joined(separator: ", ")
            let finding = leftOut.isEmpty ? nil : ServerFinding.incomplete.at("action", detail: leftOut)
            verdicts[one.id] = later.map { .superseded(by: $0) } ?? .accepted(finding)
        }
        return verdicts
    }

    private func interpretSelection(_ exchange: Exchange<Self>, _ result: XMLTree) -> Interpretation<Self>? {
        guard let contact = result["RecipientId"]?.text.trimmed, contact.isVendorNumber else { return nil }
        let email = result["EMAIL"]?.text.trimmed ?? ""
        return Interpretation(exchange.operations) { pending in
            if consent(of: pending) != nil { return numbered(pending, result) }
            var step = pending.step ?? Step()
            switch pending.operation.action {
            case .readBack: return .accepted(answer: RecipientAnswer.json(result, contact))
            case .track: step.contactID = contact
            case .erase: (step.isFound, step.email) = (true, email.isEmpty ? nil : email)
            default:
                if email.isEmpty {
                    return absence(of: pending, at: exchange.moment)
                        ?? .rejected(ServerFinding.noAddress.at("contact"))
                }
                (step.isFound, step.email) = (true, email)
            }
            return next(step)
        }
    }

    // MARK: Jobs

    /// Returns the time of the next query for a job. While a caller waits for the answer, the first queries follow
    /// sooner.
    ///
    /// - Returns: Nil if a caller has waited for the job as long as the settings permit.
    private func poll(_ exchange: Exchange<Self>, for pending: Pending<Self>) -> When? {
        let now = exchange.moment.now
        var pause = Duration.seconds(settings.pollSeconds)
        guard pending.isImmediate else { return .at(now + pause) }
        pause = min(pause, max(ServerPace.firstPoll, (now - pending.since) / 2))
        return now + pause > pending.since + .seconds(settings.jobSeconds) ? nil : .at(now + pause)
    }

    /// Returns the verdict of an operation that continues at a step.
    func next(_ step: Step) -> Verdict<Self> { .inProgress(step) }

    /// Returns the time at which the caller of a query with a job gets the job's number; nil for other operations.
    func jobEnd(of pending: Pending<Self>) -> Instant? {
        guard pending.isImmediate, pending.step?.job != nil else { return nil }
        return pending.since + .seconds(settings.jobSeconds)
    }

    /// Returns the verdict of a caller's query whose job has an unknown state after a temporary failure: query again, or
    /// return the job's number. Returns nil for other operations.
    private func unanswered(_ pending: Pending<Self>, _ exchange: Exchange<Self>) -> Verdict<Self>? {
        guard [.jobStatus, .gdprStatus].contains(exchange.endpoint), let step = pending.step,
            let end = jobEnd(of: pending)
        else { return nil }
        guard end > exchange.moment.now else { return running(step) }
        let (backoff, asked) = (ServerPace.tokens.backoff, requestedDelay(exchange))
        return .retry(.at(min(end, backoff.next(after: pending.failures, asked: asked, at: exchange.moment))))
    }

    /// Returns the verdict of an operation whose job is incomplete: query again, or return the job's number to the
    /// caller.
    private func unfinished(_ step: Step, _ pending: Pending<Self>, _ exchange: Exchange<Self>) -> Verdict<Self> {
        if let next = poll(exchange, for: pending) { return .inProgress(step, next) }
        return running(step)
    }

    /// Returns the verdict of a query whose answer is the number of its incomplete job.
    func running(_ step: Step) -> Verdict<Self> {
        var answer: JSONObject = ["id": .string(step.job ?? ""), "state": "RUNNING"]
        if let file = step.file, !file.isEmpty { answer["file"] = .string(file) }
        return .accepted(
            ServerFinding.jobRunning.at("action", detail: "job \(step.job ?? "")"),
            answer: .object(answer)
        )
    }

    private func interpretErasure(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        let id = exchange.outcome.reply?.json?["data"]?["id"]
        guard let job = id?.string ?? id?.number?.text, job.isVendorNumber else { return nil }
        return Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            step.job = job
            return unfinished(step, pending, exchange)
        }
    }

    /// Handles the state of a job. A completed job no longer has a status.
    private func interpretErasureStatus(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        guard let data = exchange.outcome.reply?.json?["data"], data.object != nil else { return nil }
        switch data["status"]?.string?.uppercased() {
        case nil, "COMPLETE":
            return Interpretation(exchange.operations) { pending in
                // The answer of a query contains personal data, so it is returned and not stored.
                if case .readBack = pending.operation.action { return .accepted(answer: data) }
                return .accepted(ServerFinding.erased.at())
            }
        case "ERROR", "CANCELED": return halved(exchange.operations, ServerFinding.jobRefused, nil)
        default:
            return Interpretation(exchange.operations) { pending in
                var step = pending.step ?? Step()
                if case .readBack(let request) = pending.operation.action,
                    case .access(let job?)? = ServerQuestion(request)
                {
                    step.job = job
                }
                return unfinished(step, pending, exchange)
            }
        }
    }

    /// Handles a job that the vendor does not know. Its contacts go into another job; after three lost jobs they are
    /// rejected.
    private func lost(_ exchange: Exchange<Self>) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            (step.job, step.lostJobs) = (nil, (step.lostJobs ?? 0) + 1)
            guard step.lostJobs ?? 0 < ServerPace.lostJobs else {
                return .rejected(ServerFinding.jobLost.at("action"))
            }
            let later = When.at(exchange.moment.now + .seconds(settings.pollSeconds))
            return .inProgress(step, poll(exchange, for: pending) ?? later)
        }
    }

    private func interpretImport(_ exchange: Exchange<Self>, _ result: XMLTree) -> Interpretation<Self>? {
        guard let job = result["JOB_ID"]?.text.trimmed, job.isVendorNumber else {
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.importUnknown.at("action")) }
        }
        return Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            step.job = job
            return unfinished(step, pending, exchange)
        }
    }

    private func interpretExport(_ exchange: Exchange<Self>, _ result: XMLTree) -> Interpretation<Self> {
        guard let job = result["JOB_ID"]?.text.trimmed, job.isVendorNumber else {
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.exportUnnamed.at("action")) }
        }
        return Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            (step.job, step.file) = (job, result["FILE_PATH"]?.text.trimmed)
            return unfinished(step, pending, exchange)
        }
    }

    private func interpretJob(_ exchange: Exchange<Self>, _ result: XMLTree) -> Interpretation<Self>? {
        guard let state = result["JOB_STATUS"]?.text.trimmed.uppercased(), !state.isEmpty else { return nil }
        let answer = JobAnswer(result, state)
        return Interpretation(exchange.operations) { pending in
            // A query returns the job's state at once. The operation that started the job waits for its result.
            guard let step = pending.step, step.job != nil else { return .accepted(answer: answer.json) }
            switch state {
            case "COMPLETE" where exchange.isExport(pending):
                return .accepted(ServerFinding.exportReady.at(), answer: answer.json(with: pending.step?.file))
            case "COMPLETE":
                let row = answer.isWhole ? ServerFinding.importTaken : ServerFinding.importDropped
                return .accepted(row.at(), answer: answer.json)
            case "ERROR", "CANCELED": return .rejected(ServerFinding.jobRefused.at("action"), answer: answer.json)
            default: return unfinished(step, pending, exchange)
            }
        }
    }
}

extension FindingRow {
    /// Returns the finding with the fault's number as the vendor's code.
    fileprivate func at(_ path: String, _ call: CallReply?) -> Finding {
        var finding = at(path)
        if let fault = call?.fault { finding.vendor = VendorReply(status: 200, code: String(fault)) }
        return finding
    }
}

/// The answer to a query for a contact.
enum RecipientAnswer: Sendable {
    static func json(_ result: XMLTree, _ contact: String) -> JSONValue {
        var answer: JSONObject = ["contactId": .string(contact)]
        func put(_ name: String, _ element: String) {
            if let text = result[element]?.text, !text.isEmpty { answer[name] = .string(text) }
        }
        put("email", "EMAIL")
        put("lastModified", "LastModified")
        put("optedIn", "OptedIn")
        put("optedOut", "OptedOut")
        let columns = (result["COLUMNS"]?.all("COLUMN") ?? []).map { column in
            (column["NAME"]?.text ?? "", JSONValue.string(column["VALUE"]?.text ?? ""))
        }
        answer["columns"] = .object(columns.reduce(into: JSONObject()) { $0[$1.0] = $1.1 })
        let lists = result["CONTACT_LISTS"]?.all("CONTACT_LIST_ID") ?? []
        if !lists.isEmpty { answer["contactLists"] = .array(lists.map { .string($0.text) }) }
        return .object(answer)
    }
}

extension Exchange<AcousticServer> {
    /// The reply of a call; nil if it is none.
    fileprivate var call: CallReply? { outcome.reply.flatMap(CallReply.init) }

    /// Whether an operation started a job that writes a file.
    fileprivate func isExport(_ pending: Pending<AcousticServer>) -> Bool {
        guard case .readBack(let request) = pending.operation.action, case .export? = ServerQuestion(request) else {
            return false
        }
        return true
    }
}

/// The answer to a query for a job.
struct JobAnswer: Sendable {
    /// The job with the file that it wrote.
    func json(with file: String?) -> JSONValue {
        guard let file, !file.isEmpty, var object = json.object else { return json }
        object["file"] = .string(file)
        return .object(object)
    }

    let json: JSONValue
    /// Whether every row of its file was added or changed.
    let isWhole: Bool

    init(_ result: XMLTree, _ state: String) {
        let parameters = (result["PARAMETERS"]?.all("PARAMETER") ?? []).map { parameter in
            (parameter["NAME"]?.text ?? "", parameter["VALUE"]?.text ?? "")
        }
        let numbers = Dictionary(parameters.map { ($0.0, Int($0.1)) }) { $1 }
        func number(_ name: String) -> Int { (numbers[name] ?? nil) ?? 0 }
        let (sum, hasOverflown) = number("SQL_ADDED").addingReportingOverflow(number("SQL_UPDATED"))
        isWhole = !hasOverflown && number("TOTAL_ROWS") == sum
        json = [
            "id": .string(result["JOB_ID"]?.text.trimmed ?? ""), "state": .string(state),
            "parameters": .object(parameters.reduce(into: JSONObject()) { $0[$1.0] = .string($1.1) }),
        ]
    }
}
