public import Patchbay
public import PatchbayJSON
public import PatchbayModel

/// The real machine with a faster clock, for demonstrations and tests: with a speed of 1440, a day takes a minute.
///
/// Processes with the same setting agree on the time.
public struct FastHost: EngineHost {
    private let machine = SystemHost()
    private let date0: Instant
    private let uptime0: Instant
    private let speed: Int64

    /// Creates a machine whose clock was at `date` when the real one had been up for `uptime`, and runs `speed` times
    /// as fast.
    public init(date: Instant, uptime: Instant, speed: Int64) {
        (date0, uptime0, self.speed) = (date, uptime, min(max(1, speed), Self.speeds.upperBound))
    }

    private static let speeds: ClosedRange<Int64> = 1...1_000_000
    /// The years 1970 to 9999.
    private static let dates = Instant(milliseconds: 0)...Instant(milliseconds: 253_402_300_799_999)
    /// At most a thousand years.
    private static let uptimes: ClosedRange<Int64> = 0...31_556_952_000_000

    /// Reads `{"date": "2031-03-09T06:00:00Z", "speed": 600}`, with the real `uptime` in milliseconds if processes
    /// share the setting.
    ///
    /// - Throws: ``ModelError`` if the JSON has another form or a number is out of range.
    public init(json: JSONValue) throws(ModelError) {
        let reader = try ObjectReader(json, at: "clock", known: ["date", "uptime", "speed"])
        let date: Instant = try reader.required("date")
        let uptime = try reader.optional("uptime", as: Int.self).map(Int64.init) ?? SystemHost().uptime().milliseconds
        let speed = Int64(try reader.required("speed", as: Int.self))
        guard Self.dates.contains(date), Self.uptimes.contains(uptime), Self.speeds.contains(speed) else {
            throw ModelError(
                path: "clock",
                reason: "is out of range",
                remedy: "Give a date from 1970 to 9999, a speed from 1 to 1000000, and the machine's uptime."
            )
        }
        self.init(date: date, uptime: Instant(milliseconds: uptime), speed: speed)
    }

    public func date() -> Instant {
        min(max(Self.dates.lowerBound, date0 + fast(machine.uptime() - uptime0)), Self.dates.upperBound)
    }
    public func uptime() -> Instant { Instant(milliseconds: machine.uptime().milliseconds &* speed) }
    public var boot: String { machine.boot }
    public var process: String { machine.process }
    public func isDead(_ process: String) -> Bool { machine.isDead(process) }
    public func chance() -> Double { machine.chance() }
    public func makeID() -> OperationID { machine.makeID() }
    public func realTime(_ span: Duration) -> Duration { span / Int(speed) }

    private func fast(_ span: Duration) -> Duration { span * Int(speed) }
}
