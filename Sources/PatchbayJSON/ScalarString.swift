/// A string that equals another one only if both contain the same Unicode scalars.
///
/// Swift's `==` also holds for canonically equivalent strings. Their bytes differ, so they are two names in a JSON object, and
/// may be two contacts or two values to a vendor.
package struct ScalarString: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ScalarString, right: ScalarString) -> Bool { equal(left.text, right.text) }

    package func hash(into hasher: inout Hasher) {
        text.lendingUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Canonically equivalent texts of equal length may still differ, unless both are ASCII. Other texts certainly differ.
        return left == right && (left.utf8.count == left.utf16.count || left.utf8.elementsEqual(right.utf8))
    }
}

extension Sequence<String> {
    /// The texts without duplicates, compared by Unicode scalars, in the order of their first occurrence.
    package var eachOnce: [String] {
        var seen: Set<ScalarString> = []
        return filter { seen.insert(ScalarString($0)).inserted }
    }
}

extension String {
    /// Passes the text's UTF-8 to `body`, without a copy if it is contiguous.
    ///
    /// Unlike `withUTF8`, it does not need a mutable copy of the string.
    func lendingUTF8<Output>(_ body: (UnsafeBufferPointer<UInt8>) -> Output) -> Output {
        if let output = utf8.withContiguousStorageIfAvailable(body) { return output }
        var text = self
        return text.withUTF8(body)
    }

    /// Whether the text sorts before the other one by Unicode scalars, which is also the order of UTF-8.
    @usableFromInline package func precedes(_ other: String) -> Bool {
        lendingUTF8 { left in other.lendingUTF8 { right in ByteScan.precedes(left, right) } }
    }

    /// The first eight bytes of the text's UTF-8 as a number, the first byte highest, padded with zeros. If these numbers
    /// differ, they order the texts.
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
