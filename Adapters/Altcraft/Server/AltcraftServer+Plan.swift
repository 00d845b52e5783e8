public import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel

extension AltcraftServer {
    /// Returns the verdict of an operation that needs no request; nil if it needs one.
    public func verdictWithoutRequest(_ one: Pending<Self>) -> Verdict<Self>? {
        switch one.operation.action {
        case .identify where ProfileRow(one.operation, nil, settings).fields.isEmpty:
            .unchanged(ServerFinding.keyKnown.at())
        case .changeTags(let change) where change.replace == nil && change.add.isEmpty && change.remove.isEmpty:
            .unchanged(FindingRow.tagsEmpty.at("action.tags"))
        default: nil
        }
    }

    // MARK: Requests

    public func transmission(for head: Pending<Self>, in pending: PendingOperations<Self>, _ memory: Memory)
        -> Transmission<Self>
    {
        let requests = ServerRequests(settings: settings)
        if needsTargets(head) { return lookUp(head, pending, requests) }
        switch head.operation.action {
        case .erase:
            guard let key = ProfileKey(head.operation, settings) else { break }
            return Transmission(.deleteProfile, requests.deletion(of: key), carrying: [head])
        case .track(.push):
            guard let record = PushRecord(head.operation, settings) else { break }
            return Transmission(.pushEvent, requests.push(record), carrying: [head])
        case .track:
            guard let record = GoalRecord(head.operation, settings) else { break }
            return Transmission(.goal, requests.goal(record), carrying: [head])
        case .readBack(let request):
            guard let question = PageQuestion(request) else { break }
            return Transmission(.listProfiles, requests.page(question), carrying: [head])
        default: break
        }
        return rows(head, pending, requests)
    }

    /// Returns the query for the addresses of the first operation and the operations that share the request.
    private func lookUp(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let group = group(of: head, pending, atMost: ServerPace.lookUps) { needsTargets($0) }
        let question = PageQuestion(keys: group.compactMap { ProfileKey($0.operation, settings) })
        return Transmission(.lookUp, requests.page(question), carrying: group)
    }

    /// Whether the subscriptions that the operation changes are unknown, or in other resources than the settings name now.
    private func needsTargets(_ one: Pending<Self>) -> Bool {
        if one.step?.owed == nil {
            switch one.operation.action {
            case .changeSubscription: break
            case .unregister: return one.step?.targets == nil
            default: return false
            }
        }
        guard let targets = one.step?.targets else { return true }
        return Set(targets.map(\.resource)) != Set(resources(of: one))
    }

    private func isRow(_ one: Pending<Self>) -> Bool {
        if one.step?.owed != nil { return !needsTargets(one) }
        return switch one.operation.action {
        case .identify, .changeAttributes, .changeTags: true
        case .changeSubscription, .unregister: !needsTargets(one)
        default: false
        }
    }

    /// Returns the resources whose status an operation sets, or the first opt-out that is owed to its contact. An owed opt-out
    /// from a channel leaves out the topic that the operation itself decides about, later than the opt-out.
    func resources(of one: Pending<Self>) -> [Int] {
        guard let owed = one.step?.owed?.first else {
            guard case .changeSubscription(let subscription) = one.operation.action else { return [] }
            return settings.resources(setBy: subscription)
        }
        let all = settings.resources(
            setBy: Subscription(channel: owed.channel, topic: owed.topic, state: owed.state)
        )
        guard case .changeSubscription(let later) = one.operation.action, later.channel == owed.channel,
            later.topic != nil, owed.sequence < one.sequence
        else { return all }
        return all.filter { $0 != settings.resource(later.channel, later.topic) }
    }

    /// Returns the operations that share a request with the first one: one per contact, at most `limit` that pass the test.
    private func group(
        of head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        atMost limit: Int,
        where test: (Pending<Self>) -> Bool
    ) -> [Pending<Self>] {
        var keys: Set<ProfileKey> = []
        return group(of: head, in: pending, atMost: limit, oncePerQueue: true) { one in
            guard test(one), let key = ProfileKey(one.operation, settings) else { return false }
            // Two subjects may have the same contact.
            return keys.insert(key).inserted
        }
    }

    private func rows(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let counts = ProfileRow.counts(head.operation, head.step)
        let group = group(of: head, pending, atMost: settings.profilesPerRequest) {
            isRow($0) && ProfileRow.counts($0.operation, $0.step) == counts
        }
        var rows: [JSONValue] = []
        var size = requests.profiles([]).body.count
        let batch = group.prefix { one in
            guard let key = ProfileKey(one.operation, settings) else { return false }
            let row = JSONValue.object(ProfileRow(one.operation, one.step, settings).object(key))
            size += row.text.utf8.count + 1
            guard size <= settings.bytesPerRequest || rows.isEmpty else { return false }
            rows.append(row)
            return true
        }
        return Transmission(counts ? .increment : .importProfiles, requests.profiles(rows), carrying: batch)
    }
}
