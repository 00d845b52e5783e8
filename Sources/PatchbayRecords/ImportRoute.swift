public import PatchbayAdapterKit

/// A bulk import route of a vendor, with the documented limits and rate.
public struct ImportRoute: Hashable, Sendable {
    /// The name of the route, for example `profiles/import`.
    public var name: String
    /// The format that it accepts; nil for every format of the vendor.
    public var format: String?
    /// The maximum number of contacts per request or file; nil if undocumented.
    public var contacts: Int?
    /// The maximum number of bytes per request or file; nil if undocumented.
    public var bytes: Int?
    /// The maximum rate; nil if undocumented.
    public var rate: Rate?
    /// Other documented facts, with their source.
    public var note: String

    /// Creates an import route.
    public init(
        _ name: String,
        of format: String? = nil,
        contacts: Int? = nil,
        bytes: Int? = nil,
        rate: Rate? = nil,
        note: String
    ) {
        (self.name, self.format, self.contacts, self.bytes) = (name, format, contacts, bytes)
        (self.rate, self.note) = (rate, note)
    }

    /// Returns the number of requests for a number of contacts.
    public func requests(for contacts: Int, bytes: Int) -> Int {
        let byCount = self.contacts.map { (contacts + $0 - 1) / $0 } ?? 0
        let bySize = self.bytes.map { (bytes + $0 - 1) / $0 } ?? 0
        return max(byCount, bySize, contacts > 0 ? 1 : 0)
    }
}
