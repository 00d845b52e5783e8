/// Reads delimited text record by record, in chunks of any size.
///
/// ```swift
/// reader.append(chunk)                              // or reader.finish() after the last chunk
/// while let row = reader.next() { … }               // nil: append more, or the input is at its end
/// ```
///
/// A record ends with LF or CR LF outside quotes; the last one needs no line end. An empty line is not a record. A CR without
/// LF, and a quote inside a bare field, are ordinary characters. The reader does not check the number of fields.
///
/// **After a fault.** A record with an invalid quote ends at the first line end after the opening quote of the faulty field,
/// even if the quoted text seemed to continue over several lines. Reading resumes on the next line. One invalid quote therefore
/// costs one row, not the rest of the file. If the faulty field contains real line breaks, its remaining lines are read as
/// separate rows, mostly with a wrong number of fields. A record that exceeds the maximum length ends at its next line end.
public struct DelimitedReader: Sendable {
    /// The state of the reader within a record.
    private enum State {
        case fieldStart, bare, quoted, quoteInQuoted, returnAfterQuote, overlong, faulty

        var isQuoted: Bool { self == .quoted || self == .quoteInQuoted || self == .returnAfterQuote }
    }

    /// The range of a field's content in `buffer`, without its quotes.
    private struct Field {
        var range: Range<Int>
        var hasDoubledQuotes: Bool
    }

    private let dialect: DelimitedDialect
    private let maximumLength: Int

    // `record <= content <= cursor <= buffer.count`; all bytes before `record` have been processed.
    private var buffer: [UInt8] = []
    /// The start of the record.
    private var record = 0
    /// The start of the current field's content.
    private var content = 0
    /// The end of the content of the last field.
    private var fieldEnd = 0
    /// The next byte to read.
    private var cursor = 0
    private var state = State.fieldStart
    private var hasDoubledQuotes = false
    private var fields: [Field] = []
    private var isAtStart = true
    private var isFinished = false
    private var number: Int
    private var line = 1
    private var blankRows = 0
    /// The number of line feeds in the discarded bytes of an overlong record.
    private var droppedLines = 0

    /// The record with the column names, once it has been read; nil in a dialect without a header.
    public private(set) var header: DelimitedRecord?

    /// Creates a reader at the start of an input.
    ///
    /// - Parameters:
    ///   - dialect: The delimiter and the quote, and whether there are quotes and a header.
    ///   - maximumLength: The maximum length of a record in bytes, including its line end.
    public init(dialect: DelimitedDialect, maximumLength: Int = RecordLength.usual) {
        self.dialect = dialect
        self.maximumLength = maximumLength
        number = dialect.hasHeader ? 0 : 1
    }

    /// Adds the next chunk of the input.
    public mutating func append(_ chunk: some Collection<UInt8>) {
        forgetTheDone()
        buffer.append(contentsOf: chunk)
    }

    /// Returns the number of blank rows skipped since the last call.
    public mutating func takeBlankRows() -> Int {
        defer { blankRows = 0 }
        return blankRows
    }

    /// Ends the input, so that a last record without a line end is returned.
    public mutating func finish() { isFinished = true }

    /// Returns the next record or fault; nil if more input is needed or none is left.
    ///
    /// The header is not returned here; it is stored in ``header``.
    public mutating func next() -> Result<DelimitedRecord, DelimitedFault>? {
        while let row = nextRow() {
            guard case .success(let record) = row, record.number == 0 else {
                return row
            }
            header = record
        }
        return nil
    }

    // MARK: Rows

