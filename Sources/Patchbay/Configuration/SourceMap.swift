import PatchbayJSON
import PatchbayModel

/// A place in a text file.
public struct SourcePosition: Hashable, Comparable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int

    /// A place.
    public init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// By line, then by column.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Where each value of a JSON text stands, by its path, and which names stand twice in one object.
struct SourceMap: Sendable {
    /// The place of each member's name, of each element, and of the whole.
    private(set) var positions: [String: SourcePosition] = [:]
    /// Paths of members whose name was there before, with their places.
    private(set) var duplicates: [(path: String, position: SourcePosition)] = []

    /// A container that is open.
    fileprivate struct Frame {
        let path: String
        /// The position of the next element; nil in an object.
        var index: Int?
        var name = ""
        var names: Set<String> = []

        var here: String { index.map { "\(path)[\($0)]" } ?? path.dot(name) }
    }

    /// A map of nothing.
    init() {}

    /// The map of a JSON text.
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

    /// The place of that path, or of the nearest value around it that is there; nil only in a map of nothing.
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
    /// A value of the innermost container is complete.
    fileprivate mutating func nextElement() {
        guard let index = last?.index else { return }
        self[count - 1].index = index + 1
    }
}

/// Turns offsets that only grow into lines and columns, in one pass.
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
