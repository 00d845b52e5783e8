extension DelimitedRecord {
    /// Returns the record with another position in a file.
    public func at(number: Int, line: Int) -> DelimitedRecord {
        DelimitedRecord(number: number, line: line, fields: fields, bytes: bytes)
    }
}

extension DelimitedFault {
    /// Returns the fault with another position in a file.
    public func at(number: Int, line: Int) -> DelimitedFault {
        DelimitedFault(code: code, number: number, line: line, field: field, bytes: bytes)
    }
}
