/// A token of JSON text, as ``JSONReader`` returns it.
///
/// Tokens contain no text, so that reading a large text allocates nothing. The reader provides the text of its current token:
/// ``JSONReader/string``, ``JSONReader/number``, ``JSONReader/integer``.
public enum JSONToken: Hashable, Sendable {
    /// `{`: names and values follow, up to the matching ``endObject``.
    case beginObject
    /// `}`.
    case endObject
    /// `[`: values follow, up to the matching ``endArray``.
    case beginArray
    /// `]`.
    case endArray
    /// A member's name and its colon; the member's value follows.
    case name
    /// A string value.
    case string
    /// A number.
    case number
    /// `true` or `false`.
    case bool(Bool)
    /// `null`.
    case null
}
