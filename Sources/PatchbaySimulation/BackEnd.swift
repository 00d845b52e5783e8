public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A back end that delivers through the real engine to a simulated vendor, under a virtual clock, for tests of a server
/// API.
///
/// ```swift
/// let driver = try BackEnd(adapter, before: SimulatedVendor(simulator))
/// driver.instead = [("rows", .status(503))]
/// let said = try driver.say("c-1", .changeAttributes(["city": .set("Turku")]))
/// try driver.advance(60)
/// #expect(driver.outcome(said)?.term == .accepted)
/// ```
public final class BackEnd<Adapter: VendorAdapter> {
    /// The engine's environment.
    public let world: VirtualWorld
    /// The simulated vendor.
    public let vendor: SimulatedVendor
    /// The adapter of the server API.
    public let adapter: Adapter
    /// Outcomes that replace the vendor's replies, each once. A request uses the first outcome with its endpoint, or
    /// with a suffix of its URL's path.
    public var instead: [(request: String, outcome: Outcome)] = []
    private let provider = "vendor"
    private var count = 0

    /// Creates a back end and starts its engine.
    ///
    /// - Throws: An error of the engine if it cannot run the plan.
    public init(_ adapter: Adapter, before vendor: SimulatedVendor) throws {
        (self.adapter, self.vendor, world) = (adapter, vendor, try VirtualWorld(seed: 1))
        world.network = { [unowned self] in fate(of: $0) }
        try world.start(plan)
    }

    /// A plan with the API as the only, live provider.
    public var plan: RoutingPlan { RoutingPlan(providers: [.init(name: provider, adapter: adapter, mode: .live)]) }

    private func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        let path = URLText.path(of: sent.request.url)
        guard let place = instead.firstIndex(where: { $0.request == sent.endpoint || path.hasSuffix($0.request) })
        else {
            return .outcome(.replied(vendor.respond(to: sent.request, now: sent.now)))
        }
        let outcome = instead.remove(at: place).outcome
        if outcome.isInterrupted { return .death }
        return .outcome(outcome)
    }

    // MARK: Actions

    /// Captures an action of a contact.
    ///
    /// - Parameters:
    ///   - contact: The contact's name, which is also the subject.
    ///   - action: The action.
    ///   - options: The options of the operation for this API.
    /// - Returns: The operation's id.
    /// - Throws: An error of the engine.
    @discardableResult
    public func say(_ contact: String, _ action: Action, _ options: JSONObject = [:]) throws -> OperationID {
        let operation = operation(contact, action, options)
        try world.capture([operation])
        return operation.id
    }

    /// Returns an operation with a new id, captured now. By default the contact is the subject.
    public func operation(
        _ contact: String,
        subject: String? = nil,
        _ action: Action,
        _ options: JSONObject = [:]
    ) -> EngagementOperation {
        count += 1
        let digits = String(1_000_000 + count)
        return EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-00000\(digits)"),
            subject: Subject(rawValue: subject ?? contact),
            contact: contact,
            capturedAt: world.host.date(),
            options: options.isEmpty ? [:] : [Adapter.descriptor.id: options],
            action: action
        )
    }

    /// Sends a query. The answer arrives as time passes.
    ///
    /// - Returns: The query's id.
    /// - Throws: An error of the engine.
    @discardableResult
    public func ask(_ contact: String, _ request: ReadRequest) throws -> OperationID {
        let question = operation(contact, .readBack(request))
        try world.read(question, from: provider, timeout: .seconds(600))
        return question.id
    }

    /// Sends a query, advances the time by a number of seconds, and returns the outcome; nil if there is none yet.
    ///
    /// - Throws: An error of the engine.
    public func ask(_ contact: String, _ request: ReadRequest, seconds: Int) throws -> OperationOutcome? {
        let id = try ask(contact, request)
        try advance(seconds)
        return outcome(id)
    }

    /// Advances the time by a number of seconds.
    ///
    /// - Throws: An error of the engine.
    public func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }

    /// Resumes the provider after a suspension.
    ///
    /// - Throws: An error of the engine.
    public func resume() throws { try world.resume(provider) }

    // MARK: Results

    /// The endpoints of the requests that were sent, in order.
    public var endpoints: [String] { world.sent.map(\.endpoint) }

    /// Returns the requests that were sent to an endpoint.
    public func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }

    /// Returns the outcome of an operation; nil while it is pending.
    public func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: provider) }

    /// The reason that the provider is suspended; nil if it is not.
    public var suspended: Finding? { get throws { try world.suspended(provider) } }

    // MARK: Values

    /// Returns a change of one attribute.
    public static func set(_ name: AttributeName, _ value: AttributeValue) -> Action {
        .changeAttributes([name: .set(value)])
    }
}

@available(*, unavailable)
extension BackEnd: Sendable {}

extension Outcome {
    /// Returns a reply with a JSON body.
    public static func json(_ status: Int, _ json: JSONValue, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: json))
    }

    /// A reply that did not arrive in time: the delivery is uncertain.
    public static var lost: Outcome { .failed(TransportFailure(.lost, "timedOut")) }

    /// A request that was not sent, because the network is down.
    public static var offline: Outcome { .failed(TransportFailure(.notSent, "offline")) }

    /// A request during which the process died.
    public static var died: Outcome { .failed(TransportFailure(.interrupted, "processDied")) }
}
