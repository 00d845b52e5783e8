import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox
import Synchronization

extension EngagementClient {
    /// Erases the current subject: locally at once, and at the vendors as far as their APIs allow.
    ///
    /// Pending operations, the subject snapshot and rejects are deleted when this returns. The adapter's memory and the
    /// contact that selects the credential stay until that vendor's deletion has completed. Damaged files that a recovery has
    /// set aside are deleted, because their rows cannot be erased one by one.
    ///
    /// - Returns: A report of what was done and what a person still has to do.
    /// - Throws: ``CaptureError`` if the erasure could not be stored. Nothing has changed then.
    public func erase() async throws -> ErasureReport {
        let now = current.withLock { $0 }
        let report = try await erase { _ in
            [now.subject]
        } of: {
            try now.contact ?? $0.snapshot(of: now.subject).contact
        }
        // No contact is known on this installation now.
        current.withLock {
            if $0.contact.map(ScalarString.init) == now.contact.map(ScalarString.init) { $0.contact = nil }
        }
        return report
    }

    /// Erases a subject, as ``erase()`` does.
    public func erase(subject: Subject) async throws -> ErasureReport {
        try await erase { _ in
            [subject]
        } of: {
            try $0.snapshot(of: subject).contact
        }
    }

    /// Erases every subject whose state belongs to a contact: subjects where the contact is logged in or is an identifier.
    ///
    /// If another person uses an installation now, the contact's pending and rejected operations there are deleted. The
    /// installation's state and its other operations stay. Operations captured there without a contact stay, because their
    /// author is not known.
    ///
    /// The outbox searches states and operations for the contact's text one by one. With a million of them, that takes about
    /// a second. If no state belongs to the contact, the vendors still receive an erasure, with the contact as subject.
    public func erase(contact: String) async throws -> ErasureReport {
        let report = try await erase(forgetting: contact) { engine in
            let found = try engine.subjects(of: contact)
            return found.isEmpty ? [Subject(rawValue: contact)] : found
        } of: { _ in
            contact
        }
        current.withLock { if $0.contact.map(ScalarString.init) == ScalarString(contact) { $0.contact = nil } }
        return report
    }

    /// Returns the number of erasures that vendors have not answered, counted once per provider.
    public func pendingErasures() async throws -> Int {
        // No JSON string contains these bytes: a quotation mark inside a string is escaped.
        try await loop.withEngine {
            try $0.store.operations.pendingCount(mentioning: Array(#""action":{"kind":"erase"}"#.utf8))
        }
    }

    private func erase(
        forgetting everywhere: String? = nil,
        _ subjects: @escaping @Sendable (Engine) throws -> [Subject],
        of contact: @escaping @Sendable (Engine) throws -> String?
    ) async throws -> ErasureReport {
        let (host, appState, names) = (host, current.withLock { $0.appState }, audience.withLock { $0.all })
        let operations = { @Sendable (engine: Engine) throws -> [EngagementOperation] in
            let contact = try contact(engine)
            return try subjects(engine).map { subject in
                EngagementOperation(
                    id: host.makeID(),
                    subject: subject,
                    contact: contact,
                    capturedAt: host.date(),
                    appState: appState,
                    action: .erase
                )
            }
        }
        do {
            return try await loop.erase(operations, forgetting: everywhere) { [self] id in
                let receipt = Receipt(id: id, providers: names)
                receipts.add(receipt)
                return receipt
            }
        } catch let error as CaptureError {
            throw error
        } catch {
            throw CaptureError(storage: error)
        }
    }
}

extension DeliveryLoop {
    /// Stores erasures behind everything captured before, and clears the deleted data from the file's log.
    ///
    /// With a contact, the contact's other pending operations are deleted, too.
    func erase(
        _ operations: @escaping @Sendable (Engine) throws -> [EngagementOperation],
        forgetting contact: String?,
        receipt: @escaping @Sendable (OperationID) -> Receipt
    ) throws -> ErasureReport {
        try storeCaptures()
        return try withEngine { engine in
            // The subjects of a contact are known only after everything staged is routed.
            try engine.placeEveryStagedCapture()
            let captures = try operations(engine).map { Engine.Capture($0, uptime: engine.uptime) }
            let receipts = captures.map { receipt($0.operation.id) }
            do {
                let erasures = try engine.commit(captures, forgetting: contact)
                for receipt in receipts { receipt.settleDurability(.success(())) }
                // If a reader blocks the sweep, the next maintenance repeats it.
                _ = try? engine.store.maintenance.sweep()
                let damagedFiles = engine.store.maintenance.removeDamagedFiles()
                return ErasureReport(erasures, damagedFiles: damagedFiles, receipts: receipts)
            } catch {
                for receipt in receipts { receipt.settleDurability(.failure(CaptureError(storage: error))) }
                throw error
            }
        }
    }
}
