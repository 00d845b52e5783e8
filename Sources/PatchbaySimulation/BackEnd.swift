public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A back end at the real engine, under a virtual clock, before a simulated vendor: for the tests of a server API.
///
/// ```swift
/// let driver = try BackEnd(adapter, before: SimulatedVendor(simulator))
/// driver.instead = [("rows", .status(503))]
/// let said = try driver.say("c-1", .changeAttributes(["city": .set("Turku")]))
/// try driver.advance(60)
/// #expect(driver.outcome(said)?.term == .accepted)
/// ```
public final class BackEnd<Adapter: VendorAdapter> {
    /// Where the engine runs.
    public let world: VirtualWorld
    /// The vendor that answers.
    public let vendor: SimulatedVendor
    /// The API.
    public let adapter: Adapter
    /// Outcomes that take the vendor's place, each once: the first whose request is of that endpoint, or whose URL's path ends so.
    public var instead: [(request: String, outcome: Outcome)] = []
    private let provider = "vendor"
    private var count = 0

    /// A back end whose engine runs.
    ///
    /// - Throws: what the engine says of a plan that it can't run.
    public init(_ adapter: Adapter, before vendor: SimulatedVendor) throws {
        (self.adapter, self.vendor, world) = (adapter, vendor, try VirtualWorld(seed: 1))
        world.network = { [unowned self] in fate(of: $0) }
        try world.start(plan)
    }

    /// The API as the only provider, live.
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

    // MARK: What the back end does

    /// Says something of a contact.
    ///
    /// - Parameters:
    ///   - contact: the contact's name; it is the subject, too.
    ///   - action: what is said.
    ///   - options: the API's options of the call.
    /// - Returns: the operation's id.
    /// - Throws: what the engine throws.
    @discardableResult
    public func say(_ contact: String, _ action: Action, _ options: JSONObject = [:]) throws -> OperationID {
        let operation = operation(contact, action, options)
        try world.capture([operation])
        return operation.id
    }

    /// An operation with an id of its own, captured now; the subject is the contact unless another is named.
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

    /// Asks; the answer comes as time passes.
    ///
    /// - Returns: the question's id.
    /// - Throws: what the engine throws.
    @discardableResult
    public func ask(_ contact: String, _ request: ReadRequest) throws -> OperationID {
        let question = operation(contact, .readBack(request))
        try world.read(question, from: provider, timeout: .seconds(600))
        return question.id
    }

    /// Asks, goes on for so many seconds, and gives what came of it; nil if nothing has yet.
    ///
    /// - Throws: what the engine throws.
    public func ask(_ contact: String, _ request: ReadRequest, seconds: Int) throws -> OperationOutcome? {
        let id = try ask(contact, request)
        try advance(seconds)
        return outcome(id)
    }

    /// Lets so many seconds pass.
    ///
    /// - Throws: what the engine throws.
    public func advance(_ seconds: Int) throws { try world.advance(by: .seconds(seconds)) }

    /// Lets an API that is stopped go on.
    ///
    /// - Throws: what the engine throws.
    public func resume() throws { try world.resume(provider) }

    // MARK: What came of it

    /// The requests that were sent, in order.
    public var endpoints: [String] { world.sent.map(\.endpoint) }

    /// What left to an endpoint.
    public func sent(_ endpoint: String) -> [VirtualWorld.Sent] { world.sent.filter { $0.endpoint == endpoint } }

    /// What became of an operation; nil as long as nothing has.
    public func outcome(_ id: OperationID) -> OperationOutcome? { world.outcome(of: id, on: provider) }

    /// Why the provider is stopped; nil if it is not.
    public var suspended: Finding? { get throws { try world.suspended(provider) } }

    // MARK: Words

    /// Changes one attribute.
    public static func set(_ name: AttributeName, _ value: AttributeValue) -> Action {
        .changeAttributes([name: .set(value)])
    }
}

@available(*, unavailable)
extension BackEnd: Sendable {}

extension Outcome {
    /// An answer with a body of JSON.
    public static func json(_ status: Int, _ json: JSONValue, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: json))
    }

    /// The answer did not come in time: nobody knows what the vendor did.
    public static var lost: Outcome { .failed(TransportFailure(.lost, "timedOut")) }

    /// The network is down: the request never left.
    public static var offline: Outcome { .failed(TransportFailure(.notSent, "offline")) }

    /// The process died before the answer came.
    public static var died: Outcome { .failed(TransportFailure(.interrupted, "processDied")) }
}
