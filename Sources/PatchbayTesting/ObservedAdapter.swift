import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An adapter that forwards every call to another one and reports it to an observer.
struct ObservedAdapter<Base: VendorAdapter>: VendorAdapter {
    typealias Settings = Base.Settings
    typealias Endpoint = Base.Endpoint
    typealias Memory = Base.Memory
    typealias Step = Base.Step

    private let base: Base
    private let observer: AdapterObserver<Base>

    static var descriptor: AdapterDescriptor { Base.descriptor }
    var window: Int { base.window }

    init(_ base: Base, observer: AdapterObserver<Base>) { (self.base, self.observer) = (base, observer) }

    init(settings: Settings) throws(SettingsError) {
        base = try Base(settings: settings)
        observer = AdapterObserver(
            vendor: AnsweringVendor { _, _ in WireResponse(200) },
            expected: nil,
            script: Script()
        )
    }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        let findings = base.examine(operation)
        observer.noteExamination(of: operation, findings, again: base.examine(operation))
        return findings
    }

    func place(_ operation: EngagementOperation) -> Place {
        let place = base.place(operation)
        observer.notePlace(place, again: base.place(operation))
        return place
    }

    func mustRegisterAgain(_ memory: Memory) -> Bool { base.mustRegisterAgain(memory) }

    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let window = PendingOperations<Base>(pending) { Pending($0) }
        let lane = memoryName(of: window[0].operation)
        var moment = moment
        if let reason = observer.beginPlan(&moment) { return .wait(until: nil, because: reason) }
        let plan = base.plan(window, memory: memory, at: moment)
        let again = base.plan(window, memory: memory, at: moment)
        observer.note(plan, again: again, of: window, memory, lane, at: moment.now)
        switch plan {
        case .wait(let until, let because): return .wait(until: until, because: because)
        case .settle(let verdicts, let remembering):
            return .settle(verdicts.mapValues { Verdict($0) }, remembering: remembering)
        case .send(let transmission):
            var copy = Transmission<Self>(maintenanceRequest: transmission.endpoint, transmission.request)
            (copy.operations, copy.unacknowledged) = (transmission.operations, transmission.unacknowledged)
            return .send(copy)
        }
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let observed = Exchange<Base>(
            endpoint: exchange.endpoint,
            operations: exchange.operations.map { Pending($0) },
            request: exchange.request,
            outcome: exchange.outcome,
            startedAt: exchange.startedAt,
            moment: exchange.moment
        )
        let before = memory
        var again = memory
        let meaning = base.interpret(observed, memory: &memory)
        let isSame = base.interpret(observed, memory: &again) == meaning && again == memory
        let lane = observed.operations.first.map { memoryName(of: $0.operation) }
        observer.note(meaning, isSame: isSame, of: observed, before, memory, lane)
        return Interpretation(
            meaning.verdicts.mapValues { Verdict($0) },
            followUps: meaning.followUps,
            incoming: meaning.incoming,
            suspension: meaning.suspension
        )
    }

    static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue {
        try Base.upgrade(state, of: part, from: version)
    }

    /// Returns the name of the memory that an operation's lane uses.
    private func memoryName(of operation: EngagementOperation) -> String {
        Base.descriptor.memory == .lane ? base.place(operation).lane : ""
    }
}
