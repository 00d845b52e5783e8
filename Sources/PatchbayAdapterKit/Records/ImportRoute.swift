/// How many contacts a vendor takes in at once by one of its ways in, and how often, as its documents state it.
public struct ImportRoute: Hashable, Sendable {
    /// The way in: `profiles/import`.
    public var name: String
    /// The format whose contacts it takes; nil for every one of the vendor's.
    public var format: String?
    /// Most contacts in a request, or in a file; nil where nothing is stated.
    public var contacts: Int?
    /// Most bytes in a request, or in a file; nil where nothing is stated.
    public var bytes: Int?
    /// How often; nil where the documents state no rate.
    public var rate: Rate?
    /// What else is stated, and where.
    public var note: String

    /// Creates a way in.
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

    /// How many requests so many contacts need.
    public func requests(for contacts: Int, bytes: Int) -> Int {
        let byCount = self.contacts.map { (contacts + $0 - 1) / $0 } ?? 0
        let bySize = self.bytes.map { (bytes + $0 - 1) / $0 } ?? 0
        return max(byCount, bySize, contacts > 0 ? 1 : 0)
    }
}
