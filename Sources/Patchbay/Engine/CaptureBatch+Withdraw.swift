import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// Erasure of a contact's data on installations that another person uses now.
extension CaptureBatch {
    /// Withdraws a contact's pending and rejected operations of all subjects, in the transaction of the contact's erasures
    /// and after them.
    ///
    /// Other operations of the installations stay. A registration that the contact made belongs to the installation, so it is
    /// sent again. Pending erasures stay, and so do operations that separate the contact from the installation at the vendor.
    mutating func withdraw(contact: String, with erasure: OperationID) throws {
        let (store, text) = (context.store, contact.storedBytes)
        var parts: [String: Erasure.Part] = [:]
        var withdrawn: Set<String> = []
        var untold: [Int: [Subject: EngagementOperation]] = [:]
        try store.operations.forEach(mentioning: text) { stored in
            let pending = try? EngagementOperation(jsonBytes: stored.body)
            guard pending.map({ $0.concerns(contact) && !$0.action.partsOrErases }) ?? true else { return }
            for name in try store.operations.routes(of: stored.sequence).providers {
                guard let row = try store.queues.row(stored.sequence, provider: name) else { continue }
                try context.end(row, name, OperationOutcome(.erased))
                let kind = pending?.action.kind.rawValue ?? "unreadable"
                parts[name, default: Erasure.Part()].withdrawn[kind, default: 0] += 1
                withdrawn.insert(stored.id)
                guard let position = runners.firstIndex(where: { $0.name == name }) else { continue }
                touched[position, default: [:]][row.lane, default: []] += []
                if let pending, pending.action.kind == .registerDevice {
                    untold[position, default: [:]][pending.subject] = pending
                }
            }
        }
        try store.rejects.forEach(provider: nil, mentioning: text) { reject in
            let refused = try? EngagementOperation(jsonBytes: reject.operation.body)
            guard refused?.concerns(contact) ?? true else { return }
            try store.rejects.remove(reject.number)
            parts[reject.provider, default: Erasure.Part()].rejects += 1
        }
        for name in try providersOfOutbox() { try emptyJournal(of: name, withdrawn) }
        try forgetFormer(contact, text)
        let damagedRows = try store.quarantine.remove(mentioning: text)
        erasures.add(parts, damagedRows: damagedRows, to: erasure)
        for (position, operations) in untold.inOrder {
            for (_, operation) in operations.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                try tellDeviceAgain(operation, position)
            }
        }
    }

    /// Removes the contact from the subject snapshots and adapter memories of installations that another person uses now.
    private mutating func forgetFormer(_ contact: String, _ text: [UInt8]) throws {
        for (name, body) in try context.store.state.subjects(mentioning: text) {
            let subject = Subject(rawValue: name)
            guard var snapshot = snapshots[subject] ?? (try? SubjectSnapshot(jsonBytes: body)),
                snapshot.forgetFormerContact(contact)
            else { continue }
            snapshots[subject] = snapshot
        }
        for position in runners.indices {
            for lane in try runners[position].forgetContact(contact, text) { forgotten.append((position, lane)) }
        }
    }

    /// Sends the installation's registration again on behalf of the current person.
    private mutating func tellDeviceAgain(_ operation: EngagementOperation, _ position: Int) throws {
        let snapshot = try snapshots[operation.subject] ?? context.snapshot(of: operation.subject)
        guard receives(position, operation, snapshot) else { return }
        try tellAgain(position, operation, snapshot) { $0.kind == .registerDevice }
    }
}

extension EngagementOperation {
    /// Whether the contact captured the operation or is named in it.
    fileprivate func concerns(_ contact: String) -> Bool {
        if contact.isSame(as: self.contact) { return true }
        return switch action {
        case .identify(let identifiers): identifiers.contains { contact.isSame(as: $0.value) }
        case .switchContact(let change): change.identifiers.contains { contact.isSame(as: $0.value) }
        default: false
        }
    }
}

extension Action {
    /// Whether the action makes a vendor delete a person or separate a person from the installation. An erasure keeps such
    /// actions.
    fileprivate var partsOrErases: Bool {
        switch self {
        case .erase, .unregister: true
        case .switchContact(let change): change.direction == .logOut
        default: false
        }
    }
}

extension String {
    /// Whether two texts have the same Unicode scalars. Texts that are only canonically equivalent differ.
    func isSame(as other: String?) -> Bool { other.map { ScalarString.equal(self, $0) } ?? false }

    /// The text in the form that stored JSON contains.
    var storedBytes: [UInt8] {
        var writer = JSONWriter()
        writer.string(self)
        return writer.bytes
    }
}
