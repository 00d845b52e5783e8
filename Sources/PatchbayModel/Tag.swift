public import PatchbayJSON

/// A label on a contact or its device: `sports`, `beta_tester`.
public struct Tag: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A change of tags: replaces all tags, or adds and removes some.
///
/// If a tag is both added and removed, it is removed first and then added.
public struct TagChange: ScannedValue {
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

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["replace", "add", "remove"])
        replace = try reader.optional("replace")
        add = try reader.list("add")
        remove = try reader.list("remove")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        replace = try scanner.optional("replace")
        add = try scanner.list("add")
        remove = try scanner.list("remove")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "replace", ifPresent: replace)
        writer.member(known: "add", ifNotEmpty: add)
        writer.member(known: "remove", ifNotEmpty: remove)
        writer.endObject()
    }
}
