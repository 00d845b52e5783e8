import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticServer {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        if let plan = settleLeft(pending) ?? settleJobs(pending, at: moment) ?? lookUpAgain(pending, at: moment) {
            return plan
        }
        // An opt-out of a contact that does not exist yet waits for it. It blocks no other operation.
        guard pending.contains(where: isWaiting) else { return planActive(pending, memory: memory, at: moment) }
        let active = PendingOperations(pending.filter { !isWaiting($0) }, hasMore: pending.hasMore)
        guard let head = active.first else { return wait(for: pending, at: moment) }
        let plan = planActive(active, memory: memory, at: moment)
        let key = head.operation.contactKey
        func isWaitingForHead(_ one: Pending<Self>) -> Bool {
            isWaiting(one) && one.operation.contactKey.isExactly(key)
        }
        guard case .send(let transmission) = plan, [.addRecipient, .updateRecipient].contains(transmission.endpoint),
            pending.contains(where: isWaitingForHead)
        else { return plan }
        // Operations that wait for the contact continue when its row is written.
        let carried = Set(transmission.operations)
        return .send(
            Transmission(
                transmission.endpoint,
                transmission.request,
                carrying: pending.filter { carried.contains($0.id) || isWaitingForHead($0) }
            )
        )
    }

    /// Plans operations that do not wait for their contacts.
    private func planActive(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let head = pending[0]
        // The settings may have changed since the capture. An operation that no longer fits is rejected, not left out.
        if !head.isImmediate, let finding = misfit(head.operation) { return .settle([head.id: .rejected(finding)]) }
        let plan = planNext(pending, memory: memory, at: moment)
        guard case .wait(let until, let because) = plan, let end = pending.compactMap(jobEnd).min() else { return plan }
        return .wait(until: min(until ?? end, end), because: because)
    }

    /// Returns the job's number to callers who have waited for the job as long as the settings permit.
    private func settleJobs(_ pending: PendingOperations<Self>, at moment: Moment) -> Plan<Self>? {
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for one in pending.prefix(while: { $0.isImmediate }) {
            guard let end = jobEnd(of: one), end <= moment.now, let step = one.step else { continue }
            verdicts[one.id] = running(step)
        }
        return verdicts.isEmpty ? nil : .settle(verdicts)
    }

    public func verdictWithoutRequest(_ pending: Pending<Self>) -> Verdict<Self>? {
        guard pending.operation.action.kind == .identify, cells(of: pending.operation).isEmpty else { return nil }
        return .unchanged(ServerFinding.keyKnown.at())
    }

    public func tokenRequest(_ memory: Memory) -> WireRequest? {
        ServerRequests(settings: settings, memory: memory).token()
    }

    // MARK: Opt-outs of missing contacts

    /// Whether an opt-out waits until the database has its contact.
    func isWaiting(_ pending: Pending<Self>) -> Bool { pending.step?.nextLookUp != nil }

    /// Whether an operation is an opt-out that waits for its contact.
    func mayWait(_ operation: EngagementOperation) -> Bool {
        guard case .changeSubscription(let subscription) = operation.action, subscription.state != .subscribed else {
            return false
        }
        return adds(operation) && ServerOptions(operation).optOutWaits
    }

    /// Returns the verdict of an opt-out that starts to wait for its contact; nil for other operations.
    func absence(of pending: Pending<Self>, at moment: Moment) -> Verdict<Self>? {
        guard mayWait(pending.operation) else { return nil }
        var step = Step()
        let pause = min(max(moment.now - pending.since, ServerPace.firstLookUp), ServerPace.lastLookUp)
        step.nextLookUp = moment.now + pause
        return .inProgress(step)
    }

    /// Restarts opt-outs whose contacts are due for another query, because an import or a form may have created them.
    private func lookUpAgain(_ pending: PendingOperations<Self>, at moment: Moment) -> Plan<Self>? {
        let due = pending.filter { one in one.step?.nextLookUp.map { $0 <= moment.now } ?? false }
        guard !due.isEmpty else { return nil }
        let verdicts = due.map { ($0.id, Verdict<Self>.inProgress(nil)) }
        return .settle(Dictionary(verdicts) { first, _ in first })
    }

    /// Plans a window of opt-outs that wait for their contacts. They move back if they fill the window and other
    /// operations may follow. They are rejected if the provider is left, because nothing creates their contacts.
    private func wait(for pending: PendingOperations<Self>, at moment: Moment) -> Plan<Self> {
        if pending.isLeaving, !pending.hasMore {
            let verdicts = pending.map { one in
                (one.id, Verdict<Self>.rejected(ServerFinding.contactUnknown.at("contact")))
            }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        guard !pending.hasMore || pending.count < window / 2 else {
            let pause = Duration.seconds(60 + Int64(moment.chance * 3540))
            let verdicts = pending.map { ($0.id, Verdict<Self>.inProgress($0.step, .at(moment.now + pause))) }
            return .settle(Dictionary(verdicts) { first, _ in first })
        }
        return .wait(until: pending.compactMap { $0.step?.nextLookUp }.min(), because: ServerFinding.optOutWaits.at())
    }

    /// Completes an unregistration when no operation is before it, and an opt-out before an unregistration if its
    /// contact was never created.
    private func settleLeft(_ pending: PendingOperations<Self>) -> Plan<Self>? {
        let unregisters = pending.all(.leave).filter { $0.operation.action == .unregister }
        guard !unregisters.isEmpty else { return nil }
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for unregister in unregisters {
            let before = pending.filter { $0.queue == unregister.queue && $0.sequence < unregister.sequence }
            if before.isEmpty { verdicts[unregister.id] = .unchanged(ServerFinding.nothingToLeave.at()) }
            for one in before where isWaiting(one) {
                verdicts[one.id] = .rejected(ServerFinding.contactUnknown.at("contact"))
            }
        }
        return verdicts.isEmpty ? nil : .settle(verdicts)
    }

    /// Returns why an operation does not fit the settings as they are now; nil if it fits.
    private func misfit(_ operation: EngagementOperation) -> Finding? {
        problems(ofContentOf: operation).first { $0.severity == .error }
    }

    func cells(of operation: EngagementOperation) -> [ServerCells.Cell] { ServerCells(operation, settings).cells }

    func erasure(of operation: EngagementOperation) -> Settings.Erasure {
        ServerOptions(operation).erasure ?? settings.erasure
    }

    /// Whether an operation opts out of all e-mail with the vendor's own call.
    func isOptOut(_ operation: EngagementOperation) -> Bool {
        guard case .changeSubscription(let subscription) = operation.action else { return false }
        return subscription.isOptOut(settings)
    }

    /// Returns the vendor's number of an event's contact; nil if it is unknown.
    func contactID(of pending: Pending<Self>) -> String? {
        pending.step?.contactID ?? ServerOptions(pending.operation).contactID
    }

    /// Returns the call that writes a contact first.
    func verb(of pending: Pending<Self>) -> Step.Verb {
        pending.step?.verb ?? (adds(pending.operation) ? .add : .update)
    }

    /// Whether an operation adds its contact if the database does not have it.
    func adds(_ operation: EngagementOperation) -> Bool {
        (ServerOptions(operation).unknownContacts ?? settings.unknownContacts) == .add
    }

    // MARK: Requests

    public func transmission(for head: Pending<Self>, in pending: PendingOperations<Self>, _ memory: Memory)
        -> Transmission<Self>
    {
        let requests = ServerRequests(settings: settings, memory: memory)
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
                requests.recipient(RecipientRow(key: head.operation.contactKey), .add),
                carrying: [head]
            )
        case .changeSubscription where isOptOut(head.operation):
            addressed(head, requests) { Transmission(.optOutRecipient, requests.optOut(of: $0, $1), carrying: [head]) }
        default: recipient(head, pending, requests)
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
        let (key, verb) = (head.operation.contactKey, verb(of: head))
        let group = group(of: head, in: pending, atMost: Self.mostTogether) { one in
            needsRow(one) && self.verb(of: one) == verb && one.operation.contactKey.isExactly(key)
                && misfit(one.operation) == nil
        }
        let row = RecipientRow(group, key: key, settings)
        return Transmission(
            verb == .add ? .addRecipient : .updateRecipient,
            requests.recipient(row, verb),
            carrying: group
        )
    }

    /// Returns the operations of one contact that share a call.
    static let mostTogether = 100

    /// Returns a request that needs the contact's address. Unless the key is the address, a query for it comes first.
    private func addressed(
        _ head: Pending<Self>,
        _ requests: ServerRequests,
        _ send: (_ key: String, _ email: String?) -> Transmission<Self>
    ) -> Transmission<Self> {
        let key = head.operation.contactKey
        if settings.isKeyedByEmail || head.step?.isFound == true { return send(key, head.step?.email) }
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
            let key = head.operation.contactKey
            let group = group(of: head, in: pending, atMost: settings.eventsPerRequest) { one in
                isEvent(one.operation) && contactID(of: one) == nil && one.step?.verb == head.step?.verb
                    && one.operation.contactKey.isExactly(key)
            }
            // The event may be the first operation of a contact. The contact is then added with its key alone.
            guard head.step?.verb == .add else {
                return Transmission(.selectRecipient, requests.selection(of: key), carrying: group)
            }
            return Transmission(.addRecipient, requests.recipient(RecipientRow(key: key), .add), carrying: group)
        }
        let group = group(of: head, in: pending, atMost: settings.eventsPerRequest) { one in
            isEvent(one.operation) && contactID(of: one) != nil && misfit(one.operation) == nil
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
        let group = group(of: head, in: pending, atMost: settings.erasuresPerJob) {
            isErasure($0) && $0.step?.job == nil
        }
        let keys = group.map(\.operation.contactKey).eachOnce
        return Transmission(.gdprErasure, requests.erasure(of: keys), carrying: group)
    }

    private func access(_ head: Pending<Self>, _ asked: String?, _ requests: ServerRequests) -> Transmission<Self> {
        if let job = head.step?.job ?? asked {
            return Transmission(.gdprStatus, requests.status(ofErasure: job), carrying: [head])
        }
        return Transmission(.gdprAccess, requests.access(to: head.operation.contactKey), carrying: [head])
    }

    private func question(_ request: ReadRequest, _ head: Pending<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        if case .access(let job)? = ServerQuestion(request) { return access(head, job, requests) }
        if let job = head.step?.job { return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head]) }
        switch ServerQuestion(request) {
        case .job(let job): return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head])
        case .files(let record):
            return Transmission(.importList, requests.start(record), carrying: [head])
        case .channelContact(let name, let device):
            // `examine` rejects queries without an app key in the settings.
            let path = ChannelContact(name, device, settings)?.path(settings) ?? ""
            return Transmission(.channelContact, requests.look(at: path), carrying: [head])
        case .export(let export):
            return Transmission(.exportList, requests.start(export), carrying: [head])
        case .eventErrors(let filter):
            let path = settings.eventErrorsPath + URLText.query([(name: "filter", value: filter)])
            return Transmission(.eventErrors, requests.look(at: path), carrying: [head])
        case .columns: return Transmission(.listMetaData, requests.metaData(), carrying: [head])
        case .newList(let list):
            return Transmission(.createList, requests.make(list), carrying: [head])
        case .contact, .access, .consent, nil:
            let key = head.operation.contactKey
            return Transmission(.selectRecipient, requests.selection(of: key), carrying: [head])
        }
    }
}
