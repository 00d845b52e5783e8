/// A string that is equal to another only if both hold the same Unicode scalars.
///
/// Swift's `==` also holds for canonically equivalent strings, and two such names may stand in one JSON object.
struct ScalarString: Hashable {
    let text: String

    static func == (left: ScalarString, right: ScalarString) -> Bool { equal(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Texts of one length that are canonically equivalent may still differ; texts that are not, surely do.
        return left == right && (left.utf8.allSatisfy { $0 < 0x80 } || left.utf8.elementsEqual(right.utf8))
    }
}
