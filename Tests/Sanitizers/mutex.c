// Tells the thread sanitizer what it can't see of Swift's `Mutex` on Linux.
//
// An uncontended lock and unlock are atomic operations that are compiled into our own code: the sanitizer sees them. A
// contended one ends in the kernel (a futex with priority inheritance), called from the Swift library, which is not
// instrumented: there the sanitizer would see two threads use a value with nothing between them. This library stands in
// front of those two functions and says "acquired" and "released". Nothing is suppressed: a race beside a lock, or with
// a lock on one side only, is still reported; Race.swift proves it at each run.
//
// Only for `make sanitize`, by LD_PRELOAD. In a process without the sanitizer it does nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// `_MutexHandle._lockSlow(UInt32)` and `_MutexHandle._unlockSlow()`; the handle's own word is its address.
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef SWIFT void (*LockSlow)(uint32_t thread, SELF void *mutex);
typedef SWIFT void (*UnlockSlow)(SELF void *mutex);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    LockSlow real = (LockSlow)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    real(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    UnlockSlow real = (UnlockSlow)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(mutex);
    real(mutex);
}
