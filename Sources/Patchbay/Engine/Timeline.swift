import PatchbayJSON
package import PatchbayModel
import PatchbayOutbox

extension Instant? {
    /// Returns the earlier of two due instants; nil if both depend on an event.
    func orEarlier(_ other: Instant?) -> Instant? {
        guard let self, let other else { return self ?? other }
        return Swift.min(self, other)
    }
}

/// The engine's timeline. It never runs backwards, even across crashes and reboots.
///
/// Within a boot, it follows the clock that includes sleep. After a reboot, it follows the wall clock, but never backwards.
package struct Timeline: Sendable {
    private let base: Instant
    private let begun: Instant

    /// The maximum interval between two marks.
    static let markPause = Duration.seconds(1)

    /// Continues from a stored mark.
    init(after mark: String?, on host: any EngineHost) {
        begun = host.uptime()
        guard let mark = mark.flatMap(Mark.init(text:)) else {
            base = host.date()
            return
        }
        let isSameBoot = mark.boot == host.boot
        // After a reboot, it is unknown how long the last process ran after its mark.
        let passed = isSameBoot ? begun - mark.uptime : host.date() - mark.date
        let least = isSameBoot ? .zero : Self.markPause
        base = mark.now + max(least, passed)
    }

    /// Returns the time for a reading of the clock that includes sleep.
    package func now(at uptime: Instant) -> Instant {
        // Every capture calls this, and 128-bit durations are slow. Whole milliseconds suffice almost always.
        let (passed, isFar) = uptime.milliseconds.subtractingReportingOverflow(begun.milliseconds)
        let (sum, isTooFar) = base.milliseconds.addingReportingOverflow(max(0, passed))
        return isFar || isTooFar ? base + max(.zero, uptime - begun) : Instant(milliseconds: sum)
    }

    /// Returns the mark from which a later process continues.
    func mark(on host: any EngineHost) -> String {
        let uptime = host.uptime()
        return Mark(now: now(at: uptime), uptime: uptime, date: host.date(), boot: host.boot).text
    }

    /// Returns a function that converts the timeline to the wall clock, as far as a stored mark allows.
    static func dates(after mark: String?) -> (Instant) -> Instant? {
        let mark = mark.flatMap(Mark.init(text:))
        return { instant in mark.map { $0.date + (instant - $0.now) } }
    }

    private struct Mark {
        var now, uptime, date: Instant
        var boot: String

        init(now: Instant, uptime: Instant, date: Instant, boot: String) {
            (self.now, self.uptime, self.date, self.boot) = (now, uptime, date, boot)
        }

        init?(text: String) {
            guard let json = try? JSONValue(parsing: text), let now = json["now"]?.integer,
                let uptime = json["uptime"]?.integer, let date = json["date"]?.integer, let boot = json["boot"]?.string
            else { return nil }
            self.init(
                now: Instant(milliseconds: now),
                uptime: Instant(milliseconds: uptime),
                date: Instant(milliseconds: date),
                boot: boot
            )
        }

        var text: String {
            var writer = JSONWriter(expecting: 128)
            writer.beginObject()
            for (name, moment) in [("now", now), ("uptime", uptime), ("date", date)] {
                writer.name(name)
                writer.integer(moment.milliseconds)
            }
            writer.name("boot")
            writer.string(boot)
            writer.endObject()
            return writer.text
        }
    }
}
