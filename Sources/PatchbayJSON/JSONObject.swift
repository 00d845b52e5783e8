/// The members of a JSON object, in their original order.
///
/// Names are unique. Setting an existing name replaces its value and keeps its position.
public struct JSONObject: Hashable, Sendable {
    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The member's name.
        public var name: String
        /// The member's value.
        public var value: JSONValue

        /// Names are compared by Unicode scalars, as values are.
        public static func == (left: Member, right: Member) -> Bool {
            ScalarString.equal(left.name, right.name) && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(ScalarString(name))
            hasher.combine(value)
        }
    }

    private var members: [Member]
    /// The index of each name, if there are more members than ``scanLimit``; otherwise empty.
    private var places: [ScalarString: Int] = [:]
    /// The maximum number of members that are searched linearly.
    private static let scanLimit = 32

    /// Creates an object without members.
    public init() { members = [] }

    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
    public func hash(into hasher: inout Hasher) { hasher.combine(members) }

    /// Creates an object from pairs. If a name occurs twice, the last value is stored at the first position.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        self.init(keepingLast: pairs.map { Member(name: $0.0, value: $0.1) })
    }

    /// Creates an object from counts, in the order of their names.
    package init(counts: [String: Int]) {
        self.init(unique: counts.inOrder.map { Member(name: $0.key, value: .integer($0.value)) })
    }

    /// Creates an object from members with unique names.
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

    /// Creates an object from members in linear time. If a name occurs twice, the last value is stored at the first position.
    init(keepingLast candidates: [Member]) {
        members = []
        members.reserveCapacity(candidates.count)
        for member in candidates { self[member.name] = member.value }
    }

    /// The value of a member; setting nil removes the member.
    ///
    /// Names are compared by Unicode scalars: a letter with an accent, and the same letter with a combining accent, are
    /// different names, as they are to other JSON parsers.
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

    /// Reserves capacity for a number of members.
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
    /// Creates an object from a literal, in this order. If a name occurs twice, the last value is stored at the first position.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
