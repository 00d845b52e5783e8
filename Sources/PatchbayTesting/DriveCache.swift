import Synchronization

/// Drives that several checks look at, each done once per harness.
final class DriveCache: Sendable {
    private let drives = Mutex<[String: Drive]>([:])

    /// The drive of that name, done now if nobody did it before.
    func drive(_ name: String, _ make: () -> Drive) -> Drive {
        if let known = drives.withLock({ $0[name] }) { return known }
        let drive = make()
        drives.withLock { $0[name] = drive }
        return drive
    }
}
