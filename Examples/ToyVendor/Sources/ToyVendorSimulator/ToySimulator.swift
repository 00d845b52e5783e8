public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the Toy vendor. It accepts one key and stores each message once, by its id.
public struct ToySimulator: VendorSimulator {
    /// The stored messages.
    public struct State: Codable, Sendable, Equatable {
        /// The messages by id.
        public var said: [String: String] = [:]
    }

    public static let id: AdapterID = "toy"

    private let key: String

    public init(settings: JSONObject) throws(SettingsError) { key = settings["key"]?.string ?? "" }

    public var initialState: State { State() }

    public func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        guard request[header: "Authorization"] == "Toy \(key)" else { return WireResponse(401) }
        guard request.method == "POST", URLText.path(of: request.url) == "/say", let saying = request.json,
            let id = saying["id"]?.string, let what = saying["what"]?.string
        else { return WireResponse(400, json: ["error": "no saying"]) }
        state.said[id] = what
        return WireResponse(202)
    }
}
