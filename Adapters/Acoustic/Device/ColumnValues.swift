import PatchbayJSON
package import PatchbayModel

/// Values by column name.
///
/// The vendor compares names byte by byte, so two names that are canonically equivalent are two columns.
struct ColumnValues: Codable, Sendable, Equatable {
    private var values: [ScalarString: WireValue] = [:]

    init() {}

    /// The value of a column.
    subscript(column: ScalarString) -> WireValue? {
        get { values[column] }
        set { values[column] = newValue }
    }

    /// The columns with their values as JSON, in the order of their names.
    var json: JSONObject {
        let sorted = values.sorted { $0.key.text.precedes($1.key.text) }
        return JSONObject(sorted.map { ($0.key.text, $0.value.value) })
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        for name in members.allKeys {
            values[ScalarString(name.stringValue)] = try members.decode(WireValue.self, forKey: name)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        for (column, value) in values { try members.encode(value, forKey: Name(stringValue: column.text)) }
    }
}

extension Dictionary {
    /// The value under a name with exactly the same Unicode scalars.
    package subscript(exactly name: Key) -> Value? where Key: NeutralKey {
        guard let place = index(forKey: name), ScalarString.equal(keys[place].rawValue, name.rawValue) else {
            return nil
        }
        return values[place]
    }
}

extension String {
    /// Whether another text has exactly the same Unicode scalars.
    package func isExactly(_ other: String) -> Bool { ScalarString.equal(self, other) }
}

extension Sequence<String> {
    /// Whether one of the texts has exactly the same Unicode scalars.
    package func containsExactly(_ text: String) -> Bool { contains { $0.isExactly(text) } }
}
