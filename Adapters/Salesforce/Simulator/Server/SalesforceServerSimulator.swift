public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the REST host of one business unit and of its token host, as a pure value.
///
/// It is as strict as the documents: one bad row refuses its whole row set, a job needs an existing data extension, a
/// contact needs a set of addresses, and a token expires. Where the documents state nothing, it makes these choices:
///
/// - An existing contact is a conflict for POST, and a missing one is unknown to PATCH.
/// - A job takes eight seconds.
/// - An unknown path is status 596.
public struct SalesforceServerSimulator: VendorSimulator {
    public static let id: AdapterID = "salesforce-server"

    private let settings: SalesforceServerSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try SalesforceServerSimulatorSettings.table.read(
            settings,
            over: SalesforceServerSimulatorSettings(),
            at: ""
        )
    }

    public var initialState: SalesforceServerAccount { SalesforceServerAccount() }

    public func respond(to request: WireRequest, state: inout SalesforceServerAccount, now: Instant) -> WireResponse {
        carryOut(&state, now)
        let path = URLText.path(of: request.url)
        let response = path == "/v2/token" ? token(request, &state, now) : answer(request, path, &state, now)
        let name = path.split(separator: "/").map { $0.hasPrefix("job-") ? "{job}" : String($0) }
        state.counts["\(request.method) /\(name.joined(separator: "/")) \(response.status)", default: 0] += 1
        return response
    }

    // MARK: Tokens

    private func token(_ request: WireRequest, _ state: inout SalesforceServerAccount, _ now: Instant) -> WireResponse {
        guard request.method == "POST", request.isJSON, let body = request.json?.object else {
            return error(400, 10_003, "The body is no JSON object.")
        }
        let isClient = { (name: String, wanted: String?) in
            body[name]?.string.map { !$0.isEmpty && (wanted ?? $0) == $0 } ?? false
        }
        guard body["grant_type"] == "client_credentials", isClient("client_id", settings.clientID.given),
            isClient("client_secret", settings.clientSecret?.value)
        else {
            return WireResponse(
                401,
                json: ["error": "invalid_client", "error_description": "Invalid client ID.", "error_uri": ""]
            )
        }
        let names: Set<String> = ["grant_type", "client_id", "client_secret", "scope", "account_id"]
        guard body.names.allSatisfy(names.contains) else { return error(400, 10_000, "An unknown member.") }
        let token = "token-\(state.tokens.count + 1)"
        state.tokens.append(.init(text: token, until: now + .seconds(settings.tokenLife)))
        var host = settings.restURL
        if host.isEmpty, let end = request.url.firstRange(of: "/v2/token") {
            host = request.url[..<end.lowerBound] + "/"
        }
        return WireResponse(
            200,
            json: [
                "access_token": .string(token), "token_type": "Bearer", "expires_in": .integer(settings.tokenLife),
                "scope": body["scope"] ?? "", "rest_instance_url": .string(host),
            ]
        )
    }

    private func isGood(_ request: WireRequest, _ state: SalesforceServerAccount, _ now: Instant) -> Bool {
        state.tokens.contains { request[header: "Authorization"] == "Bearer \($0.text)" && $0.until > now }
    }

    // MARK: Routes

    private func answer(
        _ request: WireRequest,
        _ path: String,
        _ state: inout SalesforceServerAccount,
        _ now: Instant
    ) -> WireResponse {
        guard isGood(request, state, now) else { return error(401, 0, "Not Authorized") }
        if !request.body.isEmpty, !request.isJSON {
            return error(415, 0, "The content type is not application/json.")
        }
        let parts = path.split(separator: "/").map { URLText.decode($0) ?? "" }
        return switch (request.method, parts.first, parts.count) {
        case ("POST", "hub", 5) where path.hasPrefix("/hub/v1/dataevents/key:") && parts[4] == "rowset":
            write(request, key: String(parts[3].dropFirst(4)), &state, now)
        case ("PUT", "data", 6) where path.hasPrefix("/data/v1/async/dataextensions/key:") && parts[5] == "rows":
            queue(request, key: String(parts[4].dropFirst(4)), &state, now)
        case ("GET", "data", 5) where parts[2] == "async": look(at: parts[3], parts[4], request, &state, now)
        case ("GET", "data", 6) where parts[2] == "customobjectdata": read(request, key: parts[4], state)
        case ("POST", "contacts", 3), ("PATCH", "contacts", 3): contact(request, &state)
        case ("POST", "contacts", 5) where request.url.hasSuffix("/actions/delete?type=keys"):
            delete(request, &state, now)
        case ("POST", "interaction", 3) where parts[2] == "events": track(request, &state)
        default: error(596, 0, "No such resource.")
        }
    }

    private func error(_ status: Int, _ code: Int, _ message: String) -> WireResponse {
        WireResponse(
            status,
            json: ["message": .string(message), "errorcode": .integer(code), "documentation": ""]
        )
    }

    private func isKnown(_ dataExtension: String) -> Bool {
        settings.dataExtensions.isEmpty || settings.dataExtensions.contains(dataExtension)
    }

    /// Returns the reason why a column refuses a value; nil if it accepts it.
    private func fault(_ column: String, _ value: JSONValue) -> String? {
        let isColumn =
            column.isEmpty || settings.columns.isEmpty
            || settings.columns.contains { $0.lowercased() == column.lowercased() }
        if !isColumn { return "UnknownColumn" }
        switch value {
        case .string(let text): return text.utf16.count > 4000 || text == settings.poison.given ? "InvalidValue" : nil
        case .number, .bool, .null: return nil
        case .array, .object: return "InvalidType"
        }
    }

    // MARK: Rows

    private func write(
        _ request: WireRequest,
        key: String,
        _ state: inout SalesforceServerAccount,
        _ now: Instant
    ) -> WireResponse {
        guard isKnown(key) else { return error(404, 30_003, "No such data extension.") }
        guard let rows = request.json?.array, !rows.isEmpty else { return error(400, 10_003, "No rows.") }
        if rows.count > 50 {
            state.violations.append(Violation(at: now, device: nil, what: "\(rows.count) rows in one row set"))
        }
        var taken: [(contact: String, values: JSONObject)] = []
        for row in rows {
            guard let keys = row["keys"]?.object, keys.names == [settings.keyColumn],
                let contact = keys[settings.keyColumn]?.string, !contact.isEmpty, let values = row["values"]?.object,
                row.object?.count == 2
            else { return error(400, 10_002, "A row without its key.") }
            if let fault = values.lazy.compactMap({ fault($0.name, $0.value) }).first {
                return error(400, 10_001, fault)
            }
            taken.append((contact, values))
        }
        for row in taken { upsert(row.values, of: row.contact, in: key, &state) }
        return WireResponse(200, json: request.json ?? [])
    }

    private func upsert(
        _ values: JSONObject,
        of contact: String,
        in dataExtension: String,
        _ state: inout SalesforceServerAccount
    ) {
        var row = state.rows[dataExtension]?[contact] ?? [:]
        for member in values { row[member.name.lowercased()] = member.value }
        state.rows[dataExtension, default: [:]][contact] = row
    }

    private func read(_ request: WireRequest, key: String, _ state: SalesforceServerAccount) -> WireResponse {
        guard isKnown(key) else { return error(404, 30_003, "No such data extension.") }
        let items = Dictionary(URLText.queryItems(of: request.url).map { ($0.name, Int($0.value)) }) { $1 }
        guard let page = items["$page"] ?? 1, let size = items["$pageSize"] ?? 2500, page > 0, (1...2500).contains(size)
        else { return error(400, 10_005, "No such page.") }
        let all = (state.rows[key] ?? [:]).inOrder
        let shown = all.dropFirst((page - 1) * size).prefix(size).map { contact, row -> JSONValue in
            [
                "keys": .object(JSONObject([(settings.keyColumn.lowercased(), .string(contact))])),
                "values": .object(JSONObject(row.inOrder.map { ($0.key, $0.value) })),
            ]
        }
        var reply: JSONObject = [
            "count": .integer(all.count), "page": .integer(page), "pageSize": .integer(size), "links": [:],
        ]
        if !all.isEmpty { reply["items"] = .array(Array(shown)) }
        return WireResponse(200, json: .object(reply))
    }

    // MARK: Jobs

    private func queue(
        _ request: WireRequest,
        key: String,
        _ state: inout SalesforceServerAccount,
        _ now: Instant
    ) -> WireResponse {
        let id = "job-\(state.jobs.count + 1)"
        guard isKnown(key) else {
            let message: JSONValue = [
                "resultType": "Operational", "resultClass": "Error", "resultCode": "CustomObjectNotFound",
                "message": "Unable to find the data extension.",
            ]
            return WireResponse(200, json: ["requestId": .string(id), "resultMessages": [message]])
        }
        guard let items = request.json?["items"]?.array, !items.isEmpty, items.allSatisfy({ $0.object != nil }) else {
            return error(400, 10_003, "No items.")
        }
        if items.count > 1, items.count > 2500 || request.body.count > 5_500_000 {
            state.violations.append(
                Violation(at: now, device: nil, what: "\(items.count) rows, \(request.body.count) bytes in one job")
            )
        }
        let readyAt = now + .milliseconds(settings.jobTime)
        state.jobs.append(
            .init(id: id, dataExtension: key, rows: items, readyAt: readyAt, errors: nil)
        )
        return WireResponse(202, json: ["requestId": .string(id), "resultMessages": []])
    }

    /// Carries out due jobs, in order.
    private func carryOut(_ state: inout SalesforceServerAccount, _ now: Instant) {
        for place in state.jobs.indices where state.jobs[place].errors == nil && state.jobs[place].readyAt <= now {
            let job = state.jobs[place]
            state.jobs[place].errors = job.rows.map { row in
                guard let members = row.object, let contact = members[settings.keyColumn]?.string, !contact.isEmpty
                else { return "PrimaryKeyMissing" }
                let values = JSONObject(members.filter { $0.name != settings.keyColumn }.map { ($0.name, $0.value) })
                if let fault = values.lazy.compactMap({ fault($0.name, $0.value) }).first { return fault }
                upsert(values, of: contact, in: job.dataExtension, &state)
                return ""
            }
            state.jobs[place].rows = []
        }
    }

    private func look(
        at id: String,
        _ what: String,
        _ request: WireRequest,
        _ state: inout SalesforceServerAccount,
        _ now: Instant
    ) -> WireResponse {
        guard let place = state.jobs.firstIndex(where: { $0.id == id }) else {
            let message: JSONValue = [
                "resultType": "Operational", "resultClass": "Error", "resultCode": "AsyncRequestStatusNotFound",
                "message": "Unable to find the request.",
            ]
            let shown: JSONValue = what == "results" ? ["resultMessage": message] : message
            return WireResponse(200, json: ["requestId": .string(id), "resultMessages": [shown]])
        }
        let job = state.jobs[place]
        switch what {
        case "status":
            let hasErrors = job.errors?.contains { !$0.isEmpty } ?? false
            let status: JSONValue = [
                "callDateTime": .string(now.text), "requestStatus": job.errors == nil ? "Pending" : "Complete",
                "resultStatus": hasErrors ? "Error" : "OK", "hasErrors": .bool(hasErrors), "requestId": .string(id),
            ]
            return WireResponse(200, json: ["status": status, "requestId": .string(id), "resultMessages": []])
        case "results":
            let items = (job.errors ?? []).map { error -> JSONValue in
                error.isEmpty
                    ? ["message": "Added", "status": "OK"]
                    : ["errorCode": .string(error), "message": "Refused", "status": "Error"]
            }
            let asked = URLText.queryItems(of: request.url).first { $0.name == "$page" }.flatMap { Int($0.value) }
            let page = max(1, asked ?? 1)
            return WireResponse(
                200,
                json: [
                    "page": .integer(page), "pageSize": 50, "count": .integer(items.count),
                    "items": .array(Array(items.dropFirst((page - 1) * 50).prefix(50))), "requestId": .string(id),
                    "resultMessages": [],
                ]
            )
        default: return error(596, 0, "No such resource.")
        }
    }

    // MARK: Contacts and events

    private static let channelSets: Set<String> = [
        "Email Addresses", "MobileConnect Demographics", "MobilePush Demographics",
    ]

    private func contact(_ request: WireRequest, _ state: inout SalesforceServerAccount) -> WireResponse {
        guard let body = request.json, let key = body["contactKey"]?.string, !key.isEmpty else {
            return error(400, 10_002, "A required field was not supplied.")
        }
        var values: [String: JSONValue] = [:]
        var names: [String] = []
        for set in body["attributeSets"]?.array ?? [] {
            names.append(set["name"]?.string ?? "")
            for item in set["items"]?.array ?? [] {
                for value in item["values"]?.array ?? [] {
                    guard let name = value["name"]?.string, let content = value["value"],
                        fault("", content) == nil
                    else { return error(400, 10_001, "A value can't be used.") }
                    values["\(names.last ?? "")/\(name)"] = content
                }
            }
        }
        guard Set(names).count == names.count, !Self.channelSets.isDisjoint(with: names), !values.isEmpty else {
            return error(400, 10_006, "The attribute sets are incomplete.")
        }
        let isNew = state.contacts[key] == nil
        if request.method == "POST", !isNew { return error(409, 30_004, "The contact exists.") }
        if request.method == "PATCH", isNew { return error(404, 30_003, "No such contact.") }
        state.contacts[key, default: [:]].merge(values) { $1 }
        return WireResponse(
            200,
            json: [
                "operationStatus": "OK", "rowsAffected": .integer(values.count), "contactKey": .string(key),
                "contactID": .integer(state.contacts.count), "isNewContactKey": .bool(isNew), "hasErrors": false,
                "resultMessages": [],
            ]
        )
    }

    private func delete(_ request: WireRequest, _ state: inout SalesforceServerAccount, _ now: Instant) -> WireResponse
    {
        let keys = (request.json?["values"]?.array ?? []).compactMap(\.string)
        guard !keys.isEmpty, request.json?["DeleteOperationType"] == "ContactAndAttributes" else {
            return error(400, 10_002, "A required field was not supplied.")
        }
        for key in keys {
            if !state.deletions.contains(key) { state.deletions.append(key) }
            state.contacts[key] = nil
            // Iterating over the view of the keys would copy all rows.
            for name in Array(state.rows.keys) { state.rows[name]?[key] = nil }
        }
        return WireResponse(
            200,
            json: ["operationInitiated": true, "operationID": .integer(state.deletions.count), "hasErrors": false]
        )
    }

    private func track(_ request: WireRequest, _ state: inout SalesforceServerAccount) -> WireResponse {
        guard let body = request.json?.object, let key = body["ContactKey"]?.string, !key.isEmpty,
            let definition = body["EventDefinitionKey"]?.string, !definition.isEmpty, let data = body["Data"]?.object,
            body.count == 3
        else { return error(400, 10_002, "A required field was not supplied.") }
        guard settings.eventKeys.isEmpty || settings.eventKeys.contains(definition) else {
            return error(404, 30_003, "No such event definition.")
        }
        guard data.allSatisfy({ $0.value.array == nil && $0.value.object == nil }) else {
            return error(400, 10_001, "A field can't be used.")
        }
        state.events.append(.init(contactKey: key, definition: definition, data: .object(data)))
        let number = String(state.events.count)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - number.count) + number
        return WireResponse(201, json: ["eventInstanceId": .string(id)])
    }
}

