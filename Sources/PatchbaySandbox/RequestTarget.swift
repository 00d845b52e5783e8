import Foundation

/// A request's path and query, percent-encoded as received.
struct RequestTarget: Hashable, Sendable {
    /// The path, with its leading slash.
    let path: String
    /// The text after the question mark; nil if there is none.
    let query: String?

    /// Creates a target from the text in a request line.
    init(_ text: some StringProtocol) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].isEmpty ? "/" : String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : nil
    }

    private init(path: String, query: String?) {
        self.path = path
        self.query = query
    }

    /// The path and the query as in a request line.
    var text: String { query.map { "\(path)?\($0)" } ?? path }

    /// Returns the first path segment, and the target without it.
    func splitFirstPart() -> (first: String, rest: RequestTarget) {
        let inner = path.dropFirst()
        let end = inner.firstIndex(of: "/") ?? inner.endIndex
        let rest = end == inner.endIndex ? "/" : String(inner[end...])
        return (String(inner[..<end]), RequestTarget(path: rest, query: query))
    }

    /// Returns the decoded value of the first query item with a name; nil if there is none.
    func queryValue(_ name: String) -> String? {
        var components = URLComponents()
        components.percentEncodedQuery = query
        return components.queryItems?.first { $0.name == name }?.value
    }
}
