import Synchronization

/// What several checks look at, each made once per harness.
final class OnceCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Mutex<[Key: Value]>([:])

    /// The value of that key, made now if nobody made it before.
    func value(_ key: Key, _ make: () -> Value) -> Value {
        if let known = values.withLock({ $0[key] }) { return known }
        let value = make()
        values.withLock { $0[key] = value }
        return value
    }
}

/// Drives by their names.
typealias DriveCache = OnceCache<String, Drive>
