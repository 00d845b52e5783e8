import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Makes requests: address, headers, body.
struct RequestMaker {
    let settings: AltcraftSettings
    let authorization: Authorization
    let operation: OperationID
    /// Which of an operation's several requests; nil for the first.
    let part: String?

    /// A request with a JSON body.
    func post<Query, Record>(
        _ path: String,
        _ query: FieldTable<Query>,
        _ values: Query,
        _ table: FieldTable<Record>,
        _ record: Record
    )
        -> WireRequest
    {
        WireRequest(
            "POST",
            url(path, query, values),
            headers: headers("application/json"),
            body: table.bytes(record)
        )
    }

    /// A question without a body.
    func get<Query>(_ path: String, _ query: FieldTable<Query>, _ values: Query) -> WireRequest {
        WireRequest("GET", url(path, query, values), headers: headers("application/json"))
    }

    /// A request with a form.
    func post<Query>(_ path: String, _ query: FieldTable<Query>, _ values: Query, form: Form) -> WireRequest {
        let type = "multipart/form-data; boundary=\(form.boundary)"
        return WireRequest("POST", url(path, query, values), headers: headers(type), body: form.bytes)
    }

    private func headers(_ contentType: String) -> [WireHeader] {
        for rule in ["H1", "H2", "H3"] { RuleID.altcraft(rule).fire() }
        return [
            WireHeader("Authorization", authorization.header, isSecret: true),
            WireHeader("Request-ID", RequestID.text(for: operation, part: part)),
            WireHeader("Content-Type", contentType),
        ]
    }

    private func url<Query>(_ path: String, _ table: FieldTable<Query>, _ values: Query) -> String {
        for rule in ["Q1", "Q9"] { RuleID.altcraft(rule).fire() }
        let parts = settings.apiURL.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        var base = Substring(parts.first ?? "".utf8[...])
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        let query = table.query(values)
        guard parts.count == 2 else { return base + path + query }
        return base + path + "?" + Substring(parts[1]) + (query.isEmpty ? "" : "&" + query.dropFirst())
    }
}
