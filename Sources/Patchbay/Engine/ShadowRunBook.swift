package import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox

/// A line in the report of a shadow run: operations that the new vendor would accept or refuse, or findings by field.
public struct ShadowRunLine: Hashable, Sendable, Comparable {
    /// The kind of line.
    public enum Word: String, NeutralWord, Codable {
        /// The number of operations of a kind that it would accept.
        case taken
        /// The number of operations of a kind that it would refuse.
        case refused
        /// A finding of the shadow where a live provider has none.
        case onlyHere
        /// A finding where all live providers have one, too.
        case everywhere
        /// A finding of all live providers where the shadow has none: a gain.
        case onlyLive
    }

    /// The kind of line.
    public let word: Word
    /// The kind of operation, or the field's path in the neutral operation without list positions.
    public let place: String
    /// The finding's code; empty for kinds.
    public let code: String
    /// The number of operations or findings.
    public let count: Int

    /// Creates a line.
    public init(_ word: Word, _ place: String, code: String = "", count: Int = 1) {
        (self.word, self.place, self.code, self.count) = (word, place, code, count)
    }

    /// Compares by kind of line, then the most frequent first.
    public static func < (left: ShadowRunLine, right: ShadowRunLine) -> Bool {
        (left.word.rank, right.count, left.place, left.code) < (right.word.rank, left.count, right.place, right.code)
    }

    /// The line for a person: `onlyHere 12 action.changes.city: vendor.attribute.reserved`.
    public var text: String { "\(word.rawValue) \(count) \(place)\(code.isEmpty ? "" : ": \(code)")" }

    /// The line as JSON.
    public var json: JSONValue {
        var json: JSONObject = ["word": .string(word.rawValue), "place": .string(place)]
        if !code.isEmpty { json["code"] = .string(code) }
        json["count"] = .integer(count)
        return .object(json)
    }
}

extension ShadowRunLine.Word {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension ShadowRunLine {
    /// The term under which the accounts store the lines. It does not enter the balance.
    static let term = "shadowRun"

    /// The line as the code of an account entry.
    var accountCode: String { [word.rawValue, place, code].joined(separator: "\t") }

    init?(accountCode: String, count: Int) {
        let parts = accountCode.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let word = Word(rawValue: parts[0]) else { return nil }
        self.init(word, parts[1], code: parts[2], count: count)
    }

    /// Returns the lines for an operation: whether it would be accepted, and how its findings differ from the live
    /// providers'.
    package static func lines(
        of operation: EngagementOperation,
        findings: [Finding],
        live: [[Finding]]
    ) -> [ShadowRunLine] {
        func places(_ findings: [Finding]) -> [String: Finding] {
            let entries = findings.filter { $0.severity == .error || $0.severity == .warning }.map {
                ($0.path.withoutPositions, $0)
            }
            return Dictionary(entries) { first, _ in first }
        }
        let (here, there) = (places(findings), live.map(places))
        let isRefused = findings.contains { $0.severity == .error }
        var lines = [ShadowRunLine(isRefused ? .refused : .taken, operation.action.kind.rawValue)]
        for (place, finding) in here {
            let isEverywhere = !there.isEmpty && there.allSatisfy { $0[place] != nil }
            lines.append(ShadowRunLine(isEverywhere ? .everywhere : .onlyHere, place, code: finding.code))
        }
        for (place, finding) in there.first ?? [:] where here[place] == nil && there.allSatisfy({ $0[place] != nil }) {
            lines.append(ShadowRunLine(.onlyLive, place, code: finding.code))
        }
        return lines
    }
}

extension String {
    /// The path without positions in lists: `tags.add[3]` becomes `tags.add[]`.
    fileprivate var withoutPositions: String {
        var text = ""
        var isInside = false
        for character in self {
            if character == "[" { text.append("[]") }
            isInside = character == "[" || (isInside && character != "]")
            if !isInside, character != "]" { text.append(character) }
        }
        return text
    }
}

/// Writes the report of a shadow run into the accounts and limits its length.
final class ShadowRunBook {
    /// The maximum number of different lines for a provider. Further ones are counted together.
    private static let capacity = 2_000
    private static let rest = ShadowRunLine(.onlyHere, "(other places)", code: "engine.shadowRun.more")

    private let store: OutboxStore
    private var known: [String: Set<String>] = [:]

    init(_ store: OutboxStore) { self.store = store }

    /// Adds lines, inside the caller's transaction.
    func add(_ lines: [ShadowRunLine], provider: String) throws {
        var texts = try known[provider] ?? readKnown(provider)
        for line in lines {
            let isKept = texts.contains(line.accountCode) || texts.count < Self.capacity
            let kept = isKept ? line : Self.rest
            texts.insert(kept.accountCode)
            try store.accounts.count(provider: provider, term: ShadowRunLine.term, code: kept.accountCode, by: 1)
        }
        known[provider] = texts
    }

    private func readKnown(_ provider: String) throws -> Set<String> {
        Set(try store.accounts.lines().filter { $0.provider == provider && $0.term == ShadowRunLine.term }.map(\.code))
    }
}
