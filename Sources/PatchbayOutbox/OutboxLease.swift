/// The delivery lease, which one process holds at a time. Every process may capture.
package final class OutboxLease {
    private unowned let store: OutboxStore
    /// The epoch of the lease, and the foreign version at which it was read.
    private var knownEpoch: (epoch: Int64, version: Int64)?
    /// A lease that expires later than any lease that is taken now, and the time since which it has been observed.
    private var overlongLease: (epoch: Int64, expiresAt: Int64, since: Int64)?

    init(store: OutboxStore) { self.store = store }

    /// Takes the lease until `now + duration` (milliseconds) and returns its new epoch; nil while another owner holds it.
    ///
    /// The current owner always gets the lease, with a new epoch. Every other process gets it if `isDead` reports that the
    /// holder is dead. `uptime` is the time of a monotonic clock, in milliseconds; it defaults to `now`.
    package func acquire(
        owner: String,
        now: Int64,
        uptime: Int64? = nil,
        duration: Int64,
        isDead: (String) -> Bool = { _ in false }
    ) throws(OutboxError) -> Int64? {
        func isTaken() throws(OutboxError) -> Bool {
            guard let held = try read(), held.owner != owner, held.expiresAt > now else { return false }
            if hasOutlived(held.epoch, held.expiresAt, now: now, uptime: uptime ?? now, duration) { return false }
            return !isDead(held.owner)
        }
        // Checking first avoids a write transaction, which would block other writers.
        if try isTaken() { return nil }
        return try store.atomically { () throws(OutboxError) in
            let held = try read()
            if try isTaken() { return nil }
            let epoch = (held?.epoch ?? 0) + 1
            try write(owner: owner, epoch: epoch, expiresAt: now + duration)
            return epoch
        }
    }

    /// Whether a lease expires later than any lease that is taken now, and has not changed for the duration of a lease.
    ///
    /// Such a lease was taken before the clock was set back. If its holder were alive, it would have extended the lease
    /// according to the current clock.
    private func hasOutlived(
        _ epoch: Int64,
        _ expiresAt: Int64,
        now: Int64,
        uptime: Int64,
        _ duration: Int64
    ) -> Bool {
        guard expiresAt > now + duration else {
            overlongLease = nil
            return false
        }
        if let seen = overlongLease, (seen.epoch, seen.expiresAt) == (epoch, expiresAt), seen.since <= uptime {
            return uptime - seen.since >= duration
        }
        overlongLease = (epoch, expiresAt, uptime)
        return false
    }

    /// Extends the lease. Returns false if another epoch has begun; then the caller must not settle any more operations.
    package func renew(owner: String, epoch: Int64, now: Int64, duration: Int64) throws(OutboxError) -> Bool {
        try store.atomically { () throws(OutboxError) in
            guard let held = try read(), held.owner == owner, held.epoch == epoch else { return false }
            try write(owner: owner, epoch: epoch, expiresAt: now + duration)
            return true
        }
    }

    /// Releases the lease if it is still the given one. Its epoch is never reused.
    package func release(owner: String, epoch: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            guard let held = try read(), held.owner == owner, held.epoch == epoch else { return }
            try write(owner: "", epoch: epoch, expiresAt: .min)
        }
    }

    /// Returns the current epoch; 0 before the first lease.
    ///
    /// Settlements compare it inside their transaction.
    package func epoch() throws(OutboxError) -> Int64 {
        let version = try store.foreignVersion()
        if let knownEpoch, knownEpoch.version == version { return knownEpoch.epoch }
        let epoch = try read()?.epoch ?? 0
        knownEpoch = (epoch, version)
        return epoch
    }

    private func read() throws(OutboxError) -> (owner: String, epoch: Int64, expiresAt: Int64)? {
        try store.soundRows(.lease, Self.onlyLease) { row in
            (owner: row.text(1), epoch: row.integer(2), expiresAt: row.integer(3))
        }.first
    }

    private static let onlyLease = Query(Table.lease.select(where: "number = 1", order: "number"))

    private func write(owner: String, epoch: Int64, expiresAt: Int64) throws(OutboxError) {
        knownEpoch = nil
        try store.put(.lease, .integer(1), .text(owner), .integer(epoch), .integer(expiresAt))
    }
}
