import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

/// Undoes a migration through a server API with its journal: the earlier values are restored, and contacts that did not
/// exist before are erased.
///
/// The vendor is queried first. A contact that was changed since the migration is reported and left as it is. The undo can
/// be resumed after an interruption at any moment.
public struct ServerUndo: Sendable {
    private let journal: String
    private let target: ServerTarget
    private let output: String

    /// Creates an undo.
    ///
    /// - Parameters:
    ///   - journal: The journal that the migration wrote.
    ///   - target: The server API that the migration wrote to.
    ///   - output: Receives the verdict of each contact.
    /// - Throws: ``Migration/Failure`` if the journal belongs to another server API or another provider.
    public init(_ journal: String, through target: ServerTarget, output: String) throws {
        (self.journal, self.target, self.output) = (journal, target, output)
        let head = try Self.server(of: journal)
        guard let head, head.server == target.descriptor.id.rawValue, head.provider == target.provider.name else {
            let detail = head.map { "provider \($0.provider), adapter \($0.server)" }
            throw Migration.Failure([ServerFinding.otherServer.at(journal, detail: detail)])
        }
    }

    /// The server API and the provider that a journal names; nil if it is not a journal of a migration through a server
    /// API.
    public static func server(of journal: String) throws -> (server: String, provider: String)? {
        var found: (String, String)?
        try ServerJournal.eachLine(journal) { _, json in
            found = json.flatMap(ServerJournal.Head.init).map { ($0.server, $0.provider) }
            return false
        }
        return found
    }

    /// Runs the undo until it is complete, it is cancelled, or the provider is suspended. The journal is removed when every
    /// contact is restored.
    public nonisolated(nonsending) func run(_ surroundings: ServerSurroundings, restarts: Bool) async throws
        -> ServerOutcome
    {
        let held = try ServerJournal.take(journal)
        defer { try? held.close() }
        let input = try InputIdentity(FileSource(path: journal), path: journal)
        let identity = ServerMigrationFiles.Identity([("provider", target.identity), ("outputs", .string(output))])
        if !restarts, let checkpoint = try Checkpoint(of: output), checkpoint.place.report.isComplete {
            ServerMigrationFiles.removeOutbox(ServerMigrationFiles.outbox(of: output))
            let report = try ResumableMigration.finish(checkpoint, [output]).report
            if report.rejected == 0 { unlink(journal) }
            return ServerOutcome(report: report, accounts: nil, resumed: report.read, isCommitted: true, stopped: nil)
        }
        let files = try ServerMigrationFiles([output], identity, input, at: journal, restarts: restarts)
        do {
            let feed = try UndoFeed(journal, target, files)
            let outcome = try await ServerRun(target, files, feed, surroundings).run()
            // Contacts that could not be restored need the journal.
            if outcome.isCommitted, outcome.report.rejected == 0 { unlink(journal) }
            return outcome
        } catch {
            files.leave()
            throw error
        }
    }
}

/// Derives the operations that restore one contact.
struct WayBack {
    let server: any ContactAPI
    private let mapper: ServerMapper

    init(_ target: ServerTarget) { (server, mapper) = (target.server, ServerMapper(target.server, target.settings)) }

    /// Returns the operations that restore a contact.
    ///
    /// Parts that already have their earlier value are skipped. If any part has neither its earlier value nor one that a
    /// row wrote, it was changed since the migration, and nothing is sent.
    /// - Parameters:
    ///   - key: The key of the contact.
    ///   - before: The contact before the migration; nil if it did not exist.
    ///   - wrote: The values that each row wrote, in order.
    ///   - now: The contact now; nil if it does not exist.
    /// - Returns: The row, and the options for its operations.
    func row(_ key: String, before: Contact?, wrote: [Contact], now: Contact?) -> (row: ServerRow, options: JSONObject?)
    {
        var row = ServerRow()
        row.key = key
        guard let now else {
            // The contact is gone. Either it did not exist before, or it was erased after the migration.
            if before != nil { row.findings = [ServerFinding.changedSince.at("identifiers")] }
            return (row, nil)
        }
        if isChanged(before ?? Contact(), wrote, now, &row) { return (row, nil) }
        if before == nil, let removal = server.removal {
            noteAdditions(to: wrote.reduce(Contact()) { $0.with($1) }, in: now, &row)
            if row.isRejected { return (row, nil) }
            row.add(.erase, "identifiers")
            return (row, removal)
        }
        restore(before ?? Contact(), wrote.reduce(Contact()) { $0.with($1) }, now, &row)
        row.image = before ?? Contact()
        return (row, nil)
    }

