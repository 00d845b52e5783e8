import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// The part of all contacts that a provider hears, in hundredths of a per cent.
///
/// A contact's place is the first eight bytes of the SHA-256 of its UTF-8, as a big-endian number, modulo 10,000: the same on
/// every device, in every run, and in any other program that computes it. Before somebody is known the installation takes the
/// contact's place.
public struct Share: Hashable, Sendable {
    /// The places that belong to it, of 0 up to 10,000.
    public let places: Range<Int>

    /// A part of 0 up to 10,000.
    public init(_ places: Range<Int>) { self.places = places.clamped(to: 0..<Self.count) }

    /// Everybody.
    public static let all = Share(0..<count)
    /// Nobody.
    public static let none = Share(0..<0)
    /// How many places there are.
    public static let count = 10_000

    /// Whether it is everybody.
    public var isAll: Bool { places.count == Self.count }
    /// Whether it is nobody.
    public var isNone: Bool { places.isEmpty }

    /// The place of a contact, or of an installation without one.
    public static func place(of name: String) -> Int {
        let digest = SHA256.digest(of: Array(name.utf8)).prefix(8)
        return Int(digest.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % UInt64(count))
    }

    /// Whether it holds a contact; nil is nobody known on that installation.
    public func holds(_ contact: String?, on subject: Subject) -> Bool {
        let contact = DeliberateFault.shareByInstallation.isPresent ? nil : contact
        return isAll || (!isNone && places.contains(Self.place(of: contact ?? subject.rawValue)))
    }
}

extension Share {
    /// The share as the outbox remembers it between two starts.
    var text: String { "\(places.lowerBound)-\(places.upperBound)" }

    /// Reads what `text` wrote; nil for anything else.
    init?(text: String) {
        let bounds = text.split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] <= bounds[1] else { return nil }
        self.init(bounds[0]..<bounds[1])
    }
}
