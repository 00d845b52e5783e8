package import PatchbayJSON

/// A label on a contact or its device: `sports`, `beta_tester`.
public struct Tag: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A change of tags: replaces all tags, or adds and removes some.
///
/// If a tag is both added and removed, it is removed first and then added.
public struct TagChange: ObjectValue {
    /// The new set of tags; nil keeps the current one. Added and removed tags are applied to it.
    public var replace: [Tag]?
    /// The tags to add.
    public var add: [Tag]
    /// The tags to remove.
    public var remove: [Tag]

    /// Creates a change of tags.
    public init(replace: [Tag]? = nil, add: [Tag] = [], remove: [Tag] = []) {
        (self.replace, self.add, self.remove) = (replace, add, remove)
    }

    /// Returns the tags after this change.
    public func applied(to tags: Set<Tag>) -> Set<Tag> {
        (replace.map { Set($0) } ?? tags).subtracting(remove).union(add)
    }

    package enum Member: MemberName, MemberTable {
        case replace, add, remove
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        replace = try reader.optional(Member.replace)
        add = try reader.list(Member.add)
        remove = try reader.list(Member.remove)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.replace, ifPresent: replace)
        writer.member(Member.add, ifNotEmpty: add)
        writer.member(Member.remove, ifNotEmpty: remove)
    }
}
