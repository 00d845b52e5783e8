import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The combined changes of several operations to one contact.
struct RecipientRow: Sendable {
    /// The contact's key.
    let key: String
    private var folding = Folding<ServerCells.Cell>()

    init(key: String) { self.key = key }

    init(_ operations: some Sequence<Pending<AcousticServer>>, key: String, _ settings: AcousticServerSettings) {
        self.key = key
        for one in operations { folding.add(one.id, ServerCells(one.operation, settings).cells) }
    }

    /// The values, each column once.
    var cells: [ServerCells.Cell] { folding.values }

    /// Returns the operation that replaced the last value of another one; nil if at least one of its values is sent.
    func replacement(of id: OperationID, _ cells: [ServerCells.Cell]) -> OperationID? {
        folding.replacement(of: id, cells)
    }
}

/// A request for a token, as a form.
struct AcousticTokenRequest: Sendable {
    let settings: AcousticServerSettings

    static let table = FieldTable<AcousticTokenRequest>(
        "Token",
        [
            .required("grant_type", { _ in "refresh_token" }, .text, from: "fixed", rule: .acoustic("S1")),
            .required("client_id", \.settings.clientID, .text, from: "settings.clientId", rule: .acoustic("S1")),
            .required(
                "client_secret",
                { $0.settings.clientSecret?.value ?? "" },
                .text,
                from: "settings.clientSecret",
                rule: .acoustic("S1")
            ),
            .required(
                "refresh_token",
                { $0.settings.refreshToken?.value ?? "" },
                .text,
                from: "settings.refreshToken",
                rule: .acoustic("S1")
            ),
        ]
    )
}

/// A contact in a call of the XML interface: its key and the values to write.
struct RecipientRecord: Sendable {
    let settings: AcousticServerSettings
    let key: String
    /// The e-mail address, if the call requires it and it is not the key.
    var email: String?
    var cells: [ServerCells.Cell] = []

    /// The fields that identify a contact in a flexible database.
    private var syncFields: [ServerCells.Cell]? { settings.database == .flexible ? [keyCell] : nil }
    private var keyCell: ServerCells.Cell { ServerCells.Cell(column: settings.keyColumn, value: key) }
    private var columns: [ServerCells.Cell] { [keyCell] + cells }
    private var address: String? { settings.isKeyedByEmail ? key : email }
    /// The key as a column. An e-mail key has an element of its own.
    private var keyColumns: [ServerCells.Cell]? { settings.isKeyedByEmail ? nil : [keyCell] }
    /// The address that identifies a contact in a keyed database whose key is the address.
    private var oldEmail: String? { settings.isKeyedByEmail && settings.database == .keyed ? key : nil }
    private var allowsHTML: String? { settings.allowsHTML ? "true" : nil }

    private static let list = FieldRow<RecipientRecord>.required(
        "LIST_ID",
        \.settings.databaseID,
        .text,
        from: "settings.databaseId",
        rule: .acoustic("S6")
    )

    private static let keys = FieldRow<RecipientRecord>.optional(
        "COLUMN",
        \.keyColumns,
        .cells,
        from: "contact",
        rule: .acoustic("S9")
    )

    private static func address(_ rule: String) -> FieldRow<RecipientRecord> {
        .optional("EMAIL", \.address, .text, from: "contact, or what the database says", rule: .acoustic(rule))
    }

    private static let written: [FieldRow<RecipientRecord>] = [
        .optional("ALLOW_HTML", \.allowsHTML, .text, from: "settings.allowHtml", rule: .acoustic("S21")),
        .optional("SYNC_FIELDS", \.syncFields, .syncFields, from: "contact", rule: .acoustic("S9")),
        .required(
            "COLUMN",
            \.columns,
            .cells,
            from: "contact, attributes, identifiers, tags, subscriptions",
            rule: .acoustic("S14")
        ),
    ]

    static let adding = FieldTable<RecipientRecord>(
        "AddRecipient",
        [
            list,
            .required(
                "CREATED_FROM",
                \.settings.createdFrom.code,
                .text,
                from: "settings.createdFrom",
                rule: .acoustic("S6")
            ),
            .required("UPDATE_IF_FOUND", { _ in "true" }, .text, from: "fixed", rule: .acoustic("S6")),
        ] + written
    )

