import PatchbayAdapterKit
import PatchbayJSON

/// The kind of a file without records of the expected format, if its first bytes prove it.
package enum UnrecognizedFile {
    /// A packed file, which must be unpacked first.
    case packed
    /// A workbook of a spreadsheet program.
    case workbook
    /// A file with a UTF-16 byte-order mark.
    case wide
    /// A JSON file, although rows are expected.
    case json
    /// A file of rows, although JSON is expected.
    case rows

    /// Returns the finding adapted to a file of this kind.
    func finding(_ finding: Finding) -> Finding {
        var finding = finding
        (finding.reason, finding.remedy) = words
        return finding
    }

    private var words: (reason: String, remedy: String) {
        switch self {
        case .packed:
            (
                "The file is compressed (gzip or ZIP).",
                "Decompress it: zcat FILE | patchbay migrate …, or unzip -p FILE | patchbay migrate …"
            )
        case .workbook:
            (
                "The file is an Excel workbook (.xlsx), and this format reads rows of delimited text.",
                "Open it in Excel, choose File > Save As (or Export > Change File Type), select \"CSV UTF-8 (Comma delimited) (*.csv)\", save "
                    + "each sheet by itself, and set the delimiter that Excel wrote."
            )
        case .wide:
            (
                "The file begins like UTF-16, and JSON is read as UTF-8.",
                "Convert it on the way: iconv -f UTF-16 -t UTF-8 FILE | patchbay migrate …"
            )
        case .json:
            (
                "The file is JSON, and this format reads rows of delimited text.",
                "Name the format of the JSON with --from (`patchbay adapters` lists the formats), or export delimited text."
            )
        case .rows:
            (
                "The file contains rows of delimited text, but this format requires JSON with one object per line.",
                "Name the format of the rows as the source; `patchbay adapters` lists the formats."
            )
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Whether bytes begin like a gzip or a ZIP file.
    static func isPacked(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x50, 0x4B, 0x03, 0x04])
    }

    /// Whether bytes begin like a workbook, which is a ZIP file.
    package static func isWorkbook(_ bytes: [UInt8]) -> Bool {
        let names = String(decoding: bytes.prefix(4096), as: UTF8.self)
        return isPacked(bytes) && ["[Content_Types].xml", "xl/", "_rels/"].contains(where: names.contains)
    }

    /// Whether bytes begin with a UTF-16 byte-order mark.
    static func isWide(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    }

    // MARK: Detection when rows are expected

    /// The maximum amount of white space before a record.
    private static let blankLimit = 1024

    /// Whether bytes begin like JSON that contains records (a list of objects or an object); nil if there are too few bytes.
    package static func isJSON(_ bytes: [UInt8]) -> Bool? {
        let marks = bytes.withoutByteOrderMark.lazy.filter { !isBlank($0) }.prefix(2)
        switch (marks.first, marks.dropFirst().first) {
        case (UInt8(ascii: "[")?, let next?): return next == UInt8(ascii: "{") || next == UInt8(ascii: "]")
        case (UInt8(ascii: "{")?, let next?): return next == UInt8(ascii: "\"") || next == UInt8(ascii: "}")
        case (UInt8(ascii: "[")?, nil), (UInt8(ascii: "{")?, nil), (nil, _):
            return bytes.count > blankLimit ? false : nil
        default: return false
        }
    }

    // MARK: Detection when lines of JSON are expected

    /// The kind of lines at the beginning of a file.
    enum Lines {
        /// Lines to read. Some of them may be damaged.
        case readable
        /// Objects of an array, or of several lines each.
        case items
        /// No line is JSON.
        case unrecognized(UnrecognizedFile)
        /// More bytes are needed.
        case open
    }

    /// The number of bytes in which a header and a row are searched for.
    private static let rowLimit = 8 << 10

    /// Returns the kind of lines in a file that is expected to contain lines of JSON. `isWhole` means that no bytes follow.
    static func lines(_ bytes: [UInt8], isWhole: Bool) -> Lines {
        let isOpen = !isWhole && bytes.count <= rowLimit
        if isOpen, bytes.count < 4, bytes.first != UInt8(ascii: "{") { return .open }
        if isPacked(bytes) { return .unrecognized(.packed) }
        if isWide(bytes) { return .unrecognized(.wide) }
        let text = bytes.withoutByteOrderMark.drop(while: isBlank)
        guard let first = text.first else { return isOpen ? .open : .readable }
        if isBracket(first) { return areItems(text).map { $0 ? .items : .readable } ?? (isOpen ? .open : .readable) }
        for delimiter in [",", ";", "\t", "|"] as [Unicode.Scalar] {
            switch rows(text, between: UInt8(ascii: delimiter), isWhole: !isOpen) {
            case true?: return .unrecognized(.rows)
            case nil: return .open
            case false?: continue
            }
        }
        return .readable
    }

    /// Whether a text that begins with a bracket is an array of objects, or has objects of several lines each; nil if there is
    /// too little of it.
    private static func areItems(_ text: ArraySlice<UInt8>) -> Bool? {
        if text.first == UInt8(ascii: "[") {
            return text.dropFirst().first { !isBlank($0) }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "]") }
        }
        var (depth, isQuoted, isEscaped, last) = (0, false, false, UInt8(0))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\n"):
                // A truncated line does not end at its proper place.
                return depth > 0 && !isQuoted
                    && [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ",")].contains(last)
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "{") where !isQuoted, UInt8(ascii: "[") where !isQuoted: depth += 1
            case UInt8(ascii: "}") where !isQuoted, UInt8(ascii: "]") where !isQuoted: depth -= 1
            default: break
            }
            if !isBlank(byte) { last = byte }
        }
        return depth > 0 || isQuoted ? nil : false
    }

    /// Whether a text begins with a header of several names and a row with as many fields; nil if there is too little of it.
    ///
    /// A damaged line of JSON is not a header: it contains a bracket or a member's name, or is followed by a line of JSON.
    private static func rows(_ text: ArraySlice<UInt8>, between delimiter: UInt8, isWhole: Bool) -> Bool? {
        var reader = DelimitedReader(dialect: DelimitedDialect(delimiter: delimiter))
        reader.append(text)
        if isWhole { reader.finish() }
        let row = reader.next()
        guard let header = reader.header else { return row == nil && !isWhole ? nil : false }
        let hasMember = zip(header.bytes, header.bytes.dropFirst()).contains { $0 == (0x22, UInt8(ascii: ":")) }
        guard header.fields.count > 1, !hasMember, !header.bytes.contains(where: isBracket) else { return false }
        guard let row else { return isWhole ? false : nil }
        guard case .success(let row) = row, let first = row.bytes.first(where: { !isBlank($0) }) else { return false }
        return !isBracket(first) && row.fields.count == header.fields.count
    }

    private static func isBracket(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]")].contains(byte)
    }
}