    private func isChanged(_ before: Contact, _ wrote: [Contact], _ now: Contact, _ row: inout ServerRow) -> Bool {
        func note(_ path: String) { row.findings.append(ServerFinding.changedSince.at(path)) }
        func isKnown<Value: Equatable>(_ part: (Contact) -> Value?) -> Bool {
            // If the vendor rejected a part of a row, the value of the row before it remains.
            part(now) == part(before) || wrote.contains { part($0) == part(now) }
        }
        let all = wrote.reduce(Contact()) { $0.with($1) }
        for name in all.attributes.keys.sorted() where !isKnown({ $0.attributes[name] }) {
            // The server API shows a cleared attribute as empty, or not at all.
            let isEmptied = now.attributes[name] == nil && wrote.contains { $0.attributes[name] == .string("") }
            if isEmptied { continue }
            note("attributes".dot(name.rawValue))
        }
        let kinds = Set(all.identifiers.map(\.kind)).subtracting([server.keyKind])
        for kind in kinds where !isKnown({ $0.values(of: kind) }) {
            note("identifiers")
        }
        for key in all.subscriptions.map(\.key) {
            let (was, held) = (before.state(of: key), now.state(of: key))
            // An earlier run of the same undo has set the subscription to rest.
            let isResting = was == nil && held?.isOptOut ?? false
            if !isResting, !isKnown({ $0.state(of: key) }) { note("subscriptions") }
        }
        return row.isRejected
    }

    /// Reports values of a contact that no row wrote, because erasing the contact would erase them, too.
    private func noteAdditions(to wrote: Contact, in now: Contact, _ row: inout ServerRow) {
        let more = now.part(outside: wrote)
        let attributes = more.attributes.keys.filter { !server.vendorAttributes.contains($0) }
        var paths = attributes.sorted().map { "attributes".dot($0.rawValue) }
        if more.identifiers.contains(where: { $0.kind != server.keyKind }) { paths.append("identifiers") }
        if !more.tags.isEmpty { paths.append("tags") }
        let isUntouched = more.subscriptions.allSatisfy { wish in
            server.vendorSubscriptions.contains { $0.key == wish.key && $0.state == wish.state }
        }
        if !isUntouched { paths.append("subscriptions") }
        row.findings += paths.map { ServerFinding.changedSince.at($0) }
    }

    private func restore(_ before: Contact, _ wrote: Contact, _ now: Contact, _ row: inout ServerRow) {
        var changes = identifiers(before, wrote, now, &row)
        for name in wrote.attributes.keys where now.attributes[name] != before.attributes[name] {
            changes[name] = before.attributes[name].map(AttributeChange.set) ?? .unset
        }
        if !changes.isEmpty { offer(.changeAttributes(changes), "attributes", &row) }
        let added = wrote.tags.subtracting(before.tags).intersection(now.tags)
        let removed = before.tags.intersection(wrote.tags).subtracting(now.tags)
        if !added.isEmpty || !removed.isEmpty {
            offer(.changeTags(TagChange(add: removed.sorted(), remove: added.sorted())), "tags", &row)
        }
        for wish in wrote.subscriptions {
            let (was, held) = (before.state(of: wish.key), now.state(of: wish.key))
            guard held != was else { continue }
            var wish = wish
            if let was, was != .unknown {
                wish.state = was
            } else {
                // There was no earlier state, and no operation can restore that: an opt-out stays, and an opt-in is
                // suspended.
                row.findings.append(ServerFinding.remains.at("subscriptions"))
                guard held == .subscribed else { continue }
                wish.state = .suspended
            }
            offer(.changeSubscription(wish), "subscriptions", &row)
        }
    }

    /// Restores the earlier identifiers. Several of a kind become an attribute, and identifiers that did not exist before
    /// become an attribute to unset.
    private func identifiers(_ before: Contact, _ wrote: Contact, _ now: Contact, _ row: inout ServerRow)
        -> [AttributeName: AttributeChange]
    {
        var new: [AttributeName: AttributeChange] = [:]
        var old: [Identifier] = []
        for kind in Set(wrote.identifiers.map(\.kind)).subtracting([server.keyKind]).sorted() {
            let values = before.values(of: kind)
            guard now.values(of: kind) != values else { continue }
            if values.count > 1, let name = server.attribute(for: kind) {
                // An identify operation would restore only one of several values.
                new[name] = .set(.choices(values))
            } else if let value = values.first {
                old.append(Identifier(kind, value))
            } else if let name = server.attribute(for: kind) {
                new[name] = .unset
            } else {
                row.findings.append(ServerFinding.remains.at("identifiers", detail: "kind \(kind.rawValue)"))
            }
        }
        if !old.isEmpty { offer(.identify(old), "identifiers", &row) }
        return new
    }

    /// Adds an operation if the server API accepts it.
    private func offer(_ action: Action, _ path: String, _ row: inout ServerRow) {
        let found = server.examine(mapper.operation(action, row.key)).map { ServerMapper.moved($0, action, path) }
        row.findings += found
        if !found.contains(where: { $0.severity == .error }) { row.add(action, path) }
    }
}

