import Testing

@testable import PatchbayOutbox

@Suite("Deltas of captures") struct BodyDeltaTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func delta(_ body: [UInt8], after other: [UInt8], since: Int64 = 0, room: Int = 1 << 16) -> [UInt8]?
    {
        var delta = [UInt8](repeating: 0xAA, count: room)
        let count = delta.withUnsafeMutableBytes { room in
            body.withUnsafeBytes { body in
                other.withUnsafeBytes { BodyDelta.write(body, after: $0, since: since, to: room) }
            }
        }
        return count.map { Array(delta.prefix($0)) }
    }

    private static func read(_ delta: [UInt8], after other: StagedCapture) -> StagedCapture? {
        BodyDelta.read(delta[...], after: other)
    }

    private static let order = bytes(#"{"id":"019a-7001","name":"OrderPlaced","order":9,"branch":"Oulu"}"#)
    private static let nextOrder = bytes(#"{"id":"019a-7002","name":"OrderPlaced","order":10,"branch":"Oulu"}"#)

    @Test func `writes the documented bytes of a delta`() {
        // 2 ms later; the last 17 bytes; 15 copied bytes, then "2"; 31 copied bytes, then "10".
        let expected = [4, 17, 15, 1] + Self.bytes("2") + [31, 2] + Self.bytes("10")
        #expect(Self.delta(Self.nextOrder, after: Self.order, since: 2) == expected)
        let before = StagedCapture(since: 40, body: Self.order)
        #expect(Self.read(expected, after: before) == StagedCapture(since: 42, body: Self.nextOrder))
        #expect(Self.delta(Self.order, after: Self.order, since: -1) == [1, UInt8(Self.order.count)])
        #expect(Self.delta([], after: Self.order) == [0, 0])
        let long = [UInt8](repeating: 7, count: 300)
        #expect(Self.delta(long, after: long) == [0, 0xAC, 2])
    }

    @Test func `copies no bytes beyond the end of the earlier body`() {
        let before = StagedCapture(since: 0, body: [7])
        #expect(Self.read([0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 1, 9], after: before)?.body == [1, 2, 3, 4, 5, 9])
        #expect(Self.read([0, 0, 0, 5, 1, 2, 3, 4, 5, 1, 0], after: before) == nil)
    }

    @Test func `reads back the delta of any two bodies`() throws {
        var random = SeededGenerator(seed: 20_261_127)
        var deltas = 0
        for run in 0..<20_000 {
            let other = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                UInt8.random(in: 97...99, using: &random)
            }
            var body = other
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let place = Int.random(in: 0...body.count, using: &random)
                let end = min(body.count, place + Int.random(in: 0...9, using: &random))
                let new = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    UInt8.random(in: 97...99, using: &random)
                }
                body.replaceSubrange(place..<end, with: new)
            }
            let since = Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random)
            let room = run % 2 == 0 ? 1 << 10 : body.count / 2
            guard let delta = Self.delta(body, after: other, since: since, room: room) else {
                #expect(room < 1 << 10, "run \(run)")
                continue
            }
            deltas += 1
            #expect(delta.count <= room)
            let read = Self.read(delta, after: StagedCapture(since: 0, body: other))
            #expect(read == StagedCapture(since: since, body: body), "run \(run)")
        }
        #expect(deltas > 10_000)
    }

    @Test func `refuses a damaged delta or returns a body of bounded size`() throws {
        var random = SeededGenerator(seed: 4)
        let good = try #require(Self.delta(Self.nextOrder, after: Self.order, since: 2))
        let other = StagedCapture(since: 40, body: Self.order)
        var refused = 0
        for _ in 0..<20_000 {
            var bad = good
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where !bad.isEmpty: bad.remove(at: .random(in: bad.indices, using: &random))
                case 1 where !bad.isEmpty:
                    bad[.random(in: bad.indices, using: &random)] = .random(in: .min ... .max, using: &random)
                default:
                    bad.insert(
                        .random(in: .min ... .max, using: &random),
                        at: .random(in: 0...bad.count, using: &random)
                    )
                }
            }
            if let read = Self.read(bad, after: other) {
                #expect(read.body.count <= other.body.count + bad.count)
            } else {
                refused += 1
            }
        }
        #expect(refused > 5_000)
        for bad in [[], [0], [0x80], [0, 200, 1], [0, 0, 99, 0], [0, 0, 0, 5, 1]] as [[UInt8]] {
            #expect(Self.read(bad, after: other) == nil)
        }
        // A number of more than 64 bits, and an instant out of range.
        #expect(Self.read([UInt8](repeating: 0xFF, count: 9) + [2, 0], after: other) == nil)
        let last = [0xFE] + [UInt8](repeating: 0xFF, count: 8) + [1, 0]
        #expect(Self.read(last, after: StagedCapture(since: 0, body: []))?.since == .max)
        #expect(Self.read(last, after: StagedCapture(since: 1, body: [])) == nil)
    }

    @Test func `stores captures unchanged and similar captures in little space`() throws {
        let store = try OutboxStore.open(.memory)
        let alike = (0..<200).map { number in
            let body =
                #"{"id":"019a-\#(7_000 + number)","subject":"5e0f4b52-7f0e","name":"OrderPlaced","order":\#(number)}"#
            return StagedCapture(since: Int64(1_930_800_000_000 + number), body: Self.bytes(body))
        }
        var unlike = alike
        unlike.insert(StagedCapture(since: .min, body: []), at: 50)
        unlike.insert(StagedCapture(since: .max, body: Self.bytes("another")), at: 100)
        unlike.insert(StagedCapture(since: .min, body: Array("another".utf8)), at: 101)
        for captures in [alike, unlike, [alike[0]], [alike[3], alike[3]]] {
            let number = try store.captures.stage(captures, routes: "{}")
            #expect(try store.captures.staged(number)?.captures == captures)
        }
        let stored = try #require(
            try store.connection.number("SELECT length(captures) FROM stagedCapture WHERE number = 1")
        )
        #expect(stored * 4 < alike.reduce(0) { $0 + Int64($1.body.count) })
        #expect(try store.maintenance.verify().isSound)
    }

    @Test(arguments: [
        "x", "d3:", "i7;", "dx:i7;b0:", "i7;d2:\u{0}\u{0}", "d2:\u{0}\u{0}d0:", "d4:\u{0}\u{7F}\u{0}\u{0}",
    ])
    func `returns unreadable bytes after a capture as a capture of these bytes`(_ rest: String) throws {
        let store = try OutboxStore.open(.memory)
        let first = StagedCapture(since: 5, body: [1, 2, 3])
        let number = try store.captures.stage([first], routes: "{}")
        // Only the delta to an empty body can be read.
        let isRead = rest.hasPrefix("d2")
        let read = isRead ? [first, StagedCapture(since: 5, body: [])] : [first]
        let unread = isRead ? Array(Self.bytes(rest).dropFirst(5)) : Self.bytes(rest)
        try store.connection.run("UPDATE stagedCapture SET captures = captures || ?1", .blob(Self.bytes(rest)))
        try store.connection.run(
            "UPDATE stagedCapture SET checksum = row_checksum('stagedCapture', number, routes, captures)"
        )
        #expect(try store.captures.staged(number)?.captures == read + [StagedCapture(since: 0, body: unread)])
    }

    /// Every 65th body is stored whole, so that a small file cannot need a large amount of memory.
    @Test func `limits the length of a chain of deltas`() throws {
        let store = try OutboxStore.open(.memory)
        let number = try store.captures.stage([StagedCapture(since: 5, body: [1, 2, 3])], routes: "{}")
        let deltas: [UInt8] = Array(repeatElement(Self.bytes("d2:") + [0, 3], count: 100).joined())
        try store.connection.run("UPDATE stagedCapture SET captures = captures || ?1", .blob(deltas))
        try store.connection.run(
            "UPDATE stagedCapture SET checksum = row_checksum('stagedCapture', number, routes, captures)"
        )
        let captures = try #require(try store.captures.staged(number)?.captures)
        #expect(captures.count == 66)
        #expect(captures.last == StagedCapture(since: 0, body: Array(deltas.dropFirst(64 * 5))))
    }
}
