public import PatchbayJSON
public import PatchbayModel

/// A simulator of a vendor as a pure function from request, state, and time to a reply and a new state.
///
/// It validates requests and replies as the vendor does. It belongs to a separate target and is never linked into an app.
public protocol VendorSimulator: Sendable {
    /// The state of the simulated vendor.
    associatedtype State: Codable & Sendable & Equatable

    /// The id of the simulated vendor, which equals the adapter's id.
    static var id: AdapterID { get }

    /// Creates a simulator.
    ///
    /// - Parameter settings: The configuration of the vendor's account: the credentials it accepts, the fields it knows.
    /// - Throws: ``SettingsError`` with every problem.
    init(settings: JSONObject) throws(SettingsError)

    /// The vendor's state before the first request.
    var initialState: State { get }

    /// Answers one request.
    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse
}
