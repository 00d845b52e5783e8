import PatchbayAdapterKit
import PatchbayModel

/// The behavior of a vendor for a period of time.
public enum FaultMode: String, Sendable, CaseIterable {
    /// No faults.
    case fine
    /// Few faults.
    case fair
    /// Errors, lost requests, lost replies and missing replies, for half of the requests.
    case rough
    /// The vendor is unreachable, or replies that it is out of service.
    case down
    /// Replies take up to two minutes, longer than the engine's timeout.
    case slow
    /// The vendor processes all requests, and half of the replies are lost.
    case mute
    /// The vendor throttles with 429 or 503.
    case limiting
    /// The vendor replies 503 to every request.
    case out
    /// The vendor replies 503 to every request, with a `Retry-After` of one second.
    case busy
    /// The vendor sends misleading replies with status 200: an HTML page, an empty body, a truncated body, an error
    /// message, or an earlier reply. It may or may not process the request.
    case misleading

    /// The treatment of a request.
    enum Treatment {
        /// The vendor processes the request. The reply arrives after the given time.
        case process(after: Duration)
        /// The vendor processes the request, and the reply is lost.
        case loseAnswer(after: Duration)
        /// The vendor processes the request, and the transport reports nothing.
        case processSilently
        /// The vendor processes the request and replies with this status.
        case misreport(Int, after: Duration)
        /// The vendor replies with this status without processing the request.
        case refuse(Int, [WireHeader], after: Duration)
        /// The request does not arrive.
        case fail(TransportFailure, after: Duration)
        /// The request does not arrive, and the transport reports nothing.
        case silence
        /// The process dies while it sends the request, before or after the request arrives.
        case death(arrived: Bool)
        /// The vendor sends a misleading reply.
        case mislead(MisleadingReply, isProcessed: Bool, after: Duration)
    }

    /// The content of a misleading reply with status 200.
    enum MisleadingReply: CaseIterable { case page, nothing, half, error, earlier }

    func treatment(_ random: inout SeededGenerator, date: Instant) -> Treatment {
        let delay = Duration.milliseconds(1 + random.below(3000))
        switch self {
        case .fine: return .process(after: delay)
        case .fair: return random.below(24) > 0 ? .process(after: delay) : Self.trouble(&random, delay, date)
        case .rough: return random.below(2) > 0 ? .process(after: delay) : Self.trouble(&random, delay, date)
        case .down:
            switch random.below(4) {
            case 0: return .refuse(503, [], after: delay)
            case 1: return .silence
            case 2: return .fail(TransportFailure(.lost, "connectionLost"), after: delay)
            default: return .fail(TransportFailure(.notSent, "hostNotFound"), after: delay)
            }
        case .slow:
            let seconds = random.below(120)
            return seconds < 55 ? .process(after: .seconds(seconds)) : .processSilently
        case .mute: return random.below(2) > 0 ? .process(after: delay) : .loseAnswer(after: delay)
        case .limiting:
            return random.below(3) > 0 ? Self.limit(&random, delay, date) : .process(after: delay)
        case .out: return .refuse(503, [], after: delay)
        case .busy: return .refuse(503, [WireHeader("Retry-After", "1")], after: delay)
        case .misleading:
            guard random.below(3) > 0 else { return .process(after: delay) }
            return .mislead(random.pick(MisleadingReply.allCases), isProcessed: random.below(2) > 0, after: delay)
        }
    }

    private static func trouble(_ random: inout SeededGenerator, _ delay: Duration, _ date: Instant) -> Treatment {
        switch random.below(11) {
        case 0: .refuse(500, [], after: delay)
        case 1: .refuse(503, [], after: delay)
        case 2: limit(&random, delay, date)
        case 3: .fail(TransportFailure(.notSent, "offline"), after: delay)
        case 4: .fail(TransportFailure(.lost, "connectionLost"), after: delay)
        case 5: .loseAnswer(after: delay)
        case 6: .processSilently
        case 7: .silence
        case 8: .misreport(random.pick([500, 502, 504]), after: delay)
        case 9: .death(arrived: false)
        default: .death(arrived: true)
        }
    }

    /// Returns a 429 or 503 with seconds, with a date, or without `Retry-After`.
    private static func limit(_ random: inout SeededGenerator, _ delay: Duration, _ date: Instant) -> Treatment {
        let seconds = 1 + random.below(random.below(8) > 0 ? 300 : 200_000)
        let word: [WireHeader] =
            switch random.below(4) {
            case 0: []
            case 1: [WireHeader("Date", httpDate(date)), WireHeader("Retry-After", httpDate(date + .seconds(seconds)))]
            default: [WireHeader("Retry-After", "\(seconds)")]
            }
        return .refuse(random.pick([429, 429, 503]), word, after: delay)
    }

    /// Returns a date in the form of HTTP: `Sun, 09 Mar 2031 07:05:11 GMT`.
    static func httpDate(_ instant: Instant) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let text = instant.text
        let month = Int(text.dropFirst(5).prefix(2)) ?? 1
        let day = days[Int((instant.seconds / 86_400 % 7 + 7) % 7)]
        return
            "\(day), \(text.dropFirst(8).prefix(2)) \(months[month - 1]) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) GMT"
    }
}
