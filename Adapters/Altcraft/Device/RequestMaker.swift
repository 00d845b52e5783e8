import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A query or a body of this API, with the table of its fields.
protocol WireRecord: Sendable {
    static var table: FieldTable<Self> { get }
}

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

    /// Returns a POST request with a JSON body.
    func post<Record: WireRecord>(_ path: String, _ query: some WireRecord, _ record: Record) -> WireRequest {
        request("POST", path, query, "application/json", Record.table.bytes(record))
    }

    /// Returns a POST request with a form.
    func post(_ path: String, _ query: some WireRecord, form: Form) -> WireRequest {
        request("POST", path, query, String(joining: "multipart/form-data; boundary=", form.boundary), form.bytes)
    }

    /// Returns a GET request without a body.
    func get(_ path: String, _ query: some WireRecord) -> WireRequest {
        request("GET", path, query, "application/json", [])
    }

    private func request(
        _ method: String,
        _ path: String,
        _ query: some WireRecord,
        _ contentType: String,
        _ body: [UInt8]
    ) -> WireRequest {
        let headers = [
            WireHeader("Authorization", authorization.header, isSecret: true),
            WireHeader("Request-ID", id),
            WireHeader("Content-Type", contentType),
        ]
        return WireRequest(method, url(path, query), headers: headers, body: body)
    }

    private func url<Query: WireRecord>(_ path: String, _ values: Query) -> String {
        let address = adapter.address
        guard let own = address.query else { return Query.table.query(values, after: address.base, path) }
        let query = Query.table.query(values)
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
