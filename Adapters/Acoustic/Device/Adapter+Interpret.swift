public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let row = ReplyTable.acoustic.row(for: exchange.outcome)
        let before = memory
        // If the vendor no longer knows the ids, they reach no person, and the unregistration is complete.
        let isGone = exchange.reportsUnusedIDs(memory) && [404, 410].contains(exchange.outcome.reply?.status)
        let meaning = isGone ? .accepted : row.meaning
        note(exchange, meaning, in: &memory)
        switch meaning {
        case .suspend:
            memory.mustPhone = true
            if exchange.endpoint == .phoneHome { memory.registered = nil }
            let detail = exchange.outcome.reply.map { "HTTP \($0.status) to \(exchange.endpoint.rawValue)" }
            var interpretation = Interpretation<Self>(exchange.operations) { .inProgress($0.step) }
            interpretation.suspension = FindingRow.replyStopped.at(detail: detail)
            return interpretation
        case .retry: return Interpretation(exchange.operations) { _ in .retry(.now) }  // `plan` paces.
        case .accepted, .refused: break
        }
        let isAccepted = meaning == .accepted
        switch exchange.endpoint {
        case .update, .delete: return interpretAttributes(exchange, isAccepted, before, &memory)
        case .events: return interpretEvents(exchange, isAccepted, &memory)
        case .register: return interpretRegistration(exchange, isAccepted, &memory)
        case .phoneHome: return interpretPhoneHome(exchange, isAccepted, &memory)
        }
    }

    /// Records the time of the next attempt, and forgets values that an unacknowledged request may have changed (K7).
    private func note(_ exchange: Exchange<Self>, _ meaning: ReplyMeaning, in memory: inout Memory) {
        if meaning == .retry {
            memory.delay(exchange.endpoint.stream, asked: exchange.retryAfter, at: exchange.moment)
        } else {
            memory.paces[exchange.endpoint.stream] = nil
        }
        if exchange.endpoint == .phoneHome || exchange.endpoint == .register { memory.phonedAt = exchange.startedAt }
        if exchange.mayHaveWorked { memory.markUncertain(exchange.endpoint, exchange.operations, settings) }
    }

    // MARK: Attributes

    private func interpretAttributes(
        _ exchange: Exchange<Self>,
        _ isAccepted: Bool,
        _ before: Memory,
        _ memory: inout Memory
    ) -> Interpretation<Self> {
        let batch = AttributeBatch(exchange.operations, memory: before, settings: settings)
        if isAccepted {
            // The vendor forgets a deleted value, so a later value must be sent (K3).
            memory.arrive(batch.members.lazy.compactMap(\.pending.operation.contact).first)
            for entry in batch.entries { memory.known[entry.column] = entry.value }
            if let tags = batch.tags { memory.tags = tags.map(\.rawValue).sorted() }
            return verdicts(batch) { _, step in step }
        }
        guard batch.units == 1 else { return halved(exchange, batch.units, &memory) }
        return verdicts(batch) { member, step in
            var step = step
            // The bad entry is found. The remaining entries are sent together again.
            step.suspect = nil
            step.refusals += member.sent.count
            step.refused = Array((step.refused + member.sent).prefix(Step.named))
            return step
        }
    }

    /// Returns a verdict for each member of a batch whose entries are all processed.
    private func verdicts(
        _ batch: AttributeBatch,
        _ change: (AttributeBatch.Member, Step) -> Step
    ) -> Interpretation<Self> {
        Interpretation(
            Dictionary(
                batch.members.map { member -> (OperationID, Verdict<Self>) in
                    var step = change(member, member.step)
                    step.done = member.range.upperBound
                    guard step.done >= member.entries.count else { return (member.pending.id, .inProgress(step)) }
                    return (member.pending.id, verdict(of: member.pending.operation, member.entries, step))
                }
            ) { first, _ in first }
        )
    }

    /// Returns the verdict of an operation whose entries are all processed, with the names that the vendor accepted and
    /// refused (V1).
    func verdict(of operation: EngagementOperation, _ entries: [Entry], _ step: Step) -> Verdict<Self> {
        let refused = step.refused.filter(entries.indices.contains).map { entries[$0].key }
        let more = step.refusals > refused.count ? " and \(step.refusals - refused.count) more" : ""
        let names = refused.joined(separator: ", ") + more
        let path = operation.action.kind == .changeTags ? "action.tags" : "action.changes"
        if step.refusals > 0 {
            let isAll = step.refusals >= entries.count
            let row: FindingRow =
                !isAll ? .partlyRefused : entries.allSatisfy(\.isDelete) ? .deleteRefused : .updateRefused
            return isAll ? .rejected(row.at(path, detail: names)) : .accepted(row.at(path, detail: names))
        }
        let leftOut = AttributeRules.leftOut(of: operation, settings: settings)
        if !leftOut.isEmpty { return .accepted(FindingRow.incomplete.at(path, detail: Self.list("left out", leftOut))) }
        let sets = entries.filter { !$0.isDelete }.map(\.key)
        let deletes = entries.filter(\.isDelete).map(\.key)
        let text = [Self.list("set", sets), Self.list("deleted", deletes)].compactMap(\.self).joined(separator: "; ")
        let row: FindingRow =
            sets.isEmpty ? .deleteAccepted : settings.columns.isEmpty ? .failureUnseen : .visibleLater
        return .accepted(row.at(path, detail: text))
    }

    /// Returns a label and some names as text, such as `set: a, b`.
    private static func list(_ word: String, _ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let more = names.count > 20 ? " and \(names.count - 20) more" : ""
        return "\(word): \(names.prefix(20).joined(separator: ", "))\(more)"
    }

    // MARK: Events

    private func interpretEvents(
        _ exchange: Exchange<Self>,
        _ isAccepted: Bool,
        _ memory: inout Memory
    ) -> Interpretation<Self> {
        guard !isAccepted, exchange.operations.count > 1 else {
            // Events never contain such a report, and parsing a batch of events is slow.
            let reportsPush =
                exchange.operations.contains { $0.operation.action.kind != .track } && exchange.reportsPush
            return Interpretation(exchange.operations) { pending in
                if exchange.reportsUnusedIDs(memory), pending.operation.action.kind == .registerDevice {
                    // Push under the old ids is reported as disabled. The registration continues with its new ids.
                    memory.notePushReport(false)
                    return continued(pending)
                }
                if pending.operation.action == .erase {
                    // A refusal completes the operation, too: the app's back end erases the vendor's data.
                    memory.forgetIDs()
                    return .accepted(FindingRow.eraseByHand.at())
                }
                recordPushReport(pending.operation, isAccepted, reportsPush, &memory)
                if pending.operation.action.kind == .switchContact, pending.step?.isLoggedIn != true {
                    return continued(pending)
                }
                guard pending.operation.action.kind == .registerDevice else {
                    return isAccepted ? accepted(pending.operation) : .rejected(FindingRow.eventRefused.at("action"))
                }
                return .accepted((isAccepted ? FindingRow.deviceKept : .eventRefused).at("action"))
            }
        }
        return halved(exchange, exchange.operations.count, &memory)
    }

    /// Continues an operation with its next request.
    func continued(_ pending: Pending<Self>) -> Verdict<Self> {
        .inProgress(Step(done: (pending.step?.done ?? 0) + 1))
    }

    /// Returns half of a refused group as the next request, after a pause that limits the rate of the search (G3).
    private func halved(_ exchange: Exchange<Self>, _ count: Int, _ memory: inout Memory) -> Interpretation<Self> {
        let until = exchange.moment.now + Intervals.search
        memory.paces[exchange.endpoint.stream] = .init(failures: 0, until: until)
        let half = max(1, count / 2)
        return Interpretation(exchange.operations) { pending in
            var step = pending.step ?? Step()
            step.suspect = half
            return .inProgress(step)
        }
    }

    /// Records the push state that the vendor now knows. A refused report of a device's permission is not repeated.
    private func recordPushReport(
        _ operation: EngagementOperation,
        _ isAccepted: Bool,
        _ mayPush: Bool,
        _ memory: inout Memory
    ) {
        switch operation.action {
        case .registerDevice(let device):
            memory.permitsPush = device.allowsPush
            memory.notePushReport(mayPush)
        case .setConsent where isAccepted, .switchContact where isAccepted: memory.notePushReport(mayPush)
        case .unregister where isAccepted: memory.notePushReport(false)
        case .changeSubscription(let subscription) where isAccepted:
            let isOptIn = subscription.state == .subscribed
            memory.decide(operation.contact, wantsPush: isOptIn)
            memory.notePushReport(isOptIn)
        default: break
        }
    }

    private func accepted(_ operation: EngagementOperation) -> Verdict<Self> {
        switch operation.action {
        case .unregister: return .accepted(FindingRow.left.at())
        case .setConsent: return .accepted(FindingRow.consentKept.at())
        case .switchContact: return .accepted(FindingRow.loggedIn.at("action.switch"))
        case .track(.custom) where Options(operation)["type"] == nil:
            return .accepted(FindingRow.customEventUnseen.at())
        default: return .accepted(FindingRow.eventTaken.at())
        }
    }

    // MARK: Registration

    private func interpretRegistration(
        _ exchange: Exchange<Self>,
        _ isAccepted: Bool,
        _ memory: inout Memory
    ) -> Interpretation<Self> {
        guard isAccepted else {
            return Interpretation(exchange.operations) { _ in .rejected(FindingRow.registrationRefused.at("action")) }
        }
        guard let reply = exchange.outcome.reply, let ids = Identity.ids(in: reply, settings.profile) else {
            // The vendor may have registered the installation.
            memory.markUncertain(exchange.endpoint, exchange.operations, settings)
            return withoutAnswer(exchange, &memory)
        }
        for pending in exchange.operations {
            guard case .registerDevice(let device) = pending.operation.action else {
                memory.adopt(ids)
                continue
            }
            let contact = pending.operation.contact
            memory.adopt(ids, namedFor: pending, people: contact.map { [$0] } ?? [])
            memory.arrive(contact)
            let mayPush = exchange.request.json?["pushEnabled"]?.bool ?? memory.mayPush(device, of: contact)
            let record = RegistrationRecord(
                device,
                of: pending.operation.subject,
                mayPush: mayPush,
                settings: settings
            )
            memory.registered = record.digest(settings)
            memory.noteRegisteredPush(mayPush)
        }
        return Interpretation(exchange.operations, continued)
    }

    private func interpretPhoneHome(
        _ exchange: Exchange<Self>,
        _ isAccepted: Bool,
        _ memory: inout Memory
    ) -> Interpretation<Self> {
        if isAccepted, let reply = exchange.outcome.reply {
            guard let ids = Identity.ids(in: reply, settings.profile) else { return withoutAnswer(exchange, &memory) }
            for pending in exchange.operations {
                let contact = pending.operation.contact.map { [$0] } ?? []
                guard case .switchContact(let change) = pending.operation.action else {
                    memory.adopt(ids, namedFor: pending, people: contact)
                    continue
                }
                memory.adopt(ids, namedFor: pending, people: (change.identifiers.map(\.value) + contact).eachOnce)
            }
        }
        memory.mustPhone = false
        return Interpretation(exchange.operations) { pending in
            guard case .switchContact(let change) = pending.operation.action, isAccepted else {
                guard pending.operation.action.kind == .switchContact else { return .inProgress(pending.step) }
                return .rejected(FindingRow.registrationRefused.at("action.switch"))
            }
            memory.logIn(change.identifiers)
            return loggedIn(change, memory)
        }
    }

    /// Completes a log-in, unless an opt-in of the person still has to be reported.
    func loggedIn(_ change: ContactSwitch, _ memory: Memory) -> Verdict<Self> {
        memory.owesOptIn(of: change)
            ? .inProgress(Step(isLoggedIn: true)) : .accepted(FindingRow.loggedIn.at("action.switch"))
    }

    /// Handles a success without the requested ids as a failure: the engine retries the request.
    private func withoutAnswer(_ exchange: Exchange<Self>, _ memory: inout Memory) -> Interpretation<Self> {
        memory.delay(exchange.endpoint.stream, asked: nil, at: exchange.moment)
        return Interpretation(exchange.operations) { _ in .retry(.now) }
    }
}

extension Exchange<AcousticDevice> {
    /// Whether its first event reports push as enabled.
    fileprivate var reportsPush: Bool { request.json?["events"]?[0]?["name"] == "uiPushEnabled" }

    /// Whether it reports push as disabled under ids that are no longer used, because of an unregistration or new ids.
    fileprivate func reportsUnusedIDs(_ memory: AcousticDevice.Memory) -> Bool {
        guard endpoint == .events, operations.count == 1 else { return false }
        switch operations[0].operation.action {
        case .unregister, .erase: return true
        case .registerDevice(let device): return Identity.ids(of: device).map { $0 != memory.ids } ?? false
        default: return false
        }
    }
}
