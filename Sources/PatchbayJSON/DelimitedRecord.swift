/// A record of delimited text.
public struct DelimitedRecord: Hashable, Sendable {
    /// The number of the record, from 1. Faulty records count; the header has number 0.
    public let number: Int
    /// The line on which the record starts, from 1.
    public let line: Int
    /// The fields, unquoted.
    public let fields: [String]
    /// The bytes of the record as they are in the input, including its line end if it has one.
    public let bytes: [UInt8]
}

/// The reason why a part of delimited text is not a valid record, and its position.
///
/// Reading resumes after a fault; see ``DelimitedReader``.
public struct DelimitedFault: Error, Hashable, Sendable {
    /// The kinds of fault.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A closing quote is followed by something other than a delimiter or a line end.
        case textAfterQuote
        /// A quoted field does not end before the end of the input or the maximum record length.
        case unterminatedQuote
        /// The record exceeds the maximum length.
        case recordTooLong
        /// A field is not UTF-8.
        case invalidUTF8
    }

    /// The kind of fault.
    public let code: Code
    /// The number of the record, as in ``DelimitedRecord/number``.
    public let number: Int
    /// The line on which the record starts, from 1.
    public let line: Int
    /// The position of the faulty field, from 1.
    public let field: Int
    /// The faulty bytes as they are in the input, for a file of rejects; empty if they exceed the maximum length.
    public let bytes: [UInt8]
}

extension DelimitedFault: CustomStringConvertible {
    /// The change that makes the record readable.
    public var remedy: String {
        switch code {
        case .textAfterQuote: "Write a quote inside a quoted field twice."
        case .unterminatedQuote: "Close the quote, or write a quote inside a quoted field twice."
        case .recordTooLong: "Shorten the record, or raise the reader's limit."
        case .invalidUTF8: "Save the file as UTF-8."
        }
    }

    /// The fault, its position, and the remedy, without the record's text.
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
