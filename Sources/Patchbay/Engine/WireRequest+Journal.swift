import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension WireRequest {
    /// The request in the form for the journal, without the values of secret headers and without a secret body.
    var journal: [UInt8] {
        let kept = redacted
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("method", method)
        writer.member("url", url)
        writer.name("headers")
        writer.beginArray()
        for header in kept.headers {
            writer.beginArray()
            writer.string(header.name)
            writer.string(header.value)
            writer.bool(header.isSecret)
            writer.endArray()
        }
        writer.endArray()
        if let text = String(validating: kept.body, as: UTF8.self) {
            writer.member("body", text)
        } else {
            writer.member("bytes", kept.body.map(Int.init))
        }
        writer.endObject()
        return writer.bytes
    }

    init(journal bytes: [UInt8]) {
        let json = try? JSONValue(parsing: bytes)
        self.init(
            json?["method"]?.string ?? "",
            json?["url"]?.string ?? "",
            headers: (json?["headers"]?.array ?? []).map { header in
                WireHeader(header[0]?.string ?? "", header[1]?.string ?? "", isSecret: header[2]?.bool ?? false)
            },
            body: json?["body"]?.string.map { Array($0.utf8) }
                ?? (json?["bytes"]?.array ?? []).compactMap { $0.integer.flatMap { UInt8(exactly: $0) } }
        )
    }
}
