import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce

/// The combined changes of several operations to one contact.
struct ContactRow: Sendable {
    /// The contact's key.
    let key: String
    private var folding = Folding<ServerCells.Cell>()

    init(key: String) { self.key = key }

    /// The operations that write it, in order.
    var operations: [OperationID] { folding.operations }
    /// Its values, each name once.
    var cells: [ServerCells.Cell] { folding.values }

    mutating func add(_ id: OperationID, _ new: [ServerCells.Cell]) { folding.add(id, new) }

    /// The contact's addresses that its values lack.
    private(set) var address: [ServerCells.Cell] = []

    /// Adds addresses of the contact. A later value for the same attribute replaces an earlier one.
    mutating func note(_ address: [ServerCells.Cell]) {
        for cell in address {
            self.address.removeAll { $0.place == cell.place }
            self.address.append(cell)
        }
    }

    /// Returns the operation that replaced the last value of another one; nil if at least one of its values is sent.
    func replacement(of id: OperationID, _ cells: [ServerCells.Cell]) -> OperationID? {
        folding.replacement(of: id, cells)
    }

    /// The rows of these operations, one for each contact, in order of the first.
    static func folding(
        _ operations: some Sequence<Pending<SalesforceServer>>,
        _ cells: (EngagementOperation) -> [ServerCells.Cell]
    ) -> [ContactRow] {
        var rows: [ContactRow] = []
        var places: [ScalarString: Int] = [:]
        for pending in operations {
            let key = pending.operation.contactKey
            let place = places[ScalarString(key)] ?? rows.count
            if place == rows.count {
                rows.append(ContactRow(key: key))
                places[ScalarString(key)] = place
            }
            rows[place].add(pending.id, cells(pending.operation))
        }
        return rows
    }
}

/// A request for a token.
struct TokenRequest: Sendable {
    let settings: SalesforceServerSettings

    static let table = FieldTable<TokenRequest>(
        "Token",
        [
            .required("grant_type", { _ in "client_credentials" }, .text, from: "fixed", rule: .salesforce("V1")),
            .required("client_id", \.settings.clientID, .text, from: "settings.clientId", rule: .salesforce("V1")),
            .required(
                "client_secret",
                { $0.settings.clientSecret?.value ?? "" },
                .text,
                from: "settings.clientSecret",
                rule: .salesforce("V1")
            ),
            .optional("scope", { $0.settings.scope.given }, .text, from: "settings.scope", rule: .salesforce("V5")),
            .optional(
                "account_id",
                { $0.settings.accountID.given },
                .text,
                from: "settings.accountId",
                rule: .salesforce("V5")
            ),
        ]
    )
}

extension String {
    /// The text; nil if it is empty.
    fileprivate var given: String? { isEmpty ? nil : self }
}

/// One row of the synchronous route.
struct RowRecord: Sendable {
    let keyColumn: String
    let row: ContactRow

    static let table = FieldTable<RowRecord>(
        "Row",
        [
            .required(
                "keys",
                { [($0.keyColumn, .string($0.row.key))] },
                .members,
                from: "contact",
                rule: .salesforce("V8")
            ),
            .required(
                "values",
                { $0.row.cells.map { ($0.name, $0.value) } },
                .members,
                from: "attributes, identifiers, tags, subscriptions",
                rule: .salesforce("V8")
            ),
        ]
    )
}

/// One job of the asynchronous route.
struct JobRecord: Sendable {
    let items: [JSONValue]

    static let table = FieldTable<JobRecord>(
        "Job",
        [
            .required(
                "items",
                \.items,
                .items,
                from: "contact, attributes, identifiers, tags, subscriptions",
                rule: .salesforce("V12")
            )
        ]
    )

    /// Returns a row in the form of a job: flat, with numbers as text.
    static func item(_ row: ContactRow, keyColumn: String) -> JSONValue {
        .object(
            JSONObject(
                [(keyColumn, .string(row.key))]
                    + row.cells.map { cell in (cell.name, cell.value.number.map { .string($0.text) } ?? cell.value) }
            )
        )
    }
}

/// One contact with its attribute sets.
struct ContactRecord: Sendable {
    let row: ContactRow

    static let table = FieldTable<ContactRecord>(
        "Contact",
        [
            .required("contactKey", \.row.key, .text, from: "contact", rule: .salesforce("V18")),
            .required(
                "attributeSets",
                \.sets,
                .attributeSets,
                from: "attributes, identifiers, tags, subscriptions, options.address",
                rule: .salesforce("V20")
            ),
        ]
    )

    /// The sets in order of their first value, each once.
    var sets: [(name: String, values: [ServerCells.Cell])] {
        let missing = row.address.filter { cell in !row.cells.contains { $0.place == cell.place } }
        var sets: [(name: String, values: [ServerCells.Cell])] = []
        for cell in row.cells + missing {
            guard let place = AttributeSetPlace(cell.name) else { continue }
            let value = ServerCells.Cell(name: place.attribute, value: cell.value)
            if let known = sets.firstIndex(where: { $0.name == place.set }) {
                sets[known].values.append(value)
            } else {
                sets.append((place.set, [value]))
            }
        }
        return sets
    }
}

/// Contacts to delete.
struct DeletionRecord: Sendable {
    let keys: [String]

    static let table = FieldTable<DeletionRecord>(
        "Deletion",
        [
            .required("values", \.keys, .keys, from: "contact", rule: .salesforce("V22")),
            .required(
                "DeleteOperationType",
                { _ in "ContactAndAttributes" },
                .text,
                from: "fixed",
                rule: .salesforce("V22")
            ),
        ]
    )
}

