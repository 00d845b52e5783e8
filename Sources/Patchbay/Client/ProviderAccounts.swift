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
    /// What came in, by term (`captured`, `created`), and what ended, by ``OperationOutcome/Term``; by code.
    public var lines: [String: [String: Int]]
    /// What has not ended.
    public var pending: Int
    /// What of that is held back, by reason.
    public var held: [String: Int]
    /// Why it is stopped, if it is.
    public var parked: Finding?
    /// Why its lanes wait, of a few lanes: the first by name. From a file alone: its outage, what
    /// is open, and its closed queues, the first to open first.
    public var waits: [Finding]
    /// How many more lanes wait, or groups of queues that open together.
    public var otherWaits = 0
    /// What a rehearsal found, the most frequent first; empty for a provider that was never a shadow.
    public var rehearsal: [RehearsalLine] = []

    /// Whether the configuration of the last start did not name it: what is pending waits for nobody.
    public var isUnnamed = false

    /// So many lanes are named.
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
    package static func read(_ engine: Engine) throws -> [ProviderAccounts] {
        let standings = Dictionary(try engine.standings().map { ($0.provider, $0) }) { first, _ in first }
        return try read(engine.store).map { accounts in
            var accounts = accounts
            accounts.parked = standings[accounts.provider]?.parked
            let waits = standings[accounts.provider]?.waits.sorted { $0.key < $1.key }.map(\.value) ?? []
            accounts.waits = Array(waits.prefix(Self.namedWaits))
            accounts.otherWaits = waits.count - accounts.waits.count
            return accounts
        }
    }

    /// The accounts of every provider in an outbox, and why things wait as far as the file tells: all at one moment, whoever
    /// writes meanwhile.
    package static func read(_ store: OutboxStore) throws -> [ProviderAccounts] {
        try store.carryOutEndingsNow()
        return try store.snapshot { try readAll(store) }
    }

    private static func readAll(_ store: OutboxStore) throws -> [ProviderAccounts] {
        var lines: [String: [String: [String: Int]]] = [:]
        var rehearsals: [String: [RehearsalLine]] = [:]
        for line in try store.accounts() {
            if line.term == RehearsalLine.term {
                if let found = RehearsalLine(accountCode: line.code, count: Int(line.count)) {
                    rehearsals[line.provider, default: []].append(found)
                }
                continue
            }
            lines[line.provider, default: [:]][line.term, default: [:]][line.code, default: 0] += Int(line.count)
        }
        let names = Set(lines.keys).union(try store.providers().map(\.name)).sorted()
        let unnamed = try Engine.unnamed(in: store)
        return try names.map { name in
            let held = Dictionary(try store.holds(provider: name).map { ($0.hold, $0.count) }) { $0 + $1 }
            let waits = try storedWaits(of: name, in: store)
            let parked = try store.providers().first { $0.name == name }?.parked
            return ProviderAccounts(
                provider: name,
                lines: lines[name] ?? [:],
                pending: try store.pendingCount(provider: name),
                held: held,
                parked: parked.flatMap { try? Finding(jsonBytes: $0) },
                waits: Array(waits.prefix(namedWaits)),
                otherWaits: max(0, waits.count - namedWaits),
                rehearsal: rehearsals[name, default: []].sorted(),
                isUnnamed: unnamed.contains(name)
            )
        }
    }

    /// The accounts as JSON.
    public var json: JSONValue {
        func table(_ counts: [String: Int]) -> JSONValue {
            .object(JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }))
        }
        var json: JSONObject = ["provider": .string(provider)]
        for term in ["captured", "created"] + OperationOutcome.Term.allCases.map(\.rawValue) {
            // Few outboxes ever saw a rehearsal.
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
        if let parked { json["parked"] = parked.json }
        if let stranded { json["stranded"] = stranded.json }
        if !waits.isEmpty { json["waits"] = .array(waits.map(\.json)) }
        if otherWaits > 0 { json["otherWaits"] = .integer(otherWaits) }
        if !rehearsal.isEmpty { json["rehearsal"] = .array(rehearsal.map(\.json)) }
        return .object(json)
    }
}
