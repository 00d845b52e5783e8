import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Makes requests: address, headers, body.
struct RequestMaker {
    let adapter: AltcraftDevice
    let authorization: Authorization
    /// The request's id.
    let id: String

    /// Prepares a request of an operation. The `part` names one of several requests; nil is the first.
    init(adapter: AltcraftDevice, authorization: Authorization, operation: OperationID, part: String?) {
        (self.adapter, self.authorization) = (adapter, authorization)
        id = RequestID.text(for: operation, part: part)
    }

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

    /// Returns a GET request without a body.
    func get<Query>(_ path: String, _ query: FieldTable<Query>, _ values: Query) -> WireRequest {
        WireRequest("GET", url(path, query, values), headers: headers("application/json"))
    }

    /// A request with a form.
    func post<Query>(_ path: String, _ query: FieldTable<Query>, _ values: Query, form: Form) -> WireRequest {
        let type = String(joining: "multipart/form-data; boundary=", form.boundary)
        return WireRequest("POST", url(path, query, values), headers: headers(type), body: form.bytes)
    }

    private func headers(_ contentType: String) -> [WireHeader] {
        [
            WireHeader("Authorization", authorization.header, isSecret: true),
            WireHeader("Request-ID", id),
            WireHeader("Content-Type", contentType),
        ]
    }

    private func url<Query>(_ path: String, _ table: FieldTable<Query>, _ values: Query) -> String {
        let address = adapter.address
        guard let own = address.query else { return table.query(values, after: address.base, path) }
        let query = table.query(values)
        return String(joining: address.base, path, "?", own, query.isEmpty ? "" : "&", String(query.dropFirst()))
    }
}

/// The configured address, split into the base of all paths and the query of every request.
struct ServiceAddress: Sendable {
    let base: String
    /// The query without its question mark; nil if there is none.
    let query: String?

    init(_ address: String) {
        let parts = address.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        var base = Substring(parts.first ?? "".utf8[...])
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        self.base = String(base)
        query = parts.count == 2 ? String(Substring(parts[1])) : nil
    }
}
