import Synchronization

/// A frequently used SQL statement that is looked up by number instead of by its text.
///
/// Create it once, as a `static let`.
package final class Query: Sendable {
    let text: String
    /// The number of the query, unique in the process.
    let number: Int
    private static let count = Atomic(0)

    init(_ text: String) {
        self.text = text
        number = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}