    private mutating func nextRow() -> Result<DelimitedRecord, DelimitedFault>? {
        guard passByteOrderMark() else { return nil }
        while true {
            switch scan() {
            case .recordEnd where fields.isEmpty && fieldEnd == record:
                startRecord()
            case .recordEnd where isBlank:
                blankRows += 1
                startRecord()
            case .recordEnd:
                return takeRecord()
            case .faultEnd:
                return takeFault(.textAfterQuote)
            case .overlongEnd:
                return takeFault(.recordTooLong)
            case .textAfterQuote:
                if rewindToLineEnd() { return takeFault(.textAfterQuote) }
                state = .faulty
            case .overflow:
                if state.isQuoted, rewindToLineEnd() { return takeFault(.unterminatedQuote) }
                dropOverlong()
            case .exhausted:
                if state == .overlong { dropOverlong() }
                return isFinished ? takeLast() : nil
            }
        }
    }

    /// Whether the dialect skips the row that ends at the cursor.
    private var isBlank: Bool { number > 0 && dialect.isBlank(buffer[record..<cursor]) }

    /// Returns the remaining record at the end of the input.
    private mutating func takeLast() -> Result<DelimitedRecord, DelimitedFault>? {
        switch state {
        case .overlong:
            return takeFault(.recordTooLong)
        case .fieldStart, .bare:
            guard record < buffer.count else { return nil }
            if number > 0, dialect.isBlank(buffer[record...]) {
                blankRows += 1
                startRecord()
                return nil
            }
            fieldEnd = cursor
            return takeRecord()
        case .quoteInQuoted:
            return takeRecord()
        case .quoted:
            rewindToLineEnd()
            return takeFault(.unterminatedQuote)
        case .returnAfterQuote:
            rewindToLineEnd()
            return takeFault(.textAfterQuote)
        case .faulty:
            return takeFault(.textAfterQuote)
        }
    }

    /// Returns the record up to the cursor, whose last field extends from `content` to `fieldEnd`.
    private mutating func takeRecord() -> Result<DelimitedRecord, DelimitedFault> {
        endField()
        var texts: [String] = []
        texts.reserveCapacity(fields.count)
        for field in fields {
            guard let text = text(of: field) else {
                fields.removeSubrange(texts.count...)
                return takeFault(.invalidUTF8)
            }
            texts.append(text)
        }
        defer { endRecord() }
        return .success(
            DelimitedRecord(number: number, line: line, fields: texts, bytes: Array(buffer[record..<cursor]))
        )
    }

    /// Returns the bytes up to the cursor as a fault of the field after those that were read.
    private mutating func takeFault(_ code: DelimitedFault.Code) -> Result<DelimitedRecord, DelimitedFault> {
        defer { endRecord() }
        let bytes = code == .recordTooLong ? [] : Array(buffer[record..<cursor])
        return .failure(
            DelimitedFault(code: code, number: number, line: line, field: fields.count + 1, bytes: bytes)
        )
    }

    private func text(of field: Field) -> String? {
        guard field.hasDoubledQuotes else {
            return buffer.withUnsafeBufferPointer { UTF8Scan.text(UnsafeBufferPointer(rebasing: $0[field.range])) }
        }
        var content: [UInt8] = []
        content.reserveCapacity(field.range.count)
        var index = field.range.lowerBound
        while index < field.range.upperBound {
            content.append(buffer[index])
            index += buffer[index] == dialect.quote ? 2 : 1
        }
        return content.withUnsafeBufferPointer(UTF8Scan.text)
    }

    private mutating func endRecord() {
        number += 1
        startRecord()
    }

    private mutating func startRecord() {
        line += droppedLines + lineFeeds(in: record..<cursor)
        droppedLines = 0
        fields.removeAll(keepingCapacity: true)
        state = .fieldStart
        record = cursor
        content = cursor
    }

    private func lineFeeds(in range: Range<Int>) -> Int {
        buffer[range].reduce(into: 0) { count, byte in if byte == lineFeed { count += 1 } }
    }

    // MARK: Bytes

    private enum Event { case recordEnd, faultEnd, overlongEnd, textAfterQuote, overflow, exhausted }

