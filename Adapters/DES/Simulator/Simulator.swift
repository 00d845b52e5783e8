public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the Device Event Service and its related services, as a pure value.
///
/// It checks addresses, headers and bodies as strictly as they are known, counts views and clicks on top of the state that
/// the client returns, and expires contact tokens. Where the vendor's behavior is unknown, it refuses; the README lists
/// these cases.
public struct DESSimulator: VendorSimulator {
    public typealias State = DESState

    public static let id: AdapterID = "des"

    let account: Account

    public init(settings: JSONObject) throws(SettingsError) {
        account = try Account.table.read(settings, over: Account(), at: "")
    }

    public var initialState: State { State() }

    public func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        let response: WireResponse
        do {
            response = try route(request, &state, now)
        } catch {
            state.violations.append("\(error.status) \(error.text)")
            response = WireResponse(error.status, json: ["error": ["message": .string(error.text)]])
        }
        state.counts["\(request.method) \(kind(of: request)) \(response.status)", default: 0] += 1
        return response
    }

    /// The last part of the path that names no installation.
    private func kind(of request: WireRequest) -> String {
        String(URLText.path(of: request.url).split(separator: "/").last ?? "")
    }

    // MARK: Routes

    private func route(_ request: WireRequest, _ state: inout State, _ now: Instant) throws(Refusal) -> WireResponse {
        guard request[header: "Content-Type"] == "application/json" else { throw Refusal(415, "no JSON") }
        guard request[header: "X-EMARSYS-SDK-VERSION"] != nil,
            ["debug", "production"].contains(request[header: "X-EMARSYS-SDK-MODE"])
        else { throw .bad("the library's headers are missing") }
        var parts = URLText.path(of: request.url).split(separator: "/").compactMap { URLText.decode($0) }
        if parts.first == Self.id.rawValue { parts.removeFirst() }
        if parts.count == 1 || parts.first == "signature" { return try configuration(request, parts) }
        guard parts.count > 3, ["v3", "v4"].contains(parts[0]), parts[1] == "apps" else {
            throw Refusal(404, "no such path")
        }
        let (version, application, rest) = (parts[0], parts[2], parts[3...].joined(separator: "/"))
        guard account.applicationCodes.isEmpty || account.applicationCodes.contains(application) else {
            throw .bad("wrong application code")
        }
        let call = try Call(request, application: application, version: version, now: now)
        if parts[3] == "messages" { return try pushMessage(call) }
        let routes: [(method: String, version: String, path: String, run: Run)] = [
            ("POST", "v3", "client", register), ("PUT", "v3", "client/push-token", setPushToken),
            ("DELETE", "v3", "client/push-token", removePushToken), ("POST", "v3", "client/contact", setContact),
            ("POST", "v3", "client/contact-token", renew), ("POST", "v3", "client/events", takeEvents),
            ("POST", "v4", "client/events", takeEvents), ("POST", "v3", "inline-messages", answerInline),
            ("POST", "v4", "inline-messages", answerInline), ("GET", "v3", "inbox", answerInbox),
            ("GET", "v3", "geo-fences", answerGeofences),
        ]
        let fitting = routes.filter { $0.path == rest && $0.version == version }
        guard !fitting.isEmpty else { throw Refusal(404, "no such path") }
        guard let route = fitting.first(where: { $0.method == request.method }) else {
            throw Refusal(405, "no such method")
        }
        guard route.method != "GET" || request.body.isEmpty else { throw .bad("a question has no body") }
        try noteOrder(call, &state)
        return try route.run(call, &state)
    }

    private typealias Run = (Call, inout State) throws(Refusal) -> WireResponse

    private func noteOrder(_ call: Call, _ state: inout State) throws(Refusal) {
        guard let place = place(of: call, in: state) else { return }
        state.clients[place].order = call.order
        guard let echoed = call.request[header: "X-Client-State"] else { return }
        guard echoed.hasPrefix("state-\(call.clientID)-") else { throw .bad("the client state was never handed out") }
    }

    private func configuration(_ request: WireRequest, _ parts: [String]) throws(Refusal) -> WireResponse {
        guard request.method == "GET", parts.count <= 2, let code = parts.last else {
            throw Refusal(404, "no such path")
        }
        guard account.applicationCodes.isEmpty || account.applicationCodes.contains(code) else {
            throw Refusal(404, "no such application")
        }
        guard request[header: "X-Client-Id"] == nil else { throw .bad("a configuration takes no X-Client-Id") }
        return parts.count == 2
            ? WireResponse(200, body: Array("MEUCIQDsignature".utf8))
            : WireResponse(200, json: .object(account.remoteConfig))
    }

    private func pushMessage(_ call: Call) throws(Refusal) -> WireResponse {
        let query = Dictionary(URLText.queryItems(of: call.request.url).map { ($0.name, $0.value) }) { $1 }
        guard call.request.method == "GET",
            ["signature", "lang", "expires"].allSatisfy({ query[$0]?.isEmpty == false })
        else { throw .bad("the address is not signed") }
        return WireResponse(
            200,
            json: ["message": ["campaignId": "904460", "html": "<html><body>Hello</body></html>"]]
        )
    }

    // MARK: Parts

    /// The place of the installation that calls.
    func place(of call: Call, in state: State) -> Int? {
        state.clients.lastIndex { $0.id == call.clientID && $0.application == call.application }
    }

    /// The place of an installation that must be registered.
    func registered(_ call: Call, _ state: State) throws(Refusal) -> Int {
        guard let place = place(of: call, in: state) else { throw .bad("the client is not registered") }
        return place
    }

    /// Returns the index of an installation with a valid contact token.
    func authorized(_ call: Call, _ state: State) throws(Refusal) -> Int {
        let place = try registered(call, state)
        guard let token = state.clients[place].token, call.request[header: "X-Contact-Token"] == token.text else {
            throw Refusal(401, "the contact token is not good")
        }
        let age = call.now.milliseconds - token.issuedAt
        guard age < Int64(account.tokenLifetime) * 1000 else { throw Refusal(401, "the contact token is too old") }
        return place
    }

    /// An answer to a client, with its state in the header.
    func answer(_ status: Int, _ client: State.Client, _ json: JSONValue? = nil) -> WireResponse {
        let header = WireHeader("x-client-state", "state-\(client.id)-\(client.registrations)")
        let headers = account.handsOutState ? [header] : []
        guard let json else { return WireResponse(status, headers: headers) }
        return WireResponse(status, headers: headers, json: json)
    }
}

/// A client's request, with its headers parsed strictly.
struct Call {
    let request: WireRequest
    let application: String
    let version: String
    let now: Instant
    let clientID: String
    let order: Int64

    init(_ request: WireRequest, application: String, version: String, now: Instant) throws(Refusal) {
        (self.request, self.application, self.version, self.now) = (request, application, version, now)
        guard let id = request[header: "X-Client-Id"], id.isUUID else { throw .bad("X-Client-Id is no UUID") }
        guard let text = request[header: "X-Request-Order"], let order = Int64(text), text.allSatisfy(\.isNumber) else {
            throw .bad("X-Request-Order is no time in milliseconds")
        }
        (clientID, self.order) = (id, order)
    }
}
