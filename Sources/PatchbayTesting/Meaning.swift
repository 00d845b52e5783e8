import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The result of an interpretation as text, without the adapter's type.
struct Meaning: Sendable {
    /// The verdicts for the carried operations, in their order: `accepted`, `retry in 60 s`.
    var verdicts: [String]
    /// The code with which the provider is suspended; nil if it is not.
    var suspension: String?
    /// The number of follow-up operations.
    var followUps: Int
    /// The number of items of content for the app.
    var incoming: Int
    /// Returns the names of the changed members of the memory. This is a closure because it costs two encodings and is
    /// rarely needed.
    var remembered: @Sendable () -> [String]

    /// The meaning in one line.
    var text: String {
        var parts = [verdicts.isEmpty ? "nothing carried" : Meaning.counted(verdicts).joined(separator: ", ")]
        if let suspension { parts.append("suspended (\(suspension))") }
        if followUps > 0 { parts.append("\(followUps) to follow") }
        if incoming > 0 { parts.append("\(incoming) for the app") }
        let remembered = remembered()
        if !remembered.isEmpty { parts.append("memory: \(remembered.joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    private static func counted(_ words: [String]) -> [String] {
        var counts: [(word: String, count: Int)] = []
        for word in words {
            if let place = counts.firstIndex(where: { $0.word == word }) {
                counts[place].count += 1
            } else {
                counts.append((word, 1))
            }
        }
        return counts.map { $0.count > 1 ? "\($0.count) × \($0.word)" : $0.word }
    }
}

extension Verdict {
    /// Returns the verdict as text, with instants relative to `now`.
    func text(from now: Instant) -> String {
        func named(_ word: String, _ finding: Finding?) -> String {
            let theirs = finding?.vendor?.code.map { "; the vendor's code \($0)" } ?? ""
            return finding.map { "\(word) (\($0.code)\(theirs))" } ?? word
        }
        return switch self {
        case .accepted(let finding, let answer): named("accepted", finding) + (answer == nil ? "" : " with an answer")
        case .unchanged(let finding): named("unchanged", finding)
        case .superseded: "superseded"
        case .rejected(let finding, _): named("rejected", finding)
        case .dropped(let finding): named("dropped", finding)
        case .inProgress(let step, let when): (step == nil ? "begins again" : "continues") + when.text(from: now)
        case .retry(let when): "retry" + when.text(from: now)
        }
    }
}

extension When {
    fileprivate func text(from now: Instant) -> String {
        let instant = until.map { " in \(($0 - now).inSeconds) s" }
        let words = [instant, orWoken ? " when woken" : nil].compactMap { $0 }
        return words.isEmpty ? " at once" : words.joined(separator: " or")
    }
}

extension Duration {
    /// The duration in seconds, rounded down to the millisecond.
    var inSeconds: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
        return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }
}

/// Returns the names of the members in which the JSON of two values differs.
func changedMembers(_ before: some Encodable, _ after: some Encodable) -> [String] {
    func members(_ value: some Encodable) -> JSONObject {
        (try? JSONValue(parsing: Array(JSONEncoder.canonical.encode(value))))?.object ?? [:]
    }
    let (old, new) = (members(before), members(after))
    return Set(old.names + new.names).filter { old[$0] != new[$0] }.sorted()
}
