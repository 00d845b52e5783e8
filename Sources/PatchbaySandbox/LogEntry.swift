import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A request as it appears in the log.
///
/// Headers and body are converted to JSON once, before any lock is taken.
struct LogEntry {
    let vendor: String
    let method: String
    let path: String
    let query: String?
    private let headers: String
    private let body: String

    /// Creates an entry from a received request.
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

    /// Returns the log line with the request and its result. `status` is nil if no response is sent.
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

    /// Returns a body as a string, or as `{"base64": …}` if it is not UTF-8.
    private static func json(_ body: [UInt8]) -> JSONValue {
        if let text = String(validating: body, as: UTF8.self) { return .string(Redaction.shown(text)) }
        return ["base64": .string(Data(body).base64EncodedString())]
    }
}
