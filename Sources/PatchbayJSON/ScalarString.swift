/// A string that is equal to another only if both hold the same Unicode scalars.
///
/// Swift's `==` also holds for canonically equivalent strings, and two such names may stand in one JSON object.
struct ScalarString: Hashable {
    let text: String

    static func == (left: ScalarString, right: ScalarString) -> Bool { equal(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        text.lendingUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Texts of one length that are canonically equivalent may still differ; texts that are not, surely do.
        return left == right && (left.utf8.allSatisfy { $0 < 0x80 } || left.utf8.elementsEqual(right.utf8))
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
}
