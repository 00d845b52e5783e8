/// The text of a statement that is run often: it is found again by what it is, not by its letters.
///
/// Make it once, as a `static let`.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}
