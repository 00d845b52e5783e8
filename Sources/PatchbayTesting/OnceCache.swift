import Synchronization

/// A cache of values that several checks need. Each value is made once, even if checks request it at the same time.
final class OnceCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private final class Entry: Sendable {
        let value = Mutex<Value?>(nil)
    }

    private let entries = Mutex<[Key: Entry]>([:])
    private let callers = Atomic(0)

    /// Counts a caller that iterates over many keys. Returns true for every second caller.
    func isSecondCaller() -> Bool { callers.add(1, ordering: .relaxed).newValue.isMultiple(of: 2) }

    /// Returns the value of a key. If another thread is making it, this one waits.
    func value(_ key: Key, _ make: () -> Value) -> Value {
        let entry = entries.withLock { entries in
            if let known = entries[key] { return known }
            let entry = Entry()
            entries[key] = entry
            return entry
        }
        return entry.value.withLock { value in
            if let value { return value }
            let made = make()
            value = made
            return made
        }
    }
}

/// Drives by their names.
typealias DriveCache = OnceCache<String, Drive>
