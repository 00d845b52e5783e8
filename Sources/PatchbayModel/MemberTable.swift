package import PatchbayJSON

/// The name of a member of a JSON object.
package struct MemberName: ExpressibleByStringLiteral, Equatable, Sendable {
    let text: StaticString

    package init(stringLiteral text: StaticString) { self.text = text }

    package static func == (left: MemberName, right: MemberName) -> Bool {
        left.text.description == right.text.description
    }
}

/// The members of a type's JSON form, in the order in which they are written.
package protocol MemberTable: RawRepresentable, CaseIterable, Sendable where RawValue == MemberName {}

extension MemberTable {
    /// The name of the member.
    package var name: String { rawValue.text.description }

    func isNamed(_ name: String) -> Bool {
        let text = rawValue.text
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return name.utf8.elementsEqual(bytes)
    }

    /// The names of all members.
    package static var names: [String] { allCases.map(\.name) }
}

/// A value whose JSON form is an object.
///
/// The table of its members gives the check for unknown members. `init(members:)` reads them from a tree or from bytes.
package protocol ObjectValue: ScannedValue {
    associatedtype Member: MemberTable

    /// Reads the members, in the order of the table.
    init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure)

    /// Writes the members, in the order of the table.
    func write(members writer: inout JSONWriter)
}

extension ObjectValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        var reader = try ObjectReader(json, at: path, members: Member.allCases)
        try self.init(members: &reader)
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        try self.init(members: &scanner)
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        write(members: &writer)
        writer.endObject()
    }
}

/// Reads the members of one object, from a tree or from bytes.
package protocol MemberReader: ~Copyable {
    associatedtype Failure: Error

    /// Reads a required member.
    mutating func required<Value: ScannedValue>(_ member: some MemberTable, as type: Value.Type) throws(Failure)
        -> Value

    /// Reads a required word, and compares it with `usual` first.
    mutating func required<Word: NeutralWord & ScannedValue>(
        _ member: some MemberTable,
        usual: Word
    ) throws(Failure) -> Word

    /// Reads a required object used as a dictionary.
    mutating func requiredDictionary<Key: NeutralKey, Value: ScannedValue>(
        _ member: some MemberTable
    ) throws(Failure) -> [Key: Value]

    /// Reads an optional member.
    mutating func optional<Value: ScannedValue>(_ member: some MemberTable, as type: Value.Type) throws(Failure)
        -> Value?

    /// Reads an optional list; an absent one is empty.
    mutating func list<Value: ScannedValue>(_ member: some MemberTable, of type: Value.Type) throws(Failure) -> [Value]

    /// Reads an optional object used as a dictionary; an absent one is empty.
    mutating func dictionary<Key: NeutralKey, Value: ScannedValue>(_ member: some MemberTable) throws(Failure)
        -> [Key: Value]
}

extension MemberReader where Self: ~Copyable {
    package mutating func required<Value: ScannedValue>(_ member: some MemberTable) throws(Failure) -> Value {
        try required(member, as: Value.self)
    }

    package mutating func optional<Value: ScannedValue>(_ member: some MemberTable) throws(Failure) -> Value? {
        try optional(member, as: Value.self)
    }

    package mutating func list<Value: ScannedValue>(_ member: some MemberTable) throws(Failure) -> [Value] {
        try list(member, of: Value.self)
    }
}

extension ObjectReader: MemberReader {
    /// Creates a reader for an object that may contain these members only.
    ///
    /// - Throws: ``ModelError`` if the value is not an object or contains an unknown member.
    init<Member: MemberTable>(_ json: JSONValue, at path: String, members: some Collection<Member>) throws(ModelError) {
        try self.init(json, at: path, known: nil)
        let isKnown = { (name: String) in members.contains { $0.isNamed(name) } }
        if !object.names.allSatisfy(isKnown) {
            // Names are made for the error only.
            try self.init(json, at: path, known: members.map(\.name))
        }
    }

    package func required<Value: ScannedValue>(_ member: some MemberTable, as type: Value.Type) throws(ModelError)
        -> Value
    {
        try required(member.name, as: type)
    }

    package func required<Word: NeutralWord & ScannedValue>(
        _ member: some MemberTable,
        usual: Word
    ) throws(ModelError) -> Word {
        try required(member.name, as: Word.self)
    }

