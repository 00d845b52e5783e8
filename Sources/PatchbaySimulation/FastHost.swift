public import Patchbay
public import PatchbayJSON
public import PatchbayModel

/// The real machine with a clock that runs faster: a day of an app passes in a minute, through real processes and sockets.
///
/// Processes that were given the same setting agree on the time. For demonstrations and tests.
public struct FastHost: EngineHost {
    private let machine = SystemHost()
    private let date0: Instant
    private let uptime0: Instant
    private let speed: Int64

    /// A machine whose clock was at `date` when the real one had been up for `uptime`, and runs `speed` times as fast.
    public init(date: Instant, uptime: Instant, speed: Int64) {
        (date0, uptime0, self.speed) = (date, uptime, max(1, speed))
    }

    /// Reads `{"date": "2031-03-09T06:00:00Z", "speed": 600}`, with the real `uptime` in milliseconds where processes share it.
    ///
    /// - Throws: ``ModelError`` if it is anything else.
    public init(json: JSONValue) throws(ModelError) {
        let reader = try ObjectReader(json, at: "clock", known: ["date", "uptime", "speed"])
        let uptime = try reader.optional("uptime", as: Int.self).map { Instant(milliseconds: Int64($0)) }
        self.init(
            date: try reader.required("date"),
            uptime: uptime ?? SystemHost().uptime(),
            speed: Int64(try reader.required("speed", as: Int.self))
        )
    }

    public func date() -> Instant { date0 + fast(machine.uptime() - uptime0) }
    public func uptime() -> Instant { Instant(milliseconds: machine.uptime().milliseconds &* speed) }
    public var boot: String { machine.boot }
    public var process: String { machine.process }
    public func isDead(_ process: String) -> Bool { machine.isDead(process) }
    public func chance() -> Double { machine.chance() }
    public func makeID() -> OperationID { machine.makeID() }
    public func realTime(_ span: Duration) -> Duration { span / Int(speed) }

    private func fast(_ span: Duration) -> Duration { span * Int(speed) }
}
