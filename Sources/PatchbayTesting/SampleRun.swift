import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// Drives operations through an adapter with the real engine, and records what happens.
final class SampleRun<Adapter: VendorAdapter> {
    /// The state after a preparation, for runs that continue from it.
    struct Prepared: Sendable {
        fileprivate let world: VirtualWorld.SavedWorld
        fileprivate let record: AdapterObserver<Adapter>.Record
    }

    private static var provider: String { "vendor" }
    private let world: VirtualWorld
    private let observer: AdapterObserver<Adapter>
    /// The number of events of the engine that were processed.
    private var eventCount = 0
    /// The captured reads without an answer.
    private var reads: Set<OperationID> = []
    /// The requests that were in flight when a process ended.
    private var interruptions = 0

    /// The drive so far.
    var drive: Drive { observer.current.drive }
    /// Every exchange after the preparation, with the memory before it.
    var exchanges: [(exchange: Exchange<Adapter>, memory: Adapter.Memory)] { observer.current.exchanges }

    /// Creates a run that begins with an empty outbox.
    init(
        _ adapter: Adapter,
        credential: Secret?,
        vendor: any PlayedVendor,
        expected: ExpectedState?,
        script: Script
    ) throws {
        world = try VirtualWorld(start: Corpus.start)
        observer = AdapterObserver(vendor: vendor, expected: expected, script: script)
        try start(adapter, credential)
        world.host.jump(by: script.dateShift)
    }

    /// Creates a run that continues from a preparation.
    init(_ adapter: Adapter, credential: Secret?, continuing prepared: Prepared, script: Script) throws {
        world = try VirtualWorld(prepared.world)
        var record = prepared.record
        record.script = script
        observer = AdapterObserver(continuing: record)
        try start(adapter, credential)
    }

    private func start(_ adapter: Adapter, _ credential: Secret?) throws {
        world.host.fix(chance: 0.5)
        world.network = { [observer] in observer.answer($0) }
        world.credentials = { _, _ in credential }
        let observed = ObservedAdapter(adapter, observer: observer)
        try world.start(RoutingPlan(providers: [.init(name: Self.provider, adapter: observed, mode: .live)]))
    }

    /// Delivers the operations of a preparation. Its requests are discarded, and its violations are kept. It uses only
    /// the clock of the script, and whether descriptions are kept.
    func prepare(_ operations: [EngagementOperation]) throws -> Prepared {
        observer.change { $0.isPreparing = true }
        if !operations.isEmpty { try deliver(operations, requests: nil) }
        observer.change { record in
            record.isPreparing = false
            (record.drive.operations, record.drive.sent, record.drive.waits) = ([], [], [])
        }
        return Prepared(world: try world.save(), record: observer.current)
    }

    /// Captures the operations together and runs the engine until it has nothing to do, or until this number of
    /// requests have left.
    func deliver(_ operations: [EngagementOperation], requests: Int? = nil) throws {
        let now = world.now ?? Corpus.start
        if let first = operations.first, first.capturedAt > now { world.host.advance(by: first.capturedAt - now) }
        let shifted = observer.change { record in
            record.begin(operations.map(\.id), requests: requests)
            return operations.map { operation in
                var operation = operation
                operation.capturedAt = operation.capturedAt + record.script.dateShift
                return operation
            }
        }
        var end = Drive.End.settled
        for part in shifted.partsByUnregister { end = try captureAndRun(part) }
        observer.change { record in
            record.drive.end = end
            record.conclude()
        }
    }

    private func captureAndRun(_ operations: [EngagementOperation]) throws -> Drive.End {
        let reads = operations.filter { $0.action.kind == .readBack }
        self.reads.formUnion(reads.map(\.id))
        let rest = operations.filter { $0.action.kind != .readBack }
        try world.capture(rest, reading: reads, from: Self.provider, timeout: .seconds(600))
        return try run()
    }

    /// Runs the engine through all timed actions, and sends an event when it waits for one.
    private func run() throws -> Drive.End {
        var wokenAt: Int?
        while true {
            takeEvents()
            // The caller of a query does not survive the end of its process.
            if world.interrupted.count > interruptions { (interruptions, reads) = (world.interrupted.count, []) }
            let wait = world.timeToNextAction
            if world.inFlight.isEmpty, wait != .zero, let end = try end() { return end }
            let progress = observer.current.progress
            if let wait {
                if world.inFlight.isEmpty, wait > .zero, let now = world.now {
                    observer.change { $0.drive.waits.append(now + wait) }
                }
                _ = try world.step()
            } else if wokenAt != progress {
                wokenAt = progress
                // The engine acts only as time passes; after a failure, wakes are a second apart.
                world.host.advance(by: .seconds(1))
                try world.wake()
            } else {
                return .waiting(try world.waits(of: Self.provider).first)
            }
        }
    }

    /// Returns the way in which the run has ended; nil if it continues.
    private func end() throws -> Drive.End? {
        if let finding = try world.suspended(Self.provider) {
            guard finding.code == "engine.adapter.loops" else { return .suspended(finding) }
            observer.change { $0.breach("A5", "plan repeats itself without a request or an outcome.") }
            return .limit
        }
        guard try world.pendingCount > 0 || !reads.isEmpty else { return .settled }
        return observer.change { record in
            if record.drive.sent.count >= record.limit { return .limit }
            return record.isFaulty ? .settled : nil
        }
    }

    private func takeEvents() {
        let new = world.reportedEvents.dropFirst(eventCount)
        guard !new.isEmpty else { return }
        eventCount += new.count
        observer.change { record in
            for notice in new {
                switch notice.event {
                case .ended(let id, _, let outcome), .answered(let id, _, let outcome):
                    record.enter(id)
                    record.drive.outcomes[id] = DriveOutcome(outcome)
                case .passedOver(let id, _, let finding): record.drive.outcomes[id] = DriveOutcome(foreign: finding)
                default: break
                }
            }
        }
        for notice in new {
            if case .answered(let id, _, _) = notice.event { reads.remove(id) }
        }
    }
}

extension AdapterObserver.Record {
    /// Begins another turn.
    fileprivate mutating func begin(_ operations: [OperationID], requests: Int?) {
        drive.operations += operations
        limit = requests.map { drive.sent.count + $0 } ?? (isPreparing ? Script().limit : script.limit)
    }
}

extension [EngagementOperation] {
    /// The operations in parts that end with an unregistration each. The engine captures nothing behind a pending
    /// unregistration, because a provider that is used again withdraws it.
    fileprivate var partsByUnregister: [[EngagementOperation]] {
        reduce(into: [[]]) { parts, operation in
            if parts.last?.last?.action == .unregister { parts.append([]) }
            parts[parts.count - 1].append(operation)
        }
    }
}
