public import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
public import PatchbayModel

extension AdobeServer {
    public func settled(in pending: PendingOperations<Self>) -> [OperationID: Verdict<Self>] {
        let outdated = outdated(pending)
        return outdated.isEmpty ? verdictsWithoutRequest(in: pending) : outdated
    }

    /// Returns operations that would create the same profile as an earlier operation that was released later. They query the
    /// profile again.
    private func outdated(_ pending: PendingOperations<Self>) -> [OperationID: Verdict<Self>] {
        guard let head = pending.first, head.step?.stage == nil else { return [:] }
        let key = head.operation.contactKey
        let later = pending.filter { $0.step?.stage == .create && ScalarString.equal($0.operation.contactKey, key) }
        return Interpretation<Self>(later) { ($0.step ?? Step()).searched }.verdicts
    }

    /// Returns the verdict of an operation that needs no request; nil if it needs one.
    public func verdictWithoutRequest(_ pending: Pending<Self>) -> Verdict<Self>? {
        switch pending.operation.action {
        case .unregister: .unchanged(ServerFinding.nothingToLeave.at())
        case .identify where members(of: pending.operation).isEmpty: .unchanged(ServerFinding.keyKnown.at())
        default: nil
        }
    }

    func members(of operation: EngagementOperation) -> [ServerFields.Member] {
        ServerFields(operation, settings).members
    }

    /// Returns the topic of an operation; nil if it changes the profile itself.
    func topic(of operation: EngagementOperation) -> TopicPlace? {
        guard case .changeSubscription(let subscription) = operation.action else { return nil }
        return TopicPlace(subscription, settings)
    }

    /// Returns an operation's query; nil if it is no query.
    func question(of operation: EngagementOperation) -> ServerQuestion? {
        guard case .readBack(let request) = operation.action else { return nil }
        return ServerQuestion(request, settings)
    }

    /// Whether it changes fields of the profile.
    func isWritten(_ operation: EngagementOperation) -> Bool {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags: true
        case .changeSubscription(let subscription): subscription.topic == nil
        default: false
        }
    }

    // MARK: Requests

    public func tokenRequest(_ memory: Memory) -> WireRequest? {
        ServerRequests(settings: settings, memory: memory).token()
    }

    public func transmission(for head: Pending<Self>, in pending: PendingOperations<Self>, _ memory: Memory)
        -> Transmission<Self>
    {
        let requests = ServerRequests(settings: settings, memory: memory)
        let address = head.step?.address ?? ""
        switch question(of: head.operation) {
        case .page(let address)?, .subscriptions(let address)?:
            return Transmission(.page, requests.get(address, replyLimit: 64 << 20), carrying: [head])
        case .profile?, .contact?, nil: break
        }
        switch head.step?.stage {
        case nil: return beginning(head, pending, requests)
        case .create:
            let group = group(of: head, pending)
            return Transmission(.create, requests.create(ProfileRow(group, settings)), carrying: group)
        case .write: return writing(address, head, pending, requests)
        case .service:
            let name = topic(of: head.operation)?.service ?? ""
            return Transmission(.service, requests.service(name), carrying: [head])
        case .makeService:
            let record = topic(of: head.operation).map(ServiceRecord.init)
            return Transmission(.makeService, requests.makeService(record), carrying: [head])
        case .list: return Transmission(.subscriptions, requests.get(address), carrying: [head])
        case .subscribe:
            let record = SubscriptionRecord(service: head.step?.service ?? "")
            return Transmission(.subscribe, requests.subscribe(record, at: address), carrying: [head])
        case .end: return Transmission(.unsubscribe, requests.delete(address), carrying: [head])
        }
    }

    /// Returns the first request of an operation, usually the query for the profile. If addresses contain the key, no query is
    /// needed.
    private func beginning(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let key = head.operation.contactKey
        if settings.matching == .key, isWritten(head.operation) || head.operation.action == .erase {
            return writing(ProfileAddress.named(key, settings), head, pending, requests)
        }
        let request = head.step?.address.map { requests.get($0) } ?? requests.find(key)
        return Transmission(.find, request, carrying: group(of: head, pending))
    }

    private func writing(
        _ address: String,
        _ head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        _ requests: ServerRequests
    ) -> Transmission<Self> {
        guard isWritten(head.operation) else {
            return Transmission(.delete, requests.delete(address), carrying: [head])
        }
        let group = group(of: head, pending)
        return Transmission(.update, requests.update(ProfileRow(group, settings), at: address), carrying: group)
    }

    /// Returns the operations that share a request with the first one: pending writes to the same contact at the same stage.
    private func group(of head: Pending<Self>, _ pending: PendingOperations<Self>) -> [Pending<Self>] {
        guard isWritten(head.operation) else { return [head] }
        let key = head.operation.contactKey
        return group(of: head, in: pending, atMost: ServerPace.mostTogether) { one in
            one.step == head.step && isWritten(one.operation) && ScalarString.equal(one.operation.contactKey, key)
        }
    }
}
