extension String {
    /// These parts one after the other, made in one piece.
    ///
    /// Interpolation grows its text part by part; what is made for every operation is joined.
    public init(joining parts: String...) {
        var count = 0
        for place in parts.indices { count += parts[place].utf8.count }
        // The parts' bytes fill the room to its end: they are as many as were counted.
        self.init(unsafeUninitializedCapacity: count) { room in
            var next = room.baseAddress
            for place in parts.indices {
                var part = parts[place]
                part.withUTF8 { bytes in
                    guard let source = bytes.baseAddress else { return }
                    next?.update(from: source, count: bytes.count)
                    next = next.map { $0 + bytes.count }
                }
            }
            return count
        }
    }
}

extension String {
    /// Whether all bytes of the text's UTF-8 pass, looked at where they stand.
    @inlinable public func allBytes(_ isGood: (UInt8) -> Bool) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(isGood) }
    }
}
