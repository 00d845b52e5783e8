import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let outboxIsOnlyRead = "The outbox is only read; it may be in use."

    static let outboxStats = Command(
        "outbox stats",
        "Count operations by provider and outcome",
        task: .inspect,
        details: """
            The counts are totals since the outbox was created. "operations" is the sum of the columns behind it and includes
            operations that the engine created, such as the state that a new provider receives at a switch.

              accepted     the vendor confirmed it
              unchanged    no request was needed
              superseded   a later value replaced it
              rejected     refused, and kept for replay
              dropped      no consent, over a limit, or cleared
              erased       deleted with the person
              quarantined  its row was damaged
              moved        another provider took it over
              shadowed     only compared, at a shadow provider
              pending      not completed yet

            \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.json],
        findings: "the counts of a provider do not add up",
        examples: [
            Example("Count the operations of an outbox", "patchbay outbox stats outbox.sqlite"),
            Example("Count them for a script", "patchbay outbox stats outbox.sqlite --json"),
        ]
    ) { session in
        let store = try session.outbox()
        let (accounts, arrived, rejects, quarantined) = try store.snapshot {
            let accounts = try ProviderAccounts.read(store)
            return (accounts, try store.captures.stagedCount(), try store.rejects.count(), try store.quarantine.count())
        }
        if session.isJSON {
            for account in accounts { try session.console.data(account.json) }
        } else {
            for line in AccountsText(accounts).lines { try session.console.data(line) }
            if arrived > 0 {
                try session.console.data("\(arrived.counted("capture")) without a route until the next start")
            }
            try session.console.data(
                "\(rejects.counted("reject")) kept for replay, \(quarantined.counted("damaged row")) set aside"
            )
        }
        return accounts.allSatisfy(\.balances) ? .fine : .findings
    }

    static let outboxList = Command(
        "outbox list",
        "List pending operations",
        task: .inspect,
        details: """
            Prints one JSON object per operation, without values and personal data unless --values is given. Captures that have
            no route yet come last, marked "arrived". \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.provider, .limit, .values],
        examples: [
            Example("List the first 100 pending operations", "patchbay outbox list outbox.sqlite"),
            Example(
                "List 10 operations of one provider with their values",
                "patchbay outbox list outbox.sqlite --provider salesforce --limit 10 --values"
            ),
        ]
    ) { session in
        let store = try session.outbox()
        var isEmpty = true
        let (wanted, showsValues) = (try session.provider(of: store), session.invocation.has(.values))
        var left = session.invocation.number(.limit) ?? 100
        for provider in try wanted.map({ [$0] }) ?? store.state.providers().map(\.name) {
            var after: Int64 = 0
            while left > 0 {
                let rows = try store.queues.list(provider: provider, limit: min(left, 256), after: after)
                for row in rows { try session.console.data(row.json(showsValues: showsValues)) }
                isEmpty = isEmpty && rows.isEmpty
                left -= rows.count
                guard let last = rows.last else { break }
                after = last.operation.sequence
            }
        }
        for number in try store.captures.stagedNumbers() where left > 0 {
            let captures = try store.captures.arrived(number)?.captures ?? []
            let meant = captures.filter { capture in wanted.map { capture.providers.contains($0) } ?? true }
            for capture in meant.prefix(left) { try session.console.data(capture.json(showsValues: showsValues)) }
            left -= min(left, meant.count)
            isEmpty = isEmpty && meant.isEmpty
        }
        if isEmpty { session.console.say("No pending operations.") }
        for account in try ProviderAccounts.read(store) { session.sayStranded(account) }
        return .fine
    }

    static let outboxVerify = Command(
        "outbox verify",
        "Check that an outbox is sound and complete",
        task: .inspect,
        details: """
            Checks the structure, the checksum of every row, and that every operation is pending or has an outcome.
            \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.json],
        findings: "the outbox is damaged",
        examples: [
            Example("Check an outbox", "patchbay outbox verify outbox.sqlite"),
            Example("Check it for a script", "patchbay outbox verify outbox.sqlite --json"),
        ]
    ) { session in
        let store = try session.outbox()
        let report = try store.maintenance.verify()
        if session.isJSON {
            try session.console.data(report.json)
        } else {
            for fault in report.faults { try session.console.data("\(fault.kind.rawValue): \(fault.detail)") }
            let words = report.isSound ? "sound" : "\(report.faults.count.counted("fault"))"
            try session.console.data(
                "\(report.operations.counted("pending operation")), \(report.rowsChecked.counted("row")) checked: \(words)"
            )
        }
        // A damaged file may have no accounts to read; the damage was reported before.
        for account in (try? ProviderAccounts.read(store)) ?? [] { session.sayStranded(account) }
        return report.isSound ? .fine : .findings
    }
}

extension Session {
    /// The outbox that the first argument names, opened for reading.
    func outbox() throws -> OutboxStore { try outbox(at: invocation.argument(0) ?? "") }

    /// Opens an outbox for reading.
    ///
    /// - Throws: ``OutboxError``, and ``FileError`` if there is no such file, as for every other input.
    func outbox(at path: String) throws -> OutboxStore {
        guard access(path, F_OK) == 0 else { throw FileError(path, .open, number: errno) }
        return try OutboxStore.open(.file(path), readOnly: true)
    }

    /// Opens an outbox for writing, and reports which data was saved if the file is damaged.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - history: The maximum number of completed operations to keep; by default all of them.
    /// - Returns: The outbox.
    /// - Throws: ``OutboxError`` if the file cannot be opened.
    func outboxForWriting(_ path: String, history: Int = .max) throws(OutboxError) -> OutboxStore {
        let store = try OutboxStore.open(.file(path))
        store.history.limit = history
        if let recovery = store.openReport.recovery { console.say("patchbay: \(recovery.finding.sentence)", .yellow) }
        return store
    }

    /// Reports the operations that are pending for a provider that the configuration no longer names.
    func sayStranded(_ account: ProviderAccounts) {
        if let finding = account.stranded { console.say(finding, at: account.provider) }
    }

    /// The provider that `--provider` names, which the outbox must know; nil without the option.
    func provider(of store: OutboxStore) throws -> String? {
        guard let wanted = invocation.text(.provider) else { return nil }
        try requireKnown(wanted, "--provider", store)
        return wanted
    }

    func requireKnown(_ provider: String, _ flag: String, _ store: OutboxStore) throws {
        let known = try store.state.providers().map(\.name)
        guard !known.contains(provider) else { return }
        let guess = provider.nearest(in: known).map { " Did you mean \"\($0)\"?" } ?? ""
        throw UsageError(
            "\(flag): the outbox has no provider \"\(provider)\".\(guess) Providers: \(known.joined(separator: ", "))."
        )
    }
}

extension OutboxRow {
    fileprivate func json(showsValues: Bool) -> JSONValue {
        let body = try? EngagementOperation(jsonBytes: operation.body)
        var json: JSONObject = [
            "provider": .string(provider),
            "sequence": .integer(operation.sequence),
            "id": .string(operation.id),
            "kind": .string(body?.action.kind.rawValue ?? "unreadable"),
            "capturedAt": .string(Instant(milliseconds: operation.capturedAt).text),
            "hold": hold.map(JSONValue.string) ?? .null,
            "begun": .bool(step != nil),
            "failures": .integer(failures),
        ]
        if showsValues { json["operation"] = body?.json ?? .null }
        return .object(json)
    }
}

extension ArrivedCapture {
    fileprivate func json(showsValues: Bool) -> JSONValue {
        var json: JSONObject = [
            "arrived": true,
            "providers": .array(providers.map(JSONValue.string)),
            "id": operation.map { JSONValue.string($0.id.rawValue) } ?? .null,
            "kind": .string(operation?.action.kind.rawValue ?? "unreadable"),
            "capturedAt": operation.map { JSONValue.string($0.capturedAt.text) } ?? .null,
        ]
        if showsValues { json["operation"] = operation?.json ?? .null }
        return .object(json)
    }
}

extension VerifyReport {
    fileprivate var json: JSONValue {
        [
            "sound": .bool(isSound),
            "operations": .integer(operations),
            "routes": .integer(routes),
            "rowsChecked": .integer(rowsChecked),
            "faults": .array(faults.map { ["kind": .string($0.kind.rawValue), "detail": .string($0.detail)] }),
        ]
    }
}
