extension Collection<UInt8> {
    /// The bytes without the mark that some editors put before a text in UTF-8. JSON has none, so it counts as nothing at the
    /// start of a file alone.
    package var withoutByteOrderMark: SubSequence {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? dropFirst(mark.count) : self[...]
    }
}
