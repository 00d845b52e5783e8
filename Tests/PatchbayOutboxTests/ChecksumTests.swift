import Testing

@testable import PatchbayOutbox

@Suite("Row checksums") struct ChecksumTests {
    @Test(arguments: [
        ("", 0), ("123456789", 0xCBF4_3926), ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
    ])
    func `computes the CRC-32 of zlib`(_ text: String, _ expected: UInt32) {
        var checksum = CRC32()
        Array(text.utf8).withUnsafeBytes { checksum.add($0) }
        #expect(checksum.value == expected)
    }

    @Test func `the checksum does not depend on how the bytes are split`() {
        let bytes = (0..<45).map { UInt8(truncatingIfNeeded: 37 * $0 + 11) }
        // Bit by bit, as the polynomial is written.
        var expected = UInt32.max
        for byte in bytes {
            expected ^= UInt32(byte)
            for _ in 0..<8 { expected = expected & 1 == 1 ? 0xEDB8_8320 ^ (expected >> 1) : expected >> 1 }
        }
        expected = ~expected
        for first in 0...19 {
            for second in first...(first + 19) {
                var checksum = CRC32()
                for part in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    Array(part).withUnsafeBytes { checksum.add($0) }
                }
                #expect(checksum.value == expected, "\(first) and \(second)")
            }
        }
    }

    @Test func `adding many bytes at once gives the checksum of adding them one by one`() {
        let bytes = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 >> 3) }
        for start in 0...17 {
            for count in Array(100...330) + [511, 512, 513, 640, 683] {
                var (single, joined) = (CRC32(), CRC32())
                for byte in bytes[..<(start + count)] { single.add(UInt64(byte), count: 1) }
                for byte in bytes[..<start] { joined.add(UInt64(byte), count: 1) }
                bytes.withUnsafeBytes { joined.add(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
                #expect(single.value == joined.value, "\(count) behind \(start)")
                for byte in bytes.suffix(5) {
                    single.add(UInt64(byte), count: 1)
                    joined.add(UInt64(byte), count: 1)
                }
                #expect(single.value == joined.value, "\(count) behind \(start), and some more")
            }
        }
    }

    @Test func `a row's image is tagged and length-prefixed`() throws {
        let store = try OutboxStore.open(.memory)
        let statement = try store.connection.statement("SELECT row_image('t', NULL, ?1, ?2, ?3, ?4)")
        defer { statement.reset() }
        try statement.bind([.integer(-120), .text("é"), .blob([1, 2]), .integer(Int64.min)])
        #expect(try statement.step())
        #expect(
            statement.blob(0)
                == Array("t1:tni-120;t2:é".utf8) + Array("b2:".utf8) + [1, 2] + Array("i-9223372036854775808;".utf8)
        )
    }

    @Test func `a stored row carries the checksum of its image`() throws {
        let store = try OutboxStore.open(.memory)
        let sequence = try store.capture("o-1", subject: "s", body: Array("x".utf8))
        var checksum = CRC32()
        Array("t9:operationi\(sequence);t3:o-1t1:sni1700000000000;i10;b1:x".utf8).withUnsafeBytes { checksum.add($0) }
        #expect(try store.connection.number("SELECT checksum FROM operation") == Int64(checksum.value))
    }

    @Test(arguments: [[], [""], ["a"], ["a", "", "t3:abc", "é👋", "\u{0}"]])
    func `reads back a written list of texts`(_ texts: [String]) {
        #expect(TextList.read(TextList.bytes(texts)) == texts)
    }
}
