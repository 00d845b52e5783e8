/// How much a log record matters, in the words and the order of swift-log.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every request and answer.
    case trace
    /// Every ending.
    case debug
    /// Starts, repeats, who delivers.
    case info
    /// Refusals, and what is well again.
    case notice
    /// What may need a person.
    case warning
    /// What needs a person.
    case error
    /// What can't go on.
    case critical

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One log record.
///
/// It can't hold a value of a person or a secret: its message is a text of this library, and its metadata are made of
/// codes, ids, names of the configuration and counts alone.
public struct LogEvent: Sendable {
    /// How much it matters.
    public let level: LogLevel
    /// What happened.
    public let message: StaticString
    /// Codes, ids and counts, by name.
    public let metadata: [String: String]
    /// The module that says it.
    public let source: String

    init(_ level: LogLevel, _ message: StaticString, _ facts: [LogFact], source: String = "Patchbay") {
        (self.level, self.message, self.source) = (level, message, source)
        metadata = Dictionary(facts.compactMap(\.member)) { first, _ in first }
    }
}

/// Takes log records: in the shape of swift-log, without depending on it.
///
/// For an app that logs with swift-log these lines are all:
///
/// ```swift
/// struct SwiftLog: Patchbay.LogHandler {
///     let logger: Logging.Logger
///     var level: LogLevel { LogLevel(rawValue: logger.logLevel.rawValue) ?? .info }
///     func log(event: LogEvent) {
///         logger.log(level: .init(rawValue: event.level.rawValue) ?? .info, "\(event.message)",
///                    metadata: event.metadata.mapValues { .string($0) }, source: event.source)
///     }
/// }
/// ```
public protocol LogHandler: Sendable {
    /// The least level that is wanted; nothing below it is made.
    var level: LogLevel { get }

    /// Takes a record. Called from any thread, in the order of each thread; it must not block for long.
    func log(event: LogEvent)
}
