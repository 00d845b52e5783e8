/// The names seen so far in every open object, to reject duplicates.
///
/// Names are stored as ranges of the text. Short objects are searched linearly. From ``hashedFrom`` names on, a set of hashes
/// is checked first, so that a large object takes linear time. The hashes are seeded per process, so that an attacker cannot
/// construct colliding names.
struct MemberNames {
    private struct Name {
        let range: Range<Int>
        let isEscaped: Bool
    }

    private struct Object {
        let first: Int
        var hashes: Set<Int>?
    }

    private static let hashedFrom = 16

    private var names: [Name] = []
    private var objects: [Object] = []

    /// Starts a new innermost object.
    mutating func open() { objects.append(Object(first: names.count)) }

    /// Ends the innermost object and removes its names.
    mutating func close() {
        let object = objects.removeLast()
        names.removeSubrange(object.first...)
    }

    /// Adds a quoted name to the innermost object. Returns false if it already contains the name.
    mutating func insert(_ range: Range<Int>, isEscaped: Bool, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = Name(range: range, isEscaped: isEscaped)
        let last = objects.count - 1
        let isNew =
            names.count - objects[last].first < MemberNames.hashedFrom
            ? !contains(name, in: bytes) : insertHash(of: name, in: bytes) || !contains(name, in: bytes)
        if isNew { names.append(name) }
        return isNew
    }

    /// Adds the name's hash to the innermost object's set. Returns false if the set already contains the hash.
    private mutating func insertHash(of name: Name, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let last = objects.count - 1
        if objects[last].hashes == nil {
            objects[last].hashes = Set(names[objects[last].first...].map { MemberNames.hash($0, in: bytes) })
        }
        return objects[last].hashes?.insert(MemberNames.hash(name, in: bytes)).inserted ?? true
    }

    private func contains(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        names[objects[objects.count - 1].first...].contains { MemberNames.equal($0, name, in: bytes) }
    }

    private static func equal(_ left: Name, _ right: Name, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if left.isEscaped || right.isEscaped {
            return text(left, in: bytes).utf8.elementsEqual(text(right, in: bytes).utf8)
        }
        return left.range.count == right.range.count && bytes[left.range].elementsEqual(bytes[right.range])
    }

    private static func hash(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        if name.isEscaped {
            var text = text(name, in: bytes)
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        } else {
            hasher.combine(bytes: UnsafeRawBufferPointer(content(name, in: bytes)))
        }
        return hasher.finalize()
    }

    private static func text(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let content = content(name, in: bytes)
        return name.isEscaped ? JSONEscapes.decode(content) : String(decoding: content, as: UTF8.self)
    }

    private static func content(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[(name.range.lowerBound + 1)..<(name.range.upperBound - 1)])
    }
}
