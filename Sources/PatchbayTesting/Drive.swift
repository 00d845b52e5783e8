import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// One request on its way to the played vendor.
struct Call: Sendable {
    let endpoint: String
    let request: WireRequest
    /// Its number among the requests after the preparation, from 0.
    let number: Int
    let isMaintenanceRequest: Bool
    let now: Instant
}

/// How the vendor and the clock behave while a sample is driven.
struct Script: Sendable {
    /// The vendor's answer; nil lets the accepting vendor answer.
    var answer: @Sendable (Call) -> Outcome? = { _ in nil }
    /// Whether the vendor works although its answer is replaced.
    var isProcessed: @Sendable (Call) -> Bool = { _ in false }
    /// The wall clock against the engine's timeline, from the start.
    var dateShift: Duration = .zero
    /// Whether the caller asked to send at once.
    var flush = false
    /// Most requests before the driver gives up.
    var limit = 64
    /// Whether descriptions of memories and steps, and their bytes, are kept: reflection is slow.
    var keepsDescriptions = false
    /// Whether the harness registers and logs in first.
    var isPrepared = true

    /// What a preparation depends on.
    struct Preparation: Hashable {
        let dateShift: Duration
        let keepsDescriptions: Bool
        let isPrepared: Bool
    }

    var preparation: Preparation {
        Preparation(dateShift: dateShift, keepsDescriptions: keepsDescriptions, isPrepared: isPrepared)
    }
}

/// Operations captured together, and how many requests may leave before the next turn; nil is until nothing can be done.
struct Turn {
    let operations: [EngagementOperation]
    var requests: Int?
}

/// What became of one operation, whatever the adapter.
struct Ending: Sendable {
    /// The outcome in a word.
    let word: String
    let finding: Finding?

    init(_ outcome: OperationOutcome) { (word, finding) = (outcome.term.rawValue, outcome.finding) }

    init(foreign finding: Finding) { (word, self.finding) = ("foreign", finding) }

    /// Whether the vendor holds what the operation said, or a later operation has made it obsolete.
    var isTaken: Bool { ["accepted", "unchanged", "superseded", "erased"].contains(word) }
}

/// Everything that happened while operations were driven through an adapter.
struct Drive: Sendable {
    /// A request with its fate.
    struct Sent: Sendable {
        let endpoint: String
        let request: WireRequest
        let operations: [OperationID]
        let at: Instant
        let outcome: Outcome
        /// Whether `interpret` heard of it: a crash forgets what is not journaled.
        let isInterpreted: Bool
        /// What the adapter made of the outcome.
        var meaning: Meaning?
    }

    /// A broken obligation of the contract.
    struct Breach: Sendable, Hashable {
        let requirement: String
        let text: String
    }

    /// How it ended.
    enum End: Sendable, Equatable {
        /// Nothing is pending.
        case settled
        /// The adapter wants a person to act.
        case suspended(Finding)
        /// What is pending waits for an event.
        case held(Finding?)
        /// The limit of requests was reached.
        case limit
    }

    /// The driven operations, the preparation left out.
    var operations: [OperationID] = []
    /// The requests after the preparation.
    var sent: [Sent] = []
    /// What `examine` said.
    var examined: [OperationID: [Finding]] = [:]
    /// What became of the operations.
    var endings: [OperationID: Ending] = [:]
    /// Every finding that was made anywhere.
    var findings: [Finding] = []
    /// Broken obligations.
    var breaches: Set<Breach> = []
    /// When each wait ended, on the engine's timeline.
    var waits: [Instant] = []
    /// Bytes of a memory after each of its changes.
    var memorySizes: [Int] = []
    /// What the vendor holds in the end; nil where nobody can tell.
    var held: JSONObject?
    /// Whether memory ever claimed anything of the vendor.
    var hasClaimed = false
    /// Descriptions that a log could show: of memories, steps and requests.
    var descriptions: [String] = []
    /// What an outbox would hold: memories, steps, and journaled requests without their secret headers.
    var stored: [String] = []
    /// What the vendor answered, before the sample, too; kept where descriptions are.
    var replies: [WireResponse] = []
    /// How it ended.
    var end = End.settled

    /// The text forms of the requests, parted as in an HTTP client's file.
    func requestText(hiding secrets: [String]) -> String {
        let requests = sent.map { WireText.text($0.request, hiding: secrets) }.joined(separator: "\n\n###\n\n")
        let notes = findingLines
        return notes.isEmpty ? requests : requests + "\n\n###\n\n" + notes.map { "# \($0)" }.joined(separator: "\n")
    }

    /// Why nothing was sent: one line per finding, or per operation that ended without one.
    var refusalText: String {
        var lines = findingLines
        for (position, id) in operations.enumerated() {
            if let ending = endings[id], ending.finding == nil {
                lines.append("operation \(position + 1): \(ending.word)")
            }
        }
        if case .held(let because) = end {
            lines.append("held: \(because.map(WireText.text) ?? "until the lane is woken")")
        }
        if case .suspended(let finding) = end { lines.append("suspended: \(WireText.text(finding))") }
        return lines.joined(separator: "\n")
    }

    private var findingLines: [String] {
        var lines: [String] = []
        for id in operations {
            let examined = examined[id] ?? []
            lines += examined.map(WireText.text)
            if let ending = endings[id], let finding = ending.finding, !examined.contains(finding) {
                lines.append("\(ending.word): \(WireText.text(finding))")
            }
        }
        return lines
    }
}
