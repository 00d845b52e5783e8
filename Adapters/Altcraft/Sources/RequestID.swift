import PatchbayAdapterKit
import PatchbayModel

/// The text of a request's id: a UUID, the same on every repeat of an operation.
enum RequestID {
    /// The operation's id if it is a UUID, else a UUID of version 8 (RFC 9562) made from it.
    ///
    /// An operation of several requests names the `part`, so that no two different requests share an id. The same id and
    /// part give the same UUID on every machine and for ever. Lower case.
    static func text(for id: OperationID, part: String? = nil) -> String {
        if let part { return made(from: "\(id.rawValue)/\(part)") }
        return UUIDText.isValid(id.rawValue) ? UUIDText.lowercased(id.rawValue) : made(from: id.rawValue)
    }

    /// Eight hexadecimal digits that tell texts apart and are too few to find the text again: the end of the hash, where
    /// each byte of the text is felt.
    static func mark(of text: String) -> String { String(made(from: text).suffix(8)) }

    private static func made(from name: String) -> String { UUIDText.version8(TextMark(name).bits) }
}