    static let updating = FieldTable<RecipientRecord>(
        "UpdateRecipient",
        [list, .optional("OLD_EMAIL", \.oldEmail, .text, from: "contact", rule: .acoustic("S7"))] + written
    )

    static let selecting = FieldTable<RecipientRecord>(
        "SelectRecipientData",
        [
            list, address("S46"),
            .required("RETURN_CONTACT_LISTS", { _ in "true" }, .text, from: "fixed", rule: .acoustic("S46")), keys,
        ]
    )

    static let optingOut = FieldTable<RecipientRecord>("OptOutRecipient", [list, address("S30"), keys])

    static let removing = FieldTable<RecipientRecord>("RemoveRecipient", [list, address("S32"), keys])
}

/// A job that imports a file from the account's upload directory.
struct ImportRecord: Sendable {
    let mapFile: String
    let sourceFile: String
    let encoding: String?

    static let table = FieldTable<ImportRecord>(
        "ImportList",
        [
            .required("MAP_FILE", \.mapFile, .text, from: "request.mapFile", rule: .acoustic("S47")),
            .required("SOURCE_FILE", \.sourceFile, .text, from: "request.sourceFile", rule: .acoustic("S47")),
            .optional("FILE_ENCODING", \.encoding, .text, from: "request.encoding", rule: .acoustic("S47")),
        ]
    )
}

/// A query for a job's state.
struct JobRecord: Sendable {
    let job: String

    static let table = FieldTable<JobRecord>(
        "GetJobStatus",
        [.required("JOB_ID", \.job, .text, from: "the job's own answer", rule: .acoustic("S47"))]
    )
}

/// An event in a contact's behaviour.
struct BehaviorRecord: Sendable {
    let code: String
    let timestamp: Instant
    let contactID: String
    let attributes: [ServerCells.Cell]

    static let table = FieldTable<BehaviorRecord>(
        "Behavior",
        [
            .required("eventTypeCode", \.code, .text, from: "event.name, event.kind", rule: .acoustic("S37")),
            .required("eventTimestamp", \.timestamp, .instant, from: "capturedAt", rule: .acoustic("S36")),
            .required(
                "contactId",
                \.contactID,
                .text,
                from: "options.contactId, or what the database says",
                rule: .acoustic("S41")
            ),
            .required("attributes", \.attributes, .members, from: "event.attributes", rule: .acoustic("S39")),
        ]
    )
}

extension WireFormat<[ServerCells.Cell]> {
    /// Elements with NAME and VALUE, one per column.
    static let cells = WireFormat("elements with NAME and VALUE", schema: ["type": "array"]) { .array($0.map(\.xml)) }
    /// The same as SYNC_FIELD elements inside an enclosing element.
    static let syncFields = WireFormat("SYNC_FIELD elements with NAME and VALUE", schema: ["type": "object"]) {
        ["SYNC_FIELD": .array($0.map(\.xml))]
    }
    /// Members of an event.
    static let members = WireFormat("array of {name, value}, texts", schema: ["type": "array"]) { cells in
        .array(cells.map { ["name": .string($0.column), "value": .string($0.value)] })
    }
}

extension ServerCells.Cell {
    fileprivate var xml: JSONValue { ["NAME": .string(column), "VALUE": .string(value)] }
}

/// Makes requests. All except the token request carry the token.
struct ServerRequests: Sendable {
    let settings: AcousticServerSettings
    let memory: AcousticServer.Memory

    private func request(_ method: String, _ path: String, _ type: String? = nil, _ body: [UInt8] = []) -> WireRequest {
        var headers = [WireHeader("Authorization", memory.authorization, isSecret: true)]
        headers += [WireHeader("User-Agent", Sender.name)]
        if let type { headers.append(WireHeader("Content-Type", type)) }
        return WireRequest(method, settings.baseURL + path, headers: headers, body: body)
    }

    /// Returns the request for a token. Its body contains the client's secret.
    func token() -> WireRequest {
        let form = AcousticTokenRequest.table.query(AcousticTokenRequest(settings: settings)).dropFirst()
        return WireRequest(
            "POST",
            settings.baseURL + "/oauth/token",
            headers: [
                WireHeader("Content-Type", "application/x-www-form-urlencoded"),
                WireHeader("Accept", "application/json"),
                WireHeader("User-Agent", Sender.name),
            ],
            body: Array(form.utf8),
            hidesBody: true
        )
    }

