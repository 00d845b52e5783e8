import PatchbayModel

/// What is said of a file of JSON where rows of delimited text are read.
enum JSONFile {
    /// More white space than this stands before no record.
    private static let headLimit = 1024

    /// Whether bytes begin as JSON that holds records, a list of objects or an object; nil if there are too few to tell.
    static func begins(with bytes: [UInt8]) -> Bool? {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let marks = text.lazy.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.prefix(2)
        switch (marks.first, marks.dropFirst().first) {
        case (UInt8(ascii: "[")?, let next?): return next == UInt8(ascii: "{") || next == UInt8(ascii: "]")
        case (UInt8(ascii: "{")?, let next?): return next == UInt8(ascii: "\"") || next == UInt8(ascii: "}")
        case (UInt8(ascii: "[")?, nil), (UInt8(ascii: "{")?, nil), (nil, _):
            return bytes.count > headLimit ? false : nil
        default: return false
        }
    }

    /// The same finding about a file that is JSON.
    static func finding(_ finding: Finding) -> Finding {
        var finding = finding
        finding.reason = "The file is JSON, and this format reads rows of delimited text."
        finding.remedy = "Export delimited text, or write each object as a line of the format neutral.contacts."
        return finding
    }
}
