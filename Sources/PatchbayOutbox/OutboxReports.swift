/// A report on opening an outbox.
package struct OpenReport: Sendable, Equatable {
    /// Whether a new, empty outbox was created. False after a recovery, even if no row could be read.
    package var created = false
    /// The recovery report if the file was damaged and rebuilt from the readable rows.
    package var recovery: RecoveryReport?

    package var recovered: Bool { recovery != nil }
    package var movedAside: String? { recovery?.movedAside }
}

/// The result of recovering a damaged file.
package struct RecoveryReport: Sendable, Equatable {
    /// The path to which the damaged file was moved.
    package var movedAside: String
    /// A description of the damage, without stored values.
    package var reason: String
    /// The number of saved rows, by table.
    package var saved: [String: Int] = [:]
    /// The number of rows that were read but whose checksum does not match, by table.
    package var rejected: [String: Int] = [:]
    /// The number of routes without their operation, and of operations without a route. They are quarantined.
    package var orphans = 0
    /// The number of pending rows that the accounts contain but that could not be read, by provider. The accounts count them as
    /// quarantined.
    package var lost: [String: Int64] = [:]
    /// The number of rows that the accounts did not contain, by provider. The accounts count them as captured.
    package var unaccounted: [String: Int64] = [:]
    /// Whether no row could be read.
    package var isEmpty: Bool { saved.values.allSatisfy { $0 == 0 } }

    /// The number of saved routes of pending operations, plus saved staged captures.
    package var savedOperations: Int { (saved[Table.route.name] ?? 0) + (saved[Table.stagedCapture.name] ?? 0) }
    /// The number of lost pending operations, according to the accounts.
    package var lostOperations: Int { Int(lost.values.reduce(0, +)) }
    /// The number of rows that were read but are damaged or orphaned.
    package var damagedRows: Int { rejected.values.reduce(0, +) + orphans }

    /// The counts and the path of the damaged file as text.
    package var counts: String {
        let name = movedAside.split(separator: "/").last.map(String.init) ?? ""
        return "\(savedOperations) pending rows were saved, \(lostOperations) are known to be lost, "
            + "\(damagedRows) damaged rows are set aside; the damaged file is \(name)"
    }
}

/// The result of verifying the whole file offline.
package struct VerifyReport: Sendable, Equatable {
    /// One detected problem.
    package struct Fault: Sendable, Equatable {
        /// The kinds of problem.
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

/// A point inside a transaction at which a test may simulate the death of the process.
package enum StoragePoint: Sendable, Equatable {
    /// No change has been made yet.
    case begin(Durability)
    /// Everything is written but not committed. An error thrown here discards the transaction.
    case beforeCommit(Durability)
    /// The commit is done. An error thrown here does not undo it.
    case afterCommit(Durability)
}