    /// Moves the cursor to the next byte that is significant in the current state.
    private mutating func scan() -> Event {
        let hasQuotes = dialect.quoting != .never
        let end = state == .overlong ? buffer.count : min(buffer.count, record + maximumLength)
        while cursor < end {
            let byte = buffer[cursor]
            switch state {
            case .fieldStart:
                hasDoubledQuotes = false
                let isQuote = hasQuotes && byte == dialect.quote
                state = isQuote ? .quoted : .bare
                if isQuote { cursor += 1 }
                content = cursor
            case .bare:
                let stop = endOfBareText(in: cursor..<end)
                cursor = stop
                guard stop < end else { break }
                cursor += 1
                guard buffer[stop] == dialect.delimiter else {
                    let hasReturn = cursor - 2 >= content && buffer[cursor - 2] == carriageReturn
                    fieldEnd = cursor - (hasReturn ? 2 : 1)
                    return .recordEnd
                }
                fieldEnd = stop
                endField()
            case .quoted:
                guard let quote = firstIndex(of: dialect.quote, in: cursor..<end) else {
                    cursor = end
                    break
                }
                fieldEnd = quote
                cursor = quote + 1
                state = .quoteInQuoted
            case .quoteInQuoted:
                cursor += 1
                switch byte {
                case dialect.quote:
                    hasDoubledQuotes = true
                    state = .quoted
                case dialect.delimiter: endField()
                case lineFeed: return .recordEnd
                case carriageReturn: state = .returnAfterQuote
                default: return .textAfterQuote
                }
            case .returnAfterQuote:
                cursor += 1
                return byte == lineFeed ? .recordEnd : .textAfterQuote
            case .overlong, .faulty:
                guard let newline = firstIndex(of: lineFeed, in: cursor..<end) else {
                    cursor = end
                    break
                }
                cursor = newline + 1
                return state == .overlong ? .overlongEnd : .faultEnd
            }
        }
        return cursor < buffer.count ? .overflow : .exhausted
    }

    /// Adds the field from `content` to `fieldEnd`. The next one starts at the cursor.
    private mutating func endField() {
        fields.append(Field(range: content..<fieldEnd, hasDoubledQuotes: hasDoubledQuotes))
        state = .fieldStart
        content = cursor
    }

    /// Moves the cursor back to the first line end after the opening quote of the current field.
    @discardableResult
    private mutating func rewindToLineEnd() -> Bool {
        guard let newline = firstIndex(of: lineFeed, in: content..<cursor) else { return false }
        cursor = newline + 1
        return true
    }

    /// Discards the bytes of an overlong record, whose line end has not been read yet.
    private mutating func dropOverlong() {
        state = .overlong
        droppedLines += lineFeeds(in: record..<cursor)
        record = cursor
        content = cursor
    }

    /// Returns the first delimiter or line feed in `range`, otherwise its end.
    private func endOfBareText(in range: Range<Int>) -> Int {
        let delimiter = dialect.delimiter
        return buffer.withUnsafeBufferPointer { bytes in
            var index = range.lowerBound
            while index < range.upperBound, bytes[index] != delimiter, bytes[index] != lineFeed { index += 1 }
            return index
        }
    }

    private func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        buffer.withUnsafeBufferPointer { bytes in
            ByteScan.firstIndex(of: byte, in: UnsafeBufferPointer(rebasing: bytes[range]), from: 0)
        }.map { range.lowerBound + $0 }
    }

    /// Removes a byte-order mark at the start of the input. Returns false if more bytes are needed to decide.
    private mutating func passByteOrderMark() -> Bool {
        guard isAtStart else { return true }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if buffer.count < mark.count, !isFinished, mark.starts(with: buffer) { return false }
        isAtStart = false
        if buffer.starts(with: mark) {
            cursor = mark.count
            startRecord()
        }
        return true
    }

    /// Frees the bytes before the record.
    private mutating func forgetTheDone() {
        guard record > 0 else { return }
        buffer.removeFirst(record)
        for index in fields.indices {
            let range = fields[index].range
            fields[index].range = (range.lowerBound - record)..<(range.upperBound - record)
        }
        content -= record
        fieldEnd -= record
        cursor -= record
        record = 0
    }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
