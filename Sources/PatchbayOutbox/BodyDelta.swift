/// The delta of a capture's body to the body before it in its row: what an app captures in one breath is mostly alike.
///
/// | part | form |
/// |---|---|
/// | time | since when it waits, less the one before, as a zigzag number (0, -1, 1, -2 … are 0, 1, 2, 3 …) |
/// | end | how many bytes of the other body's end come last |
/// | steps, until the delta ends | how many bytes are as at the same place of the other body, how many follow, and these |
///
/// Every number is a varint: seven bits a byte, the lowest first, with the eighth bit set where more follow.
enum BodyDelta {
    /// Writes the delta.
    ///
    /// - Returns: the bytes that it takes; nil if there is no room for it.
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
            // From a word on, bytes that are alike are worth a step.
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

    /// Reads what `write` wrote.
    ///
    /// - Returns: the capture; nil where this can be no delta to that one.
    static func read(_ delta: ArraySlice<UInt8>, after other: StagedCapture) -> StagedCapture? {
        var rest = delta
        guard let time = number(&rest), let end = number(&rest), end <= other.body.count else { return nil }
        let since = other.since.addingReportingOverflow(Int64(bitPattern: time >> 1) ^ -Int64(bitPattern: time & 1))
        var body: [UInt8] = []
        body.reserveCapacity(other.body.count)
        while !rest.isEmpty {
            // No byte of the other body comes twice: so a body is no longer than that one and the delta together.
            guard let kept = number(&rest), let count = number(&rest), count <= rest.count,
                kept <= max(0, other.body.count - Int(end) - body.count)
            else { return nil }
            body += other.body[body.count..<body.count + Int(kept)]
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

    /// How many bytes are alike, counted from the ends.
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

    /// The first place from `start` on where they differ, or `last`.
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

    /// What is written, as far as there is room.
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
