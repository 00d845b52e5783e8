/// The SHA-256 digest (FIPS 180-4), for values that a vendor or an adapter derives from texts.
public enum SHA256: Sendable {
    private static let roundConstants: [UInt32] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ]

    /// Returns the 32 bytes of the digest.
    public static func digest(of message: some Collection<UInt8>) -> [UInt8] {
        var stream = Stream()
        stream.add(Array(message))
        return stream.finish()
    }

    /// A digest of bytes that arrive in parts.
    package struct Stream {
        private var state = State()
        private var rest: [UInt8] = []
        private var count: UInt64 = 0

        package init() {}

        /// Adds the next bytes.
        package mutating func add(_ bytes: [UInt8]) {
            count += UInt64(bytes.count)
            let all = rest.isEmpty ? bytes : rest + bytes
            let whole = all.count / 64 * 64
            mix(all, whole)
            rest = Array(all[whole...])
        }

        /// Returns the 32 bytes of the digest.
        package mutating func finish() -> [UInt8] {
            var padded = rest + [0x80]
            while padded.count % 64 != 56 { padded.append(0) }
            withUnsafeBytes(of: (count * 8).bigEndian) { padded.append(contentsOf: $0) }
            mix(padded, padded.count)
            return state.bytes
        }

        private mutating func mix(_ blocks: [UInt8], _ count: Int) {
            blocks.withUnsafeBytes { bytes in
                roundConstants.withUnsafeBufferPointer { constants in
                    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
                        for start in stride(from: 0, to: count, by: 64) {
                            schedule(bytes, from: start, into: words)
                            state.mix(words, constants)
                        }
                    }
                }
            }
        }
    }

    /// Fills 64 words from the block of 64 bytes at `start`.
    private static func schedule(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        into words: UnsafeMutableBufferPointer<UInt32>
    ) {
        for place in 0..<16 {
            let word = bytes.loadUnaligned(fromByteOffset: start + 4 * place, as: UInt32.self)
            words[place] = UInt32(bigEndian: word)
        }
        for place in 16..<64 {
            let (early, late) = (words[place - 15], words[place - 2])
            let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
            let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
            words[place] = words[place - 16] &+ first &+ words[place - 7] &+ second
        }
    }

    /// The eight words of state that every block changes.
    private struct State {
        private var low: SIMD4<UInt32> = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a]
        private var high: SIMD4<UInt32> = [0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

        /// Processes one block: its 64 words, with the round constants.
        mutating func mix(_ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>) {
            var (a, b, c, d) = (low[0], low[1], low[2], low[3])
            var (e, f, g, h) = (high[0], high[1], high[2], high[3])
            for round in 0..<64 {
                let upper = (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (e & f ^ ~e & g)
                let lower = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ (a & b ^ a & c ^ b & c)
                let sum = h &+ upper &+ constants[round] &+ words[round]
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ sum, c, b, a, sum &+ lower)
            }
            low &+= [a, b, c, d]
            high &+= [e, f, g, h]
        }

        var bytes: [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 32) { room, count in
                for place in 0..<32 {
                    let word = place < 16 ? low[place / 4] : high[place / 4 - 4]
                    room[place] = UInt8(truncatingIfNeeded: word >> UInt32(24 - place % 4 * 8))
                }
                count = 32
            }
        }
    }

    @inline(__always) private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word &>> bits | word &<< (32 - bits)
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits per byte.
    @inlinable public var hexText: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
