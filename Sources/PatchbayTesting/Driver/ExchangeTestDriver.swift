public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
public import PatchbaySimulation
import Testing

/// One app installation whose exchanges a test makes one at a time. The test states the second of each capture and each
/// reply.
///
/// An ``AdapterTestDriver`` lets a vendor simulator reply at once. This driver keeps each request in flight until the test
/// replies. The same engine, outbox and virtual clock are at work.
///
/// ```swift
/// let driver = ExchangeTestDriver(try ToyDevice(settings: settings))
/// driver.capture(.registerDevice(Corpus.phone), at: 0)
/// #expect(driver.due(at: 0) == 0)
/// try driver.exchange(at: 0, .replied(WireResponse(503)))
/// #expect(driver.due(at: 0) == 60 && driver.reason(at: 1) == "toy.reply.later")
/// ```
///
/// Captures of the same second are stored in one transaction, when the test next asks for anything else. A request without
/// a reply fails when the engine's timeout has passed.
public final class ExchangeTestDriver<Adapter: VendorAdapter> {
    /// The error of a test that expects an exchange which the engine does not make.
    public struct Mismatch: Error, CustomStringConvertible {
        /// A description of what happened instead.
        public let description: String
    }

    /// A request that left.
    public typealias Sent = AdapterTestDriver<Adapter, SilentVendor>.Sent
    /// An operation that has no outcome yet.
    public typealias Waiting = AdapterTestDriver<Adapter, SilentVendor>.Waiting
    private typealias Driver = AdapterTestDriver<ObservedAdapter<Adapter>, SilentVendor>

    private let driver: Driver
    private let observer: AdapterObserver<Adapter>
    private let origin: Instant
    private var staged: (seconds: Int, operations: [EngagementOperation]) = (0, [])

    /// The adapter, with the settings that are in force now.
    public private(set) var adapter: Adapter
    /// The app state that captured operations carry.
    public var appState: AppState? {
        get { driver.appState }
        set { driver.appState = newValue }
    }

    /// Creates an installation that has sent nothing.
    ///
    /// - Parameters:
    ///   - adapter: The adapter.
    ///   - subject: The installation.
    ///   - start: The wall clock at second 0.
    /// - Throws: An error of the engine if the outbox cannot be created.
    public init(_ adapter: Adapter, subject: Subject = Corpus.installation, start: Instant = Corpus.start) throws {
        self.adapter = adapter
        observer = AdapterObserver(
            vendor: AnsweringVendor { _, _ in WireResponse(200) },
            expected: nil,
            script: Script(limit: .max)
        )
        driver = try Driver(
            ObservedAdapter(adapter, observer: observer),
            SilentVendor(),
            subject: subject,
            start: start
        )
        driver.holdsRequests = true
        origin = driver.now
    }

    // MARK: The app

    /// Returns an operation of the current contact with a new id, captured now.
    public func operation(_ action: Action, group: String? = nil, options: JSONObject = [:]) -> EngagementOperation {
        driver.operation(action, group: group, options: options)
    }

