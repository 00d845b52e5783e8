import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Which lanes are held in the process: those in which something goes on, and as many others as cost little.
extension Runner {
    /// A walk through every lane of the outbox with pending work, by name.
    struct Sweep {
        /// The last lane that was taken in.
        var last: String
        var isFlush: Bool
        /// When it goes on.
        var due: Instant
    }

    /// So many lanes are held before those that may rest are let go.
    private static var capacity: Int { 128 }
    /// So many lanes are taken in at a time.
    private static var portion: Int { 64 }

    /// Every lane that is held, and the first of those that are not: the others come by and by.
    func everyLane(isFlush: Bool = false) throws -> [String] {
        let stored = try context.store.lanes(provider: name, behind: nil, limit: Self.portion)
        let isFlush = isFlush || sweep?.isFlush == true
        sweep =
            stored.count < Self.portion
            ? nil : stored.last.map { Sweep(last: $0, isFlush: isFlush, due: context.now) }
        resting = RestingLanes()
        return Set(lanes.keys).union(stored).sorted()
    }

    /// Something that every lane may have waited for is there now.
    func wakeResting() {
        guard !resting.isEmpty else { return }
        resting = RestingLanes()
        sweep = Sweep(last: "", isFlush: sweep?.isFlush ?? false, due: context.now)
    }

    /// When lanes that are not held want to be taken in; nil while too many are held already.
    var nextAdmission: Instant? {
        guard lanes.count < 2 * Self.capacity else { return nil }
        return resting.nextDue.orEarlier(sweep?.due)
    }

    /// Takes lanes in that want to be planned: those that rested until now, then the next of the sweep.
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
        let found = try context.store.lanes(provider: name, behind: sweep.last, limit: room)
        for key in found {
            let lane = lane(key)
            lane.flush = lane.flush || sweep.isFlush
            lane.want(now)
        }
        self.sweep = found.count < room ? nil : found.last.map { Sweep(last: $0, isFlush: sweep.isFlush, due: now) }
    }

    /// Lets go of lanes in which nothing goes on, when many are held.
    func tidy() {
        guard lanes.count > Self.capacity else { return }
        let quiet = lanes.values.filter(\.mayRest)
        guard quiet.count > Self.capacity / 2, settleWakes(of: quiet.filter(\.isWoken)) else { return }
        for lane in quiet {
            lanes[lane.key] = nil
            resting.add(lane.key, due: lane.due, flush: lane.flush, because: lane.because)
        }
    }

    /// Stores that queues are open which a wake opened: the lane is read anew when it is taken in again.
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
            // They stay as they are; the storage is looked at again when it is needed.
            return false
        }
    }
}

/// Its cached memory was read before another process committed: what was made of it is made anew.
struct MemoryOutdated: Error {}