    package func requiredDictionary<Key: NeutralKey, Value: ScannedValue>(
        _ member: some MemberTable
    ) throws(ModelError) -> [Key: Value] {
        if object[member.name] == nil { throw missing(member.name) }
        return try dictionary(member.name)
    }

    package func optional<Value: ScannedValue>(_ member: some MemberTable, as type: Value.Type) throws(ModelError)
        -> Value?
    {
        try optional(member.name, as: type)
    }

    package func list<Value: ScannedValue>(_ member: some MemberTable, of type: Value.Type) throws(ModelError)
        -> [Value]
    {
        try list(member.name, of: type)
    }

    package func dictionary<Key: NeutralKey, Value: ScannedValue>(
        _ member: some MemberTable
    ) throws(ModelError) -> [Key: Value] {
        try dictionary(member.name)
    }
}

extension JSONScanner: MemberReader {
    /// Reads the next member's name if it is the name of this member. The caller must then read its value.
    mutating func takesName(_ member: some MemberTable) -> Bool { takesName(member.rawValue.text) }

    package mutating func required<Value: ScannedValue>(
        _ member: some MemberTable,
        as type: Value.Type
    ) throws(NotPlain) -> Value {
        guard takesName(member) else { throw NotPlain() }
        return try Value(scanning: &self)
    }

    package mutating func required<Word: NeutralWord & ScannedValue>(
        _ member: some MemberTable,
        usual: Word
    ) throws(NotPlain) -> Word {
        guard takesName(member) else { throw NotPlain() }
        return takesString(usual.rawValue) ? usual : try Word(scanning: &self)
    }

    package mutating func requiredDictionary<Key: NeutralKey, Value: ScannedValue>(
        _ member: some MemberTable
    ) throws(NotPlain) -> [Key: Value] {
        guard takesName(member) else { throw NotPlain() }
        return try dictionary()
    }

    package mutating func optional<Value: ScannedValue>(
        _ member: some MemberTable,
        as type: Value.Type
    ) throws(NotPlain) -> Value? {
        takesName(member) ? try Value(scanning: &self) : nil
    }

    package mutating func list<Value: ScannedValue>(
        _ member: some MemberTable,
        of type: Value.Type
    ) throws(NotPlain) -> [Value] {
        takesName(member) ? try [Value](scanning: &self) : []
    }

    package mutating func dictionary<Key: NeutralKey, Value: ScannedValue>(
        _ member: some MemberTable
    ) throws(NotPlain) -> [Key: Value] {
        takesName(member) ? try dictionary() : [:]
    }
}

extension JSONWriter {
    /// Writes a member's name.
    mutating func name(_ member: some MemberTable) { name(known: member.rawValue.text) }

    /// Writes a member.
    package mutating func member(_ member: some MemberTable, _ value: some NeutralValue) {
        name(member)
        value.write(to: &self)
    }

    package mutating func member(_ member: some MemberTable, _ value: String) {
        self.member(known: member.rawValue.text, string: value)
    }

    package mutating func member<Word: NeutralValue & RawRepresentable<String>>(
        _ member: some MemberTable,
        _ value: Word
    ) {
        self.member(known: member.rawValue.text, string: value.rawValue)
    }

    /// Writes a member unless it is nil.
    package mutating func member<Value: NeutralValue>(_ member: some MemberTable, ifPresent value: Value?) {
        if let value { self.member(member, value) }
    }

    package mutating func member(_ member: some MemberTable, ifPresent value: String?) {
        if let value { self.member(member, value) }
    }

    package mutating func member<Word: NeutralValue & RawRepresentable<String>>(
        _ member: some MemberTable,
        ifPresent value: Word?
    ) {
        if let value { self.member(member, value) }
    }

    /// Writes a list unless it is empty.
    package mutating func member<Value: NeutralValue>(_ member: some MemberTable, ifNotEmpty values: [Value]) {
        if !values.isEmpty { self.member(member, values) }
    }

    /// Writes a dictionary sorted by name, unless it is empty.
    package mutating func member<Key: NeutralKey, Value: NeutralValue>(
        _ member: some MemberTable,
        ifNotEmpty values: [Key: Value]
    ) {
        if !values.isEmpty { self.member(member, values) }
    }

    /// Writes a dictionary sorted by name.
    package mutating func member<Key: NeutralKey, Value: NeutralValue>(
        _ member: some MemberTable,
        _ values: [Key: Value]
    ) {
        name(member)
        self.values(values)
    }
}
