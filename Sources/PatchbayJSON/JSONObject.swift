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

        /// Names are compared scalar by scalar, as values are.
        public static func == (left: Member, right: Member) -> Bool {
            ScalarString.equal(left.name, right.name) && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(ScalarString(name))
            hasher.combine(value)
        }
    }

    private var members: [Member]
    /// The place of each name, for more members than ``scanLimit``; empty for fewer.
    private var places: [ScalarString: Int] = [:]
    /// The maximum number of members that are searched one by one.
    private static let scanLimit = 32

    /// Creates an object without members.
    public init() { members = [] }

    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
    public func hash(into hasher: inout Hasher) { hasher.combine(members) }

    /// Creates an object of these members; where a name stands twice, the last value wins at the first place.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        self.init(keepingLast: pairs.map { Member(name: $0.0, value: $0.1) })
    }

    /// Creates an object of members whose names are known to differ.
    init(unique members: [Member]) {
        self.members = members
        indexPlaces()
    }

    private mutating func indexPlaces() {
        places = [:]
        guard members.count > Self.scanLimit else { return }
        places.reserveCapacity(members.count)
        for (place, member) in members.enumerated() { places[ScalarString(member.name)] = place }
    }

    private func place(of name: String) -> Int? {
        if !places.isEmpty { return places[ScalarString(name)] }
        return members.firstIndex { ScalarString.equal($0.name, name) }
    }

    /// Creates an object of members in linear time; where a name stands twice, the last value wins at the first place.
    init(keepingLast candidates: [Member]) {
        members = []
        members.reserveCapacity(candidates.count)
        for member in candidates { self[member.name] = member.value }
    }

    /// The value of the member of that name; setting nil removes the member.
    ///
    /// Names are compared scalar by scalar: a letter with an accent and the same letter with a combining accent are two
    /// names, as they are to every other reader of JSON.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil):
                members.remove(at: place)
                if !places.isEmpty { indexPlaces() }
            case (nil, let value?):
                members.append(Member(name: name, value: value))
                if !places.isEmpty {
                    places[ScalarString(name)] = members.count - 1
                } else if members.count > Self.scanLimit {
                    indexPlaces()
                }
            case (nil, nil): break
            }
        }
    }

    /// Makes room for so many members.
    public mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    /// The members' names, in order.
    public var names: [String] { members.map(\.name) }

    /// The same members sorted by the Unicode scalars of their names.
    public var sorted: JSONObject {
        JSONObject(unique: members.sorted { $0.name.precedes($1.name) })
    }
}

extension JSONObject: RandomAccessCollection {
    /// The position of the first member: 0.
    public var startIndex: Int { members.startIndex }
    /// The number of members.
    public var endIndex: Int { members.endIndex }
    /// The member at a position.
    public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object of these members, in this order; where a name stands twice, the last value wins at the first place.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