    /// Returns a call of the XML interface, which has one endpoint.
    private func call(_ element: XMLTree) -> WireRequest {
        let envelope = XMLTree("Envelope", "", [XMLTree("Body", "", [element])])
        return request("POST", "/XMLAPI", "text/xml; charset=utf-8", envelope.bytes)
    }

    func recipient(_ row: RecipientRow, _ verb: AcousticServer.Step.Verb) -> WireRequest {
        let record = RecipientRecord(settings: settings, key: row.key, cells: row.cells)
        return call(
            verb == .add
                ? RecipientRecord.adding.xml("AddRecipient", record)
                : RecipientRecord.updating.xml("UpdateRecipient", record)
        )
    }

    func selection(of key: String) -> WireRequest {
        call(RecipientRecord.selecting.xml("SelectRecipientData", RecipientRecord(settings: settings, key: key)))
    }

    func optOut(of key: String, _ email: String?) -> WireRequest {
        let record = RecipientRecord(settings: settings, key: key, email: email)
        return call(RecipientRecord.optingOut.xml("OptOutRecipient", record))
    }

    func removal(of key: String, _ email: String?) -> WireRequest {
        let record = RecipientRecord(settings: settings, key: key, email: email)
        return call(RecipientRecord.removing.xml("RemoveRecipient", record))
    }

    func start(_ record: ImportRecord) -> WireRequest { call(ImportRecord.table.xml("ImportList", record)) }

    func status(ofJob job: String) -> WireRequest { call(JobRecord.table.xml("GetJobStatus", JobRecord(job: job))) }

    func member(_ record: ListMemberRecord) -> WireRequest {
        call(ListMemberRecord.table.xml("AddContactToContactList", record))
    }

    func start(_ export: ExportRecord) -> WireRequest {
        call(ExportRecord.table.xml("ExportList", (settings, export)))
    }

    func metaData() -> WireRequest {
        call(MetaDataRecord.table.xml("GetListMetaData", MetaDataRecord(database: settings.databaseID)))
    }

    func make(_ list: NewList) -> WireRequest {
        call(NewListRecord.table.xml("CreateContactList", NewListRecord(database: settings.databaseID, list: list)))
    }

    func look(at path: String) -> WireRequest { request("GET", path) }

    func consent(_ record: ConsentRecord, at path: String) -> WireRequest {
        var writer = JSONWriter(expecting: 160)
        ConsentRecord.table.write(record, to: &writer)
        return request("PUT", path, "application/json", writer.bytes)
    }

    func events(_ records: [BehaviorRecord]) -> WireRequest {
        var writer = JSONWriter(expecting: 64 + 320 * records.count)
        writer.beginObject()
        writer.name("events")
        writer.beginArray()
        for record in records { BehaviorRecord.table.write(record, to: &writer) }
        writer.endArray()
        writer.endObject()
        return request("POST", "/rest/events/submission", "application/json", writer.bytes)
    }

    /// Lines `columnName,value` without a header (S33).
    func erasure(of keys: [String]) -> WireRequest { job("gdpr_erasure", for: keys) }

    /// The same lines, for a job that erases nothing.
    func access(to key: String) -> WireRequest { job("gdpr_access", for: [key]) }

    private func job(_ name: String, for keys: [String]) -> WireRequest {
        let lines = keys.map { "\(Self.field(settings.keyColumn)),\(Self.field($0))\n" }
        let path = "/rest/databases/\(URLText.encode(settings.databaseID))/\(name)"
        return request("POST", path, "text/csv", Array(lines.joined().utf8))
    }

    /// Returns a field of a line, quoted if it contains a delimiter or a line break (RFC 4180).
    private static func field(_ text: String) -> String {
        let isPlain = !text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }

    /// Returns the query for an erasure job. Its address is composed from the job's number, because a link in a reply
    /// could name another host, which would get the token.
    func status(ofErasure job: String) -> WireRequest {
        request("GET", "/rest/gdpr_jobs/\(URLText.encode(job))/status")
    }
}
