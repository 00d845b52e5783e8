package import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A mutation of an adapter, to test whether a check detects it.
public enum ProbeMutation: String, Sendable, CaseIterable {
    /// The adapter does not keep its memory.
    case forgets
    /// The adapter loses the steps of operations.
    case losesStep
    /// The adapter keeps its memory unchanged after an uncertain delivery.
    case trustsMemory
    /// The adapter loses the values of attributes.
    case losesValues
    /// The adapter treats every reply as accepted.
    case believes
    /// The adapter treats a missing reply as accepted.
    case takesSilenceForYes
    /// The adapter never waits.
    case hurries
    /// The adapter puts all operations into one queue.
    case queuesTogether
    /// The adapter sends the newest operations first.
    case readsBackwards
    /// The adapter drops follow-ups that a reply requests.
    case dropsFollowUps
    /// The adapter sends requests without a journal entry.
    case keepsNoJournal
    /// The adapter does not report what becomes uncertain if the process dies during a request.
    case foreseesNoUncertainty
    /// The adapter ignores the credential of the app.
    case ignoresCredential
    /// The adapter never suspends the provider.
    case neverStops
    /// The adapter holds operations that it should drop, and drops operations that it should hold.
    case misplacesConsent
    /// The adapter resets the count of failures after every third one, so that it begins again with short waits.
    case forgetsFailures
    /// The adapter waits for a reason without a remedy.
    case waitsInSilence
    /// The adapter repeats refused requests.
    case repeatsRefusals
    /// The adapter waits for the next contact although a contact is logged in. An adapter without a finding for that
    /// wait is not changed.
    case waitsForContact

    /// The mutations that only random runs detect.
    package static let foundByRandomRuns: Set<ProbeMutation> = [
        .forgetsFailures, .waitsInSilence, .repeatsRefusals, .waitsForContact,
    ]

    /// Returns a copy of an adapter with this mutation.
    package func breaking<Base: VendorAdapter>(_ base: Base) -> any VendorAdapter { Mutant(base, self) }
}

/// An adapter that forwards to another one, with one mutation.
private struct Mutant<Base: VendorAdapter>: VendorAdapter {
    typealias Settings = Base.Settings
    typealias Memory = Base.Memory
    typealias Step = Base.Step

    struct Endpoint: AdapterEndpoint {
        let base: Base.Endpoint
        let isJournaled: Bool
        static var allCases: [Endpoint] { Base.Endpoint.allCases.map { Endpoint($0, isJournaled: $0.isJournaled) } }
        var rawValue: String { base.rawValue }

        init(_ base: Base.Endpoint, isJournaled: Bool) { (self.base, self.isJournaled) = (base, isJournaled) }

        init?(rawValue: String) {
            guard let base = Base.Endpoint(rawValue: rawValue) else { return nil }
            self.init(base, isJournaled: base.isJournaled)
        }
    }

    private let base: Base
    private let mutation: ProbeMutation?

    static var descriptor: AdapterDescriptor { Base.descriptor }

    /// The finding of a wait for the next contact.
    private static var contactWaiting: FindingRow? {
        descriptor.tables.findings.first { $0.code == "\(descriptor.id.rawValue).contact.waiting" }
    }

    init(_ base: Base, _ mutation: ProbeMutation) { (self.base, self.mutation) = (base, mutation) }

    init(settings: Settings) throws(SettingsError) {
        base = try Base(settings: settings)
        mutation = nil
    }

    func examine(_ operation: EngagementOperation) -> [Finding] { base.examine(operation) }

    func place(_ operation: EngagementOperation) -> Place {
        var place = base.place(operation)
        if mutation == .queuesTogether { place = Place(lane: place.lane, waitsForConsent: place.waitsForConsent) }
        if mutation == .misplacesConsent { place.waitsForConsent.toggle() }
        return place
    }

