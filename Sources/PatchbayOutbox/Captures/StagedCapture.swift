/// A staged capture: its body, and the time since which it waits on the engine's timeline, in milliseconds.
///
/// The captures in a row are consecutive. Each is encoded as an integer (`since`) and a blob (the body) of a row's image, or
/// as a ``BodyDelta`` to the previous capture.
package struct StagedCapture: Sendable, Equatable {
    package var since: Int64
    package var body: [UInt8]

    package init(since: Int64, body: [UInt8]) { (self.since, self.body) = (since, body) }

    /// The maximum number of consecutive deltas. It limits how much larger than the stored bytes the decoded captures can be.
    fileprivate static let mostDeltas = 64

    /// Decodes the captures of a row. The row's checksum guarantees that it is complete. Bytes that cannot be decoded become
    /// one capture.
    static func read(_ bytes: [UInt8]) -> [StagedCapture] {
        var (stagedCaptures, deltas): ([StagedCapture], Int) = ([], 0)
        var image = ImageReader(bytes)
        while !image.rest.isEmpty {
            let unread = image.rest
            let isDelta = unread.first == UInt8(ascii: "d")
            guard let stagedCapture = isDelta ? readDelta(&image, stagedCaptures.last, deltas) : readWhole(&image)
            else {
                return stagedCaptures + [StagedCapture(since: 0, body: Array(unread))]
            }
            stagedCaptures.append(stagedCapture)
            deltas = isDelta ? deltas + 1 : 0
        }
        return stagedCaptures
    }

    private static func readWhole(_ image: inout ImageReader) -> StagedCapture? {
        guard let since = image.integer(), let body = image.blob() else { return nil }
        return StagedCapture(since: since, body: body)
    }

    private static func readDelta(_ image: inout ImageReader, _ before: StagedCapture?, _ deltas: Int) -> StagedCapture?
    {
        guard deltas < mostDeltas, let before, let delta = image.delta() else { return nil }
        return BodyDelta.read(delta, after: before)
    }
}

extension StoredImage {
    /// Writes the captures of a row, in order.
    mutating func append(_ captures: [StagedCapture]) {
        // An integer, and the prefix of a blob, take at most three words each. One word may be written beyond the end.
        let size = captures.reduce(0) { $0 + $1.body.count + 56 }
        append(atMost: size) { image in
            var (before, deltas): (StagedCapture?, Int) = (nil, 0)
            for capture in captures {
                var isDelta = false
                if let before, deltas < StagedCapture.mostDeltas {
                    isDelta = image.append(deltaOf: capture, after: before)
                }
                if !isDelta {
                    image.append(integer: capture.since)
                    capture.body.withUnsafeBytes { image.append(blob: $0) }
                }
                (before, deltas) = (capture, isDelta ? deltas + 1 : 0)
            }
        }
    }
}

extension LentImage {
    /// Writes a capture as its delta to the previous one, if that takes less than half of the space.
    fileprivate mutating func append(deltaOf capture: StagedCapture, after other: StagedCapture) -> Bool {
        let since = capture.since.subtractingReportingOverflow(other.since)
        let most = capture.body.count / 2
        guard most > 0, !since.overflow else { return false }
        return withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
            let count = capture.body.withUnsafeBytes { body in
                other.body.withUnsafeBytes { BodyDelta.write(body, after: $0, since: since.partialValue, to: buffer) }
            }
            guard let count else { return false }
            append(delta: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return true
        }
    }
}
