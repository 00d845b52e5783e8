/// The right to deliver, held by one process at a time; every process may capture.
extension OutboxStore {
    /// Takes the lease until `now + duration` (milliseconds) and gives its new epoch; nil while another owner holds it.
    ///
    /// The same owner always gets it, with a new epoch; so does everybody while the holder `isDead`. `uptime` is a clock that
    /// nobody sets, in milliseconds; without one it is `now`.
    package func acquireLease(
        owner: String,
        now: Int64,
        uptime: Int64? = nil,
        duration: Int64,
        isDead: (String) -> Bool = { _ in false }
    ) throws(OutboxError) -> Int64? {
        func isTaken() throws(OutboxError) -> Bool {
            guard let held = try lease(), held.owner != owner, held.expiresAt > now else { return false }
            if hasOutlived(held.epoch, held.expiresAt, now: now, uptime: uptime ?? now, duration) { return false }
            if DeliberateFault.leaseSeized.isPresent { return false }
            return !isDead(held.owner)
        }
        // Whoever only looks holds up nobody.
        if try isTaken() { return nil }
        return try atomically { () throws(OutboxError) in
            let held = try lease()
            if try isTaken() { return nil }
            let epoch = (held?.epoch ?? 0) + 1
            try setLease(owner: owner, epoch: epoch, expiresAt: now + duration)
            return epoch
        }
    }

    /// Whether a lease claims to last longer than any does, and has stood so, unchanged, for the time that one lasts.
    ///
    /// It was taken before the clock was set back. Whoever holds it and lives extends it, by the clock as it is now.
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

    /// Extends the lease; false when another epoch has begun, and then nothing may be settled any more.
    package func renewLease(owner: String, epoch: Int64, now: Int64, duration: Int64) throws(OutboxError) -> Bool {
        try atomically { () throws(OutboxError) in
            guard let held = try lease(), held.owner == owner, held.epoch == epoch else { return false }
            try setLease(owner: owner, epoch: epoch, expiresAt: now + duration)
            return true
        }
    }

    /// Gives the lease back, if it is still this one; its epoch is never used again.
    package func releaseLease(owner: String, epoch: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            guard let held = try lease(), held.owner == owner, held.epoch == epoch else { return }
            try setLease(owner: "", epoch: epoch, expiresAt: .min)
        }
    }

    /// The epoch in force; 0 before the first lease.
    ///
    /// A settle compares it inside its transaction.
    package func leaseEpoch() throws(OutboxError) -> Int64 {
        let version = try foreignVersion()
        if let knownEpoch, knownEpoch.version == version { return knownEpoch.epoch }
        let epoch = try lease()?.epoch ?? 0
        knownEpoch = (epoch, version)
        return epoch
    }

    private func lease() throws(OutboxError) -> (owner: String, epoch: Int64, expiresAt: Int64)? {
        try soundRows(.lease, Self.onlyLease) { row in
            (owner: row.text(1), epoch: row.integer(2), expiresAt: row.integer(3))
        }.first
    }

    private static let onlyLease = Query(Table.lease.select(where: "number = 1", order: "number"))

    private func setLease(owner: String, epoch: Int64, expiresAt: Int64) throws(OutboxError) {
        knownEpoch = nil
        try put(.lease, .integer(1), .text(owner), .integer(epoch), .integer(expiresAt))
    }
}
