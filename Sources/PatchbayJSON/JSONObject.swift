/// The members of a JSON object, in the order in which they stood.
///
/// Names are unique: setting a name that is there replaces its value and keeps its place.
public struct JSONObject: Hashable, Sendable {
    /// One member of an object.
    public struct Member: Hashable, Sendable {
        /// The member's name.
        public var name: String
        /// The member's value.
        public var value: JSONValue
    }

    private var members: [Member]

    /// An object without members.
    public init() { members = [] }

    /// An object of these members; where a name stands twice, the last value wins at the first place.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        self.init()
        for (name, value) in pairs { self[name] = value }
    }

    /// An object of members whose names are known to differ.
    init(unique members: [Member]) { self.members = members }

    /// The value of the first member of that name; setting nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let place = members.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The members' names, in order.
    public var names: [String] { members.map(\.name) }

    /// The same members sorted by the Unicode scalars of their names.
    public var sorted: JSONObject {
        JSONObject(unique: members.sorted { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) })
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { members.startIndex }
    public var endIndex: Int { members.endIndex }
    public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
