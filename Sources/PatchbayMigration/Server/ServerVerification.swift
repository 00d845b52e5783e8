import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Compares a source with the contacts that a vendor's server API shows.
///
/// Only parts for which the source has a value are compared. The vendor may have more data, of these contacts and of
/// others.
public struct ServerVerification {
    private let migration: Migration
    private let target: ServerTarget
    private let input: String?
    private let results: String?

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - migration: The conversion of each record; its target is the server API's format.
    ///   - target: The server API.
    ///   - input: The source; nil is standard input.
    ///   - results: The results that the migration wrote. Rejected records in it are not expected at the vendor.
    /// - Throws: ``Migration/Failure`` if the server API cannot be read.
    public init(
        _ migration: Migration,
        with target: ServerTarget,
        input: String?,
        results: String?
    )
        throws(Migration.Failure)
    {
        guard target.canRead else {
            throw Migration.Failure([ServerFinding.unreadable.at("to", detail: target.descriptor.id.rawValue)])
        }
        (self.migration, self.target, self.input, self.results) = (migration, target, input, results)
    }

    /// Compares the contacts.
    ///
    /// - Parameters:
    ///   - surroundings: The network, the clocks, and the cancellation.
    ///   - extent: The contacts to compare.
    ///   - showsKeys: Whether differences name contacts by their keys instead of digests.
    ///   - difference: Receives each difference.
    /// - Returns: The counts.
    /// - Throws: ``Migration/Failure`` if the source cannot be read or the vendor rejects a query; `CancellationError`.
    public nonisolated(nonsending) func run(
        _ surroundings: ServerSurroundings,
        extent: Verification.Extent = .full,
        showsKeys: Bool = false,
        difference: (Verification.Difference) throws -> Void
    ) async throws -> Verification {
        let provider = target.provider
        let route = RoutingPlan.Provider(
            name: provider.name,
            adapter: provider.adapter,
            mode: .live,
            rate: provider.rate
        )
        let credentials = provider.credentials
        let client = try await EngagementClient(
            outbox: .memory,
            subject: "verification",
            plan: RoutingPlan(providers: [route]),
            transport: surroundings.transport,
            credentials: CredentialSource(immediate: { credentials[$0.contact] }),
            host: surroundings.host,
            log: surroundings.log
        )
        do {
            let asker = ServerAsker(client: client, provider: provider.name, server: target.server)
            let verification = try await compare(asker, surroundings, extent, showsKeys, difference)
            await client.close()
            return verification
        } catch {
            await client.close()
            if let error = error as? SettingsError { throw Migration.Failure(error.findings) }
            throw error
        }
    }

    private func openSource() throws(FileError) -> FileSource {
        guard let input else { return try .standardInput() }
        return try FileSource(path: input)
    }

    private nonisolated(nonsending) func compare(
        _ asker: ServerAsker,
        _ surroundings: ServerSurroundings,
        _ extent: Verification.Extent,
        _ showsKeys: Bool,
        _ difference: (Verification.Difference) throws -> Void
    ) async throws -> Verification {
        var verification = Verification()
        verification.extent = extent
        let lens = try FieldReader(migration, key: target.server.keyKind, tagByTag: true)
        let names = NameBook()
        var source = try openSource()
        let size = source.size
        let watch = Verification.Watch(
            progress: { part, done in
                let part = done.hearing.map(ServerProgress.Part.hearing) ?? .verifying(part, of: size)
                surroundings.tell(ServerProgress(part: part, records: done.records, bytes: done.bytes))
            },
            isCancelled: surroundings.isCancelled
        )
        let verdicts = try verdicts()
        var sample = Sample(extent)
        // The keys are kept in any case, because the vendor is queried for them.
        let (wanted, found) = (FieldStore(keepsKeys: true), FieldStore(keepsKeys: true))
        let refused = FieldStore(keepsKeys: false)
        verification.expected = try migration.eachWritten(&source, watch) { number, written, traits in
            var sight = try lens.look(written)
            let key = KeyMark(sight.key, opinion: 0).exact
            sample?.add(key, key, traits)
            // The vendor may have accepted parts of a rejected row, so nothing is expected of it.
            guard !verdicts.rejected.contains(number) else {
                return try refused.add(sight, number: number, names)
            }
            // If an opt-out at the target was kept, or an operation was not accepted, the opt-in of the source is not
            // expected. An opt-out of the source is expected unless the settings allow to lose it.
            let isUnheard = verdicts.unheard.contains(number)
            if isUnheard || verdicts.kept.contains(number) {
                var contact = try Contact(jsonBytes: written)
                let losesOptOuts = isUnheard && target.settings.lostOptOuts == .warn
                // An opt-in that the server API cannot distinguish from a missing status is read back as unknown.
                contact.subscriptions.removeAll { !$0.state.isOptOut || losesOptOuts }
                sight = FieldReader.look(contact, target.server.keyKind, tagByTag: true)
            }
            try wanted.add(sight, number: number, names)
        }
        let chosen = sample?.keys(&verification)
        if case .inPages? = target.server.reading {
            var number = 0
            try await asker.eachPage(surroundings) { page in
                for one in page where chosen?.contains(KeyMark(one.key, opinion: 0).exact) ?? true {
                    number += 1
                    try found.add(
                        FieldReader.look(one.contact, target.server.keyKind, tagByTag: true),
                        number: number,
                        names
                    )
                }
            }
        }
        let judge = Judge(names: names, showsKeys: showsKeys, isPartial: true)
        var waiting: [[FieldStore.Entry]] = []
        for share in 0..<Shares.count {
            let all = try wanted.entries(share).filter { chosen?.contains($0.key.exact) ?? true }
            let entries = try Self.entries(all, besides: refused.entries(share))
            guard case .byKeys(let most)? = target.server.reading else {
                let shown = try found.entries(share)
                let entries = Self.entries(entries, unneeded: verdicts.unneeded, shown: shown, names)
                try judge.compare(entries, shown, &verification, difference)
                continue
            }
            waiting.append(entries)
            let keys = waiting.joined().map(\.text)
            guard share == Shares.count - 1 || keys.count >= most * target.descriptor.delivery.concurrency else {
                continue
            }
            let partProgress = ServerProgress(records: verification.compared, inProgress: keys.count)
            let held = try await asker.telling(partProgress, surroundings) {
                try await asker.contacts(of: keys.eachOnce.sorted())
            }
            for entries in waiting {
                try compare(entries, held, verdicts.unneeded, judge, names, &verification, difference)
            }
            waiting = []
            surroundings.progress(ServerProgress(records: verification.compared))
        }
        return verification
    }

