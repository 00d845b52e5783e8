import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The lanes that are kept in memory: those with work in progress, and a limited number of others.
extension Runner {
    /// A pass over all lanes of the outbox with pending work, by name.
    struct Sweep {
        /// The last lane that was loaded.
        var last: String
        var isFlush: Bool
        /// The time of the next step.
        var due: Instant
    }

    /// The number of lanes in memory above which idle ones are released.
    private static var capacity: Int { 128 }
    /// The number of lanes that are loaded at a time.
    private static var portion: Int { 64 }

    /// Returns all lanes in memory and the first of the others. A sweep loads the rest incrementally.
    func everyLane(isFlush: Bool = false) throws -> [String] {
        let stored = try context.store.queues.lanes(provider: name, after: nil, limit: Self.portion)
        let isFlush = isFlush || sweep?.isFlush == true
        sweep =
            stored.count < Self.portion
            ? nil : stored.last.map { Sweep(last: $0, isFlush: isFlush, due: context.now) }
        resting = RestingLanes()
        return Set(lanes.keys).union(stored).sorted()
    }

    /// Starts a sweep over all lanes after an event that any lane may have waited for.
    func wakeResting() {
        guard !resting.isEmpty else { return }
        resting = RestingLanes()
        sweep = Sweep(last: "", isFlush: sweep?.isFlush ?? false, due: context.now)
    }

    /// The time at which lanes that are not in memory are due; nil while too many are loaded.
    var nextAdmission: Instant? {
        guard lanes.count < 2 * Self.capacity else { return nil }
        return resting.nextDue.orEarlier(sweep?.due)
    }

    /// Loads due lanes: first resting ones, then the next of the sweep.
    func admit() throws {
        let now = context.now
        guard let next = nextAdmission, next <= now else { return }
        var room = Self.portion
        while room > 0, let key = resting.firstDue(at: now) {
            lane(key).want(now)
            room -= 1
        }
        guard room > 0, let sweep, sweep.due <= now else { return }
        self.sweep?.due = now + .seconds(5)
        let found = try context.store.queues.lanes(provider: name, after: sweep.last, limit: room)
        for key in found {
            let lane = lane(key)
            lane.flush = lane.flush || sweep.isFlush
            lane.want(now)
        }
        self.sweep = found.count < room ? nil : found.last.map { Sweep(last: $0, isFlush: sweep.isFlush, due: now) }
    }

    /// Releases idle lanes if many are in memory.
    func tidy() {
        guard lanes.count > Self.capacity else { return }
        let quiet = lanes.values.filter(\.mayRest)
        guard quiet.count > Self.capacity / 2, settleWakes(of: quiet.filter(\.isWoken)) else { return }
        for lane in quiet {
            lanes[lane.key] = nil
            resting.add(lane.key, due: lane.due, flush: lane.flush, because: lane.because)
        }
    }

    /// Stores which queues a wake opened, because the lane is read again when it is loaded.
    private func settleWakes(of woken: [Lane]) -> Bool {
        guard !woken.isEmpty else { return true }
        do {
            try store {
                for lane in woken {
                    try readWaits(of: lane)
                    var waits = lane.waits
                    try openWoken(lane, &waits)
                }
            }
            return true
        } catch {
            // The lanes stay in memory. The storage is tried again when it is needed.
            return false
        }
    }
}

/// The error that cached memory was read before another process committed. The caller repeats its step with fresh memory.
struct MemoryOutdated: Error {}
