import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Counts a provider's failed exchanges over all its lanes, and opens when it is plainly down.
///
/// While it is open one request at a time asks whether the provider is back. It only ever makes a lane later: when the lane
/// itself may go is the vendor's law.
struct Breaker: Equatable {
    /// So many failed exchanges in a row open it.
    static let threshold = 5
    /// Between two requests that ask whether the provider is back; ours, so chance moves it.
    static let probes = Backoff([5, 10, 20, 40, 80, 160, 300].map { .seconds($0) }, jitter: 0.2)

    /// Failed exchanges in a row.
    private(set) var failures = 0
    /// When the first of them ended, by the wall clock.
    private var begun: Instant?
    /// Why the last exchange that has to be repeated failed; nil once one succeeded.
    var cause: Finding?
    /// What has happened since it opened; nil while it is closed.
    private(set) var outage: Outage?

    /// A provider that is down.
    struct Outage: Equatable {
        /// When the first exchange failed, by the wall clock.
        var since: Instant
        /// Requests that have asked in vain.
        var probes = 0
        /// When the next one may ask, on the engine's timeline.
        var nextProbe: Instant
        /// What the last failure was.
        var cause: Finding

        /// The outage as a finding; `next` is when the next request is sent, nil where the vendor's retry policy decides.
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

    /// An exchange failed. True if that opened it.
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
        // What was in flight when it opened has asked nothing.
        if moment.now >= known.nextProbe {
            known.probes += 1
            known.nextProbe = Self.probes.next(after: known.probes, asked: asked, at: moment)
        }
        outage = known
        return false
    }

    /// Something got through; returns what is over now.
    mutating func recover() -> Outage? {
        defer { self = Breaker() }
        return outage
    }

    /// Something happened that may have mended it: one request may ask at once.
    mutating func probe(at now: Instant) {
        if let next = outage?.nextProbe { outage?.nextProbe = min(next, now) }
    }
}

// MARK: - Storage

extension Breaker {
    /// As the outbox keeps it; nil where there is nothing to keep.
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

    /// What an earlier process kept; a text that can't be read is as good as none.
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