extension Contact {
    fileprivate func values(of kind: IdentifierKind) -> [String] {
        identifiers.filter { $0.kind == kind }.map(\.value)
    }

    fileprivate func state(of key: Subscription.Key) -> Subscription.State? {
        subscriptions.mostProtectiveState(of: key)
    }
}

/// Reads a journal contact by contact, in shares that fit into memory.
private final class UndoFeed: ServerFeed {
    private let target: ServerTarget
    private let way: WayBack
    private let results: ServerResults
    private let settled: Int
    private var lines = ShareStore<UInt8>()
    private var shown = ShareStore<UInt8>()
    private var share = 0
    private var number = 0
    /// The known values of rows that were read from the journal and are not sent yet.
    private var known: [Int: (before: Contact?, wrote: [Contact], now: Contact?)] = [:]

    init(_ path: String, _ target: ServerTarget, _ files: ServerMigrationFiles) throws {
        (self.target, way) = (target, WayBack(target))
        settled = files.earlier?.place.report.read ?? 0
        results = ServerResults(files.outputs, hasRejects: false, after: files.earlier?.place)
        var isFirst = true
        try ServerJournal.eachLine(path) { bytes, json in
            if isFirst {
                isFirst = false
                return true
            }
            guard let json, let key = json["key"]?.string ?? json["held"]?.string else { return json != nil }
            try lines.add(bytes + [0x0A], to: Shares.index(of: KeyMark(key, opinion: 0)))
            return true
        }
    }

    private var hasPages = false

    var wantsPages: Bool { target.isPaged && !hasPages }

    func take(_ page: [(key: String, contact: Contact)]?) throws {
        hasPages = page == nil
        for one in page ?? [] {
            let line: JSONValue = ["held": .string(one.key), "contact": one.contact.json]
            try shown.add(Array(line.text.utf8) + [0x0A], to: Shares.index(of: KeyMark(one.key, opinion: 0)))
        }
    }

    private func contacts(_ bytes: [UInt8]) throws -> [ServerJournal.Line] {
        try bytes.split(separator: 0x0A).compactMap { try ServerJournal.Line(JSONValue(parsing: $0)) }
    }

    func next() throws -> [ServerItem]? {
        var items: [ServerItem] = []
        while items.isEmpty, share < Shares.count {
            defer { share += 1 }
            var held: [ScalarString: Contact] = [:]
            var keys: [String] = []
            var rows: [ScalarString: (before: Contact??, wrote: [Contact])] = [:]
            for line in try contacts(lines.values(share)) {
                switch line {
                case .held(let key, let contact): held[ScalarString(key)] = contact
                case .complete, .undone: continue
                case .row(_, let name, let before, let wrote):
                    let key = ScalarString(name)
                    guard let earlier = rows[key] else {
                        keys.append(name)
                        rows[key] = (before, [wrote])
                        continue
                    }
                    // The value before the first row that wrote a part is the earlier value of the part.
                    let spoken = earlier.wrote.reduce(Contact()) { $0.with($1) }
                    let more = (before ?? nil)?.part(outside: spoken) ?? Contact()
                    rows[key] = (earlier.before.map { $0.map { more.with($0) } }, earlier.wrote + [wrote])
                }
            }
            var present: [ScalarString: Contact] = [:]
            for case .held(let key, let contact) in try contacts(shown.values(share)) {
                present[ScalarString(key)] = contact
            }
            for name in keys {
                let key = ScalarString(name)
                guard let row = rows[key] else { continue }
                number += 1
                guard number > settled else { continue }
                let all = row.wrote.reduce(Contact()) { $0.with($1) }
                known[number] = (row.before ?? held[key]?.part(in: all), row.wrote, present[key])
                var keyRow = ServerRow()
                keyRow.key = name
                let record = SourceRecord(number: number, line: number, bytes: Array(name.utf8), contact: nil)
                items.append(ServerItem(record, keyRow))
            }
        }
        return items.isEmpty ? nil : items
    }

    func questions(of items: [ServerItem]) -> [String] { target.isPaged ? [] : items.map(\.row.key) }

    func prepare(_ items: [ServerItem], _ held: [ScalarString: Contact]) throws -> [ServerItem] {
        items.map { item in
            guard let what = known.removeValue(forKey: item.number) else { return item }
            let key = item.row.key
            let now = what.now ?? held[ScalarString(key)]
            let (row, options) = way.row(key, before: what.before, wrote: what.wrote, now: now)
            var said = ServerItem(item.record, row)
            (said.options, said.isOnItsWay) = (options, item.isOnItsWay)
            return said
        }
    }

    func settled(_ item: ServerItem, _ findings: [Finding]) throws { try results.write(item, findings) }

    func flush(_ place: inout Checkpoints.Place) throws { try results.flush(&place) }
}
