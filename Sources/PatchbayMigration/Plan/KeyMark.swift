import Foundation

/// A key of a contact without its text: two digests, and the decisions of its record about channels.
///
/// If there are a thousand million different keys, the probability that two of them have the same mark is below one in a
/// thousand.
struct KeyMark: BitwiseCopyable, Sendable {
    /// The digest of the key without regard to case: of ASCII letters only, or of all letters if ``init(key:opinion:)`` made
    /// it.
    var folded: UInt64
    /// The digest of the key as it is written, with the ``Opinion`` in its lowest bits.
    var exact: UInt64

    /// The decisions of a record about each channel, two bits each: an opt-in and an opt-out. The bit above them marks a
    /// contact's key.
    enum Opinion {
        static let yes: UInt64 = 0b01
        static let no: UInt64 = 0b10
        static let said = lows &* 3
        /// The bit for the first identifier of its kind in a written record, by which the target may identify the contact.
        static let key = said &+ 1
        static let all = said | key
        private static let lows = (1 as UInt64 &<< UInt64(2 &* Vocabulary.channelNames.count) &- 1) / 3

        /// The bits of a decision on a channel of the vocabulary; on every channel for ``Vocabulary/none``.
        @inline(__always) static func bits(_ answer: UInt64, channel: Int) -> UInt64 {
            if channel == Vocabulary.none { return answer &* lows }
            return channel < 0 ? 0 : answer &<< UInt64(2 &* channel)
        }

        /// Whether any channel has both an opt-in and an opt-out.
        @inline(__always) static func isTorn(_ bits: UInt64) -> Bool { bits & bits &>> 1 & lows != 0 }
    }

    init(folded: UInt64, exact: UInt64) { (self.folded, self.exact) = (folded, exact) }

    /// Creates the mark of bytes that are followed by padding.
    @inline(__always) init(_ bytes: Stretch, opinion: UInt64) {
        var (upper, lower) = (Self.seed, Self.seed)
        var (place, left) = (bytes.start, bytes.count)
        while left >= 8 {
            let word = Word.load(place)
            upper = Self.mix(upper ^ word)
            lower = Self.mix(lower ^ Self.lowered(word))
            (place, left) = (place + 8, left - 8)
        }
        if left > 0 {
            let word = Word.load(place) & Word.mask(left)
            upper = Self.mix(upper ^ word)
            lower = Self.mix(lower ^ Self.lowered(word))
        }
        let length = UInt64(truncatingIfNeeded: bytes.count)
        folded = Self.mix(lower ^ length &* Self.factor)
        exact = Self.mix(upper ^ length &* Self.factor) & ~Opinion.all | opinion
    }

    /// Creates the mark of a key's decision about a subject.
    init(of key: UInt64, on subject: UInt64, opinion: UInt64) {
        folded = Self.mix(key ^ subject)
        exact = folded & ~Opinion.all | opinion
    }

    /// Creates the mark of a key. Letters beyond ASCII are folded, too: `ß` equals `SS`, both small sigmas are one letter,
    /// and composed and decomposed letters are equal.
    init(key text: String, opinion: UInt64) {
        self.init(text, opinion: opinion)
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        let folded = text.uppercased().lowercased()
        // The text's hash value cannot be used, because a resumed run compares the marks of another process.
        self.folded = KeyMark(folded.precomposedStringWithCanonicalMapping, opinion: 0).folded
    }

    /// Creates the mark of a text.
    init(_ text: String, opinion: UInt64) {
        let bytes = Array(text.utf8)
        let padded = bytes + [UInt8](repeating: 0, count: Padding.count)
        self = padded.withUnsafeBufferPointer { buffer in
            // The buffer is never empty, because of the padding.
            KeyMark(buffer.baseAddress.map { Stretch($0, bytes.count) } ?? .nothing, opinion: opinion)
        }
    }

    private static let seed: UInt64 = 0x243F_6A88_85A3_08D3
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always) static func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    /// Returns eight bytes with their ASCII letters in lower case.
    @inline(__always) private static func lowered(_ word: UInt64) -> UInt64 {
        let low = word & (Word.ones &* 0x7F)
        let fromA = low &+ Word.ones &* (0x80 - 0x41)
        let overZ = low &+ Word.ones &* (0x7F - 0x5A)
        let isUpper = (fromA ^ overZ) & ~word & Word.highs
        return word | isUpper &>> 2
    }
}
