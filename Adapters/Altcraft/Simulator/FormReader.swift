import PatchbayAdapterKit

/// Reads a `multipart/form-data` body byte by byte.
enum FormReader {
    /// The parts, in order: name, content type, text.
    static func read(_ request: WireRequest) throws(Refusal) -> [(name: String, type: String, text: String)] {
        let type = request[header: "Content-Type"] ?? ""
        guard type.hasPrefix("multipart/form-data; boundary="), let mark = type.firstIndex(of: "=") else {
            throw .bad("no form")
        }
        let boundary = Array("--\(type[type.index(after: mark)...])".utf8)
        let body = request.body
        guard body.starts(with: boundary) else { throw .bad("the form does not begin with its boundary") }
        var parts: [(name: String, type: String, text: String)] = []
        var place = boundary.count
        while !body[place...].starts(with: Array("--\r\n".utf8)) {
            guard body[place...].starts(with: Array("\r\n".utf8)),
                let end = body[place...].firstRange(of: Array("\r\n".utf8) + boundary)
            else { throw .bad("the form does not end with its boundary") }
            parts.append(try part(Array(body[(place + 2)..<end.lowerBound])))
            place = end.upperBound
        }
        guard place + 4 == body.count else { throw .bad("something follows the form") }
        return parts
    }

    private static func part(_ bytes: [UInt8]) throws(Refusal) -> (name: String, type: String, text: String) {
        guard let gap = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
            let head = String(validating: bytes[..<gap.lowerBound], as: UTF8.self),
            let text = String(validating: bytes[gap.upperBound...], as: UTF8.self)
        else { throw .bad("a part is not UTF-8") }
        let lines = head.split(separator: "\r\n").map(String.init)
        let disposition = "Content-Disposition: form-data; name=\""
        let name = lines.first { $0.hasPrefix(disposition) && $0.hasSuffix("\"") }
        let type = lines.first { $0.hasPrefix("Content-Type: ") }
        guard let name, let type, lines.count == 2 else { throw .bad("a part has other headers") }
        return (String(name.dropFirst(disposition.utf8.count).dropLast()), String(type.dropFirst(14)), text)
    }
}
