import Dispatch
import Synchronization

/// Wakes one thread at a time or earlier, by a clock that never jumps: a semaphore of the system's goes by the wall clock.
package final class Alarm: Sendable {
    // Both stand at one place in memory from `init` to `deinit`, as POSIX requires; several threads use them.
    private let places: (mutex: UInt, condition: UInt)
    /// Whether it rang and no thread has noticed. Used under the mutex only.
    private let isRinging = Atomic(false)

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> { Self.pointer(places.mutex) }
    private var condition: UnsafeMutablePointer<pthread_cond_t> { Self.pointer(places.condition) }

    private static func pointer<Pointee>(_ place: UInt) -> UnsafeMutablePointer<Pointee> {
        guard let pointer = UnsafeMutablePointer<Pointee>(bitPattern: place) else {
            preconditionFailure("what was allocated has a place")
        }
        return pointer
    }

    /// Creates an alarm that does not ring.
    package init() {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        places = (UInt(bitPattern: mutex), UInt(bitPattern: condition))
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Wakes the thread that waits, or lets the next wait end at once.
    package func ring() {
        pthread_mutex_lock(mutex)
        isRinging.store(true, ordering: .relaxed)
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    /// Waits until it rings, or until a time in nanoseconds of ``DispatchTime``.
    package func wait(until time: UInt64) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isRinging.load(ordering: .relaxed), waitOnce(until: time) {}
        isRinging.store(false, ordering: .relaxed)
    }

    /// Waits until it may have rung; false when the time has come.
    private func waitOnce(until time: UInt64) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now < time else { return false }
        #if canImport(Darwin)
        var span = timespec(nanoseconds: time - now)
        return pthread_cond_timedwait_relative_np(condition, mutex, &span) == 0
        #else
        // There these nanoseconds are those of the monotonic clock.
        var end = timespec(nanoseconds: time)
        return pthread_cond_timedwait(condition, mutex, &end) == 0
        #endif
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
