import PatchbayJSON
import PatchbayModel

/// A position in a text file.
public struct SourcePosition: Hashable, Comparable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int

    /// Creates a position.
    public init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// Compares by line, then by column.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// The position of each value in a JSON text, by path, and the names that occur twice in an object.
struct SourceMap: Sendable {
    /// The positions of members' names, of elements, and of the whole text.
    private(set) var positions: [String: SourcePosition] = [:]
    /// The paths and positions of members whose name occurred before in the same object.
    private(set) var duplicates: [(path: String, position: SourcePosition)] = []

    /// An open container.
    fileprivate struct Frame {
        let path: String
        /// The position of the next element; nil in an object.
        var index: Int?
        var name = ""
        var names: Set<String> = []

        var here: String { index.map { "\(path)[\($0)]" } ?? path.dot(name) }
    }

    /// Creates an empty map.
    init() {}

    /// Creates the map of a JSON text.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var cursor = LineCursor()
        self = try JSONReader.read(bytes, duplicateNames: .keepLast) { reader throws(JSONError) in
            var map = SourceMap()
            var frames: [Frame] = []
            while let token = try reader.next() {
                let position = cursor.position(at: reader.tokenRange.lowerBound, in: bytes)
                switch token {
                case .name: map.enter(reader.string, at: position, in: &frames)
                case .endObject, .endArray:
                    frames.removeLast()
                    frames.nextElement()
                default:
                    let path = frames.last?.here ?? ""
                    if frames.last?.index != nil || frames.isEmpty { map.positions[path] = position }
                    switch token {
                    case .beginObject: frames.append(Frame(path: path))
                    case .beginArray: frames.append(Frame(path: path, index: 0))
                    default: frames.nextElement()
                    }
                }
            }
            return map
        }
    }

    private mutating func enter(_ name: String, at position: SourcePosition, in frames: inout [Frame]) {
        let innermost = frames.count - 1
        frames[innermost].name = name
        let path = frames[innermost].here
        if !frames[innermost].names.insert(name).inserted { duplicates.append((path, position)) }
        positions[path] = position
    }

    /// Returns the position of a path, or of the closest value around it; nil only for an empty map.
    func position(of path: String) -> SourcePosition? {
        var path = path[...]
        while !path.isEmpty {
            if let position = positions[String(path)] { return position }
            path = path.lastIndex { $0 == "." || $0 == "[" }.map { path[..<$0] } ?? ""
        }
        return positions[""]
    }
}

extension [SourceMap.Frame] {
    /// Ends a value of the innermost container.
    fileprivate mutating func nextElement() {
        guard let index = last?.index else { return }
        self[count - 1].index = index + 1
    }
}

/// Converts ascending offsets into lines and columns in one pass.
private struct LineCursor {
    private var offset = 0
    private var line = 1
    private var lineStart = 0

    mutating func position(at target: Int, in bytes: [UInt8]) -> SourcePosition {
        while offset < target {
            if bytes[offset] == 0x0A { (line, lineStart) = (line + 1, offset + 1) }
            offset += 1
        }
        return SourcePosition(line: line, column: target - lineStart + 1)
    }
}
