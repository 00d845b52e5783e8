import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Counts a provider's failed exchanges across all lanes, and opens when the provider is down.
///
/// While it is open, one request at a time checks whether the provider is back. The breaker can only delay a lane: the
/// vendor's retry policy decides when the lane may send.
struct Breaker: Equatable {
    /// The number of failed exchanges in a row that opens the breaker.
    static let threshold = 5
    /// The intervals between requests that check whether the provider is back. They are ours, so jitter may change them.
    static let probes = Backoff([5, 10, 20, 40, 80, 160, 300].map { .seconds($0) }, jitter: 0.2)

    /// The number of failed exchanges in a row.
    private(set) var failures = 0
    /// When the first of these exchanges ended, by the wall clock.
    private var begun: Instant?
    /// The reason that the last exchange has to be repeated; nil after a success.
    var cause: Finding?
    /// The state of the outage; nil while the breaker is closed.
    private(set) var outage: Outage?

    /// An outage of a provider.
    struct Outage: Equatable {
        /// When the first exchange failed, by the wall clock.
        var since: Instant
        /// The number of failed checks.
        var probes = 0
        /// When the next check may be sent, on the engine's timeline.
        var nextProbe: Instant
        /// The reason of the last failure.
        var cause: Finding

        /// Returns the outage as a finding. `next` is when the next request is sent; nil if the vendor's retry policy
        /// decides.
        func finding(next: Instant?) -> Finding {
            let detail = next.map { ", one request at a time, next at \($0.text)" } ?? ""
            var finding = FindingRow.Engine.providerOutage.at(
                detail: "since \(since.text)\(detail)",
                remedy: cause.remedy
            )
            finding.reason += " \(cause.reason)"
            (finding.error, finding.vendor) = (cause.error ?? .unavailable, cause.vendor)
            return finding
        }
    }

    /// Records a failed exchange. Returns whether it opened the breaker.
    mutating func fail(_ cause: Finding, asked: Duration?, at moment: Moment) -> Bool {
        failures += 1
        begun = begun ?? moment.date
        guard var known = outage else {
            guard failures >= Self.threshold else { return false }
            let next = Self.probes.next(after: 0, asked: asked, at: moment)
            outage = Outage(since: begun ?? moment.date, nextProbe: next, cause: cause)
            return true
        }
        known.cause = cause
        // A request that was in flight when the breaker opened was not a check.
        if moment.now >= known.nextProbe {
            known.probes += 1
            known.nextProbe = Self.probes.next(after: known.probes, asked: asked, at: moment)
        }
        outage = known
        return false
    }

    /// Closes the breaker after a successful exchange. Returns the outage that is over.
    mutating func recover() -> Outage? {
        defer { self = Breaker() }
        return outage
    }

    /// Allows one check now, after an event that may have ended the outage.
    mutating func probe(at now: Instant) {
        if let next = outage?.nextProbe { outage?.nextProbe = min(next, now) }
    }
}

// MARK: - Storage

extension Breaker {
    /// The breaker in its stored form; nil if there is nothing to store.
    var text: String? {
        guard let cause = outage?.cause ?? cause else { return nil }
        var json: JSONObject = ["cause": cause.json]
        if let outage {
            json["failures"] = .integer(Int64(failures))
            json["since"] = .integer(outage.since.milliseconds)
            json["probes"] = .integer(Int64(outage.probes))
            json["nextProbe"] = .integer(outage.nextProbe.milliseconds)
        }
        return JSONValue.object(json).text
    }

    /// Restores the state that an earlier process stored. Unreadable text counts as no state.
    init(text: String?) {
        guard let json = text.flatMap({ try? JSONValue(parsing: $0) }),
            let cause = json["cause"].flatMap({ try? Finding(json: $0, at: "cause") })
        else { return }
        self.cause = cause
        guard let failures = json["failures"]?.integer, let since = json["since"]?.integer,
            let probes = json["probes"]?.integer, let nextProbe = json["nextProbe"]?.integer
        else { return }
        self.failures = Int(failures)
        outage = Outage(
            since: Instant(milliseconds: since),
            probes: Int(probes),
            nextProbe: Instant(milliseconds: nextProbe),
            cause: cause
        )
    }
}
