/// A staged capture: its body, and the time since which it waits on the engine's timeline, in milliseconds.
package struct StagedCapture: Sendable, Equatable {
    package var since: Int64
    package var body: [UInt8]

    package init(since: Int64, body: [UInt8]) { (self.since, self.body) = (since, body) }
}

/// Captures that are not assigned to routes yet. A row contains all captures of one commit interval, so that they need one
/// write and one sync, regardless of their number.
///
/// The captures in a row are consecutive. Each is encoded as an integer (`since`) and a blob (the body) of a row's image, or as
/// a ``BodyDelta`` to the previous capture.
extension OutboxStore {
    /// Stages captures, in order, after all earlier ones. `routes` names their recipients, as the engine encodes them. Returns
    /// the number of their row.
    package func takeIn(_ captures: [StagedCapture], routes: String) throws(OutboxError) -> Int64 {
        try atomically { () throws(OutboxError) in
            let number = (try connection.number(Self.newestStagedCapture) ?? 0) + 1
            try addStagedCapture(number, captures, routes)
            return number
        }
    }

    /// Replaces the captures of a row. If `captures` is empty, deletes the row.
    package func keepOfStagedCapture(_ number: Int64, _ captures: [StagedCapture], routes: String) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try removeStagedCapture(number)
            if !captures.isEmpty { try addStagedCapture(number, captures, routes) }
        }
    }

    private func addStagedCapture(_ number: Int64, _ captures: [StagedCapture], _ routes: String) throws(OutboxError) {
        var image = StoredImage()
        swap(&image, &stagedCaptureImage)
        // An integer, and the prefix of a blob, take at most three words each. One word may be written beyond the end.
        let size = captures.reduce(0) { $0 + $1.body.count + 56 }
        image.append(atMost: size) { image in
            var (before, deltas): (StagedCapture?, Int) = (nil, 0)
            for capture in captures {
                var isDelta = false
                if let before, deltas < Self.mostDeltas { isDelta = image.append(deltaOf: capture, after: before) }
                if !isDelta {
                    image.append(integer: capture.since)
                    capture.body.withUnsafeBytes { image.append(blob: $0) }
                }
                (before, deltas) = (capture, isDelta ? deltas + 1 : 0)
            }
        }
        try add(.stagedCapture, .integer(number), .text(routes), .blob(image.bytes))
        guard image.bytes.capacity <= Self.mostImage else { return }
        image.bytes.removeAll(keepingCapacity: true)
        swap(&image, &stagedCaptureImage)
    }

    /// Returns the numbers of the rows that are not assigned to routes yet, oldest first.
    package func stagedCaptures() throws(OutboxError) -> [Int64] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.everyStagedCapture)
            defer { statement.reset() }
            var numbers: [Int64] = []
            while try statement.step() { numbers.append(statement.integer(0)) }
            return numbers
        }
    }

    /// Returns the captures of one row and their routes; nil if the row no longer exists, or was damaged and is now
    /// quarantined.
    package func stagedCapture(_ number: Int64) throws(OutboxError) -> (routes: String, captures: [StagedCapture])? {
        try soundRows(.stagedCapture, Self.oneStagedCapture, .integer(number)) { row in
            (row.text(1), Self.read(row.blob(2)))
        }
        .first
    }

    /// Deletes a row whose captures were assigned to routes.
    package func removeStagedCapture(_ number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            _ = try connection.run(Self.deleteStagedCapture, .integer(number))
        }
    }

    /// The maximum number of consecutive deltas. It limits how much larger than the stored bytes the decoded captures can be.
    private static let mostDeltas = 64
    /// The maximum capacity in bytes that a row's image keeps for the next one.
    private static let mostImage = 1 << 16
    private static let newestStagedCapture = Query("SELECT max(number) FROM stagedCapture")
    private static let everyStagedCapture = Query("SELECT number FROM stagedCapture ORDER BY number")
    private static let oneStagedCapture = Query(Table.stagedCapture.select(where: "number = ?1", order: "number"))
    private static let deleteStagedCapture = Query("DELETE FROM stagedCapture WHERE number = ?1")

    /// Decodes the captures of a row that `takeIn` wrote. The row's checksum guarantees that it is complete. Bytes that cannot
    /// be decoded become one capture.
    private static func read(_ bytes: [UInt8]) -> [StagedCapture] {
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

extension LentImage {
    /// Writes a capture as its delta to the previous one, if that takes less than half of the space.
    fileprivate mutating func append(deltaOf capture: StagedCapture, after other: StagedCapture) -> Bool {
        let since = capture.since.subtractingReportingOverflow(other.since)
        let most = capture.body.count / 2
        guard most > 0, !since.overflow else { return false }
        return withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { room in
            let count = capture.body.withUnsafeBytes { body in
                other.body.withUnsafeBytes { BodyDelta.write(body, after: $0, since: since.partialValue, to: room) }
            }
            guard let count else { return false }
            append(delta: UnsafeRawBufferPointer(rebasing: room[..<count]))
            return true
        }
    }
}
