package import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel
import PatchbayOutbox

/// The effects that a configuration would have on the pending operations of an outbox.
///
/// The outbox is only read. The engine starts with the configuration on a copy in memory and sends no request.
package struct OutboxPreview: Sendable {
    /// An effect on one operation, or on several operations of a provider.
    package struct Item: Hashable, Sendable {
        /// The operation; nil for several.
        package var operation: OperationID?
        /// The provider for which it is pending.
        package var provider: String
        /// The effect and its reason.
        package var finding: Finding
    }

    /// The effects, rejections first.
    package private(set) var items: [Item] = []
    /// Number of operations that would be rejected.
    package private(set) var rejected = 0
    /// Number of pending operations, counted once for each provider.
    package private(set) var pending = 0

    /// The maximum number of operations listed individually for each provider and finding that is not a rejection.
    private static let listed = 100
    private var listedCounts: [String: Int] = [:]

    /// Reads an outbox and starts the engine on a copy of it.
    ///
    /// - Throws: ``OutboxError`` if the file cannot be read.
    package init(of path: String, under configuration: Configuration) throws {
        let original = try OutboxStore.open(.file(path), readOnly: true)
        let image = try OutboxImage()
        try image.take(from: original)
        let copy = try image.open(.memory)
        try copy.settlement.applyNoted()
        let before = try Self.pending(in: copy)
        pending = before.values.reduce(0) { $0 + $1.count }
        let engine = try Engine(
            store: copy,
            plan: configuration.plan,
            host: PreviewHost(),
            limits: OutboxLimits(operations: .max, bytes: .max, rejects: .max),
            credentials: { _, _ in nil }
        )
        do {
            _ = try engine.start()
        } catch let refusal as SwitchRefusal {
            note(refusal)
            return
        }
        note(engine.takeEvents(), before)
        try examine(copy, engine)
        try noteStaying(copy, configuration, before)
        items.sort { $0.finding.severity == .error && $1.finding.severity != .error }
    }

    private struct Row {
        let kind: Action.Kind?
        let hasBegun: Bool
        let isOptOut: Bool
    }

    private static func pending(in store: OutboxStore) throws -> [String: [String: Row]] {
        var found: [String: [String: Row]] = [:]
        for record in try store.state.providers() {
            let journaled = Set(try store.state.journal(provider: record.name).flatMap(\.operations))
            try store.queues.forEachRow(provider: record.name, subject: nil) { row in
                let action = (try? EngagementOperation(jsonBytes: row.operation.body))?.action
                found[record.name, default: [:]][row.operation.id] = Row(
                    kind: action?.kind,
                    hasBegun: row.requests.contains(.uncertain) || row.step != nil
                        || journaled.contains(row.operation.id),
                    isOptOut: action?.isOptOut ?? false
                )
            }
        }
        return found
    }

    /// Records that the change would lose operations: no client would start with the configuration.
    private mutating func note(_ refusal: SwitchRefusal) {
        let row = FindingRow.Preview.refused
        items.append(Item(provider: "", finding: row.at(detail: refusal.reason, remedy: refusal.remedy)))
        for operation in refusal.operations {
            rejected += 1
            let reasons = operation.refusals.inOrder
            for (taker, finding) in reasons {
                var finding = finding
                finding.reason = "\(taker) would not take it over: \(finding.reason)"
                items.append(Item(operation: operation.id, provider: operation.provider, finding: finding))
            }
        }
        rejected = max(rejected, refusal.count)
    }

    private mutating func note(_ events: [EngineEvent], _ before: [String: [String: Row]]) {
        var moved: [String: [Action.Kind: Int]] = [:]
        var other: [String: [OperationOutcome.Term: Int]] = [:]
        for event in events {
            guard case .ended(let id, let provider, let outcome) = event else { continue }
            switch outcome.term {
            case .rejected:
                guard let finding = outcome.finding else { continue }
                rejected += 1
                items.append(Item(operation: id, provider: provider, finding: finding))
            case .moved:
                moved[provider, default: [:]][before[provider]?[id.rawValue]?.kind ?? .track, default: 0] += 1
            default: other[provider, default: [:]][outcome.term, default: 0] += 1
            }
        }
        for (provider, kinds) in moved.inOrder {
            items.append(Item(provider: provider, finding: FindingRow.Preview.moved.at(detail: Self.text(kinds))))
        }
        for (provider, terms) in other.inOrder {
            let detail = terms.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
            items.append(
                Item(provider: provider, finding: FindingRow.Preview.ended.at(detail: detail.joined(separator: ", ")))
            )
        }
    }

    private static func text(_ kinds: [Action.Kind: Int]) -> String {
        kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.title)" }
            .joined(separator: ", ")
    }

    /// Examines the operations that are still pending under the new settings.
    private mutating func examine(_ store: OutboxStore, _ engine: Engine) throws {
        var found: [Item] = []
        for runner in engine.runners {
            try store.queues.forEachRow(provider: runner.name, subject: nil) { row in
                guard let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                    let finding = runner.examine(operation).first(where: { $0.severity == .error })
                else { return }
                found.append(Item(operation: operation.id, provider: runner.name, finding: finding))
            }
        }
        rejected += found.count
        items += found
    }

    /// Records the operations that stay with a provider that the configuration removes.
    private mutating func noteStaying(
        _ store: OutboxStore,
        _ configuration: Configuration,
        _ before: [String: [String: Row]]
    ) throws {
        let after = try Self.pending(in: store)
        let known = Set(before.values.flatMap(\.keys))
        for (provider, rows) in after.inOrder {
            var created: [Action.Kind: Int] = [:]
            for (id, row) in rows where !known.contains(id) { created[row.kind ?? .track, default: 0] += 1 }
            if !created.isEmpty {
                items.append(
                    Item(provider: provider, finding: FindingRow.Preview.created.at(detail: Self.text(created)))
                )
            }
            let isConfigured = configuration.provider(provider) != nil
            let isRouted = configuration.routes.contains { $0.provider == provider && $0.mode != .shadow }
            guard !isConfigured || !isRouted else { continue }
            let kept = rows.filter { before[provider]?[$0.key] != nil }
            guard !kept.isEmpty else { continue }
            var kinds: [Action.Kind: Int] = [:]
            for row in kept.values { kinds[row.kind ?? .track, default: 0] += 1 }
            let row = isConfigured ? FindingRow.Preview.drained : FindingRow.Engine.providerGone
            items.append(Item(provider: provider, finding: row.at(detail: Self.text(kinds))))
            for (id, row) in kept.inOrder
            where row.hasBegun || row.isOptOut && row.kind != .unregister {
                list(OperationID(rawValue: id), provider, row.hasBegun ? .maybeProcessed : .optOutStays)
            }
        }
    }

    private mutating func list(_ id: OperationID, _ provider: String, _ row: FindingRow) {
        let key = "\(provider) \(row.code)"
        listedCounts[key, default: 0] += 1
        guard listedCounts[key, default: 0] <= Self.listed else { return }
        items.append(Item(operation: id, provider: provider, finding: row.at()))
    }
}

