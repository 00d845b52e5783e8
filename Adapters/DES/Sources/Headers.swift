import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What the headers of one request say.
struct Headers: Sendable {
    var contentType = "application/json"
    var clientID: String?
    var order: String?
    var clientState: String?
    var contactToken: String?
    var merchantID: String?
    var sdkVersion: String
    var mode: String
    var authorization: String?

    static let table = FieldTable<Headers>(
        "Headers",
        [
            .required("Content-Type", \.contentType, .text, from: "always application/json", rule: .des("H1")),
            .optional("X-Client-Id", \.clientID, .text, from: "operation.subject", rule: .des("H2")),
            .optional("X-Request-Order", \.order, .text, from: "the moment of sending", rule: .des("H3")),
            .optional("X-Client-State", \.clientState, .text, from: "memory.clientState", rule: .des("R4")),
            .optional("X-Contact-Token", \.contactToken, .text, from: "memory.contactToken", rule: .des("H4")),
            .optional("X-Merchant-Id", \.merchantID, .text, from: "settings.merchantId", rule: .des("H5")),
            .required("X-EMARSYS-SDK-VERSION", \.sdkVersion, .text, from: "settings.sdkVersion", rule: .des("H6")),
            .required("X-EMARSYS-SDK-MODE", \.mode, .text, from: "settings.mode", rule: .des("H6")),
            .optional("Authorization", \.authorization, .text, from: "settings.applicationCode", rule: .des("H7")),
        ]
    )

    private static let secrets = ["X-Contact-Token", "Authorization"]

    /// The header lines, credentials marked.
    var lines: [WireHeader] {
        var lines: [WireHeader] = []
        lines.reserveCapacity(Headers.table.rows.count)
        Headers.table.forEach(of: self) { name, value in
            lines.append(WireHeader(name, value.string ?? "", isSecret: Headers.secrets.contains(name)))
        }
        return lines
    }
}

/// Makes requests as they leave: address, headers and body from what is known at that moment.
struct RequestMaker {
    let planner: Planner
    /// The installation's id at the vendor.
    let clientID: String

    private var settings: DESSettings { planner.settings }
    private var memory: DESMemory { planner.memory }
    /// The application code that the request is about.
    private var applicationCode: String { memory.applicationCode ?? settings.applicationCode }

    /// A request; its body is JSON, or empty.
    func request(_ endpoint: DESDevice.Endpoint, bytes: [UInt8] = [], at address: String? = nil) -> WireRequest {
        RuleID.des("R3").fire()
        let route = Route.of(endpoint)
        return WireRequest(
            route.method,
            address ?? url(route),
            headers: headers(route).lines,
            body: bytes
        )
    }

    /// A request with a JSON body.
    func request(_ endpoint: DESDevice.Endpoint, body: JSONObject) -> WireRequest {
        request(endpoint, bytes: Array(JSONValue.object(body).text.utf8))
    }

    /// A request whose body a table writes.
    func request<Record>(
        _ endpoint: DESDevice.Endpoint,
        _ table: FieldTable<Record>,
        _ record: Record,
        expecting count: Int = 512
    ) -> WireRequest {
        request(endpoint, bytes: table.bytes(record, expecting: count))
    }

    /// Whether events and inline messages go to v4.
    var usesV4: Bool { settings.usesV4(memory) }

    private func url(_ route: Route) -> String {
        if route.service == .events { RuleID.des("R1").fire() }
        return route.service.address(settings, memory)
            + URLText.path(route.path) { $0 == "app" ? applicationCode : usesV4 ? "v4" : "v3" }
    }

    private func headers(_ route: Route) -> Headers {
        var headers = Headers(sdkVersion: settings.sdkVersion, mode: settings.mode.rawValue)
        guard route.namesClient else { return headers }
        headers.clientID = clientID
        headers.order = String(planner.moment.date.milliseconds)
        headers.clientState = memory.clientState
        if takesContactToken(route.endpoint) { headers.contactToken = memory.contactToken?.value }
        if [.contact, .anonymousContact, .contactToken].contains(route.endpoint), !settings.merchantID.isEmpty {
            headers.merchantID = settings.merchantID
        }
        if [.inbox, .geofences].contains(route.endpoint), settings.basicAuthorization {
            headers.authorization = "Basic " + Base64.encode(Array("\(applicationCode):".utf8))
        }
        return headers
    }

    private func takesContactToken(_ endpoint: DESDevice.Endpoint) -> Bool {
        switch endpoint {
        case .contact, .contactToken: return false
        case .anonymousContact:
            RuleID.des("H8").fire()
            return settings.tokenWithAnonymous
        default: return true
        }
    }
}

extension DESSettings {
    /// Whether events and inline messages go to v4: unless the configuration, here or from afar, says otherwise.
    func usesV4(_ memory: DESMemory) -> Bool {
        guard eventService == .v4 else { return false }
        return !obeysRemoteConfig || memory.remote.usesV4 != false
    }
}
