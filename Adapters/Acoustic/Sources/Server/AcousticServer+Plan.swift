public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticServer {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let requests = ServerRequests(settings: settings, memory: memory)
        return memory.plan(
            pending,
            at: moment,
            closed: ServerFinding.closed.at(),
            tokenLater: ServerFinding.tokenLater.at(),
            ending: ending(without:),
            token: {
                RuleID.acoustic("S2").fire()
                return Transmission(chore: .token, requests.token())
            },
            work: { transmission(for: $0, pending, requests) }
        )
    }

    /// How an operation ends that needs no request; nil where it needs one.
    private func ending(without operation: EngagementOperation) -> Verdict<Self>? {
        switch operation.action {
        case .farewell: .unchanged(ServerFinding.nothingToLeave.at())
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

    // MARK: What leaves

    /// The request for the first of the window and for all that goes with it.
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
        case .changeSubscription where isOptOut(head.operation):
            addressed(head, requests) { Transmission(.optOutRecipient, requests.optOut(of: $0, $1), carrying: [head]) }
        default: recipient(head, pending, requests)
        }
    }

    /// What goes with the first of the window: up to so many that pass, none that must stay among fewer (S26), and none
    /// that has got further.
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

    /// Everything that waits for one contact goes in one call.
    private func recipient(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let (key, verb) = (head.operation.acousticKey, verb(of: head))
        RuleID.acoustic(verb == .add ? "S6" : "S7").fire()
        let group = group(of: head, pending, atMost: Self.mostTogether) { one in
            needsRow(one) && self.verb(of: one) == verb && ScalarString.equal(one.operation.acousticKey, key)
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

    /// What needs the contact's address: asks for it first where the key is none.
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
                    && ScalarString.equal(one.operation.acousticKey, key)
            }
            // Of whom nobody has said anything yet, the event is the first word: the contact is added with its key alone.
            guard head.step?.verb == .add else {
                return Transmission(.selectRecipient, requests.selection(of: key), carrying: group)
            }
            return Transmission(.addRecipient, requests.recipient(RecipientRow(key: key), .add), carrying: group)
        }
        RuleID.acoustic("S40").fire()
        let group = group(of: head, pending, atMost: settings.eventsPerRequest) { one in
            isEvent(one.operation) && contactID(of: one) != nil
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

    // MARK: Jobs and questions

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

    private func access(_ head: Pending<Self>, _ requests: ServerRequests) -> Transmission<Self> {
        RuleID.acoustic("S59").fire()
        if let job = head.step?.job {
            return Transmission(.gdprStatus, requests.status(ofErasure: job), carrying: [head])
        }
        return Transmission(.gdprAccess, requests.access(to: head.operation.acousticKey), carrying: [head])
    }

    private func question(_ request: ReadRequest, _ head: Pending<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        if case .access? = ServerQuestion(request) { return access(head, requests) }
        if let job = head.step?.job { return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head]) }
        switch ServerQuestion(request) {
        case .job(let job): return Transmission(.jobStatus, requests.status(ofJob: job), carrying: [head])
        case .files(let record):
            RuleID.acoustic("S47").fire()
            return Transmission(.importList, requests.start(record), carrying: [head])
        case .channelContact(let name, let device):
            // `examine` lets no question through that the settings have no app key for.
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
