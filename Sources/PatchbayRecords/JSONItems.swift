import PatchbayJSON

/// Splits JSON, in chunks of any size, into the objects that contain records: the objects of an array, of an array named
/// `items` in an object, or consecutive objects. Several such texts may follow each other.
///
/// The splitter examines only brackets and quotes; the reader checks whether an item is valid JSON. A missing quote or bracket
/// costs only its item, not all following ones. To this end, a string ends at its line. An item ends with its array, or before
/// an object that begins where no value is allowed.
struct JSONItems: Sendable {
    /// The text between two separators.
    struct Item: Sendable {
        /// The number of the item, from 1.
        var number: Int
        /// The line on which the item begins, from 1.
        var line: Int
        /// The bytes of the item; empty if it exceeds the maximum length of a record.
        var bytes: [UInt8]
        var isTooLong: Bool
    }

    private enum Place {
        /// Before or after a text.
        case outside
        /// In an object that is itself an item, unless it contains an array named `items`.
        case object(isWrapper: Bool)
        case list(isWrapped: Bool)
    }

    private static let listName = Array("\"items\"".utf8)
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let maximumLength: Int
    private var place = Place.outside
    /// The number of open braces and brackets in the item.
    private var (braces, brackets) = (0, 0)
    private var isQuoted = false
    private var isEscaped = false
    /// The last character outside quotes that is not white space.
    private var last: UInt8 = 0
    /// The bytes of the current item from earlier chunks.
    private var kept: [UInt8] = []
    private var isTooLong = false
    private var hasBegun = false
    private var line = 1
    private var itemLine = 1
    private var number = 0

    init(maximumLength: Int = RecordLength.usual) { self.maximumLength = maximumLength }

    /// The current line, if a text has begun and not ended.
    var openLine: Int? { if case .outside = place { nil } else { line } }

    /// Splits the next chunk.
    ///
    /// - Parameters:
    ///   - chunk: The bytes.
    ///   - take: Receives each item.
    /// - Returns: The line of a character outside every text; nil if there is none so far.
    /// - Throws: The error of `take`.
    mutating func read(_ chunk: [UInt8], _ take: (Item) throws -> Void) rethrows -> Int? {
        // The start of the bytes that are not stored yet.
        var start = 0
        func end(_ next: Int, isBroken: Bool = false) throws {
            keep(chunk[start..<next])
            start = next
            if let item = takeItem(isBroken: isBroken) { try take(item) }
        }
        for (index, byte) in chunk.enumerated() {
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isQuoted {
                pass(quoted: byte)
                continue
            }
            if Self.isBlank(byte) { continue }
            if byte == UInt8(ascii: "{"), isBroken {
                try end(index, isBroken: true)
                if case .object = place { place = .outside }
            }
            last = byte
            switch (place, byte) {
            case (.outside, UInt8(ascii: "[")): place = .list(isWrapped: false)
            case (.outside, UInt8(ascii: "{")):
                place = .object(isWrapper: false)
                begin(at: index, &start)
                braces = 1
            case (.outside, _): if !Self.mark.contains(byte) { return line }
            case (.object, UInt8(ascii: "["))
            where braces == 1 && brackets == 0 && isList(behind: chunk[start..<index]):
                forget()
                place = .list(isWrapped: true)
            case (.list, UInt8(ascii: ",")) where braces == 0 && brackets == 0: try end(index)
            case (.list(let isWrapped), UInt8(ascii: "]")) where brackets == 0:
                try end(index)
                place = isWrapped ? .object(isWrapper: true) : .outside
                braces = isWrapped ? 1 : 0
                if isWrapped { begin(at: index + 1, &start) }
            default:
                if !hasBegun { begin(at: index, &start) }
                guard open(byte) else { continue }
                if case .object(let isWrapper) = place {
                    place = .outside
                    if isWrapper {
                        forget()
                        continue
                    }
                }
                try end(index + 1)
            }
        }
        if hasBegun { keep(chunk[start...]) }
        return nil
    }

    // MARK: Characters

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Whether an object that begins here cannot be part of the item: inside an object, it may only follow a colon.
    private var isBroken: Bool {
        if case .object(isWrapper: true) = place { return false }
        return braces > 0 && brackets == 0 && last != UInt8(ascii: ":")
    }

    /// Returns the bytes without trailing white space.
    private static func withoutBlanks(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes[..<(bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? bytes.startIndex)]
    }

    private mutating func pass(quoted byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\n"): (isQuoted, isEscaped) = (false, false)
        case _ where isEscaped: isEscaped = false
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): isQuoted = false
        default: break
        }
    }

    /// Records a character of the item. Returns true if the item ends there.
    private mutating func open(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""): isQuoted = true
        case UInt8(ascii: "{"): braces += 1
        case UInt8(ascii: "["): brackets += 1
        case UInt8(ascii: "}") where braces > 0:
            braces -= 1
            return braces == 0
        case UInt8(ascii: "]") where brackets > 0: brackets -= 1
        default: break
        }
        return false
    }

    /// Whether the text before an opening bracket is the name of the list of items.
    private func isList(behind bytes: ArraySlice<UInt8>) -> Bool {
        let near = 64
        let text = kept.suffix(near) + bytes.suffix(near)
        let name = Self.withoutBlanks(text[...])
        guard name.last == UInt8(ascii: ":") else { return false }
        return Self.withoutBlanks(name.dropLast()).suffix(Self.listName.count).elementsEqual(Self.listName)
    }

    // MARK: Items

    private mutating func begin(at index: Int, _ start: inout Int) {
        (start, hasBegun, itemLine) = (index, true, line)
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard hasBegun else { return }
        // Of an object around the list, only the end is examined.
        if case .object(isWrapper: true) = place {
            kept = Array((kept + bytes.suffix(maximumLength)).suffix(Self.listName.count + 8))
        } else if isTooLong || kept.count + bytes.count > maximumLength {
            (kept, isTooLong) = ([], true)
        } else {
            kept += bytes
        }
    }

    /// Returns the current item. After a broken item, a comma precedes the next one.
    private mutating func takeItem(isBroken: Bool) -> Item? {
        guard hasBegun else { return nil }
        var bytes = Self.withoutBlanks(kept[...])
        if isBroken, bytes.last == UInt8(ascii: ",") { bytes = Self.withoutBlanks(bytes.dropLast()) }
        number += 1
        defer { forget() }
        return Item(number: number, line: itemLine, bytes: Array(bytes), isTooLong: isTooLong)
    }

    private mutating func forget() {
        kept.removeAll(keepingCapacity: kept.count < 1 << 16)
        (braces, brackets, isTooLong, hasBegun) = (0, 0, false, false)
    }
}

extension JSONObject {
    /// A remedy that extracts the records from an object that wraps them, as API replies do; nil if it wraps none.
    package var unwrapping: String? {
        for name in ["data", "profiles", "contacts", "content", "items", "rows", "records", "results"] {
            guard let value = self[name] else { continue }
            let isList = value.array?.first?.object != nil
            guard isList || value.object != nil else { continue }
            return
                "The object wraps its records in the member \"\(name)\". Take them out: jq -c '.\(name)\(isList ? "[]" : "")' "
                + "FILE > records.ndjson."
        }
        if self["attributeSets"]?.array != nil {
            return
                "The object is a request of the contacts API. Export the contacts as a file, or write one object with a member for "
                + "each attribute."
        }
        return nil
    }
}
