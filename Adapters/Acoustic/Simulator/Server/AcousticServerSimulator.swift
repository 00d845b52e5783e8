public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the API host of one account with one database, as a pure value.
///
/// It is as strict as the documents:
///
/// - Names of elements and columns are case-sensitive.
/// - An opt-out and a removal name the address.
/// - A complete job may have dropped rows.
/// - One bad event refuses its list.
/// - A token request within three quarters of a token's lifetime returns the same token.
///
/// Where the documents state nothing, it makes these choices:
///
/// - An empty value clears a column.
/// - An erasure job takes eight seconds.
/// - A refused token is fault 145 for XML and status 401 for REST.
/// - A missing contact is fault 123 for a change and fault 128 for a query.
public struct AcousticServerSimulator: VendorSimulator {
    public static let id: AdapterID = "acoustic-server"

    let settings: AcousticServerSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try AcousticServerSimulatorSettings.table.read(
            settings,
            over: AcousticServerSimulatorSettings(),
            at: ""
        )
    }

    public var initialState: AcousticServerAccount { AcousticServerAccount() }

    public func respond(to request: WireRequest, state: inout AcousticServerAccount, now: Instant) -> WireResponse {
        carryOut(&state, now)
        let parts = URLText.path(of: request.url).split(separator: "/").compactMap { URLText.decode($0) }
        // In a sandbox, the paths may be below a folder.
        let path = parts.firstIndex { ["oauth", "XMLAPI", "rest"].contains($0) }.map { Array(parts[$0...]) } ?? []
        let (name, answer): (String, String)
        let response: WireResponse
        if path == ["XMLAPI"] {
            let call = Call(request)
            let reply = xml(call, request, &state, now)
            (name, answer) = (call?.name ?? "XMLAPI", reply.fault.map { String($0) } ?? "200")
            response = reply.response
        } else {
            response = rest(path, request, &state, now)
            let words = path.enumerated().map { place, word in
                word.allSatisfy(\.isNumber) || place > 3 ? "{id}" : word
            }
            (name, answer) = ("\(request.method) /\(words.joined(separator: "/"))", String(response.status))
        }
        state.counts["\(name) \(answer)", default: 0] += 1
        return response
    }

    /// Carries out due jobs, in order.
    private func carryOut(_ state: inout AcousticServerAccount, _ now: Instant) {
        for place in state.jobs.indices where !state.jobs[place].isDone && state.jobs[place].readyAt <= now {
            state.jobs[place].isDone = true
            for key in state.jobs[place].erases {
                state.forget(key)
                if !state.erased.contains(key) { state.erased.append(key) }
            }
        }
    }

    private func isGood(_ request: WireRequest, _ state: AcousticServerAccount, _ now: Instant) -> Bool {
        state.tokens.contains { request[header: "Authorization"] == "Bearer \($0.text)" && $0.until > now }
    }

    private func isType(_ type: String, _ request: WireRequest) -> Bool {
        request[header: "Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() == type
    }

    // MARK: REST

    private func rest(
        _ path: [String],
        _ request: WireRequest,
        _ state: inout AcousticServerAccount,
        _ now: Instant
    ) -> WireResponse {
        if path == ["oauth", "token"] { return token(request, &state, now) }
        guard isGood(request, state, now) else { return error(401, "The access token is not valid.") }
        return switch (request.method, path.count) {
        case ("POST", 3) where path == ["rest", "events", "submission"]: events(request, &state)
        case ("POST", 4) where path[1] == "databases" && ["gdpr_erasure", "gdpr_access"].contains(path[3]):
            erase(request, database: path[2], onlyReports: path[3] == "gdpr_access", &state, now)
        case ("GET", 3) where path == ["rest", "events", "errors"]: failures(state)
        case ("GET", 4) where path[1] == "gdpr_jobs" && path[3] == "status": look(at: path[2], state)
        case ("GET", 5...), ("PUT", 5...):
            if path[1] == "databases" && path[3] == "consent" {
                consent(request, Array(path[2...]), &state)
            } else if request.method == "GET" && path[1] == "databases" && path[3] == "contactbychannel" {
                contact(ofDevice: Array(path[2...]), state)
            } else {
                error(404, "No such address.")
            }
        default: error(404, "No such address.")
        }
    }

    func error(_ status: Int, _ message: String) -> WireResponse {
        WireResponse(status, json: wrapped(errors: [.string(message)], [:]))
    }

    func wrapped(errors: [JSONValue] = [], _ data: JSONValue) -> JSONValue {
        [
            "meta": [
                "attributes": [:], "generalErrors": .array(errors), "fieldErrors": [:], "links": [], "nextPageUrl": nil,
            ],
            "data": data,
        ]
    }

    private func token(_ request: WireRequest, _ state: inout AcousticServerAccount, _ now: Instant) -> WireResponse {
        guard request.method == "POST", isType("application/x-www-form-urlencoded", request) else {
            return WireResponse(400, json: ["error": "invalid_request"])
        }
        let form = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        let items = Dictionary(form.map { ($0.name, $0.value) }) { $1 }
        func isKnown(_ name: String, _ wanted: String?) -> Bool {
            items[name].map { !$0.isEmpty && (wanted ?? $0) == $0 } ?? false
        }
        guard items["grant_type"] == "refresh_token", items.count == 4 else {
            return WireResponse(400, json: ["error": "unsupported_grant_type"])
        }
        guard isKnown("client_id", settings.clientID.given), isKnown("client_secret", settings.clientSecret?.value)
        else {
            return WireResponse(401, json: ["error": "invalid_client"])
        }
        guard isKnown("refresh_token", settings.refreshToken?.value) else {
            return WireResponse(400, json: ["error": "invalid_grant"])
        }
        let young = state.tokens.last.flatMap { $0.from + .seconds(settings.tokenLife * 3 / 4) > now ? $0 : nil }
        let token =
            young
            ?? .init(text: "token-\(state.tokens.count + 1)", from: now, until: now + .seconds(settings.tokenLife))
        if young == nil { state.tokens.append(token) }
        return WireResponse(
            200,
            json: [
                "access_token": .string(token.text), "token_type": "bearer",
                "expires_in": .integer(Int((token.until - now) / .seconds(1))),
            ]
        )
    }

    private func events(_ request: WireRequest, _ state: inout AcousticServerAccount) -> WireResponse {
        guard isType("application/json", request), let body = request.json?.object, body.names == ["events"],
            let events = body["events"]?.array, !events.isEmpty
        else { return error(400, "The body has no list of events.") }
        var taken: [AcousticServerAccount.Event] = []
        for event in events {
            guard let members = event.object,
                members.names == ["eventTypeCode", "eventTimestamp", "contactId", "attributes"],
                let code = members["eventTypeCode"]?.string, !code.isEmpty, code.allSatisfy(\.isNumber),
                settings.eventCodes.isEmpty || settings.eventCodes.contains(code)
            else { return error(400, "The event type code is not valid.") }
            guard members["eventTimestamp"]?.string.flatMap(Instant.init(text:)) != nil,
                let contact = members["contactId"]?.string.flatMap({ Int($0) }),
                state.contacts.values.contains(where: { $0.id == contact })
            else { return error(400, "The event has no time or no contact.") }
            let attributes = members["attributes"]?.array ?? []
            let isPlain = attributes.allSatisfy { attribute in
                attribute.object?.names == ["name", "value"] && attribute["name"]?.string?.isEmpty == false
                    && attribute["value"]?.string.map { $0 != settings.poison.given } ?? false
            }
            guard isPlain, !attributes.isEmpty else { return error(400, "The event's attributes are not valid.") }
            let name = attributes.first { $0["name"] == "Event Name" }?["value"]?.string ?? ""
            taken.append(.init(contact: contact, code: code, name: name, body: event))
        }
        state.events += taken
        return WireResponse(201, json: wrapped([:]))
    }

    /// Reads or writes a consent. A push consent needs an existing contact and a device. The first consent to text
    /// messages can't be an opt-out.
    private func consent(
        _ request: WireRequest,
        _ path: [String],
        _ state: inout AcousticServerAccount
    ) -> WireResponse {
        let isPush = path[2].hasPrefix("PUSH-") && path.count == 5 && path[4].split(separator: "|").count == 2
        let isText = path[2].hasPrefix("SMS-") && path.count == 4 && path[3].allSatisfy(\.isNumber)
        guard settings.isDatabase(path[0]), isText || isPush && state.contacts[path[3]] != nil else {
            return error(404, "No such consent.")
        }
        let place = "\(path[2])/\(path.last ?? "")"
        guard request.method == "PUT" else {
            guard let consent = state.consents[place] else { return error(404, "No such consent.") }
            let said: [(String, String?)] = [
                ("status", consent.status), ("consentDate", consent.date), ("consentSource", consent.source),
            ]
            return WireResponse(
                200,
                json: wrapped(.object(JSONObject(said.compactMap { name, text in text.map { (name, .string($0)) } })))
            )
        }
        guard isType("application/json", request), let body = request.json?.object,
            Set(body.names).isSubset(of: ["status", "consentDate", "consentSource"]),
            let status = body["status"]?.string, ["OPTED-IN", "OPTED-OUT"].contains(status),
            body["consentDate"].map({ $0.string.flatMap(Timestamp.init(text:)) != nil }) ?? true
        else { return error(400, "The consent is not valid.") }
        if isText, status == "OPTED-OUT", state.consents[place] == nil {
            return error(400, "A text-message consent is not added as opted out.")
        }
        if isPush { state.devices[place] = path[3] }
        state.consents[place] = .init(
            status: status,
            date: body["consentDate"]?.string,
            source: body["consentSource"]?.string
        )
        return WireResponse(200, json: wrapped([:]))
    }

    private func erase(
        _ request: WireRequest,
        database: String,
        onlyReports: Bool,
        _ state: inout AcousticServerAccount,
        _ now: Instant
    ) -> WireResponse {
        guard settings.isDatabase(database) else { return error(404, "No such database.") }
        guard isType("text/csv", request), let text = String(validating: request.body, as: UTF8.self),
            let lines = Self.lines(text), !lines.isEmpty,
            lines.allSatisfy({ $0.count == 2 && $0[0] == settings.keyColumn && !$0[1].isEmpty })
        else { return error(400, "The lines are not valid.") }
        let keys = lines.map { $0[1] }
        var wanted = AcousticServerAccount.Job(id: 0, readyAt: now)
        if onlyReports { wanted.reports = keys } else { wanted.erases = keys }
        let job = add(wanted, &state, now)
        let location = "https://elsewhere.example/rest/gdpr_jobs/\(job)/status"
        return WireResponse(200, json: wrapped(["id": .integer(job), "location": .string(location)]))
    }

    /// Returns the fields of lines; nil if a quotation mark is not closed.
    private static func lines(_ text: String) -> [[String]]? {
        var (lines, line, field, isQuoted): ([[String]], [String], String, Bool) = ([], [], "", false)
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"" where isQuoted && scalars.first == "\"":
                field.append("\"")
                scalars.removeFirst()
            case "\"" where isQuoted || field.isEmpty: isQuoted.toggle()
            case "," where !isQuoted: (line, field) = (line + [field], "")
            case "\n" where !isQuoted: (lines, line, field) = (lines + [line + [field]], [], "")
            default: field.unicodeScalars.append(scalar)
            }
        }
        return isQuoted || !line.isEmpty || !field.isEmpty ? nil : lines
    }

    private func add(_ job: AcousticServerAccount.Job, _ state: inout AcousticServerAccount, _ now: Instant) -> Int {
        var job = job
        (job.id, job.readyAt) = (4471 + state.jobs.count, now + .milliseconds(settings.jobTime))
        state.jobs.append(job)
        return job.id
    }

    private func look(at id: String, _ state: AcousticServerAccount) -> WireResponse {
        guard let job = state.jobs.first(where: { String($0.id) == id && $0.file.isEmpty }) else {
            return error(404, "No such job.")
        }
        if job.isDone, let keys = job.reports { return WireResponse(200, json: wrapped(storedData(of: keys, state))) }
        let data: JSONValue = job.isDone ? ["id": .integer(job.id)] : ["id": .integer(job.id), "status": "SUBMITTED"]
        return WireResponse(200, json: wrapped(data))
    }

    // MARK: XML

    /// One call of the XML interface.
    private struct Call {
        let element: XMLTree
        var name: String { element.name }

        init?(_ request: WireRequest) {
            guard let envelope = XMLTree(parsing: request.body), envelope.name == "Envelope",
                envelope.children.count == 1, let body = envelope["Body"], body.children.count == 1
            else { return nil }
            element = body.children[0]
        }

        func text(_ name: String) -> String? { element[name]?.text }

        /// Returns columns by name; nil if one has no name or no value.
        func columns(of parent: XMLTree? = nil, _ name: String = "COLUMN") -> [String: String]? {
            var columns: [String: String] = [:]
            for column in (parent ?? element).all(name) {
                guard let name = column["NAME"]?.text, !name.isEmpty, let value = column["VALUE"]?.text else {
                    return nil
                }
                columns[name] = value
            }
            return columns
        }
    }

    /// A reply to a call.
    private struct Reply {
        var fault: Int?
        var response: WireResponse

        private static func envelope(_ children: [XMLTree]) -> WireResponse {
            WireResponse(
                200,
                headers: [WireHeader("Content-Type", "text/xml;charset=utf-8")],
                body: XMLTree("Envelope", "", [XMLTree("Body", "", children)]).bytes
            )
        }

        static func yes(_ elements: [XMLTree]) -> Reply {
            Reply(response: envelope([XMLTree("RESULT", "", [XMLTree("SUCCESS", "TRUE")] + elements)]))
        }

        static func fault(_ number: Int) -> Reply {
            let error = XMLTree(
                "error",
                "",
                [XMLTree("errorid", String(number)), XMLTree("module"), XMLTree("class", "SP.API"), XMLTree("method")]
            )
            let fault = XMLTree(
                "Fault",
                "",
                [
                    XMLTree("Request"), XMLTree("FaultCode"), XMLTree("FaultString", "The call was refused."),
                    XMLTree("detail", "", [error]),
                ]
            )
            return Reply(
                fault: number,
                response: envelope([XMLTree("RESULT", "", [XMLTree("SUCCESS", "false")]), fault])
            )
        }
    }

    private func xml(
        _ call: Call?,
        _ request: WireRequest,
        _ state: inout AcousticServerAccount,
        _ now: Instant
    ) -> Reply {
        guard isGood(request, state, now) else { return .fault(145) }
        guard request.method == "POST", isType("text/xml", request), let call else { return .fault(51) }
        switch call.name {
        case "ImportList": return start(call, &state, now)
        case "GetJobStatus": return status(call, state)
        case "AddContactToContactList": return join(call, &state)
        case "CreateContactList": return make(call, &state)
        case "AddRecipient", "UpdateRecipient", "SelectRecipientData", "OptOutRecipient", "RemoveRecipient": break
        case "ExportList": return export(call, &state, now)
        case "GetListMetaData": break
        default: return .fault(51)
        }
        guard let list = call.text("LIST_ID") else { return .fault(52) }
        guard list.allSatisfy(\.isNumber) else { return .fault(310) }
        guard settings.isDatabase(list) else { return .fault(106) }
        switch call.name {
        case "AddRecipient": return write(call, isNew: true, &state)
        case "UpdateRecipient": return write(call, isNew: false, &state)
        case "GetListMetaData": return metaData()
        default: break
        }
        guard let columns = call.columns() else { return .fault(316) }
        guard let key = find(columns, email: call.text("EMAIL"), state) else { return .fault(128) }
        switch call.name {
        case "SelectRecipientData": return select(key, state)
        case "OptOutRecipient":
            guard call.text("EMAIL") != nil else { return .fault(52) }
            if state.contacts[key]?.isOut == true { return .fault(129) }
            state.contacts[key]?.isOut = true
        default:
            if call.text("EMAIL") == nil, state.contacts[key]?.columns[settings.emailColumn] != nil {
                return .fault(52)
            }
            state.forget(key)
        }
        return .yes([])
    }

    /// Returns the key of the contact that the columns identify; nil if they identify none or several.
    private func find(_ columns: [String: String], email: String?, _ state: AcousticServerAccount) -> String? {
        let found = state.contacts.filter { key, contact in
            let isKey = columns[settings.keyColumn].map { $0 == key } ?? true
            let address = settings.keyColumn == settings.emailColumn ? key : contact.columns[settings.emailColumn]
            return isKey && (email.map { $0 == address } ?? true)
        }
        let isNamed = columns[settings.keyColumn] != nil || email != nil
        return isNamed && found.count == 1 ? found.first?.key : nil
    }

    private func write(_ call: Call, isNew: Bool, _ state: inout AcousticServerAccount) -> Reply {
        guard let columns = call.columns() else { return .fault(316) }
        guard let sync = call.element["SYNC_FIELDS"].map({ call.columns(of: $0, "SYNC_FIELD") }) ?? [:] else {
            return .fault(329)
        }
        if let flag = call.text("ALLOW_HTML"), !["true", "false"].contains(flag.lowercased()) { return .fault(117) }
        let finder = settings.isFlexible ? sync[settings.keyColumn] : columns[settings.keyColumn]
        guard let key = finder, !key.isEmpty else { return .fault(1006) }
        for (name, value) in columns where name != settings.keyColumn {
            guard settings.columns.isEmpty || settings.columns.contains(name) else { return .fault(314) }
            if value == settings.poison.given || value.utf16.count > 4000 { return .fault(1017) }
        }
        let isThere = state.contacts[key] != nil
        if isNew {
            guard let from = call.text("CREATED_FROM"), ["0", "1", "2", "3"].contains(from) else { return .fault(116) }
            guard let update = call.text("UPDATE_IF_FOUND"), ["true", "false"].contains(update.lowercased()) else {
                return .fault(119)
            }
            if isThere, update.lowercased() == "false" { return .fault(122) }
            if !isThere {
                state.made += 1
                state.contacts[key] = .init(id: 881_200_000 + state.made, createdFrom: from)
            }
        } else if !isThere {
            return .fault(123)
        }
        let isMarkup = call.text("ALLOW_HTML")?.lowercased() == "true"
        for (name, value) in columns where name != settings.keyColumn {
            state.contacts[key]?.columns[name] = value.isEmpty ? nil : isMarkup ? value : Self.entities(value)
        }
        return .yes([XMLTree("RecipientId", String(state.contacts[key]?.id ?? 0)), XMLTree("ORGANIZATION_ID", "org-7")])
    }

    private static func entities(_ text: String) -> String {
        text.contains("<") ? text.replacing("<", with: "&lt;").replacing(">", with: "&gt;") : text
    }

    /// Adds a contact to a list, by its number or by its key. A list contains a contact once.
    private func join(_ call: Call, _ state: inout AcousticServerAccount) -> Reply {
        guard let list = call.text("CONTACT_LIST_ID") else { return .fault(52) }
        guard !list.isEmpty, list.allSatisfy(\.isNumber) else { return .fault(310) }
        guard settings.lists.isEmpty || settings.lists.contains(list) else { return .fault(106) }
        guard let columns = call.columns() else { return .fault(316) }
        let numbered = call.text("CONTACT_ID").map { id in state.contacts.first { String($0.value.id) == id }?.key }
        guard let key = numbered ?? find(columns, email: nil, state) else { return .fault(128) }
        let members = Set(state.lists[list] ?? []).union([key])
        state.lists[list] = members.sorted()
        return .yes([])
    }

    /// Returns the columns. Every column except the address is a text.
    private func metaData() -> Reply {
        let names = Set(settings.columns + [settings.keyColumn, settings.emailColumn]).sorted()
        let columns = names.map { name in
            XMLTree("COLUMN", "", [XMLTree("NAME", name), XMLTree("TYPE", name == settings.emailColumn ? "7" : "0")])
        }
        let key = XMLTree("COLUMN", "", [XMLTree("NAME", settings.keyColumn)])
        return .yes([
            XMLTree("ID", settings.databaseID), XMLTree("NAME", "Customers"), XMLTree("COLUMNS", "", columns),
            XMLTree("KEY_COLUMNS", "", settings.isFlexible ? [] : [key]),
        ])
    }

    private func make(_ call: Call, _ state: inout AcousticServerAccount) -> Reply {
        guard let database = call.text("DATABASE_ID"), let name = call.text("CONTACT_LIST_NAME"), !name.isEmpty,
            let visibility = call.text("VISIBILITY")
        else { return .fault(52) }
        guard settings.isDatabase(database) else { return .fault(106) }
        guard ["0", "1"].contains(visibility) else { return .fault(100) }
        state.madeLists.append(name)
        return .yes([XMLTree("CONTACT_LIST_ID", String(880_100 + state.madeLists.count))])
    }

    private func select(_ key: String, _ state: AcousticServerAccount) -> Reply {
        guard let contact = state.contacts[key] else { return .fault(128) }
        let address = settings.keyColumn == settings.emailColumn ? key : contact.columns[settings.emailColumn] ?? ""
        let all = contact.columns.merging([settings.keyColumn: key]) { $1 }
        let columns = all.inOrder.map { name, value in
            XMLTree("COLUMN", "", [XMLTree("NAME", name), XMLTree("VALUE", value)])
        }
        return .yes([
            XMLTree("EMAIL", address), XMLTree("Email", address), XMLTree("RecipientId", String(contact.id)),
            XMLTree("EmailType", "0"), XMLTree("LastModified", "3/9/31 7:05 AM"),
            XMLTree("CreatedFrom", contact.createdFrom), XMLTree("OptedIn", "3/9/31 7:05 AM"),
            XMLTree("OptedOut", contact.isOut ? "3/9/31 7:05 AM" : ""), XMLTree("COLUMNS", "", columns),
            XMLTree(
                "CONTACT_LISTS",
                "",
                state.lists.filter { $0.value.contains(key) }.keys.sorted().map { XMLTree("CONTACT_LIST_ID", $0) }
            ),
        ])
    }

    private func start(_ call: Call, _ state: inout AcousticServerAccount, _ now: Instant) -> Reply {
        guard let source = call.text("SOURCE_FILE"), let map = call.text("MAP_FILE"), !map.isEmpty, !source.isEmpty
        else {
            return .fault(52)
        }
        guard settings.files.isEmpty || settings.files.contains(source) else { return .fault(132) }
        let job = add(AcousticServerAccount.Job(id: 0, file: source, readyAt: now), &state, now)
        return .yes([XMLTree("JOB_ID", String(job)), XMLTree("ORGANIZATION_ID", "org-7")])
    }

    private func export(_ call: Call, _ state: inout AcousticServerAccount, _ now: Instant) -> Reply {
        guard let list = call.text("LIST_ID"), settings.isDatabase(list) else { return .fault(106) }
        let types = ["ALL", "OPT_IN", "OPT_OUT", "UNDELIVERABLE"]
        guard call.text("EXPORT_TYPE").map(types.contains) ?? false,
            let format = call.text("EXPORT_FORMAT"), ["CSV", "TAB", "PIPE"].contains(format)
        else { return .fault(131) }
        guard call.text("FILE_ENCODING").map(["utf-8", "iso-8859-1"].contains) ?? true else { return .fault(141) }
        let path = "/download/export-\(4471 + state.jobs.count).\(format)"
        let job = add(AcousticServerAccount.Job(id: 0, file: path, readyAt: now), &state, now)
        return .yes([XMLTree("JOB_ID", String(job)), XMLTree("FILE_PATH", path)])
    }

    /// Reports a job's state. A file whose name begins with `dropped` loses a row; one that begins with `broken` fails.
    private func status(_ call: Call, _ state: AcousticServerAccount) -> Reply {
        guard let job = state.jobs.first(where: { String($0.id) == call.text("JOB_ID") && !$0.file.isEmpty }) else {
            return .fault(134)
        }
        let isBroken = job.file.hasPrefix("broken")
        let state = job.isDone ? (isBroken ? "ERROR" : "COMPLETE") : "RUNNING"
        let dropped = job.file.hasPrefix("dropped") ? 1 : 0
        let counts = [("TOTAL_ROWS", 10), ("SQL_ADDED", 6 - dropped), ("SQL_UPDATED", 4), ("BAD_RECORDS", dropped)]
        let parameters = counts.map { name, count in
            XMLTree("PARAMETER", "", [XMLTree("NAME", name), XMLTree("VALUE", String(count))])
        }
        return .yes([
            XMLTree("JOB_ID", String(job.id)), XMLTree("JOB_STATUS", state), XMLTree("JOB_DESCRIPTION", "Import"),
            XMLTree("PARAMETERS", "", job.isDone && !isBroken ? parameters : []),
        ])
    }
}

