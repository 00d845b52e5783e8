extension Dictionary where Key: Comparable {
    /// Keys and values in the order of the keys; a dictionary's own order differs from run to run.
    @inlinable package var inOrder: [(key: Key, value: Value)] {
        keys.sorted().compactMap { key in self[key].map { (key, $0) } }
    }
}
