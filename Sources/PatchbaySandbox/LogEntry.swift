import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// One request as the log shows it.
///
/// Headers and body are made into JSON once, before any lock is taken.
struct LogEntry {
    let vendor: String
    let method: String
    let path: String
    let query: String?
    private let headers: String
    private let body: String

    /// What is known when the request has come in.
    init(vendor: String, request: WireRequest, path: String, query: String?) {
        self.vendor = vendor
        self.method = request.method
        self.path = path
        self.query = query
        var headers = JSONObject()
        for header in request.headers {
            let value = Redaction.shown(header)
            headers[header.name] = .string(headers[header.name]?.string.map { "\($0), \(value)" } ?? value)
        }
        self.headers = JSONValue.object(headers).text
        self.body = LogEntry.json(request.body).text
    }

    /// The line: what came in, and what became of it; `status` is nil if no answer goes out.
    func line(number: Int, at instant: Instant, fault: String?, status: Int?, processed: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("n")
        writer.integer(number)
        for (name, value) in [
            ("at", instant.text), ("vendor", vendor), ("method", method), ("path", path), ("query", query),
        ] {
            writer.name(name)
            writer.value(value.map(JSONValue.string) ?? .null)
        }
        writer.name("headers")
        writer.raw(headers)
        writer.name("body")
        writer.raw(body)
        writer.name("fault")
        writer.value(fault.map(JSONValue.string) ?? .null)
        writer.name("status")
        writer.value(status.map(JSONValue.integer) ?? .null)
        writer.name("processed")
        writer.bool(processed)
        writer.endObject()
        return writer.bytes
    }

    /// A body as a string, or as `{"base64": …}` if it is not UTF-8.
    private static func json(_ body: [UInt8]) -> JSONValue {
        if let text = String(validating: body, as: UTF8.self) { return .string(Redaction.shown(text)) }
        return ["base64": .string(Data(body).base64EncodedString())]
    }
}