/// The host of an engine that delivers nothing. Every lease holder counts as dead, because the lease does not matter on a
/// copy.
private struct PreviewHost: EngineHost {
    private let system = SystemHost()

    func date() -> Instant { system.date() }
    func uptime() -> Instant { system.uptime() }
    var boot: String { system.boot }
    var process: String { system.process }
    func isDead(_ process: String) -> Bool { true }
    func chance() -> Double { 0.5 }
    func makeID() -> OperationID { system.makeID() }
}

extension FindingRow {
    /// The findings of a preview.
    fileprivate enum Preview {
        static let refused = FindingRow(
            .error("switch.refused", .conflict),
            reason: "A client would not start with this configuration",
            remedy: "Change \"onSwitch\" or \"onLoss\"."
        )
        static let moved = FindingRow(
            .note("switch.moved"),
            reason: "Pending operations would move to the new providers",
            remedy: "Set \"onSwitch\" to \"drain\" to deliver them to the old provider instead."
        )
        static let ended = FindingRow(
            .note("switch.ended"),
            reason: "Pending operations would be dropped by the change",
            remedy: "Deliver them first with `patchbay send` and the old configuration if they must be sent."
        )
        static let created = FindingRow(
            .note("switch.created"),
            reason:
                "The change would create operations: the current state for an added provider, an unregister for a removed one",
            remedy: "No action is needed."
        )
        static let drained = FindingRow(
            .note("switch.drained"),
            reason: "Pending operations would stay with the provider and be delivered there",
            remedy: "Keep the provider in the configuration, without a route, until nothing is pending for it."
        )
    }

    fileprivate static let maybeProcessed = FindingRow(
        .note("switch.stays.processed"),
        reason: "The vendor may already have processed the operation, so it stays with this provider",
        remedy: "No action is needed."
    )
    fileprivate static let optOutStays = FindingRow(
        .note("switch.stays.optOut"),
        reason: "The opt-out or erasure concerns this vendor, so it stays with it",
        remedy: "Keep the provider in the configuration until it is delivered."
    )
}
