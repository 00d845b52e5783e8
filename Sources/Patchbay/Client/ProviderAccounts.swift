public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
package import PatchbayOutbox

/// Where everything went that one provider was to hear.
///
/// Captured and created is always accepted, unchanged, superseded, rejected, dropped, erased, quarantined, moved,
/// shadowed and pending, and the numbers come from the outbox's file alone.
public struct ProviderAccounts: Hashable, Sendable {
    /// The provider.
    public var provider: String
    /// The id of its adapter; nil where the outbox does not know the provider yet.
    public var adapter: String?
    /// What came in, by term (`captured`, `created`), and what ended, by ``OperationOutcome/Term``; by code.
    public var lines: [String: [String: Int]]
    /// What has not ended.
    public var pending: Int
    /// What of that is held back, by reason.
    public var held: [String: Int]
    /// Why it is stopped, if it is.
    public var suspended: Finding?
    /// What waits, since when, why, and when it is attempted next; the oldest first, at most eight.
    public var waits: [Wait]
    /// Number of further waits.
    public var otherWaits = 0
    /// What a shadow run found, the most frequent first; empty for a provider that was never a shadow.
    public var shadowRun: [ShadowRunLine] = []

    /// Whether the configuration of the last start did not name it: what is pending waits for nobody.
    public var isUnnamed = false

    /// Number of waits that are listed.
    static let namedWaits = 8

    /// The sum of one term.
    public func total(_ term: String) -> Int { lines[term]?.values.reduce(0, +) ?? 0 }

    /// What came in.
    public var incoming: Int { total("captured") + total("created") }

    /// What ended.
    public var ended: Int { OperationOutcome.Term.allCases.reduce(0) { $0 + total($1.rawValue) } }

    /// Whether nothing is unaccounted for.
    public var balances: Bool { incoming == ended + pending }

    /// Why what is pending does not move, where the configuration does not name the provider any more.
    public var stranded: Finding? {
        isUnnamed && pending > 0 ? FindingRow.Engine.providerGone.at(detail: "\(pending)") : nil
    }

    /// The accounts of an engine's providers.
    ///
    /// To say why operations wait, every pending row is read.
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

    /// The accounts of every provider in an outbox, and why things wait as far as the file tells: all at one moment, whoever
    /// writes meanwhile.
    package static func read(_ store: OutboxStore, explainsWaits: (String) -> Bool = { _ in true }) throws
        -> [ProviderAccounts]
    {
        try store.carryOutEndingsNow()
        return try store.snapshot { try readAll(store, explainsWaits) }
    }

    private mutating func name(_ waits: [Wait]) {
        self.waits = Array(waits.prefix(Self.namedWaits))
        otherWaits = waits.count - self.waits.count
    }

    private static func readAll(_ store: OutboxStore, _ explainsWaits: (String) -> Bool) throws -> [ProviderAccounts] {
        var lines: [String: [String: [String: Int]]] = [:]
        var shadowRuns: [String: [ShadowRunLine]] = [:]
        for line in try store.accounts() {
            if line.term == ShadowRunLine.term {
                if let found = ShadowRunLine(accountCode: line.code, count: Int(line.count)) {
                    shadowRuns[line.provider, default: []].append(found)
                }
                continue
            }
            lines[line.provider, default: [:]][line.term, default: [:]][line.code, default: 0] += Int(line.count)
        }
        let records = Dictionary(try store.providers().map { ($0.name, $0) }) { first, _ in first }
        let names = Set(lines.keys).union(records.keys).sorted()
        let unnamed = try Engine.unnamed(in: store)
        return try names.map { name in
            let held = Dictionary(try store.holds(provider: name).map { ($0.hold, $0.count) }) { $0 + $1 }
            let (record, pending) = (records[name], try store.pendingCount(provider: name))
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
            .object(JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }))
        }
        var json: JSONObject = ["provider": .string(provider)]
        for term in ["captured", "created"] + OperationOutcome.Term.allCases.map(\.rawValue) {
            // Few outboxes ever saw a shadow run.
            if term != OperationOutcome.Term.shadowed.rawValue || total(term) > 0 { json[term] = .integer(total(term)) }
        }
        json["pending"] = .integer(pending)
        json["balances"] = .bool(balances)
        json["held"] = table(held)
        json["reasons"] = .object(
            JSONObject(
                lines.sorted { $0.key < $1.key }.compactMap { term, codes in
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
