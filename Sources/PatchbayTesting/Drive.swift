import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// One request to the simulated vendor.
struct Call: Sendable {
    let endpoint: String
    let request: WireRequest
    /// The number of the request after the preparation, from 0.
    let number: Int
    let isMaintenanceRequest: Bool
    let now: Instant
}

/// The behavior of the vendor and the clock while a sample is driven.
struct Script: Sendable {
    /// Returns the vendor's reply; nil lets the accepting vendor reply.
    var answer: @Sendable (Call) -> Outcome? = { _ in nil }
    /// Returns whether the vendor processes a request although its reply is replaced.
    var isProcessed: @Sendable (Call) -> Bool = { _ in false }
    /// The offset of the wall clock from the engine's timeline, from the start.
    var dateShift: Duration = .zero
    /// Whether the app requests a flush.
    var flush = false
    /// The maximum number of requests before the driver gives up.
    var limit = 64
    /// Whether descriptions and bytes of memories and steps are kept. The default is false, because reflection is slow.
    var keepsDescriptions = false
    /// Whether the harness runs the preparation first.
    var isPrepared = true

    /// The values that a preparation depends on.
    struct Preparation: Hashable {
        let dateShift: Duration
        let keepsDescriptions: Bool
        let isPrepared: Bool
    }

    var preparation: Preparation {
        Preparation(dateShift: dateShift, keepsDescriptions: keepsDescriptions, isPrepared: isPrepared)
    }
}

/// Operations that are captured together, and the number of requests before the next turn; nil for no limit.
struct Turn {
    let operations: [EngagementOperation]
    var requests: Int?
}

/// The outcome of one operation, without the adapter's type.
struct DriveOutcome: Sendable {
    /// The outcome's name.
    let word: String
    let finding: Finding?

    init(_ outcome: OperationOutcome) { (word, finding) = (outcome.term.rawValue, outcome.finding) }

    init(foreign finding: Finding) { (word, self.finding) = ("foreign", finding) }

    /// Whether the vendor holds the operation's values, or a later operation has made them obsolete.
    var isTaken: Bool { ["accepted", "unchanged", "superseded", "erased"].contains(word) }
}

/// The record of operations that were driven through an adapter.
struct Drive: Sendable {
    /// A request and its outcome.
    struct Sent: Sendable {
        let endpoint: String
        let request: WireRequest
        let operations: [OperationID]
        let at: Instant
        let outcome: Outcome
        /// Whether the adapter interpreted the outcome. After a crash only journaled requests are interpreted.
        let isInterpreted: Bool
        /// The adapter's interpretation of the outcome.
        var meaning: Meaning?
    }

    /// A violated obligation of the contract.
    struct Breach: Sendable, Hashable {
        let requirement: String
        let text: String
    }

    /// The way in which the drive ended.
    enum End: Sendable, Equatable {
        /// Nothing is pending.
        case settled
        /// The adapter suspended the provider until a person acts.
        case suspended(Finding)
        /// The pending operations wait for an event.
        case waiting(Finding?)
        /// The limit of requests was reached.
        case limit
    }

    /// The driven operations, without the preparation.
    var operations: [OperationID] = []
    /// The requests after the preparation.
    var sent: [Sent] = []
    /// The findings of `examine`.
    var examined: [OperationID: [Finding]] = [:]
    /// The outcomes of the operations.
    var outcomes: [OperationID: DriveOutcome] = [:]
    /// All findings.
    var findings: [Finding] = []
    /// The violated obligations.
    var breaches: Set<Breach> = []
    /// The end of each wait, on the engine's timeline.
    var waits: [Instant] = []
    /// The size of a memory after each of its changes, in bytes.
    var memorySizes: [Int] = []
    /// The vendor's state at the end; nil if the harness has no expected vendor state.
    var vendorState: JSONObject?
    /// Whether the memory ever contained expected vendor state.
    var hasClaimed = false
    /// Descriptions that a log could show: of memories, steps and requests.
    var descriptions: [String] = []
    /// The data that an outbox would store: memories, steps, and journaled requests without their secret headers.
    var stored: [String] = []
    /// The vendor's replies, including those before the sample. They are kept if descriptions are kept.
    var replies: [WireResponse] = []
    /// The way in which the drive ended.
    var end = End.settled

    /// Returns the requests as text, separated as in an HTTP client's file.
    func requestText(hiding secrets: [String]) -> String {
        let requests = sent.map { WireText.text($0.request, hiding: secrets) }.joined(separator: "\n\n###\n\n")
        let notes = findingLines
        return notes.isEmpty ? requests : requests + "\n\n###\n\n" + notes.map { "# \($0)" }.joined(separator: "\n")
    }

    /// The reasons that nothing was sent: one line for each finding, and for each operation with an outcome and no finding.
    var refusalText: String {
        var lines = findingLines
        for (position, id) in operations.enumerated() {
            if let outcome = outcomes[id], outcome.finding == nil {
                lines.append("operation \(position + 1): \(outcome.word)")
            }
        }
        if case .waiting(let because) = end {
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
            if let outcome = outcomes[id], let finding = outcome.finding, !examined.contains(finding) {
                lines.append("\(outcome.word): \(WireText.text(finding))")
            }
        }
        return lines
    }
}
