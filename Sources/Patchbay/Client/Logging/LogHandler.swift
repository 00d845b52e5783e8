/// The severity of a log record, with the names and the order of swift-log.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every request and response.
    case trace
    /// Every outcome.
    case debug
    /// Starts, retries, and which process delivers.
    case info
    /// Rejections and recoveries.
    case notice
    /// Conditions that may require action.
    case warning
    /// Conditions that require action.
    case error
    /// Conditions that stop the program.
    case critical

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A log record.
///
/// A record cannot hold a personal value or a secret. Its message is a static string, and its metadata consist of codes, ids,
/// names from the configuration and counts.
public struct LogEvent: Sendable {
    /// The severity.
    public let level: LogLevel
    /// The message.
    public let message: StaticString
    /// Codes, ids, names and counts, by key.
    public let metadata: [String: String]
    /// The module that logs.
    public let source: String

    init(_ level: LogLevel, _ message: StaticString, _ facts: [LogFact], source: String = "Patchbay") {
        (self.level, self.message, self.source) = (level, message, source)
        metadata = Dictionary(facts.compactMap(\.member)) { first, _ in first }
    }
}

/// Receives log records. The protocol follows swift-log without depending on it.
///
/// An app that logs with swift-log needs this type only:
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
    /// The minimum level that the handler wants. Records below it are not created.
    var level: LogLevel { get }

    /// Handles a record. Called from any thread, in the order of each thread. It must not block for long.
    func log(event: LogEvent)
}