    /// The records without the fields that a rejected record of the same contact has, too.
    private static func entries(_ entries: [FieldStore.Entry], besides refused: [FieldStore.Entry]) -> [FieldStore
        .Entry]
    {
        if refused.isEmpty { return entries }
        let spoken = Dictionary(refused.map { ($0.key.exact, Set($0.fields.map(\.name))) }) { $0.union($1) }
        return entries.map { entry in
            var entry = entry
            if let names = spoken[entry.key.exact] { entry.fields.removeAll { names.contains($0.name) } }
            return entry
        }
    }

    /// The records without subscriptions that the vendor does not show, if the vendor did not need their opt-outs.
    /// Subscriptions that it does show are compared.
    private static func entries(
        _ entries: [FieldStore.Entry],
        unneeded: RowSet,
        shown: [FieldStore.Entry],
        _ names: NameBook
    ) -> [FieldStore.Entry] {
        guard entries.contains(where: { unneeded.contains($0.number) }) else { return entries }
        let held = Dictionary(shown.map { ($0.key.exact, Set($0.fields.map(\.name))) }) { $0.union($1) }
        return entries.map { entry in
            guard unneeded.contains(entry.number) else { return entry }
            var entry = entry
            entry.fields.removeAll { field in
                names.names[field.name].hasPrefix("subscriptions.")
                    && !(held[entry.key.exact]?.contains(field.name) ?? false)
            }
            return entry
        }
    }

    private func compare(
        _ entries: [FieldStore.Entry],
        _ held: [ScalarString: Contact],
        _ unneeded: RowSet,
        _ judge: Judge,
        _ names: NameBook,
        _ verification: inout Verification,
        _ difference: (Verification.Difference) throws -> Void
    ) throws {
        let found = entries.map(\.text).eachOnce.sorted().compactMap { key -> FieldStore.Entry? in
            guard let contact = held[ScalarString(key)] else { return nil }
            let fields = FieldReader.look(contact, target.server.keyKind, tagByTag: true).fields
                .map { (name: names.index(of: $0.name), digest: $0.digest) }
            return FieldStore.Entry(key: KeyMark(key, opinion: 0), number: 0, text: key, fields: fields)
        }
        let wanted = Self.entries(entries, unneeded: unneeded, shown: found, names)
        try judge.compare(wanted, found, &verification, difference)
    }

    /// The rows in a file of results: those that were rejected, those for which an opt-out at the target was kept, those of
    /// which an operation was not accepted, and those with an opt-out that the vendor did not need.
    private struct Verdicts {
        var rejected = RowSet()
        var kept = RowSet()
        var unheard = RowSet()
        var unneeded = RowSet()
    }

    private static let taken = Set([OperationOutcome.Term.accepted, .unchanged, .superseded].map(\.rawValue))

    private func verdicts() throws -> Verdicts {
        var verdicts = Verdicts()
        guard let results else { return verdicts }
        try ServerJournal.eachLine(results) { _, json in
            guard let number = json?["number"]?.integer, let verdict = json?["verdict"]?.string else {
                throw Migration.Failure([ServerFinding.noResults.at(results)])
            }
            let operations = json?["operations"]?.object ?? [:]
            if verdict == "rejected" {
                verdicts.rejected.insert(Int(number))
            } else if operations.contains(where: { !Self.taken.contains($0.name) }) {
                verdicts.unheard.insert(Int(number))
            }
            let findings = json?["findings"]?.array ?? []
            if findings.contains(where: { finding in
                ServerFinding.ofTargetOptOuts.contains { finding["code"]?.string == $0.code }
            }) {
                verdicts.kept.insert(Int(number))
            }
            if findings.contains(where: { $0["code"]?.string.map(target.server.unneededOptOuts.contains) ?? false }) {
                verdicts.unneeded.insert(Int(number))
            }
            return true
        }
        return verdicts
    }
}

@available(*, unavailable)
extension ServerVerification: Sendable {}
