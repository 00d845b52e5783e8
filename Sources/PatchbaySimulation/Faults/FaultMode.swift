import PatchbayAdapterKit
import PatchbayModel

/// How a vendor behaves for a while.
public enum FaultMode: String, Sendable, CaseIterable {
    /// Everything is well.
    case fine
    /// Almost everything is well.
    case fair
    /// Errors, lost requests, lost answers and silences, one in two.
    case rough
    /// It can't be reached, or says that it is out of service.
    case down
    /// Its answers take up to two minutes, and come when nobody waits any more.
    case slow
    /// It does everything, and half of its answers are lost.
    case mute
    /// It asks to be left in peace for a time.
    case limiting
    /// It answers every request with 503.
    case out
    /// It answers every request with 503 and asks to wait for one second.
    case busy
    /// It answers 200 to everything, with a page, nothing, half an answer, an error inside, or an earlier answer again;
    /// whether it did what it was asked is another matter.
    case lying

    /// What it does with a request.
    enum Deed {
        /// It processes it; the answer comes after that time.
        case process(after: Duration)
        /// It processes it, and the answer is lost.
        case loseAnswer(after: Duration)
        /// It processes it, and nobody ever hears.
        case processSilently
        /// It processes it and says so with this status.
        case misreport(Int, after: Duration)
        /// It answers with that status, and does nothing.
        case refuse(Int, [WireHeader], after: Duration)
        /// Nothing arrives.
        case fail(TransportFailure, after: Duration)
        /// Nothing arrives, and nobody ever hears.
        case silence
        /// The process dies as the request leaves; whether it arrived is another matter.
        case death(arrived: Bool)
        /// It lies.
        case lie(Lie, isProcessed: Bool, after: Duration)
    }

    /// What stands in a reply of 200 that is none.
    enum Lie: CaseIterable { case page, nothing, half, error, earlier }

    func deed(_ random: inout SeededGenerator, date: Instant) -> Deed {
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
        case .lying:
            guard random.below(3) > 0 else { return .process(after: delay) }
            return .lie(random.pick(Lie.allCases), isProcessed: random.below(2) > 0, after: delay)
        }
    }

    private static func trouble(_ random: inout SeededGenerator, _ delay: Duration, _ date: Instant) -> Deed {
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

    /// Too many requests: with seconds, with a date, or without a word on when.
    private static func limit(_ random: inout SeededGenerator, _ delay: Duration, _ date: Instant) -> Deed {
        let seconds = 1 + random.below(random.below(8) > 0 ? 300 : 200_000)
        let word: [WireHeader] =
            switch random.below(4) {
            case 0: []
            case 1: [WireHeader("Date", httpDate(date)), WireHeader("Retry-After", httpDate(date + .seconds(seconds)))]
            default: [WireHeader("Retry-After", "\(seconds)")]
            }
        return .refuse(random.pick([429, 429, 503]), word, after: delay)
    }

    /// A date as HTTP writes it: `Sun, 09 Mar 2031 07:05:11 GMT`.
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
