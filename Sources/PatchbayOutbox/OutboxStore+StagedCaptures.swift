/// One capture as it arrived: its body, and since when it waits on the engine's timeline (milliseconds).
package struct StagedCapture: Sendable, Equatable {
    package var since: Int64
    package var body: [UInt8]

    package init(since: Int64, body: [UInt8]) { (self.since, self.body) = (since, body) }
}

/// What was captured and has no place on a route yet. A row holds all that was captured in one breath: it is one write, and one
/// wait for the disk, however many they were.
///
/// A row's captures stand one behind the other, each as an integer (`since`) and a blob (the body) of a row's image, or as what
/// distinguishes it from the capture before it: a ``BodyDelta``.
extension OutboxStore {
    /// Keeps captures, in order, behind all that arrived before, with who hears them, in the engine's words; gives the number
    /// of their row.
    package func takeIn(_ captures: [StagedCapture], routes: String) throws(OutboxError) -> Int64 {
        try atomically { () throws(OutboxError) in
            let number = (try connection.number(Self.newestStagedCapture) ?? 0) + 1
            try addStagedCapture(number, captures, routes)
            return number
        }
    }

    /// Leaves these captures of a row, in its place; without any the row goes.
    package func keepOfStagedCapture(_ number: Int64, _ captures: [StagedCapture], routes: String) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try removeStagedCapture(number)
            if !captures.isEmpty { try addStagedCapture(number, captures, routes) }
        }
    }

    private func addStagedCapture(_ number: Int64, _ captures: [StagedCapture], _ routes: String) throws(OutboxError) {
        var image = StoredImage()
        swap(&image, &stagedCaptureImage)
        // An integer, and what stands before the bytes of a blob, take three words each at most; one is written behind the end.
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

    /// The numbers of the rows that wait for their places, oldest first.
    package func stagedCaptures() throws(OutboxError) -> [Int64] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.everyStagedCapture)
            defer { statement.reset() }
            var numbers: [Int64] = []
            while try statement.step() { numbers.append(statement.integer(0)) }
            return numbers
        }
    }

    /// The captures of one row, and who hears them; nil if it is gone, or damaged and set aside.
    package func stagedCapture(_ number: Int64) throws(OutboxError) -> (routes: String, captures: [StagedCapture])? {
        try soundRows(.stagedCapture, Self.oneStagedCapture, .integer(number)) { row in
            (row.text(1), Self.read(row.blob(2)))
        }
        .first
    }

    /// Forgets a row: its captures have their places.
    package func removeStagedCapture(_ number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            _ = try connection.run(Self.deleteStagedCapture, .integer(number))
        }
    }

    /// So many deltas follow each other at most: what is read is never out of all measure to what is stored.
    private static let mostDeltas = 64
    /// The room that the image of a row leaves for the next one, at most.
    private static let mostImage = 1 << 16
    private static let newestStagedCapture = Query("SELECT max(number) FROM stagedCapture")
    private static let everyStagedCapture = Query("SELECT number FROM stagedCapture ORDER BY number")
    private static let oneStagedCapture = Query(Table.stagedCapture.select(where: "number = ?1", order: "number"))
    private static let deleteStagedCapture = Query("DELETE FROM stagedCapture WHERE number = ?1")

    /// Reads what `takeIn` wrote; the checksum of its row says that it is whole. What can't be read is a capture of these bytes.
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
    /// Writes a capture as its delta to the one before it, if that takes less than half of the room.
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
