public import PatchbayJSON
public import PatchbayModel

/// A vendor played by a pure value: request, state and time in, reply and new state out.
///
/// It validates what arrives and answers as the vendor does. It lives in a target of its own and is never linked into an
/// app.
public protocol VendorSimulator: Sendable {
    /// What the vendor remembers.
    associatedtype State: Codable & Sendable & Equatable

    /// The vendor it plays: the same id as the adapter's.
    static var id: AdapterID { get }

    /// Creates a simulator.
    ///
    /// - Parameter settings: what the vendor's account is like: credentials it accepts, fields it knows.
    /// - Throws: ``SettingsError`` with every problem.
    init(settings: JSONObject) throws(SettingsError)

    /// What the vendor remembers before the first request.
    var initialState: State { get }

    /// Answers one request.
    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse
}
