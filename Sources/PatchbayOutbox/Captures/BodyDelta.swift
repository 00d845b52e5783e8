/// A delta that encodes a capture's body relative to the previous body in the same row.
///
/// Captures that the app makes within one commit interval are usually similar, so deltas are small.
///
/// | part | form |
/// |---|---|
/// | time | the capture's `since` minus the previous one's, as a zigzag number (0, -1, 1, -2 … are 0, 1, 2, 3 …) |
/// | end | the number of trailing bytes copied from the end of the previous body |
/// | steps, until the delta ends | the number of bytes copied from the same position, the number of new bytes, the new bytes |
///
/// Every number is a varint: seven bits per byte, lowest first. The eighth bit is set if more bytes follow.
enum BodyDelta {
    /// Writes the delta of a body to another one into a buffer.
    ///
    /// - Returns: The number of bytes written; nil if the buffer is too small.
    static func write(
        _ body: UnsafeRawBufferPointer,
        after other: UnsafeRawBufferPointer,
        since: Int64,
        to room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let most = min(body.count, other.count)
        let end = alikeAtEnd(body, other, most)
        var output = Output(room: room)
        output.put(UInt64(bitPattern: since << 1 ^ since >> 63))
        output.put(UInt64(end))
        let (alike, last) = (most - end, body.count - end)
        var place = 0
        while place < last {
            let kept = endOfAlike(body, other, place, alike)
            var next = kept
            // A new step pays off when at least eight bytes are equal.
            while next + 8 <= alike, body.word(at: next) != other.word(at: next) { next += 1 }
            if next + 8 > alike { next = last }
            output.put(UInt64(kept - place))
            output.put(UInt64(next - kept))
            output.put(UnsafeRawBufferPointer(rebasing: body[kept..<next]))
            guard !output.isFull else { return nil }
            place = next
        }
        return output.isFull ? nil : output.count
    }

    /// Reads a delta that `write` wrote.
    ///
    /// - Returns: The capture; nil if the bytes are not a valid delta to `other`.
    static func read(_ delta: ArraySlice<UInt8>, after other: StagedCapture) -> StagedCapture? {
        var rest = delta
        guard let time = number(&rest), let end = number(&rest), end <= other.body.count else { return nil }
        let since = other.since.addingReportingOverflow(Int64(bitPattern: time >> 1) ^ -Int64(bitPattern: time & 1))
        var body: [UInt8] = []
        body.reserveCapacity(other.body.count)
        while !rest.isEmpty {
            // No byte of the other body is copied twice, so a body is at most as long as the other body and the delta together.
            guard let kept = number(&rest), let count = number(&rest), count <= rest.count,
                kept <= max(0, other.body.count - Int(end) - body.count)
            else { return nil }
            if kept > 0 { body += other.body[body.count..<body.count + Int(kept)] }
            body += rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
        }
        body += other.body.suffix(Int(end))
        return since.overflow ? nil : StagedCapture(since: since.partialValue, body: body)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let byte = rest.popFirst() {
            // The tenth byte holds the highest bit alone.
            guard shift < 63 || byte <= 1 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }

    /// Returns the number of equal bytes, counted from the ends.
    private static func alikeAtEnd(_ body: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, _ most: Int) -> Int
    {
        var end = 0
        while end + 8 <= most {
            let difference = body.word(at: body.count - end - 8) ^ other.word(at: other.count - end - 8)
            guard difference == 0 else { return end + difference.leadingZeroBitCount / 8 }
            end += 8
        }
        while end < most, body[body.count - end - 1] == other[other.count - end - 1] { end += 1 }
        return end
    }

    /// Returns the first position from `start` on at which the bodies differ, or `last`.
    private static func endOfAlike(
        _ body: UnsafeRawBufferPointer,
        _ other: UnsafeRawBufferPointer,
        _ start: Int,
        _ last: Int
    ) -> Int {
        var place = start
        while place + 8 <= last {
            let difference = body.word(at: place) ^ other.word(at: place)
            guard difference == 0 else { return place + difference.trailingZeroBitCount / 8 }
            place += 8
        }
        while place < last, body[place] == other[place] { place += 1 }
        return place
    }

    /// The written bytes, limited by the capacity.
    private struct Output {
        let room: UnsafeMutableRawBufferPointer
        var count = 0
        var isFull = false

        mutating func put(_ number: UInt64) {
            var rest = number
            repeat {
                put(UInt8(truncatingIfNeeded: rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
                rest >>= 7
            } while rest > 0
        }

        mutating func put(_ byte: UInt8) {
            guard count < room.count else { return isFull = true }
            room[count] = byte
            count += 1
        }

        mutating func put(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count <= room.count - count else { return isFull = true }
            UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
            count += bytes.count
        }
    }
}