extension String {
    /// The text; nil if it is empty.
    fileprivate var given: String? { isEmpty ? nil : self }
}

extension WireRequest {
    /// Whether the request's content type is JSON.
    fileprivate var isJSON: Bool {
        self[header: "Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() == "application/json"
    }
}

/// The settings of a simulated business unit.
struct SalesforceServerSimulatorSettings: Sendable {
    var clientID = ""
    var clientSecret: Secret?
    var restURL = ""
    var keyColumn = "ContactKey"
    var dataExtensions: [String] = []
    var columns: [String] = []
    var eventKeys: [String] = []
    var poison = ""
    var tokenLife = 1075
    var jobTime = 8000

    static let table = SettingsTable<SalesforceServerSimulatorSettings>([
        .text("clientId", \.clientID, "The only client of the account; any if not given."),
        .secret("clientSecret", \.clientSecret, isRequired: false, "Its secret; any if not given."),
        .text("restUrl", \.restURL, "The REST host that a token's reply names; the token's own host if not given."),
        .text("keyColumn", \.keyColumn, default: "ContactKey", "The primary key of every data extension."),
        .list("dataExtensions", \.dataExtensions, default: "[]", "External keys of data extensions; any if not given."),
        .list("columns", \.columns, default: "[]", "Columns of the data extensions; any if not given."),
        .list("eventKeys", \.eventKeys, default: "[]", "Event definition keys; any if not given."),
        .text("poison", \.poison, "A text that no column and no attribute takes."),
        .integer("tokenLife", \.tokenLife, in: 1...86_400, default: 1075, "Seconds for which a token is good."),
        .integer("jobTime", \.jobTime, in: 0...86_400_000, default: 8000, "Milliseconds that a job takes."),
    ])
}
