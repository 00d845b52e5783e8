/// Splits a stream of newline-delimited records into lines, in chunks of any size.
///
/// A line ends with LF or CR LF; the last one needs no line end. The splitter stores at most one chunk and one line. An empty
/// line counts as a line, but an empty rest after the last line end does not.
///
/// ```swift
/// splitter.append(chunk)                            // or splitter.finish() after the last chunk
/// while let line = splitter.next() { … }            // nil: append more, or the input is at its end
/// ```
public struct LineSplitter: Sendable {
    /// A line of the input.
    public struct Line: Hashable, Sendable {
        /// The line's number, from 1.
        public let number: Int
        /// The offset of the line in the input, in bytes.
        public let offset: Int
        /// The line without its end.
        public let bytes: ArraySlice<UInt8>
    }

    /// A line that exceeds the maximum length.
    ///
    /// It was skipped; reading continues with the next line.
    public struct TooLong: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line's number, from 1.
        public let number: Int
        /// The offset of the line in the input, in bytes.
        public let offset: Int
        /// The line's length in bytes, without its end.
        public let length: Int
        /// The maximum length in bytes.
        public let limit: Int

        /// One sentence with the position, the problem, and the remedy.
        public var description: String {
            "line \(number): \(length) bytes, the limit is \(limit). Split the record, or raise the limit."
        }
    }

    private let maximumLength: Int
    /// Appended bytes that have not been processed yet.
    private var pending: ArraySlice<UInt8> = []
    /// The start of a line whose end has not been read yet; at most `maximumLength + 1` bytes, because the last may be a CR.
    private var carried: [UInt8] = []
    /// The number of bytes of the line before `pending`: `carried.count`, or more in an overlong line.
    private var length = 0
    private var endsInCarriageReturn = false
    private var isFinished = false
    private var number = 1
    private var offset = 0

    /// Creates a splitter at the start of an input.
    ///
    /// - Parameter maximumLength: The maximum length of a line in bytes, without its end.
    public init(maximumLength: Int = RecordLength.usual) { self.maximumLength = maximumLength }

    /// Adds the next chunk of the input.
    ///
    /// Call ``next()`` until it returns nil before you add the next chunk. Otherwise the rest of the last chunk is copied.
    public mutating func append(_ chunk: some Collection<UInt8>) {
        if pending.isEmpty { pending = ArraySlice(chunk) } else { pending.append(contentsOf: chunk) }
    }

    /// Ends the input, so that a last line without an end is returned.
    public mutating func finish() { isFinished = true }

    /// Returns the next line, or the error for an overlong one; nil if more input is needed or none is left.
    public mutating func next() -> Result<Line, TooLong>? {
        let newline = pending.withUnsafeBufferPointer { ByteScan.firstIndex(of: 0x0A, in: $0, from: 0) }
        guard let newline else {
            carry(pending)
            pending = []
            guard isFinished, length > 0 else { return nil }
            return take(end: 0)
        }
        let line = pending.prefix(newline)
        pending = pending.dropFirst(newline + 1)
        if length == 0 {
            let content = line.last == 0x0D ? line.dropLast() : line
            defer { advance(by: line.count + 1) }
            guard content.count <= maximumLength else { return .failure(tooLong(content.count)) }
            return .success(Line(number: number, offset: offset, bytes: content))
        }
        carry(line)
        return take(end: 1)
    }

    private mutating func carry(_ piece: ArraySlice<UInt8>) {
        guard let last = piece.last else { return }
        length += piece.count
        endsInCarriageReturn = last == 0x0D
        if length <= maximumLength + 1 { carried.append(contentsOf: piece) } else { carried = [] }
    }

    /// Returns the carried line and starts the next one.
    ///
    /// `end` is 1 if a newline follows the line, 0 at the end of the input.
    private mutating func take(end: Int) -> Result<Line, TooLong> {
        let contentLength = end == 1 && endsInCarriageReturn ? length - 1 : length
        defer {
            carried.removeAll(keepingCapacity: true)
            advance(by: length + end)
            length = 0
            endsInCarriageReturn = false
        }
        guard contentLength <= maximumLength else { return .failure(tooLong(contentLength)) }
        return .success(Line(number: number, offset: offset, bytes: carried.prefix(contentLength)))
    }

    private func tooLong(_ length: Int) -> TooLong {
        TooLong(number: number, offset: offset, length: length, limit: maximumLength)
    }

    private mutating func advance(by count: Int) {
        number += 1
        offset += count
    }
}