extension String {
    /// The text; nil if it is empty.
    fileprivate var given: String? { isEmpty ? nil : self }
}

/// The settings of a simulated account.
struct AcousticServerSimulatorSettings: Sendable {
    var clientID = ""
    var clientSecret: Secret?
    var refreshToken: Secret?
    var databaseID = ""
    var isFlexible = true
    var keyColumn = "CustomerNo"
    var emailColumn = "Email"
    var columns: [String] = []
    var eventCodes: [String] = []
    var files: [String] = []
    var lists: [String] = []
    var lateRefusals: [String] = []
    var poison = ""
    var tokenLife = 14_400
    var jobTime = 8000

    func isDatabase(_ id: String) -> Bool { databaseID.isEmpty || databaseID == id }

    static let table = SettingsTable<AcousticServerSimulatorSettings>([
        .text("clientId", \.clientID, "The only client of the account; any if not given."),
        .secret("clientSecret", \.clientSecret, isRequired: false, "Its secret; any if not given."),
        .secret("refreshToken", \.refreshToken, isRequired: false, "The API user's refresh token; any if not given."),
        .text("databaseId", \.databaseID, "The only database; any if not given."),
        .flag(
            "flexible",
            \.isFlexible,
            default: true,
            "Whether contacts are found by sync fields, not by a unique key."
        ),
        .text("keyColumn", \.keyColumn, default: "CustomerNo", "The sync field, or the unique key."),
        .text("emailColumn", \.emailColumn, default: "Email", "The column of addresses."),
        .list("columns", \.columns, default: "[]", "Columns of the database; any if not given."),
        .list("eventCodes", \.eventCodes, default: "[]", "Event type codes; any if not given."),
        .list("files", \.files, default: "[]", "Files in the upload directory; any if not given."),
        .list("lists", \.lists, default: "[]", "Ids of contact lists; any if not given."),
        .list("lateRefusals", \.lateRefusals, default: "[]", "Names of events that are taken and fail later."),
        .text("poison", \.poison, "A text that no column and no event takes."),
        .integer("tokenLife", \.tokenLife, in: 1...86_400, default: 14_400, "Seconds for which a token is good."),
        .integer("jobTime", \.jobTime, in: 0...86_400_000, default: 8000, "Milliseconds that a job takes."),
    ])
}
