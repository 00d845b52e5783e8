import Synchronization

/// The text of a statement that is run often: it is found again by its number, not by its letters.
///
/// Make it once, as a `static let`.
final class Query: Sendable {
    let text: String
    /// Its place among all queries of the process.
    let number: Int
    private static let count = Atomic(0)

    init(_ text: String) {
        self.text = text
        number = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}
