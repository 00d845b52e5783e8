import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox
import Synchronization

extension EngagementClient {
    /// Forgets the current subject: here at once, at the vendors as far as they let themselves be told.
    ///
    /// Pending operations, the subject snapshot and rejects are deleted when this returns. What an adapter remembers,
    /// and the contact that selects the credential, stay until that vendor's deletion has ended. Damaged files that a recovery
    /// has set aside are deleted: no row of theirs can be erased alone.
    ///
    /// - Returns: what was done, and what a person still has to do.
    /// - Throws: ``CaptureError`` if it could not be stored: then nothing has happened.
    public func erase() async throws -> ErasureReport {
        let now = current.withLock { $0 }
        let report = try await erase { _ in
            [now.subject]
        } of: {
            try now.contact ?? $0.snapshot(of: now.subject).contact
        }
        // Whoever is there now is nobody known.
        current.withLock {
            if $0.contact.map(ScalarString.init) == now.contact.map(ScalarString.init) { $0.contact = nil }
        }
        return report
    }

    /// Forgets a subject, as ``erase()`` does.
    public func erase(subject: Subject) async throws -> ErasureReport {
        try await erase { _ in
            [subject]
        } of: {
            try $0.snapshot(of: subject).contact
        }
    }

    /// Forgets every subject whose state belongs to that contact: who is logged in as that, or has it as an identifier.
    ///
    /// What waits of the contact, or was refused, on an installation that somebody else uses now goes too; the installation's
    /// state and its other operations stay. What was captured there without a contact is not known to be anybody's, and stays.
    ///
    /// States and operations are searched for the contact's text, one by one: a back end with a million of them waits for a
    /// second or so. Where no state is the contact's, the vendors are told all the same, with the contact as subject.
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

    /// How many erasures are on their way to a vendor: each counts once for each provider that has not answered.
    public func pendingErasures() async throws -> Int {
        // No value can hold these bytes: a quotation mark in a text is written with a backslash.
        try await loop.withEngine { try $0.store.pendingCount(mentioning: Array(#""action":{"kind":"erase"}"#.utf8)) }
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
    /// Stores erasures behind everything captured before, and clears the file's log of what they took away.
    ///
    /// With a contact, everything else that waits of that contact goes with them.
    func erase(
        _ operations: @escaping @Sendable (Engine) throws -> [EngagementOperation],
        forgetting contact: String?,
        receipt: @escaping @Sendable (OperationID) -> Receipt
    ) throws -> ErasureReport {
        try storeCaptures()
        return try withEngine { engine in
            // Whose state is whose shows when everything has its place.
            try engine.placeEveryStagedCapture()
            let captures = try operations(engine).map { Engine.Capture($0, uptime: engine.uptime) }
            let receipts = captures.map { receipt($0.operation.id) }
            do {
                let erasures = try engine.commit(captures, forgetting: contact)
                for receipt in receipts { receipt.settleDurability(.success(())) }
                // A reader in the way is met again by the housekeeping.
                _ = try? engine.store.sweep()
                let damagedFiles = engine.store.removeDamagedFiles()
                return ErasureReport(erasures, damagedFiles: damagedFiles, receipts: receipts)
            } catch {
                for receipt in receipts { receipt.settleDurability(.failure(CaptureError(storage: error))) }
                throw error
            }
        }
    }
}
