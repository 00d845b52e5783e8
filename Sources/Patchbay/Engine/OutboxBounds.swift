import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Keeps the outbox within its limits. ``OutboxLimits`` documents which operations are dropped.
///
/// Each pass reads at most a few thousand rows and continues where the last one stopped. Operations that it skipped because
/// they may not be dropped are checked again after ``rewind()``.
struct OutboxBounds {
    let limits: OutboxLimits
    /// The sequence up to which no operation may be dropped.
    private var place: Int64 = 0
    /// The sequence up to which no operation is both too old and droppable. `nextAged` is when the next one will be too old.
    private var agedPlace: Int64 = 0
    private var nextAged = Instant(milliseconds: .min)

    private static let lookAtCapture = 4_096
    private static let agedAtCapture = 64
    private static let pageSize = 256

    init(_ limits: OutboxLimits) { self.limits = limits }

    /// Restarts the passes after a rollback, or when time has passed.
    mutating func rewind() { (place, agedPlace, nextAged) = (0, 0, Instant(milliseconds: .min)) }

    /// Drops operations until the new captures fit, inside their transaction.
    ///
    /// - Throws: `full` if not enough operations may be dropped, unless the captures are all of a kind that is always
    ///   accepted.
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

    /// Drops operations that are older than the limit, inside the caller's transaction.
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

    /// Whether the outbox has room for additional usage.
    func haveRoom(for more: OutboxUsage, _ context: EngineContext) throws -> Bool {
        try !isExceeded(context.store.accounts.usage() + more)
    }

    private func isExceeded(_ context: EngineContext) throws -> Bool { try isExceeded(context.store.accounts.usage()) }

    private func isExceeded(_ usage: OutboxUsage) -> Bool {
        usage.operations > Int64(limits.operations) || usage.size > Int64(limits.bytes)
    }

    /// A pass over the oldest operations.
    private struct Look {
        let context: EngineContext
        let runners: [Runner]
        let finding: Finding
        private var journaled: Set<String>?
        /// Operations that were dropped with their group and not yet passed.
        private var ended: Set<Int64> = []

        init(_ context: EngineContext, _ runners: [Runner], _ finding: Finding) {
            (self.context, self.runners, self.finding) = (context, runners, finding)
        }

        /// Drops droppable operations after a sequence, oldest first, while `isWanted` is true. Returns the last sequence
        /// that it passed.
        mutating func drop(
            behind start: Int64,
            atMost count: Int,
            while isWanted: (OutboxOperation) throws -> Bool
        ) throws -> Int64 {
            var (last, left) = (start, count)
            while left > 0 {
                let size = min(left, pageSize)
                let page = try context.store.operations.list(after: last, limit: size)
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

        /// Drops an operation with its group if the whole group may be dropped.
        private mutating func drop(_ operation: OutboxOperation) throws {
            guard try mayGo(operation) else { return }
            let others = try operation.group.map { try members(of: $0, behind: operation) } ?? []
            for other in others { guard try mayGo(other) else { return } }
            for member in [operation] + others {
                for provider in try context.store.operations.routes(of: member.sequence).providers {
                    try end(member, on: provider)
                }
                if member.sequence != operation.sequence { ended.insert(member.sequence) }
            }
        }

        private func end(_ operation: OutboxOperation, on provider: String) throws {
            let outcome = OperationOutcome(.dropped, finding: finding)
            let isEnded = try context.store.settlement.complete(
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
                try !context.store.operations.routes(of: operation.sequence).areBegun,
                !runners.contains(where: { $0.isCommitted(body.id) })
            else { return false }
            return try !journaledOperations().contains(operation.id)
        }

        private mutating func journaledOperations() throws -> Set<String> {
            if let journaled { return journaled }
            var found: Set<String> = []
            for provider in try context.store.state.providers() {
                for entry in try context.store.state.journal(provider: provider.name) {
                    found.formUnion(entry.operations)
                }
            }
            journaled = found
            return found
        }

        /// Returns the rest of an explicit group. Its members were captured together, but other operations may be between
        /// them.
        private func members(of group: String, behind first: OutboxOperation) throws -> [OutboxOperation] {
            var (members, last): ([OutboxOperation], Int64) = ([], first.sequence)
            while true {
                let page = try context.store.operations.list(of: first.subject, after: last, limit: pageSize)
                let found = page.filter { $0.group == group }
                members += found
                guard let end = page.last, !found.isEmpty else { return members }
                last = end.sequence
            }
        }
    }
}

extension Action {
    /// Whether the operation is accepted even if the outbox is full: consent decisions and erasures are.
    var isAlwaysTaken: Bool {
        switch self {
        case .setConsent, .erase: true
        default: false
        }
    }
}
