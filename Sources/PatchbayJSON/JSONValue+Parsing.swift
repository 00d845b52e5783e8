extension JSONValue {
    /// A tree is freed and walked by recursion; this many levels fit the smallest stack that the platforms give a thread.
    static let deepestTree = 2048

    /// Reads one JSON text (RFC 8259).
    ///
    /// - Parameters:
    ///   - text: one value, with nothing but white space around it.
    ///   - maximumDepth: how many arrays and objects may stand inside each other; above 2,048 counts as 2,048.
    ///   - duplicateNames: what to do where a name stands twice in one object.
    /// - Throws: ``JSONError`` with the place of the first fault.
    public init(
        parsing text: String,
        maximumDepth: Int = 512,
        duplicateNames: JSONReader.DuplicateNames = .refuse
    ) throws(JSONError) {
        try self.init(parsing: text.utf8, maximumDepth: maximumDepth, duplicateNames: duplicateNames)
    }

    /// Reads one JSON text (RFC 8259) from its UTF-8 bytes.
    ///
    /// - Parameters:
    ///   - bytes: one value, with nothing but white space around it.
    ///   - maximumDepth: how many arrays and objects may stand inside each other; above 2,048 counts as 2,048.
    ///   - duplicateNames: what to do where a name stands twice in one object.
    /// - Throws: ``JSONError`` with the place of the first fault.
    public init(
        parsing bytes: some Collection<UInt8>,
        maximumDepth: Int = 512,
        duplicateNames: JSONReader.DuplicateNames = .refuse
    ) throws(JSONError) {
        if duplicateNames == .refuse, let value = JSONValue.scanned(bytes, maximumDepth: maximumDepth) {
            self = value
            return
        }
        self = try JSONReader.read(
            bytes,
            maximumDepth: min(maximumDepth, JSONValue.deepestTree),
            duplicateNames: duplicateNames
        ) { reader throws(JSONError) in
            let value = try reader.value()
            _ = try reader.next()
            return value
        }
    }

    /// The value of a text that is sound and not deep, as most are; nil leaves the text to the reader.
    private static func scanned(_ bytes: some Collection<UInt8>, maximumDepth: Int) -> JSONValue? {
        var value: JSONValue?
        let isWhole = bytes.withContiguousStorageIfAvailable { bytes in
            JSONScanner.scan(bytes, maximumDepth: maximumDepth) { scanner throws(NotPlain) in
                value = try scanner.text()
            }
        }
        return isWhole == true ? value : nil
    }
}
