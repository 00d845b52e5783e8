// What the sanitizers must report, and what not: `Race <case>`. Not a part of the package; `make sanitize` compiles it.
import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
    let mutex = Mutex(0)
    var bare = 0

    func locked() {
        mutex.withLock {
            $0 += 1
            bare += 1
        }
    }

    func unlocked() { bare += 1 }
}

/// How many threads have begun; relaxed, so that it orders nothing between them.
let begun = Atomic(0)

/// Two threads side by side, each doing its own thing many times.
func run(_ one: @escaping @Sendable () -> Void, _ other: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for body in [one, other] {
        group.enter()
        Thread.detachNewThread {
            begun.add(1, ordering: .relaxed)
            while begun.load(ordering: .relaxed) < 2 { sched_yield() }
            // Giving way now and then mixes the two; the sanitizer forgets what lies far back.
            for turn in 0..<20_000 {
                body()
                if turn.isMultiple(of: 16) { sched_yield() }
            }
            group.leave()
        }
    }
    group.wait()
}

let counter = Counter()
switch CommandLine.arguments.dropFirst().first {
case "locked": run({ counter.locked() }, { counter.locked() })
case "unlocked": run({ counter.unlocked() }, { counter.unlocked() })
case "half-locked": run({ counter.locked() }, { counter.unlocked() })
case "overflow":
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
    memory[CommandLine.arguments.count + 6] = 1
    memory.deallocate()
case "leak":
    var kept: UnsafeMutablePointer<UInt8>? = .allocate(capacity: 4711)
    kept?[0] = 1
    kept = nil
default: print("Race locked | unlocked | half-locked | overflow | leak")
}
print("done")
