/// A small seeded generator (Steele, Lea and Flood, 2014). Its numbers are equal on every machine and in every version.
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns the next number, from 0 up to, but not including, 1.
    mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
