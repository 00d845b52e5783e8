import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// The share of contacts that a provider receives, in units of 0.01 percent.
///
/// A contact's place is the first eight bytes of the SHA-256 of its UTF-8, as a big-endian number, modulo 10,000. It is the
/// same on every device, in every run, and in any program that computes it. While no contact is known, the installation's id
/// is used.
public struct Share: Hashable, Sendable {
    /// The places that belong to the share, within 0 up to 10,000.
    public let places: Range<Int>

    /// Creates a share from places within 0 up to 10,000.
    public init(_ places: Range<Int>) { self.places = places.clamped(to: 0..<Self.count) }

    /// The share of all contacts.
    public static let all = Share(0..<count)
    /// The empty share.
    public static let none = Share(0..<0)
    /// The number of places.
    public static let count = 10_000

    /// Whether the share contains all contacts.
    public var isAll: Bool { places.count == Self.count }
    /// Whether the share is empty.
    public var isNone: Bool { places.isEmpty }

    /// Returns the place of a contact, or of an installation without one.
    public static func place(of name: String) -> Int {
        let digest = SHA256.digest(of: Array(name.utf8)).prefix(8)
        return Int(digest.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % UInt64(count))
    }

    /// Returns whether the share contains a contact; nil stands for an installation without a known contact.
    public func holds(_ contact: String?, on subject: Subject) -> Bool {
        isAll || (!isNone && places.contains(Self.place(of: contact ?? subject.rawValue)))
    }
}

extension Share {
    /// The share in its stored form.
    var text: String { "\(places.lowerBound)-\(places.upperBound)" }

    /// Creates a share from ``text``; nil for any other text.
    init?(text: String) {
        let bounds = text.split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] <= bounds[1] else { return nil }
        self.init(bounds[0]..<bounds[1])
    }
}
