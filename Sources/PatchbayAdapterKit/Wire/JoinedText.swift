extension String {
    /// Creates a string from parts with a single allocation.
    ///
    /// Interpolation grows its string part by part. Use this initializer for strings that are created for every operation.
    public init(joining parts: String...) {
        var count = 0
        for place in parts.indices { count += parts[place].utf8.count }
        // The parts fill the buffer completely, because `count` is their exact size.
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
    /// Whether every byte of the string's UTF-8 passes, without copying the bytes.
    @inlinable public func allBytes(_ isGood: (UInt8) -> Bool) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(isGood) }
    }
}
