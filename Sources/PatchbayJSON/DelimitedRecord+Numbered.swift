extension DelimitedRecord {
    /// The same record at another place of a file.
    public func at(number: Int, line: Int) -> DelimitedRecord {
        DelimitedRecord(number: number, line: line, fields: fields, bytes: bytes)
    }
}

extension DelimitedFault {
    /// The same fault at another place of a file.
    public func at(number: Int, line: Int) -> DelimitedFault {
        DelimitedFault(code: code, number: number, line: line, field: field, bytes: bytes)
    }
}
