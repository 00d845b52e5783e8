/// Splits a stream of newline-delimited records into its lines, whatever the sizes of the chunks it arrives in.
///
/// A line ends with LF or CR LF; the last one needs no end. Memory stays at one chunk and one line. An empty line is a
/// line; nothing after the last line end is none.
///
/// ```swift
/// splitter.append(chunk)                            // or splitter.finish() after the last chunk
/// while let line = splitter.next() { … }            // nil: append more, or the input is at its end
/// ```
public struct LineSplitter: Sendable {
    /// One line of the input.
    public struct Line: Hashable, Sendable {
        /// The line's number, from 1.
        public let number: Int
        /// Bytes of input before the line.
        public let offset: Int
        /// The line without its end.
        public let bytes: ArraySlice<UInt8>
    }

    /// A line that is longer than the limit.
    ///
    /// It was passed over; reading goes on with the next.
    public struct TooLong: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line's number, from 1.
        public let number: Int
        /// Bytes of input before the line.
        public let offset: Int
        /// The line's length in bytes, without its end.
        public let length: Int
        /// The length that was allowed, in bytes.
        public let limit: Int

        /// One sentence with where, what, and the way out.
        public var description: String {
            "line \(number): \(length) bytes, the limit is \(limit). Split the record, or raise the limit."
        }
    }

    private let maximumLength: Int
    /// What was appended and not yet looked at.
    private var pending: ArraySlice<UInt8> = []
    /// The start of a line whose end was not seen; at most `maximumLength + 1` bytes, because the last may be a CR.
    private var carried: [UInt8] = []
    /// Bytes of the line before `pending`: `carried.count`, or more in a line that is too long.
    private var length = 0
    private var endsInCarriageReturn = false
    private var isFinished = false
    private var number = 1
    private var offset = 0

    /// Creates a splitter at the start of an input.
    ///
    /// - Parameter maximumLength: the longest line that is handed out, in bytes without its end.
    public init(maximumLength: Int = RecordLength.usual) { self.maximumLength = maximumLength }

    /// Adds the next chunk of the input.
    ///
    /// Call ``next()`` until it answers nil before the next chunk; otherwise what is left of the last one is copied.
    public mutating func append(_ chunk: some Collection<UInt8>) {
        if pending.isEmpty { pending = ArraySlice(chunk) } else { pending.append(contentsOf: chunk) }
    }

    /// Says that no more chunks come, so that a last line without an end is handed out.
    public mutating func finish() { isFinished = true }

    /// The next line, or word of one that is too long; nil if more input is needed or none is left.
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

    /// Hands out the carried line and starts the next.
    ///
    /// `end` is 1 if a newline stood after the line, 0 at the end of the input.
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
