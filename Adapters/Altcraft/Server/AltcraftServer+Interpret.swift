public import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel

extension AltcraftServer {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var meaning = interpretReply(exchange, memory: &memory)
        applyOwed(exchange, &meaning, &memory)
        return meaning
    }

    /// Applies owed opt-outs of a contact with an operation that the vendor accepted, before its later operations. Each stays
    /// in the memory until the vendor accepts it, a later decision replaces it, or the contact is deleted.
    private func applyOwed(_ exchange: Exchange<Self>, _ meaning: inout Interpretation<Self>, _ memory: inout Memory) {
        for pending in exchange.operations {
            guard let verdict = meaning.verdicts[pending.id] else { continue }
            if let owed = pending.step?.owed {
                // The vendor accepted the operation earlier. The refusal concerns the opt-out.
                if case .rejected(let refusal, answer: _) = verdict {
                    meaning.verdicts[pending.id] = next(behind: owed, refusal: refusal)
                }
                continue
            }
            guard memory.owed != nil, let contact = ProfileKey(pending.operation, settings)?.mark else { continue }
            switch exchange.endpoint {
            case .deleteProfile where verdict.isFinal: memory.removeOwed { $0.contact == contact }
            case .importProfiles, .increment:
                guard case .accepted = verdict else { continue }
                if case .changeSubscription(let later) = pending.operation.action {
                    memory.removeOwed { owed in
                        owed.contact == contact && owed.sequence <= pending.sequence
                            && owed.isAbout(later.channel, later.topic)
                    }
                }
                let owed = memory.optOuts(owedTo: contact)
                if !owed.isEmpty { meaning.verdicts[pending.id] = .inProgress(Step(owed: owed)) }
            default: break
            }
        }
    }

    /// Returns the verdict after the first owed opt-out is applied, refused, or has no address yet.
    private func next(behind owed: [Memory.Owed], refusal: Finding? = nil) -> Verdict<Self> {
        let rest = Array(owed.dropFirst())
        if !rest.isEmpty { return .inProgress(Step(owed: rest)) }
        guard let refusal else { return .accepted() }
        var finding = ServerFinding.optOutRefused.at("action")
        finding.vendor = refusal.vendor
        return .accepted(finding)
    }

    /// Reads the vendor's result for each profile, also those of a request that was refused as a whole.
    public func interpretException(_ exchange: Exchange<Self>, _ row: ReplyRow, memory: inout Memory)
        -> Interpretation<Self>?
    {
        guard let results = results(exchange) else { return nil }
        memory.server.noteReply(at: exchange.moment.now)
        return interpretRows(exchange, results, &memory)
    }

    public func suspension(_ row: FindingRow, after exchange: Exchange<Self>) -> Finding {
        row.at(detail: exchange.outcome.reply?.codeText)
    }

    public func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>? {
        switch exchange.endpoint {
        case .importProfiles, .increment: interpretWithoutRows(exchange, &memory)
        case .lookUp: interpretProfiles(exchange, &memory)
        case .listProfiles: interpretPage(exchange)
        case .deleteProfile: Interpretation(exchange.operations) { _ in .accepted(ServerFinding.erased.at()) }
        case .goal, .pushEvent: Interpretation(exchange.operations) { _ in .accepted() }
        }
    }

    public func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        // Only the vendor's own error number is proof. A bare status may come from a proxy.
        if exchange.endpoint == .deleteProfile, exchange.outcome.reply?.json?["error"]?.integer == 404 {
            return Interpretation(exchange.operations) { _ in .unchanged(ServerFinding.profileMissing.at()) }
        }
        var rejection = finding.at("action")
        rejection.vendor = exchange.outcome.reply.map { VendorReply(status: $0.status, code: $0.codeText) }
        return halved(exchange.operations, rejecting: rejection)
    }

    public func verdict(on pending: Pending<Self>, afterFailureOf exchange: Exchange<Self>, isUncertain: Bool)
        -> Verdict<Self>?
    {
        let code = exchange.outcome.reply?.code
        // An unreadable success may mean that the request was processed.
        let isTrouble = code.map { $0 == 0 || (500...599).contains($0) } ?? false
        guard exchange.endpoint.isJournaled, isUncertain || isTrouble, code != 503,
            settings.uncertainDelivery == .reject
        else { return nil }
        return .rejected(ServerFinding.uncertainDelivery.at("action"))
    }

    // MARK: Profiles

    /// Returns the vendor's result for each profile; nil unless it has as many results as the request had profiles.
    private func results(_ exchange: Exchange<Self>) -> [JSONValue]? {
        guard exchange.endpoint == .importProfiles || exchange.endpoint == .increment,
            let reply = exchange.outcome.reply, reply.isSuccess || reply.status == 400,
            let results = reply.json?["result"]?.array, results.count == exchange.operations.count
        else { return nil }
        return results.allSatisfy { $0["error"]?.integer != nil } ? results : nil
    }

    private func interpretRows(_ exchange: Exchange<Self>, _ results: [JSONValue], _ memory: inout Memory)
        -> Interpretation<Self>
    {
        var verdicts: [OperationID: Verdict<Self>] = [:]
        var suspension: Finding?
        for (pending, result) in zip(exchange.operations, results) {
            let reply = WireResponse(200, json: result)
            let row = ReplyTable.altcraftServer.row(for: .replied(reply))
            switch row.meaning {
            case .accepted: verdicts[pending.id] = verdictAfterImport(of: pending, &memory)
            case .refused:
                var finding = (row.finding ?? ServerFinding.refused).at("action")
                finding.vendor = VendorReply(status: exchange.outcome.reply?.status ?? 200, code: reply.codeText)
                verdicts[pending.id] = .rejected(finding)
            case .retry:
                let next = ServerPace.pace.backoff.next(after: pending.failures, asked: nil, at: exchange.moment)
                let isLost = exchange.endpoint.isJournaled && settings.uncertainDelivery == .reject && reply.code != 429
                verdicts[pending.id] =
                    isLost ? .rejected(ServerFinding.uncertainDelivery.at("action")) : .retry(.at(next))
            case .suspend:
                verdicts[pending.id] = .inProgress(pending.step)
                suspension = suspension ?? (row.finding ?? ServerFinding.refused).at(detail: reply.codeText)
            }
        }
        return Interpretation(verdicts, suspension: suspension)
    }

    private func verdictAfterImport(of pending: Pending<Self>, _ memory: inout Memory) -> Verdict<Self> {
        if let owed = pending.step?.owed {
            memory.removeOwed { $0 == owed.first }
            return next(behind: owed)
        }
        guard ProfileRow.needsSecond(pending.operation, pending.step) else { return .accepted() }
        return .inProgress(Step(addsTags: true))
    }

    /// Handles a success without results per profile. It is clear for one profile and ambiguous for several.
    private func interpretWithoutRows(_ exchange: Exchange<Self>, _ memory: inout Memory) -> Interpretation<Self> {
        if exchange.operations.count == 1, exchange.outcome.reply?.json?["result"]?.array?.isEmpty ?? true {
            return Interpretation(exchange.operations) { verdictAfterImport(of: $0, &memory) }
        }
        if exchange.endpoint == .increment, settings.uncertainDelivery == .reject {
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.uncertainDelivery.at("action")) }
        }
        return halved(exchange.operations, rejecting: ServerFinding.unclear.at("action"))
    }

    // MARK: Reading

    private func interpretProfiles(_ exchange: Exchange<Self>, _ memory: inout Memory) -> Interpretation<Self>? {
        guard let profiles = exchange.outcome.reply?.json?["data"]?.array else { return nil }
        return Interpretation(exchange.operations) { pending in
            guard let key = ProfileKey(pending.operation, settings) else {
                return .rejected(ServerFinding.keyForm.at("contact"))
            }
            let profile = key.profile(among: profiles)
            var targets: [SubscriptionTarget] = []
            if let owed = pending.step?.owed, let first = owed.first {
                targets = SubscriptionTarget.found(
                    on: first.channel,
                    resources: resources(of: pending),
                    in: profile,
                    key
                )
                if targets.isEmpty { return next(behind: owed) }
            } else if case .changeSubscription(let subscription) = pending.operation.action {
                let resources = resources(of: pending)
                if resources.isEmpty { return .rejected(ServerFinding.resource.at("action.subscription")) }
                targets = SubscriptionTarget.found(on: subscription.channel, resources: resources, in: profile, key)
                if targets.isEmpty { return verdictWithoutTargets(pending, subscription, in: profile, key, &memory) }
            } else {
                targets = profile.map(SubscriptionTarget.subscribed) ?? []
                if targets.isEmpty { return .unchanged(ServerFinding.nothingToLeave.at()) }
            }
            var step = pending.step ?? Step()
            step.targets = targets
            return .inProgress(step)
        }
    }

    /// Returns the verdict of a change of a subscription that the platform has no address for. An opt-out is kept.
    private func verdictWithoutTargets(
        _ pending: Pending<Self>,
        _ subscription: Subscription,
        in profile: JSONValue?,
        _ key: ProfileKey,
        _ memory: inout Memory
    ) -> Verdict<Self> {
        let path = "action.subscription"
        let isOptIn = subscription.state == .subscribed
        if isOptIn || profile != nil && SubscriptionTarget.mayReach(subscription.channel, in: profile) {
            return .rejected(ServerFinding.address.at(path.dot("channel")))
        }
        let isKept = memory.owe(
            .init(
                contact: key.mark,
                channel: subscription.channel,
                topic: subscription.topic,
                state: subscription.state,
                sequence: pending.sequence
            )
        )
        if profile == nil {
            return isKept
                ? .unchanged(ServerFinding.optOutKept.at(path)) : .rejected(ServerFinding.optOutsFull.at(path))
        }
        let finding = isKept ? ServerFinding.optOutWaits : ServerFinding.noAddressToUnsubscribe
        return .unchanged(finding.at(path.dot("channel")))
    }

    private func interpretPage(_ exchange: Exchange<Self>) -> Interpretation<Self>? {
        let reply = exchange.outcome.reply?.json
        guard let profiles = reply?["data"]?.array else { return nil }
        let limit = exchange.request.json?["limit"]?.integer ?? Int64(PageQuestion.most)
        let named = PagePointers.names.lazy.compactMap { reply?[$0]?.string }.first { !$0.isEmpty }
        let next = named ?? profiles.last?["id"]?.string ?? profiles.last?["_id"]?.string
        let isLast = Int64(profiles.count) < limit || next == nil
        let answer: JSONValue = [
            "profiles": .array(profiles), "isLast": .bool(isLast),
            "next": isLast ? .null : next.map(JSONValue.string) ?? .null,
        ]
        return Interpretation(exchange.operations) { _ in .accepted(answer: answer) }
    }
}

/// Reads the pointer to the next page. The vendor documents the pointer without its name. If it is missing, the last
/// profile's id is used, as in the vendor's example.
enum PagePointers: Sendable {
    static let names = ["next_id", "from_id", "next"]
}

extension WireResponse {
    /// The vendor's error number: from the body, otherwise the status of a failure; 0 for a success.
    var code: Int {
        let own = json?["error"]?.integer.flatMap(Int.init(exactly:)) ?? 0
        return own != 0 ? own : isSuccess ? 0 : status
    }

    /// The number as text, if it is none of a person.
    fileprivate var codeText: String {
        VendorReply(status: status, code: String(code)).code ?? VendorReply.withheld
    }
}