/// An event that may start a journey.
struct JourneyRecord: Sendable {
    let contactKey: String
    let definition: String
    let data: [(String, JSONValue)]

    init?(_ operation: EngagementOperation, _ settings: SalesforceServerSettings) {
        guard case .track(.custom(let name, let attributes)) = operation.action else { return nil }
        contactKey = operation.contactKey
        definition = settings.eventKeys[SalesforceSourceName(rawValue: name)] ?? name.trimmed
        data = attributes.inOrder.compactMap { name, value in
            JourneyEvent.field(of: value).map { (name.rawValue, $0) }
        }
    }

    static let table = FieldTable<JourneyRecord>(
        "Journey event",
        [
            .required("ContactKey", \.contactKey, .text, from: "contact", rule: .salesforce("V23")),
            .required("EventDefinitionKey", \.definition, .text, from: "event.name", rule: .salesforce("V23")),
            .required("Data", \.data, .members, from: "event.attributes", rule: .salesforce("V24")),
        ]
    )
}

extension WireFormat<[(String, JSONValue)]> {
    /// Values by name.
    static let members = WireFormat(
        "object of texts, numbers and booleans",
        schema: ["type": "object"],
        write: { members, writer in
            writer.beginObject()
            for (name, value) in members {
                writer.name(name)
                writer.value(value)
            }
            writer.endObject()
        }
    )
}

extension WireFormat<[JSONValue]> {
    /// Rows as they are.
    static let items = WireFormat("array of flat objects", schema: ["type": "array"]) { .array($0) }
}

extension WireFormat<[String]> {
    /// Contact keys.
    static let keys = WireFormat("array of texts", schema: ["type": "array"]) { .array($0.map(JSONValue.string)) }
}

extension WireFormat<[(name: String, values: [ServerCells.Cell])]> {
    /// Sets with one item each.
    static let attributeSets = WireFormat("array of {name, items}", schema: ["type": "array"]) { sets in
        .array(
            sets.map { set in
                let values = set.values.map { cell -> JSONValue in ["name": .string(cell.name), "value": cell.value] }
                return ["name": .string(set.name), "items": [["values": .array(values)]]]
            }
        )
    }
}

/// Makes requests. All except the token request carry the token.
struct ServerRequests: Sendable {
    let settings: SalesforceServerSettings
    let memory: SalesforceServer.Memory

    private var rest: String { settings.restURL.isEmpty ? memory.restURL ?? "" : settings.restURL }
    private var dataExtension: String { URLText.encode(settings.dataExtension) }

    private func request(_ method: String, _ path: String, _ body: [UInt8] = []) -> WireRequest {
        var headers = [WireHeader("Authorization", memory.authorization, isSecret: true)]
        headers += [WireHeader("Accept", "application/json"), WireHeader("User-Agent", Sender.name)]
        if !body.isEmpty { headers.append(WireHeader("Content-Type", "application/json")) }
        return WireRequest(method, rest + path, headers: headers, body: body)
    }

    /// Returns the request for a token. Its body contains the client's secret.
    func token() -> WireRequest {
        let headers = [
            WireHeader("Content-Type", "application/json"), WireHeader("Accept", "application/json"),
            WireHeader("User-Agent", Sender.name),
        ]
        let body = TokenRequest.table.bytes(TokenRequest(settings: settings))
        return WireRequest(
            "POST",
            settings.authURL + "/v2/token",
            headers: headers,
            body: body,
            hidesBody: true
        )
    }

    func rows(_ rows: [ContactRow]) -> WireRequest {
        var writer = JSONWriter(expecting: 128 + 256 * rows.count)
        writer.beginArray()
        for row in rows { RowRecord.table.write(RowRecord(keyColumn: settings.keyColumn, row: row), to: &writer) }
        writer.endArray()
        return request("POST", "/hub/v1/dataevents/key:\(dataExtension)/rowset", writer.bytes)
    }

    func job(_ rows: [ContactRow]) -> WireRequest {
        let items = rows.map { JobRecord.item($0, keyColumn: settings.keyColumn) }
        let body = JobRecord.table.bytes(JobRecord(items: items), expecting: 128 + 256 * rows.count)
        return request("PUT", "/data/v1/async/dataextensions/key:\(dataExtension)/rows", body)
    }

    func status(of job: String) -> WireRequest { request("GET", "/data/v1/async/\(URLText.encode(job))/status") }

    func results(of job: String, page: Int) -> WireRequest {
        let page = "$page=\(page)&$pageSize=\(ServerPace.resultsPage)"
        return request("GET", "/data/v1/async/\(URLText.encode(job))/results?\(page)")
    }

    func contact(_ row: ContactRow, _ verb: SalesforceServerSettings.Verb) -> WireRequest {
        let method = verb == .create ? "POST" : "PATCH"
        return request(method, "/contacts/v1/contacts", ContactRecord.table.bytes(ContactRecord(row: row)))
    }

    func deletion(of keys: [String]) -> WireRequest {
        let body = DeletionRecord.table.bytes(DeletionRecord(keys: keys))
        return request("POST", "/contacts/v1/contacts/actions/delete?type=keys", body)
    }

    func event(_ record: JourneyRecord) -> WireRequest {
        request("POST", "/interaction/v1/events", JourneyRecord.table.bytes(record))
    }

    func page(_ question: RowsQuestion) -> WireRequest {
        let page = "$page=\(question.page)&$pageSize=\(question.pageSize)"
        var request = request("GET", "/data/v1/customobjectdata/key/\(dataExtension)/rowset?\(page)")
        // Rows of 50 columns: the usual limit of a reply would cut such a page.
        request.replyLimit = 64 << 20
        return request
    }
}