    /// Captures an action at a second.
    ///
    /// - Returns: The operation's id.
    @discardableResult
    public func capture(
        _ action: Action,
        at seconds: Int,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> OperationID {
        if !staged.operations.isEmpty, staged.seconds != seconds { advance(to: staged.seconds) }
        advanceClock(to: seconds)
        let operation = driver.prepare(action, group: group, options: options)
        staged = (seconds, staged.operations + [operation])
        return operation.id
    }

    /// Lets time pass until a second, with everything that happens meanwhile.
    ///
    /// - Parameters:
    ///   - seconds: The second.
    ///   - flush: Whether the app asks then to send at once.
    public func advance(to seconds: Int, flush: Bool = false) {
        captureStaged()
        advanceClock(to: seconds)
        if flush { driver.flush() }
    }

    private func captureStaged() {
        let operations = staged.operations
        staged.operations = []
        observer.noteProgress()
        if !operations.isEmpty { driver.capture(together: operations) }
    }

    private func advanceClock(to seconds: Int) {
        observer.noteProgress()
        driver.advance(to: .seconds(seconds))
    }

    /// Continues in a new process, with the same or other settings.
    ///
    /// - Throws: ``SwitchRefusal`` if pending work would be lost.
    public func restart(with adapter: Adapter? = nil) throws {
        captureStaged()
        self.adapter = adapter ?? self.adapter
        try driver.restart(with: ObservedAdapter(self.adapter, observer: observer))
    }

    /// Gives the route to another provider. See ``AdapterTestDriver/leave(onSwitch:)``.
    ///
    /// - Throws: ``SwitchRefusal`` if pending work would be lost.
    public func leave(onSwitch policy: RoutingPlan.SwitchPolicy) throws {
        captureStaged()
        try driver.leave(onSwitch: policy)
    }

    // MARK: Exchanges

    /// Lets time pass until a second, and records an issue if a request leaves meanwhile.
    public func settle(at seconds: Int) {
        let count = driver.sent.count
        advance(to: seconds)
        if driver.sent.count > count { Issue.record("A request leaves before second \(seconds).") }
    }

    private var inFlight: Driver.Sent? { driver.requestsInFlight.first }

    private func second(of instant: Instant) -> Int { Int((instant - origin).components.seconds) }

    /// Returns the second at which the next request leaves; nil if the engine waits for something else.
    public func due(at seconds: Int, flush: Bool = false) -> Int? {
        advance(to: seconds, flush: flush)
        if let inFlight { return second(of: inFlight.at) }
        return driver.world.nextAdvance.map(second)
    }

    /// Returns the code of the reason that the installation waits; nil if it does not.
    public func reason(at seconds: Int) -> String? { wait(at: seconds)?.code }

    /// Returns the reason that the installation waits; nil if it does not.
    public func wait(at seconds: Int) -> Finding? {
        advance(to: seconds)
        return inFlight == nil ? driver.waitReason : nil
    }

    /// Returns the request that is in flight at a second.
    ///
    /// - Throws: ``Mismatch`` if no request is in flight.
    public func transmission(at seconds: Int, flush: Bool = false) throws -> Sent {
        advance(to: seconds, flush: flush)
        guard let inFlight else { throw mismatch(at: seconds) }
        return Sent(
            endpoint: inFlight.endpoint,
            request: inFlight.request,
            operations: inFlight.operations,
            at: inFlight.at
        )
    }

    private func mismatch(at seconds: Int) -> Mismatch {
        let due = driver.world.nextAdvance.map { " until second \(second(of: $0))" } ?? ""
        return Mismatch(
            description: "No request is sent at second \(seconds). \(driver.pendingCount) operations are pending. "
                + "The queues wait\(due): \(driver.waitReasons.map(\.code))."
        )
    }

    /// Lets time pass until a second, and gives the reply to the next request that has none.
    ///
    /// A request that leaves before that second gets its reply at once.
    ///
    /// - Parameters:
    ///   - seconds: The second.
    ///   - flush: Whether the app asks then to send at once.
    ///   - outcome: The outcome of the request.
    /// - Returns: The request.
    /// - Throws: ``Mismatch`` if no request leaves.
    @discardableResult
    public func exchange(at seconds: Int, flush: Bool = false, _ outcome: Outcome) throws -> WireRequest {
        if let inFlight {
            advance(to: seconds)
            driver.answer(with: outcome)
            return inFlight.request
        }
        let count = driver.sent.count
        driver.nextOutcomes = [outcome]
        defer { driver.nextOutcomes = [] }
        advance(to: seconds)
        if flush, driver.sent.count == count { driver.flush() }
        guard driver.sent.count > count else { throw mismatch(at: seconds) }
        return driver.sent[count].request
    }

    // MARK: Results

    /// The times at which requests left, in seconds.
    public var starts: [Int] { driver.sent.map { second(of: $0.at) } }

    /// The stored operations without an outcome, in order of capture.
    public var pending: [Waiting] {
        captureStaged()
        return driver.pending.map { waiting in
            Waiting(
                operation: waiting.operation,
                lane: waiting.lane,
                queue: waiting.queue,
                step: waiting.step,
                failures: waiting.failures,
                refusals: waiting.refusals
            )
        }
    }

    /// Returns the outcome of an operation; nil while it is pending.
    public func outcome(of id: OperationID) -> OperationOutcome? {
        captureStaged()
        return driver.outcome(of: id)
    }

    /// Returns the outcome of an operation and the code of its finding: `accepted toy.sent`, `superseded by op-2`.
    public func summary(of id: OperationID) -> String? {
        guard let outcome = outcome(of: id) else { return driver.passedOver[id].map { "foreign \($0.code)" } }
        let successor = observer.current.successors[id].map { " by \($0.rawValue)" } ?? ""
        return outcome.summary + (outcome.term == .superseded ? successor : "")
    }

    /// The reason that the provider is suspended until a person acts; nil if it is not.
    public var suspension: Finding? { driver.suspension }

    /// Resumes the provider after a suspension.
    public func resume() {
        captureStaged()
        driver.resume()
    }

    /// The adapter's memory of this installation. Setting it restarts the process.
    public var memory: Adapter.Memory {
        get {
            captureStaged()
            return driver.memory
        }
        set {
            captureStaged()
            driver.memory = newValue
        }
    }

    /// The engine's environment.
    public var world: VirtualWorld { driver.world }

    /// Returns the adapter's findings for an action at capture.
    public func examine(_ action: Action, options: JSONObject = [:]) -> [Finding] {
        adapter.examine(operation(action, options: options))
    }
}

@available(*, unavailable)
extension ExchangeTestDriver: Sendable {}

/// A vendor without a simulator: the test gives each reply.
public struct SilentVendor: VendorSimulator {
    /// The empty state of the vendor.
    public struct State: Codable, Sendable, Equatable {}

    public static var id: AdapterID { "silent" }
    public var initialState: State { State() }

    init() {}
    public init(settings: JSONObject) throws(SettingsError) {}

    public func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        WireResponse(200)
    }
}
