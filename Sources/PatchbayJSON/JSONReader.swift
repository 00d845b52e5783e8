// Interim reader; the streaming reader replaces it.
extension JSONValue {
    public init(parsing text: String, maximumDepth: Int = 512) throws(JSONError) {
        throw JSONError(code: .unexpectedEnd, offset: 0, line: 1, column: 1)
    }
    public init(parsing bytes: some Collection<UInt8>, maximumDepth: Int = 512) throws(JSONError) {
        throw JSONError(code: .unexpectedEnd, offset: 0, line: 1, column: 1)
    }
}
