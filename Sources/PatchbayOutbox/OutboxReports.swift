/// What happened while an outbox was opened.
package struct OpenReport: Sendable, Equatable {
    /// A new, empty outbox was made (also when nothing could be read from a damaged one).
    package var created = false
    /// Set when the file was damaged and rebuilt from what could still be read.
    package var recovery: RecoveryReport?

    package var recovered: Bool { recovery != nil }
    package var movedAside: String? { recovery?.movedAside }
}

/// What a recovery could save from a damaged file.
package struct RecoveryReport: Sendable, Equatable {
    /// Where the damaged file stands now.
    package var movedAside: String
    /// What was wrong with it, in words without values.
    package var reason: String
    /// Rows saved, by table.
    package var saved: [String: Int] = [:]
    /// Rows that were read but whose checksum does not hold, by table.
    package var rejected: [String: Int] = [:]
    /// Routes saved without their operation, and operations without a route; both are left behind.
    package var orphans = 0
    /// Pending rows that the accounts knew and the file no longer gave, by provider; booked as quarantined.
    package var lost: [String: Int64] = [:]
    /// Rows that the accounts did not know, by provider; booked as captured.
    package var unaccounted: [String: Int64] = [:]
    /// True when the file gave nothing at all.
    package var isEmpty: Bool { saved.values.allSatisfy { $0 == 0 } }

    /// Operations that wait still, on each provider's route, and captures without a place.
    package var savedOperations: Int { (saved[Table.route.name] ?? 0) + (saved[Table.stagedCapture.name] ?? 0) }
    /// Pending operations that are gone, as far as the accounts tell.
    package var lostOperations: Int { Int(lost.values.reduce(0, +)) }
    /// Rows that were read and are damaged, or belong to nothing.
    package var damagedRows: Int { rejected.values.reduce(0, +) + orphans }

    /// The numbers, and where the damaged file stands, in words.
    package var counts: String {
        let name = movedAside.split(separator: "/").last.map(String.init) ?? ""
        return "\(savedOperations) pending rows were saved, \(lostOperations) are known to be lost, "
            + "\(damagedRows) damaged rows are set aside; the damaged file is \(name)"
    }
}

/// The result of an offline proof of the whole file.
package struct VerifyReport: Sendable, Equatable {
    /// One thing that is wrong.
    package struct Fault: Sendable, Equatable {
        /// The kinds of fault.
        package enum Kind: String, Sendable {
            case structure, checksum, orphanOperation, orphanRoute, balance, usage
        }
        package var kind: Kind
        package var detail: String
    }

    package var operations = 0
    package var routes = 0
    package var rowsChecked = 0
    package var faults: [Fault] = []
    package var isSound: Bool { faults.isEmpty }
}

/// A moment inside a transaction at which a test may let the process die.
package enum StoragePoint: Sendable, Equatable {
    /// Nothing has been done yet.
    case begin(Durability)
    /// Everything is written, nothing is committed: throwing here loses the transaction.
    case beforeCommit(Durability)
    /// The commit is done: throwing here does not undo it.
    case afterCommit(Durability)
}
