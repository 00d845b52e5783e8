import PatchbayAdapterKit
package import PatchbayModel

/// The text of a request's id: a UUID, the same on every repeat of an operation.
package enum RequestID {
    /// Returns the operation's id if it is a UUID, otherwise a UUID of version 8 (RFC 9562) derived from it, in lower case.
    ///
    /// An operation of several requests passes the `part`, so that no two different requests share an id. The same id and
    /// part permanently give the same UUID on every machine.
    package static func text(for id: OperationID, part: String? = nil) -> String {
        if let part { return made(from: "\(id.rawValue)/\(part)") }
        return UUIDText.isValid(id.rawValue) ? UUIDText.lowercased(id.rawValue) : made(from: id.rawValue)
    }

    /// Returns eight hexadecimal digits that distinguish texts and are too few to recover them: the end of the hash, which
    /// depends on each byte of the text.
    static func mark(of text: String) -> String { String(made(from: text).suffix(8)) }

    private static func made(from name: String) -> String { UUIDText.version8(TextMark(name).bits) }
}
