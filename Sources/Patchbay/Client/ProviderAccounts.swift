public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
package import PatchbayOutbox

/// The accounts of one provider: the number of operations that it was to receive, by outcome.
///
/// The sum of captured and created always equals the sum of all outcomes and pending. The outcomes are accepted, unchanged,
/// superseded, rejected, dropped, erased, quarantined, moved and shadowed. All numbers come from the outbox file.
public struct ProviderAccounts: Hashable, Sendable {
    /// The provider's name.
    public var provider: String
    /// The id of its adapter; nil if the outbox does not know the provider yet.
    public var adapter: String?
    /// The number of operations by term and code. Incoming operations have the terms `captured` and `created`, completed ones
    /// an ``OperationOutcome/Term``.
    public var lines: [String: [String: Int]]
    /// The number of operations without an outcome.
    public var pending: Int
    /// The number of pending operations that are held back, by reason.
    public var held: [String: Int]
    /// The reason for which the provider is suspended; nil if it is not.
    public var suspended: Finding?
    /// The waits, the oldest first, at most eight: since when, why, and until when operations wait.
    public var waits: [Wait]
    /// The number of further waits.
    public var otherWaits = 0
    /// The findings of a shadow run, the most frequent first; empty for a provider that was never a shadow.
    public var shadowRun: [ShadowRunLine] = []

    /// Whether the configuration of the last start did not name the provider, so that no process delivers its operations.
    public var isUnnamed = false

    /// The maximum number of listed waits.
    static let namedWaits = 8

    /// Returns the total of a term.
    public func total(_ term: String) -> Int { lines[term]?.values.reduce(0, +) ?? 0 }

    /// The number of captured and created operations.
    public var incoming: Int { total("captured") + total("created") }

    /// The number of operations with an outcome.
    public var ended: Int { OperationOutcome.Term.allCases.reduce(0) { $0 + total($1.rawValue) } }

    /// Whether every incoming operation has an outcome or is pending.
    public var balances: Bool { incoming == ended + pending }

    /// The reason that pending operations are not delivered, if the configuration no longer names the provider.
    public var stranded: Finding? {
        isUnnamed && pending > 0 ? FindingRow.Engine.providerGone.at(detail: "\(pending)") : nil
    }

    /// Returns the accounts of an engine's providers.
    ///
    /// With `explainsWaits`, every pending row is read.
    package static func read(_ engine: Engine, explainsWaits: Bool = true) throws -> [ProviderAccounts] {
        let isServed = { (name: String) in engine.runners.contains { $0.name == name } }
        return try read(engine.store, explainsWaits: { explainsWaits && !isServed($0) }).map { accounts in
            var accounts = accounts
            guard let runner = engine.runners.first(where: { $0.name == accounts.provider }) else { return accounts }
            accounts.suspended = runner.suspended
            if explainsWaits { accounts.name(try runner.waits()) }
            return accounts
        }
    }

    /// Returns the accounts of every provider in an outbox, with the stored reasons for waiting. They are read in one
    /// transaction, so that other processes cannot change them meanwhile.
    package static func read(_ store: OutboxStore, explainsWaits: (String) -> Bool = { _ in true }) throws
        -> [ProviderAccounts]
    {
        try store.settlement.applyNoted()
        return try store.snapshot { try readAll(store, explainsWaits) }
    }

    private mutating func name(_ waits: [Wait]) {
        self.waits = Array(waits.prefix(Self.namedWaits))
        otherWaits = waits.count - self.waits.count
    }

    private static func readAll(_ store: OutboxStore, _ explainsWaits: (String) -> Bool) throws -> [ProviderAccounts] {
        var lines: [String: [String: [String: Int]]] = [:]
        var shadowRuns: [String: [ShadowRunLine]] = [:]
        for line in try store.accounts.lines() {
            if line.term == ShadowRunLine.term {
                if let found = ShadowRunLine(accountCode: line.code, count: Int(line.count)) {
                    shadowRuns[line.provider, default: []].append(found)
                }
                continue
            }
            lines[line.provider, default: [:]][line.term, default: [:]][line.code, default: 0] += Int(line.count)
        }
        let records = Dictionary(try store.state.providers().map { ($0.name, $0) }) { first, _ in first }
        let names = Set(lines.keys).union(records.keys).sorted()
        let unnamed = try Engine.unnamed(in: store)
        return try names.map { name in
            let held = Dictionary(try store.operations.holds(provider: name).map { ($0.hold, $0.count) }) { $0 + $1 }
            let (record, pending) = (records[name], try store.operations.pendingCount(provider: name))
            var accounts = ProviderAccounts(
                provider: name,
                adapter: record?.adapter,
                lines: lines[name] ?? [:],
                pending: pending,
                held: held,
                suspended: record?.suspended.flatMap { try? Finding(jsonBytes: $0) },
                waits: [],
                shadowRun: shadowRuns[name, default: []].sorted(),
                isUnnamed: unnamed.contains(name)
            )
            if pending > 0, let record, explainsWaits(name) {
                let kept = accounts.isUnnamed ? nil : try KeptWaits.read(name, pending: pending, in: store)
                accounts.name(try kept ?? storedWaits(of: record, isUnnamed: accounts.isUnnamed, in: store))
            }
            return accounts
        }
    }

    /// The accounts as JSON.
    public var json: JSONValue {
        func table(_ counts: [String: Int]) -> JSONValue {
            .object(JSONObject(counts: counts))
        }
        var json: JSONObject = ["provider": .string(provider)]
        for term in ["captured", "created"] + OperationOutcome.Term.allCases.map(\.rawValue) {
            // Most outboxes have never had a shadow run.
            if term != OperationOutcome.Term.shadowed.rawValue || total(term) > 0 { json[term] = .integer(total(term)) }
        }
        json["pending"] = .integer(pending)
        json["balances"] = .bool(balances)
        json["held"] = table(held)
        json["reasons"] = .object(
            JSONObject(
                lines.inOrder.compactMap { term, codes in
                    let named = codes.filter { !$0.key.isEmpty }
                    return named.isEmpty ? nil : (term, table(named))
                }
            )
        )
        if let suspended { json["suspended"] = suspended.json }
        if let stranded { json["stranded"] = stranded.json }
        if !waits.isEmpty { json["waits"] = .array(waits.map(\.json)) }
        if otherWaits > 0 { json["otherWaits"] = .integer(otherWaits) }
        if !shadowRun.isEmpty { json["shadowRun"] = .array(shadowRun.map(\.json)) }
        return .object(json)
    }
}
