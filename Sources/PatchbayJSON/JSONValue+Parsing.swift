extension JSONValue {
    /// The maximum depth of a tree. Trees are freed and traversed recursively, and this depth fits the smallest thread stack of
    /// all platforms.
    static let deepestTree = 2048

    /// Parses one JSON text (RFC 8259).
    ///
    /// - Parameters:
    ///   - text: One value, optionally surrounded by white space.
    ///   - maximumDepth: The maximum nesting depth of arrays and objects, at most 2,048.
    ///   - duplicateNames: The treatment of a name that occurs twice in one object.
    /// - Throws: ``JSONError`` with the position of the first error.
    public init(
        parsing text: String,
        maximumDepth: Int = 512,
        duplicateNames: JSONReader.DuplicateNames = .refuse
    ) throws(JSONError) {
        try self.init(parsing: text.utf8, maximumDepth: maximumDepth, duplicateNames: duplicateNames)
    }

    /// Parses one JSON text (RFC 8259) from its UTF-8 bytes.
    ///
    /// - Parameters:
    ///   - bytes: One value, optionally surrounded by white space.
    ///   - maximumDepth: The maximum nesting depth of arrays and objects, at most 2,048.
    ///   - duplicateNames: The treatment of a name that occurs twice in one object.
    /// - Throws: ``JSONError`` with the position of the first error.
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

    /// Returns the value of a valid and shallow text, which is the usual case; nil leaves the text to the reader.
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
