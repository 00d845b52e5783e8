/// Builds a ``JSONValue`` from a reader's tokens without recursion. Completed values are kept on a stack until their container
/// ends.
struct TreeBuilder {
    /// The values of all open containers; at the end, the single result.
    var values: [JSONValue] = []
    /// The names of all open objects whose values are complete or being read.
    var names: [String] = []

    private var starts: [(value: Int, name: Int)] = []
    private let keepsLast: Bool

    init(keepsLast: Bool) { self.keepsLast = keepsLast }

    mutating func open() { starts.append((values.count, names.count)) }

    mutating func closeArray() {
        let start = starts.removeLast()
        let elements = Array(values[start.value...])
        values.removeSubrange(start.value...)
        values.append(.array(elements))
    }

    mutating func closeObject() {
        let start = starts.removeLast()
        let members = zip(names[start.name...], values[start.value...]).map(JSONObject.Member.init)
        names.removeSubrange(start.name...)
        values.removeSubrange(start.value...)
        values.append(.object(keepsLast ? JSONObject(keepingLast: members) : JSONObject(unique: members)))
    }
}
