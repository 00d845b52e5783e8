import Foundation

/// A request's path and query, percent-encoded as they came.
struct RequestTarget: Hashable, Sendable {
    /// The path, with its leading slash.
    let path: String
    /// What stands after the question mark; nil without one.
    let query: String?

    /// Creates a target from the text of a request line.
    init(_ text: some StringProtocol) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].isEmpty ? "/" : String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : nil
    }

    private init(path: String, query: String?) {
        self.path = path
        self.query = query
    }

    /// Path and query as they stand in a request line.
    var text: String { query.map { "\(path)?\($0)" } ?? path }

    /// The path's first part, and the target that remains without it.
    func splitFirstPart() -> (first: String, rest: RequestTarget) {
        let inner = path.dropFirst()
        let end = inner.firstIndex(of: "/") ?? inner.endIndex
        let rest = end == inner.endIndex ? "/" : String(inner[end...])
        return (String(inner[..<end]), RequestTarget(path: rest, query: query))
    }

    /// The first value of that name in the query, decoded; nil if it is not there.
    func queryValue(_ name: String) -> String? {
        var components = URLComponents()
        components.percentEncodedQuery = query
        return components.queryItems?.first { $0.name == name }?.value
    }
}
