extension Collection<UInt8> {
    /// The bytes without a leading UTF-8 byte-order mark, which some editors write. JSON does not allow one, so it is ignored
    /// only at the start of a file.
    package var withoutByteOrderMark: SubSequence {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? dropFirst(mark.count) : self[...]
    }
}
