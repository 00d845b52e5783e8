import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Keeps the outbox inside its limits; see ``OutboxLimits`` for what goes and what stays.
///
/// No look is longer than a few thousand rows: each goes on where the last one stopped, and what it passed over because it
/// may not go is looked at again the next time round.
struct OutboxBounds {
    let limits: OutboxLimits
    /// Up to here nothing may go.
    private var place: Int64 = 0
    /// Up to here nothing that is too old may go, and when the next operation will be too old.
    private var agedPlace: Int64 = 0
    private var nextAged = Instant(milliseconds: .min)

    private static let lookAtCapture = 4_096
    private static let agedAtCapture = 64
    private static let pageSize = 256

    init(_ limits: OutboxLimits) { self.limits = limits }

    /// A transaction was rolled back, or time has passed: everything may be looked at again.
    mutating func rewind() { (place, agedPlace, nextAged) = (0, 0, Instant(milliseconds: .min)) }

    /// Makes room for what was just captured, inside its transaction.
    ///
    /// - Throws: `full` where nothing may go, unless all of it is always taken.
    mutating func makeRoom(
        for captured: [EngagementOperation],
        behind last: Int64,
        _ context: EngineContext,
        _ runners: [Runner]
    ) throws {
        try dropAged(atMost: Self.agedAtCapture, context, runners)
        guard try isExceeded(context) else { return }
        var look = Look(context, runners, FindingRow.Engine.outboxFull.at())
        if context.epoch != nil {
            place = try look.drop(behind: place, atMost: Self.lookAtCapture) { _ in try isExceeded(context) }
        }
        if try isExceeded(context) {
            _ = try look.drop(behind: last, atMost: .max) { _ in try isExceeded(context) }
        }
        guard try isExceeded(context), !captured.allSatisfy(\.action.isAlwaysTaken) else { return }
        throw OutboxError(
            .full,
            "The outbox is full, and none of its operations may be dropped.",
            remedy:
                "Deliver operations, clear those that are not needed, or raise the limits. Stored operations are safe."
        )
    }

    /// Drops what has waited for too long, inside the caller's transaction.
    mutating func dropAged(
        atMost count: Int,
        _ context: EngineContext,
        _ runners: [Runner]
    ) throws {
        guard let age = limits.age, context.epoch != nil, nextAged <= context.now else { return }
        let oldest = context.now + (.zero - age)
        var next: Instant?
        var look = Look(context, runners, FindingRow.Engine.outboxAged.at())
        agedPlace = try look.drop(behind: agedPlace, atMost: count) { operation in
            let since = Instant(milliseconds: operation.since)
            if since > oldest { next = since }
            return since <= oldest
        }
        if let next { nextAged = next + age }
    }

    /// Whether there is room for that much more.
    func haveRoom(for more: OutboxUsage, _ context: EngineContext) throws -> Bool {
        try !isExceeded(context.store.usage() + more)
    }

    private func isExceeded(_ context: EngineContext) throws -> Bool { try isExceeded(context.store.usage()) }

    private func isExceeded(_ usage: OutboxUsage) -> Bool {
        usage.operations > Int64(limits.operations) || usage.size > Int64(limits.bytes)
    }

    /// One look at the oldest operations.
    private struct Look {
        let context: EngineContext
        let runners: [Runner]
        let finding: Finding
        private var journaled: Set<String>?
        /// Ended with their group, and not yet passed.
        private var ended: Set<Int64> = []

        init(_ context: EngineContext, _ runners: [Runner], _ finding: Finding) {
            (self.context, self.runners, self.finding) = (context, runners, finding)
        }

        /// Drops what may go behind a sequence, oldest first, as long as `isWanted`; returns the sequence that it passed last.
        mutating func drop(
            behind start: Int64,
            atMost count: Int,
            while isWanted: (OutboxOperation) throws -> Bool
        ) throws -> Int64 {
            var (last, left) = (start, count)
            while left > 0 {
                let size = min(left, pageSize)
                let page = try context.store.operations(behind: last, limit: size)
                for operation in page {
                    guard try ended.contains(operation.sequence) || isWanted(operation) else { return last }
                    last = operation.sequence
                    if ended.remove(operation.sequence) == nil { try drop(operation) }
                }
                if page.isEmpty { return last }
                left -= page.count
            }
            return last
        }

        /// Drops an operation with its group, if all of that may go.
        private mutating func drop(_ operation: OutboxOperation) throws {
            guard try mayGo(operation) else { return }
            let others = try operation.group.map { try members(of: $0, behind: operation) } ?? []
            for other in others { guard try mayGo(other) else { return } }
            for member in [operation] + others {
                for provider in try context.store.routes(of: member.sequence).providers {
                    try end(member, on: provider)
                }
                if member.sequence != operation.sequence { ended.insert(member.sequence) }
            }
        }

        private func end(_ operation: OutboxOperation, on provider: String) throws {
            let outcome = OperationOutcome(.dropped, finding: finding)
            let isEnded = try context.store.end(
                provider: provider,
                sequence: operation.sequence,
                term: outcome.term.rawValue,
                code: finding.code,
                at: context.date.milliseconds
            )
            guard isEnded else { return }
            context.emit([.ended(OperationID(rawValue: operation.id), provider: provider, outcome)])
        }

        private mutating func mayGo(_ operation: OutboxOperation) throws -> Bool {
            guard let body = try? EngagementOperation(jsonBytes: operation.body), body.action.kind == .track,
                try !context.store.routes(of: operation.sequence).areBegun,
                !runners.contains(where: { $0.isCommitted(body.id) })
            else { return false }
            return try !journaledOperations().contains(operation.id)
        }

        private mutating func journaledOperations() throws -> Set<String> {
            if let journaled { return journaled }
            var found: Set<String> = []
            for provider in try context.store.providers() {
                for entry in try context.store.journal(provider: provider.name) { found.formUnion(entry.operations) }
            }
            journaled = found
            return found
        }

        /// The rest of an explicit group: it was captured in one go, but others may stand between.
        private func members(of group: String, behind first: OutboxOperation) throws -> [OutboxOperation] {
            var (members, last): ([OutboxOperation], Int64) = ([], first.sequence)
            while true {
                let page = try context.store.operations(of: first.subject, behind: last, limit: pageSize)
                let found = page.filter { $0.group == group }
                members += found
                guard let end = page.last, !found.isEmpty else { return members }
                last = end.sequence
            }
        }
    }
}

extension Action {
    /// A person's word on what may be done with them is never refused for want of room.
    var isAlwaysTaken: Bool {
        switch self {
        case .setConsent, .erase: true
        default: false
        }
    }
}