    func mustRegisterAgain(_ memory: Memory) -> Bool { base.mustRegisterAgain(memory) }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        var moment = moment
        if mutation == .hurries { moment.now = moment.now + .seconds(400 * 86_400) }
        var window = PendingOperations<Base>(pending, shown)
        if mutation == .readsBackwards { window = PendingOperations(window.reversed(), hasMore: pending.hasMore) }
        let known = mutation == .forgets ? Memory() : memory
        switch base.plan(window, memory: known, at: moment) {
        case .send(let transmission):
            if mutation == .waitsForContact, memory != Memory(), let row = Self.contactWaiting {
                return .wait(until: nil, because: row.at())
            }
            let carried = Set(transmission.operations)
            let isJournaled = transmission.endpoint.isJournaled && mutation != .keepsNoJournal
            let endpoint = Endpoint(transmission.endpoint, isJournaled: isJournaled)
            guard !carried.isEmpty else {
                return .send(Transmission(maintenanceRequest: endpoint, transmission.request))
            }
            return .send(
                Transmission(
                    endpoint,
                    transmission.request,
                    carrying: pending.filter { carried.contains($0.id) },
                    unacknowledged: mutation == .foreseesNoUncertainty ? nil : transmission.unacknowledged
                )
            )
        case .settle(let verdicts, let remembering):
            return .settle(verdicts.mapValues(said), remembering: remembering)
        case .wait(let until, var because):
            if mutation == .waitsInSilence { because.remedy = "" }
            return .wait(until: until, because: because)
        }
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var outcome = exchange.outcome
        if mutation == .takesSilenceForYes, outcome.reply == nil { outcome = .replied(WireResponse(200)) }
        let changed = Exchange<Base>(
            endpoint: exchange.endpoint.base,
            operations: exchange.operations.map(shown),
            request: exchange.request,
            outcome: outcome,
            startedAt: exchange.startedAt,
            moment: exchange.moment
        )
        let before = memory
        let meaning = base.interpret(changed, memory: &memory)
        if mutation == .forgets { memory = Memory() }
        if mutation == .trustsMemory, exchange.mayHaveWorked { memory = before }
        return Interpretation(
            meaning.verdicts.mapValues { verdict in
                guard mutation == .repeatsRefusals, case .rejected = verdict else { return said(verdict) }
                return .retry(.at(exchange.moment.now + .seconds(60)))
            },
            followUps: mutation == .dropsFollowUps ? [] : meaning.followUps,
            incoming: meaning.incoming,
            suspension: mutation == .neverStops ? nil : meaning.suspension
        )
    }

    private func shown(_ pending: Pending<Self>) -> Pending<Base> {
        Pending(
            operation: mutation == .losesValues ? pending.operation.withoutValues : pending.operation,
            sequence: pending.sequence,
            since: pending.since,
            queue: pending.queue,
            isImmediate: pending.isImmediate,
            step: mutation == .losesStep ? nil : pending.step,
            failures: mutation == .forgetsFailures ? pending.failures % 3 : pending.failures,
            refusals: mutation == .forgetsFailures ? pending.refusals % 3 : pending.refusals,
            credential: mutation == .ignoresCredential ? nil : pending.credential
        )
    }

    private func said(_ verdict: Verdict<Base>) -> Verdict<Self> {
        switch verdict {
        case .accepted, .unchanged, .superseded, .dropped: Verdict(verdict)
        default: mutation == .believes ? .accepted() : Verdict(verdict, shortened)
        }
    }

    private func shortened(_ when: When) -> When {
        guard mutation == .hurries, let until = when.until else { return when }
        return .at(min(until, Instant(milliseconds: 0)), orWoken: when.orWoken)
    }

    static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue {
        try Base.upgrade(state, of: part, from: version)
    }
}

extension EngagementOperation {
    /// The operation without the attributes of its change or event.
    fileprivate var withoutValues: EngagementOperation {
        var operation = self
        switch action {
        case .changeAttributes: operation.action = .changeAttributes([:])
        case .track(.custom(let name, _)): operation.action = .track(.custom(name: name))
        default: break
        }
        return operation
    }
}
