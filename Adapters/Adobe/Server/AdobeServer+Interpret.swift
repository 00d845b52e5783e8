public import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
import PatchbayModel

extension AdobeServer {
    // MARK: Failures

    /// Counts faults of the server. Restarts with a query instead of repeating a request that must not be repeated, even if the
    /// vendor surely did not process it, because another client may have done the same (B12, B25).
    public func verdict(on pending: Pending<Self>, afterFailureOf exchange: Exchange<Self>, isUncertain: Bool)
        -> Verdict<Self>?
    {
        let isFault = exchange.outcome.reply?.status == 500
        let isAgain = exchange.endpoint.isJournaled
        guard isFault || isAgain else { return nil }
        var step = pending.step ?? Step()
        let before = isFault ? step.faults ?? 0 : step.uncertainties ?? 0
        if isFault {
            guard before + 1 < settings.faultAttempts else { return .rejected(ServerFinding.fault.at("action")) }
            step.faults = before + 1
        } else {
            step.uncertainties = min(99, before + 1)
        }
        let backoff = Self.conventions.pace.backoff
        let next = backoff.next(after: before, asked: exchange.retryAfter, at: exchange.moment)
        return .inProgress(isAgain ? step.next(nil) : step, .at(next))
    }

    // MARK: Refusals

