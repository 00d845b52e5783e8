/// One record of delimited text.
public struct DelimitedRecord: Hashable, Sendable {
    /// The record's number, from 1; faulty records count, the header is number 0.
    public let number: Int
    /// The line on which the record starts, from 1.
    public let line: Int
    /// The fields, unquoted.
    public let fields: [String]
    /// The record exactly as it stood in the input, with its line end if it had one.
    public let bytes: [UInt8]
}

/// Why a stretch of delimited text is no record, and where it stands.
///
/// Reading goes on after a fault; see ``DelimitedReader`` for where.
public struct DelimitedFault: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// After a closing quote stands something else than a delimiter or a line end.
        case textAfterQuote
        /// A quoted field did not end before the input or the record limit did.
        case unterminatedQuote
        /// The record is longer than the limit.
        case recordTooLong
        /// A field is not UTF-8.
        case invalidUTF8
    }

    /// What is wrong.
    public let code: Code
    /// The record's number, counted like ``DelimitedRecord/number``.
    public let number: Int
    /// The line on which the record starts, from 1.
    public let line: Int
    /// The position of the field that is wrong, from 1.
    public let field: Int
    /// The faulty stretch exactly as it stood in the input, for a file of rejects; empty if it is longer than the limit.
    public let bytes: [UInt8]
}

extension DelimitedFault: CustomStringConvertible {
    /// What to change so that the record can be read.
    public var remedy: String {
        switch code {
        case .textAfterQuote: "Write a quote inside a quoted field twice."
        case .unterminatedQuote: "Close the quote, or write a quote inside a quoted field twice."
        case .recordTooLong: "Shorten the record, or raise the reader's limit."
        case .invalidUTF8: "Save the file as UTF-8."
        }
    }

    /// What and where, and the remedy; never the record's text.
    public var description: String {
        let what =
            switch code {
            case .textAfterQuote: "text after the closing quote"
            case .unterminatedQuote: "a quote that is never closed"
            case .recordTooLong: "longer than the record limit"
            case .invalidUTF8: "not UTF-8"
            }
        return "record \(number) (line \(line)), field \(field): \(what). \(remedy)"
    }
}
