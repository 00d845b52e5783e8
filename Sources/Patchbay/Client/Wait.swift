public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Pending operations of one provider, and queries to it, that wait for the same reasons until the same time.
public struct Wait: Hashable, Sendable {
    /// Number of operations.
    public var operations: Int { kinds.values.reduce(0, +) }
    /// Number of operations by kind.
    public var kinds: [String: Int]
    /// When the first of them was captured.
    public var since: Instant
    /// When they are attempted next; nil if that depends on an event and not on time.
    public var nextAttempt: Instant?
    /// The reasons for waiting, the cause first.
    public var reasons: [Finding]

    /// Whether the operations are part of a request that is in progress.
    package var isInProgress: Bool { reasons.first?.code == FindingRow.Engine.requestInProgress.code }

    /// The wait as JSON.
    public var json: JSONValue {
        var json: JSONObject = [
            "operations": .integer(operations),
            "kinds": .object(JSONObject(counts: kinds)),
            "since": .string(since.text),
        ]
        if let nextAttempt { json["nextAttempt"] = .string(nextAttempt.text) }
        json["reasons"] = .array(reasons.map(\.json))
        return .object(json)
    }

    /// Reads a wait that ``json`` wrote.
    init(json: JSONValue) throws(ModelError) {
        let reader = try ObjectReader(json, at: "waits", known: nil)
        since = try reader.required("since")
        nextAttempt = try reader.optional("nextAttempt")
        (kinds, reasons) = ([:], [])
        for member in json["kinds"]?.object ?? [:] { kinds[member.name] = member.value.integer.map { Int($0) } }
        for reason in json["reasons"]?.array ?? [] { reasons.append(try Finding(json: reason, at: "waits.reasons")) }
    }

    init(kinds: [String: Int], since: Instant, nextAttempt: Instant?, reasons: [Finding]) {
        (self.kinds, self.since, self.nextAttempt, self.reasons) = (kinds, since, nextAttempt, reasons)
    }

    /// The wait in sentences: the operations, since when and why they wait, the next attempt, and the remedies.
    public var text: String {
        let list = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.value) \(Action.Kind(rawValue: $0.key)?.title ?? $0.key)"
        }
        let count = operations == 1 ? "1 operation" : "\(operations) operations"
        var sentences = ["\(count) waiting since \(since.text) (\(list.joined(separator: ", ")))."]
        sentences += reasons.map { reason in
            // The vendor's reply is left out if the reason already contains it.
            let reply = reason.vendor.map { "\($0)" }.flatMap { reason.reason.contains($0) ? nil : " [\($0)]" }
            return reason.reason + (reply ?? "")
        }
        if let nextAttempt { sentences.append("Next attempt: \(nextAttempt.text).") }
        var remedies: [String] = []
        // A request in progress needs no action. The failure before it may need one.
        let decisive = reasons.count > 1 && isInProgress ? reasons.dropFirst() : reasons[...]
        for reason in decisive where !remedies.contains(reason.remedy) { remedies.append(reason.remedy) }
        return (sentences + remedies).joined(separator: " ")
    }
}

/// Adds up pending operations that wait for the same reasons.
struct WaitSum {
    private struct Key: Hashable {
        let nextAttempt: Instant?
        let reasons: [Finding]
    }

    private var waits: [Key: Wait] = [:]

    mutating func add(_ kind: String, _ count: Int, since: Instant, nextAttempt: Instant?, _ reasons: [Finding]) {
        // Waits that end within the same second are shown as one.
        let second = nextAttempt.map { Instant(milliseconds: ($0.milliseconds + 999) / 1_000 * 1_000) }
        let key = Key(nextAttempt: second, reasons: reasons)
        var wait = waits[key] ?? Wait(kinds: [:], since: since, nextAttempt: second, reasons: reasons)
        wait.kinds[kind, default: 0] += count
        wait.since = min(wait.since, since)
        waits[key] = wait
    }

    /// The waits, the one with the oldest operation first.
    var sorted: [Wait] {
        waits.values.sorted { left, right in
            if left.since != right.since { return left.since < right.since }
            let codes = (left.reasons.map(\.code).joined(), right.reasons.map(\.code).joined())
            if codes.0 != codes.1 { return codes.0 < codes.1 }
            return left.nextAttempt?.milliseconds ?? .max < right.nextAttempt?.milliseconds ?? .max
        }
    }
}