    public func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        // Only the vendor's own error code is proof. A bare status may come from a proxy.
        let isAbsent = finding == ServerFinding.absent
        let isGone = isAbsent || finding == ServerFinding.notFound || finding == ServerFinding.profileKey
        switch exchange.endpoint {
        case .find where isAbsent && settings.matching == .key, .update where isAbsent && settings.matching == .key:
            return absent(exchange)
        case .find where isGone: return suspended(exchange, ServerFinding.filterUnknown)
        case .update where finding == ServerFinding.notFound && settings.matching == .key,
            .delete where finding == ServerFinding.notFound && settings.matching == .key:
            return suspended(exchange, ServerFinding.filterUnknown)
        case .create where isGone: return suspended(exchange, ServerFinding.resourceUnknown)
        case .create where finding == ServerFinding.duplicate: return restarted(exchange, finding)
        case .delete where isAbsent && settings.matching == .key:
            return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.nothingToErase.at()) }
        case .update where isGone && settings.matching != .key, .delete where isGone && settings.matching != .key,
            .subscriptions where isGone, .subscribe where isGone, .unsubscribe where isGone:
            return restarted(exchange, ServerFinding.vanished)
        case .service where isGone && settings.unknownServices == .add: return unserved(exchange)
        case .makeService where finding == ServerFinding.duplicate:
            return restarted(exchange, ServerFinding.serviceUnknown, at: "action.subscription.topic")
        case .service where isGone, .makeService where isGone:
            return Interpretation(exchange.operations) { _ in
                .rejected(ServerFinding.serviceUnknown.at("action.subscription.topic"))
            }
        case .subscribe where finding == ServerFinding.duplicate:
            return Interpretation(exchange.operations) { _ in .unchanged(ServerFinding.subscribedAlready.at()) }
        default: return halved(exchange, finding)
        }
    }

    /// Splits a refused group in halves until the bad operation is alone and is rejected (B35). Before a profile is created,
    /// each half queries it again, because the first half creates it.
    private func halved(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        let operations = exchange.operations
        var rejection = finding.at("action")
        rejection.vendor = exchange.outcome.reply.map {
            VendorReply(status: $0.status, code: VendorCode.first(in: $0) ?? $0.json?["error_code"]?.string)
        }
        guard [.create, .update].contains(exchange.endpoint) else {
            return Interpretation(operations) { _ in .rejected(rejection) }
        }
        return halved(operations, rejecting: rejection) { step in
            if exchange.endpoint == .create { step = step.next(nil) }
        }
    }

    /// Handles a profile that vanished, or that appeared: the operation queries it again, up to three times (B13).
    private func restarted(
        _ exchange: Exchange<Self>,
        _ finding: FindingRow,
        at path: String = "contact"
    ) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            step.vanishings = (step.vanishings ?? 0) + 1
            guard step.vanishings ?? 0 <= ServerPace.vanishings else { return .rejected(finding.at(path)) }
            return step.searched
        }
    }

    // MARK: Accepted requests

    public func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>? {
        let json = exchange.outcome.reply?.json
        switch exchange.endpoint {
        case .find: return ServerPage(json, isSingle: settings.matching == .key, settings).map { found(exchange, $0) }
        case .create:
            guard let profile = ServerRecord(json) else { return nil }
            return made(exchange, profile)
        case .update:
            guard exchange.outcome.reply?.body.isEmpty ?? false || ServerRecord(json) != nil else { return nil }
            return atOtherProfiles(exchange, .write, Interpretation(finalVerdicts(exchange.operations)))
        case .delete:
            return Interpretation(exchange.operations) { _ in .accepted(ServerFinding.erased.at()) }
        case .service, .makeService: return ServerRecord(json).map { served(exchange, $0) }
        case .subscriptions:
            return ServerPage(json, isSingle: false, settings).map {
                atOtherProfiles(exchange, .service, listed(exchange, $0))
            }
        case .subscribe:
            guard ServerRecord(json) != nil else { return nil }
            return Interpretation(exchange.operations) { _ in .accepted() }
        case .unsubscribe:
            return atOtherProfiles(exchange, .service, Interpretation(exchange.operations) { _ in .accepted() })
        case .page:
            guard let page = ServerPage(json, isSingle: false, settings) else { return nil }
            return Interpretation(exchange.operations) { pending in
                // A caller that reads all pages must not mistake an incomplete list for the whole.
                if case .subscriptions? = question(of: pending.operation), page.isCut {
                    return .rejected(ServerFinding.addressForeign.at("action"))
                }
                return .accepted(answer: page.answer)
            }
        case .token: return Interpretation()
        }
    }

    /// Continues an opt-out of a contact with several profiles at the next profile (B9).
    private func atOtherProfiles(
        _ exchange: Exchange<Self>,
        _ stage: Step.Stage,
        _ meaning: Interpretation<Self>
    ) -> Interpretation<Self> {
        var meaning = meaning
        for pending in exchange.operations where meaning.verdicts[pending.id]?.isFinal ?? false {
            if let step = pending.step?.atNextProfile(stage) { meaning.verdicts[pending.id] = step.asVerdict }
        }
        return meaning
    }

    /// Returns the verdicts after a successful write. An operation whose values a later one of the same request replaced
    /// completely is superseded.
    private func finalVerdicts(_ operations: [Pending<Self>]) -> [OperationID: Verdict<Self>] {
        let row = ProfileRow(operations, settings)
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for one in operations {
            let later = row.replacement(of: one.id, members(of: one.operation))
            verdicts[one.id] = later.map { .superseded(by: $0) } ?? .accepted()
        }
        return verdicts
    }

    /// Handles a page of profiles that a query for the contact returned.
    private func found(_ exchange: Exchange<Self>, _ page: ServerPage) -> Interpretation<Self> {
        guard let key = exchange.operations.first?.operation.contactKey else { return Interpretation() }
        if settings.matching != .key, page.records.contains(where: { $0.json[settings.keyField] == nil }) {
            return suspended(exchange, ServerFinding.keyUnseen)
        }
        let hits = page.records.filter { $0.has(key, settings) }
        if hits.count > 1 {
            return Interpretation(exchange.operations) { pending in
                // A query for the contact returns all candidates, because the contact is ambiguous.
                if question(of: pending.operation) == .contact {
                    return .accepted(answer: ContactAnswer(hits, nil).json)
                }
                guard case .changeSubscription(let subscription) = pending.operation.action,
                    subscription.state != .subscribed
                else { return .rejected(ServerFinding.several.at("contact")) }
                return atAll(hits, pending)
            }
        }
        guard let profile = hits.first else { return page.next == nil ? absent(exchange) : turned(exchange, page) }
        return Interpretation(exchange.operations) { pending in
            let step = pending.step ?? Step()
            switch pending.operation.action {
            case .readBack where question(of: pending.operation) == .contact:
                let list = profile.subscriptions(settings)
                // Without the list of subscriptions, the opt-outs from services are unknown.
                return list == nil && !settings.services.isEmpty
                    ? .rejected(ServerFinding.addressForeign.at("action"))
                    : .accepted(answer: ContactAnswer(hits, list).json)
            case .readBack: return .accepted(answer: profile.json)
            case .changeSubscription where topic(of: pending.operation) != nil:
                guard let list = profile.subscriptions(settings) else {
                    return .rejected(ServerFinding.addressForeign.at("action"))
                }
                return step.next(.service, list).asVerdict
            default: return .inProgress(step.next(.write, ProfileAddress.keyed(profile.key, settings)))
            }
        }
    }

    /// Continues an opt-out at every profile with the contact's key, because none of them may receive further messages.
    private func atAll(_ profiles: [ServerRecord], _ pending: Pending<Self>) -> Verdict<Self> {
        var step = pending.step ?? Step()
        guard topic(of: pending.operation) != nil else {
            step.others = profiles.map { ProfileAddress.keyed($0.key, settings) }
            return step.atNextProfile(.write)?.asVerdict ?? .accepted()
        }
        step.others = profiles.compactMap { $0.subscriptions(settings) }
        guard step.others?.count == profiles.count, let first = step.atNextProfile(.service) else {
            return .rejected(ServerFinding.addressForeign.at("action"))
        }
        return first.asVerdict
    }

    /// Queries the next page of a collection, by the address in the reply (B8).
    private func turned(_ exchange: Exchange<Self>, _ page: ServerPage) -> Interpretation<Self> {
        guard let next = page.next, let address = ServerAddress(next, settings) else {
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.addressForeign.at("action")) }
        }
        return Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            let pages = (step.pages ?? 1) + 1
            guard pages <= ServerPace.pages else { return .rejected(ServerFinding.manyPages.at("contact")) }
            (step.address, step.pages) = (address.rest, pages)
            return .inProgress(step)
        }
    }

    /// The account has no such profile.
    private func absent(_ exchange: Exchange<Self>) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            let step = pending.step ?? Step()
            switch pending.operation.action {
            case .erase: return .accepted(ServerFinding.nothingToErase.at())
            case .readBack: return .rejected(ServerFinding.contactUnknown.at("contact"))
            default: break
            }
            if topic(of: pending.operation)?.isOn == false {
                return .unchanged(ServerFinding.unsubscribedAlready.at())
            }
            guard settings.unknownContacts == .add else {
                return .rejected(ServerFinding.contactUnknown.at("contact"))
            }
            return .inProgress(step.next(.create))
        }
    }

    /// Handles a created profile: its values are written, or an operation for a topic continues with the service.
    private func made(_ exchange: Exchange<Self>, _ profile: ServerRecord) -> Interpretation<Self> {
        let finalVerdicts = finalVerdicts(exchange.operations)
        return Interpretation(exchange.operations) { pending in
            guard topic(of: pending.operation) != nil else { return finalVerdicts[pending.id] ?? .accepted() }
            guard let list = profile.subscriptions(settings) else {
                return .rejected(ServerFinding.addressForeign.at("action"))
            }
            return .inProgress((pending.step ?? Step()).next(.service, list))
        }
    }

    // MARK: Services

    /// Handles a missing service: an opt-in creates it, and an opt-out has no effect (B41).
    private func unserved(_ exchange: Exchange<Self>) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            guard topic(of: pending.operation)?.isOn == true else {
                return .unchanged(ServerFinding.unsubscribedAlready.at())
            }
            let step = pending.step ?? Step()
            return .inProgress(step.next(.makeService, step.address))
        }
    }

    private func served(_ exchange: Exchange<Self>, _ service: ServerRecord) -> Interpretation<Self> {
        Interpretation(exchange.operations) { pending in
            let step = pending.step ?? Step()
            let name = service.json["name"]?.string
            guard name == nil || name == topic(of: pending.operation)?.service else {
                return .rejected(ServerFinding.serviceUnknown.at("action.subscription.topic"))
            }
            return .inProgress(step.next(.list, step.address, service: service.key))
        }
    }

    /// Handles a page of subscriptions: returns the request that is needed, or completes the operation (B22).
    private func listed(_ exchange: Exchange<Self>, _ page: ServerPage) -> Interpretation<Self> {
        guard let pending = exchange.operations.first, let topic = topic(of: pending.operation) else {
            return Interpretation()
        }
        let step = pending.step ?? Step()
        let record = page.records.first { $0.isSubscription(to: topic.service, step.service) }
        if record == nil, page.next != nil { return turned(exchange, page) }
        let verdict: Verdict<Self>
        switch (record, topic.isOn) {
        case (nil, false): verdict = .unchanged(ServerFinding.unsubscribedAlready.at())
        case (.some, true): verdict = .unchanged(ServerFinding.subscribedAlready.at())
        case (nil, true):
            // Of the list's pages only the first is the collection itself.
            let list = step.pages == nil ? step.address : step.address.flatMap(ServerAddress.collection)
            verdict = .inProgress(step.next(.subscribe, list, service: step.service))
        case (.some(let record), false):
            guard let address = record.address(settings) else {
                verdict = .rejected(ServerFinding.addressForeign.at("action"))
                break
            }
            verdict = .inProgress(step.next(.end, address))
        }
        return Interpretation(exchange.operations) { _ in verdict }
    }
}
