import PatchbayJSON

/// Random files of delimited text from a seed: contacts, almost valid contacts, and invalid text.
struct RandomRows {
    private var state: UInt64
    /// The percentage of rows in which some bytes are changed.
    private let mutated: Int

    init(seed: UInt64, mutated: Int) { (state, self.mutated) = (seed, mutated) }

    private mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    private mutating func happens(_ percent: Int) -> Bool { next(100) < percent }

    private mutating func one<Value>(of values: [Value]) -> Value { values[next(values.count)] }

    private static let columns: [(name: String, values: [String])] = [
        ("Contact Key", ["c-1", "member-480013", " c-2 ", ""]),
        (
            "Email Address",
            ["aino@example.com", "a@b", "a@b..c", "a@.b.c", "a@b.c.", "päivi@example.com", "a b@c.d", ""]
        ),
        ("Mobile Number", ["+358401234567", "(040) 123-45.67", "123", "call me", "1234567890123456", ""]),
        (
            "First Name",
            ["Aino", "Päivi", "A \"B\" C", "a,b", "a|b", "two\nlines", "tab\there", "back\\slash", "\u{1}", ""]
        ),
        ("_City", ["Helsinki", " Turku", "\u{A0}Oulu", "Rovaniemi\u{3000}", "x \u{301}", "\u{65}\u{301}"]),
        ("Points", ["42", "-7", "007", "4.5", "", "many"]),
        ("Birthday", ["1990-04-01", "1990/4/1", "4/1/1990", "x", ""]),
        ("Locale", ["fi_FI", ""]), ("_TimeZone", ["Europe/Helsinki", "2", "0.25", "late", ""]),
        ("_Source", ["1", ""]), ("_OptInDate", ["2031/3/9", "", "", "", ""]), ("_DeviceID", ["d-1", "", "", ""]),
        ("Own One", ["a", "b", "\r", "\r\n", "c\r"]),
    ]

    /// Returns a file with this number of rows, and the settings that read it.
    mutating func file(_ count: Int) -> (bytes: [UInt8], settings: JSONObject) {
        let (word, delimiter) = one(of: [("comma", ","), ("tab", "\t"), ("bar", "|")])
        let isQuoted = happens(80)
        let columns = Self.columns.filter { $0.name == "Contact Key" || happens(60) }
        let quoting = isQuoted ? one(of: [0, 30, 100]) : 0
        var bytes: [UInt8] = happens(20) ? [0xEF, 0xBB, 0xBF] : []
        bytes += row(columns.map(\.name), delimiter, quoting, isQuoted)
        for number in 0..<count {
            if happens(2) { bytes += happens(50) ? [0x0A] : [0x0D, 0x0A] }
            var fields = columns.map { column in happens(95) ? one(of: column.values) : "" }
            if happens(2) { fields.append("more") }
            if happens(1) { fields.removeLast() }
            bytes += changed(row(fields, delimiter, quoting, isQuoted, isLast: number == count - 1 && happens(50)))
        }
        let types: JSONValue = ["points": "integer", "birthday": "date"]
        return (bytes, ["delimiter": .string(word), "quoted": .bool(isQuoted), "types": types])
    }

    private mutating func row(
        _ fields: [String],
        _ delimiter: String,
        _ quoting: Int,
        _ isQuoted: Bool,
        isLast: Bool = false
    ) -> [UInt8] {
        let texts = fields.map { field -> String in
            let needs = field.contains { "\",|\n\r\t".contains($0) || $0 == "\r\n" }
            guard isQuoted, happens(quoting) || needs && happens(90) else {
                return isQuoted || happens(10) ? field : field.filter { !"\n\r".contains($0) && $0 != "\r\n" }
            }
            return "\"\(field.replacing("\"", with: "\"\""))\""
        }
        return Array((texts.joined(separator: delimiter) + (isLast ? "" : happens(50) ? "\r\n" : "\n")).utf8)
    }

    private mutating func changed(_ row: [UInt8]) -> [UInt8] {
        guard happens(mutated), !row.isEmpty else { return row }
        var row = row
        for _ in 0...next(2) where !row.isEmpty {
            let place = next(row.count)
            switch next(4) {
            case 0: row[place] = UInt8(next(256))
            case 1: row.remove(at: place)
            default: row.insert(one(of: Array("\"\\,|\t\r\n ".utf8) + [0x80, 0xC3, 0x00]), at: place)
            }
        }
        return row
    }
}
