import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticServer {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let requests = ServerRequests(settings: settings, memory: memory)
        if let plan = settleLeft(pending) { return plan }
        // An opt-out of a contact that does not exist yet waits for it. It blocks no other operation.
        let hasWaiting = pending.contains { isWaiting($0) }
        let active =
            hasWaiting
            ? PendingOperations(pending.filter { !isWaiting($0) }, hasMore: pending.hasMore) : pending
        guard let head = active.first else { return wait(for: pending, at: moment) }
        // The settings may have changed since the capture. An operation that no longer fits is rejected, not left out.
        if !head.isImmediate, let finding = judge(head.operation).first(where: { $0.severity == .error }) {
            return .settle([head.id: .rejected(finding)])
        }
        return memory.plan(
            active,
            at: moment,
            closed: ServerFinding.closed.at(),
            tokenLater: ServerFinding.tokenLater.at(),
            ending: finalVerdict(without:),
            token: {
                RuleID.acoustic("S2").fire()
                return Transmission(maintenanceRequest: .token, requests.token())
            },
            work: { head in
                let transmission = transmission(for: head, active, requests)
                guard hasWaiting else { return transmission }
                let carried = Set(transmission.operations)
                let key = head.operation.acousticKey
                guard [.addRecipient, .updateRecipient].contains(transmission.endpoint),
                    pending.contains(where: { isWaiting($0) && $0.operation.acousticKey.isExactly(key) })
                else { return transmission }
                // Operations that wait for the contact continue when its row is written.
                return Transmission(
                    transmission.endpoint,
                    transmission.request,
                    carrying: pending.filter { one in
                        carried.contains(one.id)
                            || isWaiting(one) && one.operation.acousticKey.isExactly(key)
                    }
                )
            }
        )
    }

    // MARK: Opt-outs of contacts that are not there

    /// Whether an opt-out waits until the database has its contact.
    private func isWaiting(_ pending: Pending<Self>) -> Bool { pending.step?.isAbsent == true }

    /// Whether an operation is an opt-out that waits for its contact.
    func mayWait(_ operation: EngagementOperation) -> Bool {
        guard case .changeSubscription(let subscription) = operation.action, subscription.state != .subscribed else {
            return false
        }
        return adds(operation) && ServerOptions(operation).optOutWaits
    }

    /// Returns the verdict of an opt-out that starts to wait for its contact; nil for other operations.
    func absence(of pending: Pending<Self>) -> Verdict<Self>? {
        guard mayWait(pending.operation) else { return nil }
        RuleID.acoustic("S62").fire()
        var step = Step()
        step.isAbsent = true
        return .inProgress(step)
    }

    /// Plans a window of opt-outs that wait for their contacts. They move back if more operations may follow the window.
    private func wait(for pending: PendingOperations<Self>, at moment: Moment) -> Plan<Self> {
        guard !pending.hasMore else {
            let pause = Duration.seconds(60 + Int64(moment.chance * 3540))
            let verdicts = pending.map { ($0.id, Verdict<Self>.inProgress($0.step, .at(moment.now + pause))) }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        return .wait(until: nil, because: ServerFinding.optOutWaits.at())
    }

    /// Completes an unregistration when no operation is before it, and an opt-out before an unregistration if its contact
    /// was never created.
    private func settleLeft(_ pending: PendingOperations<Self>) -> Plan<Self>? {
        let unregisters = pending.all(.leave).filter { $0.operation.action == .unregister }
        guard !unregisters.isEmpty else { return nil }
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for unregister in unregisters {
            let before = pending.filter { $0.queue == unregister.queue && $0.sequence < unregister.sequence }
            if before.isEmpty { verdicts[unregister.id] = .unchanged(ServerFinding.nothingToLeave.at()) }
            for one in before where one.step?.isAbsent == true {
                verdicts[one.id] = .rejected(ServerFinding.contactUnknown.at("contact"))
            }
        }
        return verdicts.isEmpty ? nil : .settle(verdicts)
    }

    /// Whether an operation fits the settings as they are now.
    private func fits(_ operation: EngagementOperation) -> Bool {
        !judge(operation).contains { $0.severity == .error }
    }

    /// Returns the verdict of an operation that needs no request; nil if it needs one.
    private func finalVerdict(without operation: EngagementOperation) -> Verdict<Self>? {
        switch operation.action {
        case .identify where cells(of: operation).isEmpty: .unchanged(ServerFinding.keyKnown.at())
        default: nil
        }
    }

    func cells(of operation: EngagementOperation) -> [ServerCells.Cell] { ServerCells(operation, settings).cells }

    func erasure(of operation: EngagementOperation) -> Settings.Erasure {
        ServerOptions(operation).erasure ?? settings.erasure
    }

    /// Whether it ends all e-mail by the vendor's own call.
    func isOptOut(_ operation: EngagementOperation) -> Bool {
        guard case .changeSubscription(let subscription) = operation.action else { return false }
        return subscription.isOptOut(settings)
    }

    /// The vendor's number of an event's contact, as far as it is known.
    func contactID(of pending: Pending<Self>) -> String? {
        pending.step?.contactID ?? ServerOptions(pending.operation).contactID
    }

    /// Which call writes a contact first.
    func verb(of pending: Pending<Self>) -> Step.Verb {
        pending.step?.verb ?? (adds(pending.operation) ? .add : .update)
    }

    /// Whether a contact that the database does not have is added.
    func adds(_ operation: EngagementOperation) -> Bool {
        (ServerOptions(operation).unknownContacts ?? settings.unknownContacts) == .add
    }

    // MARK: Requests

    /// Returns the request for the first operation of the window and the operations that share it.
    private func transmission(
        for head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        _ requests: ServerRequests
    ) -> Transmission<Self> {
        if let place = consent(of: head) { return consent(place, head, requests) }
        if let list = nextList(of: head) { return member(of: list, head, requests) }
        return switch head.operation.action {
        case .readBack(let request): question(request, head, requests)
        case .track: event(head, pending, requests)
        case .erase where erasure(of: head.operation) == .gdpr: job(head, pending, requests)
        case .erase:
            addressed(head, requests) { Transmission(.removeRecipient, requests.removal(of: $0, $1), carrying: [head]) }
        case .changeSubscription where isOptOut(head.operation) && head.step?.verb == .add:
            Transmission(
                .addRecipient,
                requests.recipient(RecipientRow(key: head.operation.acousticKey), .add),
                carrying: [head]
            )
        case .changeSubscription where isOptOut(head.operation):
            addressed(head, requests) { Transmission(.optOutRecipient, requests.optOut(of: $0, $1), carrying: [head]) }
        default: recipient(head, pending, requests)
        }
    }

    /// Returns the operations that share a request with the first one: at most `limit` that pass the test, with the same
    /// limit from earlier refusals (S26). Immediate operations are excluded.
    private func group(
        of head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        atMost limit: Int,
        where test: (Pending<Self>) -> Bool
    ) -> [Pending<Self>] {
        pending.batch(min(limit, head.step?.most ?? limit)) { one in
            !one.isImmediate && one.step?.most == head.step?.most && test(one)
        }
    }

    func isWritten(_ operation: EngagementOperation) -> Bool {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags: true
        case .changeSubscription(let subscription):
            !subscription.isOptOut(settings) && subscription.consentName(settings) == nil
        default: false
        }
    }

    /// Returns a call with all pending changes of one contact.
    private func recipient(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let (key, verb) = (head.operation.acousticKey, verb(of: head))
        RuleID.acoustic(verb == .add ? "S6" : "S7").fire()
        let group = group(of: head, pending, atMost: Self.mostTogether) { one in
            needsRow(one) && self.verb(of: one) == verb && one.operation.acousticKey.isExactly(key)
                && fits(one.operation)
        }
        let row = RecipientRow(group, key: key, settings)
        return Transmission(
            verb == .add ? .addRecipient : .updateRecipient,
            requests.recipient(row, verb),
            carrying: group
        )
    }

    /// Operations of one contact that go in one call.
    static let mostTogether = 100

    /// Returns a request that needs the contact's address. Unless the key is the address, a query for it comes first.
    private func addressed(
        _ head: Pending<Self>,
        _ requests: ServerRequests,
        _ send: (_ key: String, _ email: String?) -> Transmission<Self>
    ) -> Transmission<Self> {
        let key = head.operation.acousticKey
        if settings.isKeyedByEmail || head.step?.isFound == true { return send(key, head.step?.email) }
        RuleID.acoustic("S31").fire()
        return Transmission(.selectRecipient, requests.selection(of: key), carrying: [head])
    }

    // MARK: Events

    private func event(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        func isEvent(_ operation: EngagementOperation) -> Bool {
            if case .track = operation.action { true } else { false }
        }
        guard contactID(of: head) != nil else {
            RuleID.acoustic("S41").fire()
            let key = head.operation.acousticKey
            let group = group(of: head, pending, atMost: settings.eventsPerRequest) { one in
                isEvent(one.operation) && contactID(of: one) == nil && one.step?.verb == head.step?.verb
                    && one.operation.acousticKey.isExactly(key)
            }
            // The event may be the first operation of a contact. The contact is then added with its key alone.
            guard head.step?.verb == .add else {
                return Transmission(.selectRecipient, requests.selection(of: key), carrying: group)
            }
            return Transmission(.addRecipient, requests.recipient(RecipientRow(key: key), .add), carrying: group)
        }
        RuleID.acoustic("S40").fire()
        let group = group(of: head, pending, atMost: settings.eventsPerRequest) { one in
            isEvent(one.operation) && contactID(of: one) != nil && fits(one.operation)
        }
        let records = group.compactMap { one -> BehaviorRecord? in
            guard let content = ServerEvent(one.operation, settings).content, let contact = contactID(of: one) else {
                return nil
            }
            return BehaviorRecord(
                code: content.code,
                timestamp: one.operation.capturedAt,
                contactID: contact,
                attributes: content.attributes
            )
        }
        return Transmission(.events, requests.events(records), carrying: group)
    }

    // MARK: Jobs and queries

    private func job(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        func isErasure(_ one: Pending<Self>) -> Bool {
            one.operation.action == .erase && erasure(of: one.operation) == .gdpr
        }
        if let job = head.step?.job {
            let waiting = pending.filter { isErasure($0) && $0.step?.job == job }
            return Transmission(.gdprStatus, requests.status(ofErasure: job), carrying: waiting)
        }
        let group = group(of: head, pending, atMost: settings.erasuresPerJob) { isErasure($0) && $0.step?.job == nil }
        let keys = group.map(\.operation.acousticKey).eachOnce
        return Transmission(.gdprErasure, requests.erasure(of: keys), carrying: group)
    }

    private func access(_ head: Pending<Self>, _ asked: String?, _ requests: ServerRequests) -> Transmission<Self> {
        RuleID.acoustic("S59").fire()
        if let job = head.step?.job ?? asked {
            return Transmission(.gdprStatus, requests.status(ofErasure: job), carrying: [head])
        }
        return Transmission(.gdprAccess, requests.access(to: head.operation.acousticKey), carrying: [head])
    }

    private func question(_ request: ReadRequest, _ head: Pending<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        if case .access(let job)? = ServerQuestion(request) { return access(head, job, requests) }
        if let job = head.step?.job { return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head]) }
        switch ServerQuestion(request) {
        case .job(let job): return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head])
        case .files(let record):
            RuleID.acoustic("S47").fire()
            return Transmission(.importList, requests.start(record), carrying: [head])
        case .channelContact(let name, let device):
            // `examine` rejects queries without an app key in the settings.
            let path = ChannelContact(name, device, settings)?.path(settings) ?? ""
            return Transmission(.channelContact, requests.look(at: path), carrying: [head])
        case .export(let export):
            RuleID.acoustic("S60").fire()
            return Transmission(.exportList, requests.start(export), carrying: [head])
        case .eventErrors(let filter):
            RuleID.acoustic("S61").fire()
            let path = settings.eventErrorsPath + URLText.query([(name: "filter", value: filter)])
            return Transmission(.eventErrors, requests.look(at: path), carrying: [head])
        case .columns: return Transmission(.listMetaData, requests.metaData(), carrying: [head])
        case .newList(let list):
            RuleID.acoustic("S57").fire()
            return Transmission(.createList, requests.make(list), carrying: [head])
        case .contact, .access, .consent, nil:
            RuleID.acoustic("S46").fire()
            let key = head.operation.acousticKey
            return Transmission(.selectRecipient, requests.selection(of: key), carrying: [head])
        }
    }
}
