import PatchbayAdapterKit
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

/// What happened before a drive, played once for all drives that begin with it.
final class PreparationCache<Adapter: VendorAdapter>: Sendable {
    /// What a preparation depends on.
    private struct Key: Hashable {
        let dateShift: Duration
        let keepsDescriptions: Bool
    }

    private let engines = Mutex<[Key: MiniEngine<Adapter>]>([:])

    /// An engine behind the preparation, made now if nobody did it before.
    func engine(_ script: Script, _ make: () -> MiniEngine<Adapter>) -> MiniEngine<Adapter> {
        let key = Key(dateShift: script.dateShift, keepsDescriptions: script.keepsDescriptions)
        if let known = engines.withLock({ $0[key] }) { return known.following(script) }
        let engine = make()
        engines.withLock { $0[key] = engine }
        return engine
    }
}
