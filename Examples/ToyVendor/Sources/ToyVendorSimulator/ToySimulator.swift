public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The Toy vendor, played: it knows one key and remembers what was said, each id once.
public struct ToySimulator: VendorSimulator {
    /// What was said, by id.
    public struct State: Codable, Sendable, Equatable {
        /// The sayings, by id.
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
