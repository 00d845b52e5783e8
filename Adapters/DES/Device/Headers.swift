import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The values of a request's headers.
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
            .optional("X-Contact-Token", \.contactToken, .text, from: "memory.contactToken", rule: .des("H4"))
                .secret,
            .optional("X-Merchant-Id", \.merchantID, .text, from: "settings.merchantId", rule: .des("H5")),
            .required("X-EMARSYS-SDK-VERSION", \.sdkVersion, .text, from: "settings.sdkVersion", rule: .des("H6")),
            .required("X-EMARSYS-SDK-MODE", \.mode, .text, from: "settings.mode", rule: .des("H6")),
            .optional("Authorization", \.authorization, .text, from: "settings.applicationCode", rule: .des("H7"))
                .secret,
        ]
    )

    /// The header lines, credentials marked.
    var lines: [WireHeader] { Self.table.headers(self) }
}

/// Makes requests: address, headers and body from the state at the time of sending.
struct RequestMaker {
    let planner: Planner
    /// The installation's id at the vendor.
    let clientID: String

    /// The application code that the request is about.
    private var applicationCode: String { planner.memory.applicationCode ?? planner.settings.applicationCode }

    /// Returns a request. Its body is JSON, or empty.
    func request(_ endpoint: DESDevice.Endpoint, bytes: [UInt8] = [], at address: String? = nil) -> WireRequest {
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

    /// Returns a request whose body a table writes.
    func request<Record>(
        _ endpoint: DESDevice.Endpoint,
        _ table: FieldTable<Record>,
        _ record: Record,
        expecting count: Int = 512
    ) -> WireRequest {
        request(endpoint, bytes: table.bytes(record, expecting: count))
    }

    /// Whether events and inline messages go to v4.
    var usesV4: Bool { planner.settings.usesV4(planner.memory) }

    private func url(_ route: Route) -> String {
        route.template.text(after: route.service.address(planner)) {
            $0 == "app" ? applicationCode : usesV4 ? "v4" : "v3"
        }
    }

    private func headers(_ route: Route) -> Headers {
        var headers = Headers(sdkVersion: planner.settings.sdkVersion, mode: planner.settings.mode.rawValue)
        guard route.namesClient else { return headers }
        headers.clientID = clientID
        headers.order = JSONNumber(planner.moment.date.milliseconds).text
        headers.clientState = planner.memory.clientState
        let isContactChange = [.contact, .anonymousContact, .contactToken].contains(route.endpoint)
        if !isContactChange || route.endpoint == .anonymousContact && planner.settings.tokenWithAnonymous {
            headers.contactToken = planner.memory.contactToken?.value
        }
        if isContactChange, !planner.settings.merchantID.isEmpty { headers.merchantID = planner.settings.merchantID }
        if [.inbox, .geofences].contains(route.endpoint), planner.settings.basicAuthorization {
            headers.authorization = "Basic " + Base64.encode(Array("\(applicationCode):".utf8))
        }
        return headers
    }
}
