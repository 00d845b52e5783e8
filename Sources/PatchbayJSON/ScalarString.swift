/// A string that is equal to another only if both hold the same Unicode scalars.
///
/// Swift's `==` also holds for canonically equivalent strings. Those are different bytes on the wire: two names of one JSON
/// object, and to a vendor two contacts or two values.
package struct ScalarString: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ScalarString, right: ScalarString) -> Bool { equal(left.text, right.text) }

    package func hash(into hasher: inout Hasher) {
        text.lendingUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Texts of one length that are canonically equivalent may still differ, unless both are ASCII; others surely do.
        return left == right && (left.utf8.count == left.utf16.count || left.utf8.elementsEqual(right.utf8))
    }
}

extension Sequence<String> {
    /// Each text once, in order of the first; scalar by scalar.
    package var eachOnce: [String] {
        var seen: Set<ScalarString> = []
        return filter { seen.insert(ScalarString($0)).inserted }
    }
}

extension String {
    /// Lends the text's UTF-8 to `body`, where it stands if it stands in one piece.
    ///
    /// Unlike `withUTF8` it needs no copy of a string that the caller may not change.
    func lendingUTF8<Output>(_ body: (UnsafeBufferPointer<UInt8>) -> Output) -> Output {
        if let output = utf8.withContiguousStorageIfAvailable(body) { return output }
        var text = self
        return text.withUTF8(body)
    }

    /// Whether the text sorts before the other by Unicode scalars; UTF-8 sorts as they do.
    @usableFromInline package func precedes(_ other: String) -> Bool {
        lendingUTF8 { left in other.lendingUTF8 { right in ByteScan.precedes(left, right) } }
    }

    /// The first eight bytes of the text's UTF-8, the first one highest, with zeros behind a shorter text: where they differ,
    /// texts sort as these numbers do.
    @usableFromInline package var firstBytes: UInt64 {
        lendingUTF8 { utf8 in
            guard utf8.count < 8 else {
                return UInt64(bigEndian: UnsafeRawBufferPointer(utf8).loadUnaligned(as: UInt64.self))
            }
            var word: UInt64 = 0
            for byte in utf8 { word = word << 8 | UInt64(byte) }
            return word << UInt64(8 * (8 - utf8.count))
        }
    }
}
