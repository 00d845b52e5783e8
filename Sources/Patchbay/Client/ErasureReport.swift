public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A report of what an erasure did for each provider, and of what a person still has to do. It contains no personal data.
///
/// The client makes the report once the erasure is on the disk. By then, everything about the person is deleted here, except
/// what a vendor's deletion still needs. ``outcome(on:)`` waits for a vendor's deletion; ``answered()`` adds the outcomes so
/// far.
public struct ErasureReport: NeutralValue, CustomStringConvertible {
    /// The state of an adapter's memory after the erasure.
    public enum Memory: String, NeutralWord {
        /// The adapter had no memory.
        case none
        /// The memory is deleted.
        case forgotten
        /// The memory is deleted once the vendor's deletion, which may need it, has completed.
        case untilDeletion
    }

    /// The outcome of the deletion at a vendor.
    public struct Answer: NeutralValue {
        /// The id of the erasure.
        public var operation: OperationID
        /// The outcome status.
        public var term: OperationOutcome.Term
        /// The reason, with the vendor's own code and request id if the reply had them.
        public var finding: Finding?

        /// Whether the vendor still has the data and the engine does not repeat the request.
        public var isRefusal: Bool {
            switch term {
            case .rejected, .dropped, .quarantined: true
            case .accepted, .unchanged, .superseded, .erased, .moved, .shadowed: false
            }
        }

        init(operation: OperationID, _ outcome: OperationOutcome) {
            (self.operation, term, finding) = (operation, outcome.term, outcome.finding)
        }

        public init(json: JSONValue, at path: String) throws(ModelError) {
            let reader = try ObjectReader(json, at: path, known: ["operation", "term", "finding"])
            operation = try reader.required("operation")
            term = try reader.required("term")
            finding = try reader.optional("finding")
        }

        public func write(to writer: inout JSONWriter) {
            writer.beginObject()
            writer.member("operation", operation)
            writer.member("term", term)
            writer.member("finding", ifPresent: finding)
            writer.endObject()
        }
    }

    /// The effects of the erasure at one provider.
    public struct Provider: NeutralValue {
        /// The provider's name.
        public var provider: String
        /// The number of pending operations that will not be sent, by kind (`unreadable` if this release cannot read them).
        /// The history keeps an outcome for each, under its random id.
        public var withdrawn: [String: Int]
        /// The number of deleted rejects.
        public var rejects: Int
        /// The state of the adapter's memory.
        public var memory: Memory
        /// The erasures that are sent to the vendor, one for each subject; empty if none is sent.
        public var requested: [OperationID]
        /// The outcomes that were known when the report was made.
        public var answers: [Answer]
        /// What a person has to do at the vendor; nil if the vendor's deletion covers everything.
        public var manualStep: String?

        init(_ provider: String) {
            (self.provider, withdrawn, rejects, memory, requested, answers) = (provider, [:], 0, .none, [], [])
        }

        private static let known = ["provider", "withdrawn", "rejects", "memory", "requested", "answers", "manualStep"]

        public init(json: JSONValue, at path: String) throws(ModelError) {
            let reader = try ObjectReader(json, at: path, known: Self.known)
            provider = try reader.required("provider")
            withdrawn = [:]
            for member in try ObjectReader(reader.object["withdrawn"] ?? [:], at: path, known: nil).object {
                withdrawn[member.name] = try Int(json: member.value, at: path.dot("withdrawn").dot(member.name))
            }
            rejects = try reader.required("rejects")
            memory = try reader.required("memory")
            requested = try reader.list("requested")
            answers = try reader.list("answers")
            manualStep = try reader.optional("manualStep")
        }

        public func write(to writer: inout JSONWriter) {
            writer.beginObject()
            writer.member("provider", provider)
            writer.name("withdrawn")
            writer.beginObject()
            for (kind, count) in withdrawn.inOrder { writer.member(kind, count) }
            writer.endObject()
            writer.member("rejects", rejects)
            writer.member("memory", memory)
            writer.member("requested", requested)
            writer.member("answers", ifNotEmpty: answers)
            writer.member("manualStep", ifPresent: manualStep)
            writer.endObject()
        }
    }

    /// The number of erased subjects.
    public var subjects: Int
    /// The number of erased subjects that had a stored state.
    public var snapshots: Int
    /// The number of damaged rows from which a subject could still be read.
    public var damagedRows: Int
    /// The number of damaged files beside the outbox that were deleted.
    public var damagedFiles: Int
    /// The effects for each provider, sorted by name.
    public var providers: [Provider]
    private var receipts: [Receipt] = []

    init(_ erasures: [Erasure], damagedFiles: Int, receipts: [Receipt]) {
        self.damagedFiles = damagedFiles
        subjects = erasures.count
        snapshots = erasures.count(where: \.hadSnapshot)
        damagedRows = erasures.reduce(0) { $0 + $1.damagedRows }
        self.receipts = receipts
        var providers: [String: Provider] = [:]
        for erasure in erasures {
            for (name, part) in erasure.parts {
                var provider = providers[name] ?? Provider(name)
                provider.withdrawn.merge(part.withdrawn) { $0 + $1 }
                provider.rejects += part.rejects
                if part.memory != .none { provider.memory = Memory(rawValue: part.memory.rawValue) ?? .none }
                if part.isRequested { provider.requested.append(erasure.operation) }
                provider.manualStep = part.manualStep ?? provider.manualStep
                providers[name] = provider
            }
        }
        self.providers = providers.values.sorted { $0.provider < $1.provider }
    }

    /// Whether a person still has to do something at a vendor.
    public var needsPerson: Bool {
        providers.contains { $0.manualStep != nil || $0.answers.contains(where: \.isRefusal) }
    }

    /// Whether the erasure found no data of the person here.
    package var foundNothing: Bool {
        snapshots == 0 && damagedRows == 0 && providers.allSatisfy { $0.withdrawn.isEmpty && $0.rejects == 0 }
    }

    /// Whether the report has the outcome of every deletion.
    package var isAnswered: Bool { providers.allSatisfy { $0.answers.count == $0.requested.count } }

    /// Returns the report with all outcomes that are known by now.
    public func answered() -> ErasureReport {
        var report = self
        for place in report.providers.indices {
            let provider = report.providers[place]
            report.providers[place].answers = receipts.compactMap { receipt in
                guard provider.requested.contains(receipt.id) else { return nil }
                return receipt.known(on: provider.provider).map { Answer(operation: receipt.id, $0) }
            }
        }
        return report
    }

    /// Returns how the deletion at a vendor ended, for each subject in turn.
    ///
    /// - Throws: The errors of ``Receipt/outcome(on:)``.
    public func outcome(on provider: String) async throws -> [OperationOutcome] {
        var outcomes: [OperationOutcome] = []
        for receipt in receipts { outcomes.append(try await receipt.outcome(on: provider)) }
        return outcomes
    }

    /// Lines for a person: the deleted data, the requests to vendors, and the remaining steps.
    public var description: String {
        var lines = [
            "Erased subjects: \(subjects) (with stored state: \(snapshots)). Erased damaged rows: \(damagedRows)."
                + (damagedFiles > 0 ? " Deleted damaged files: \(damagedFiles)." : "")
        ]
        for provider in providers {
            let kinds = provider.withdrawn.inOrder.map { "\($0.value) \($0.key)" }
            let withdrawn = kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
            let memory =
                switch provider.memory {
                case .none: "none"
                case .forgotten: "deleted"
                case .untilDeletion: "kept until the vendor has deleted the person"
                }
            lines.append(
                "\(provider.provider): deleted operations: \(withdrawn); deleted rejects: \(provider.rejects); adapter state: \(memory)"
            )
            for id in provider.requested {
                let answer = provider.answers.first { $0.operation == id }
                // An adapter without a deletion can only unsubscribe the person.
                let isNotSent = provider.manualStep != nil && answer?.term == .accepted
                let result = isNotSent ? "not sent, because this API cannot delete a person" : answer?.term.rawValue
                lines.append("  request to delete the person (\(id.rawValue)): \(result ?? "pending")")
                if let answer, answer.isRefusal {
                    let reason = answer.finding.map { ": \($0)" } ?? ""
                    lines.append("  to do: ask the vendor to delete the person; the request failed\(reason)")
                }
            }
            if let step = provider.manualStep { lines.append("  to do: \(step)") }
        }
        return lines.joined(separator: "\n")
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(
            json,
            at: path,
            known: ["subjects", "snapshots", "damagedRows", "damagedFiles", "providers"]
        )
        subjects = try reader.required("subjects")
        snapshots = try reader.required("snapshots")
        damagedRows = try reader.required("damagedRows")
        damagedFiles = try reader.optional("damagedFiles") ?? 0
        providers = try reader.list("providers")
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("subjects", subjects)
        writer.member("snapshots", snapshots)
        writer.member("damagedRows", damagedRows)
        if damagedFiles > 0 { writer.member("damagedFiles", damagedFiles) }
        writer.member("providers", providers)
        writer.endObject()
    }

    public static func == (left: ErasureReport, right: ErasureReport) -> Bool {
        left.subjects == right.subjects && left.snapshots == right.snapshots && left.damagedRows == right.damagedRows
            && left.damagedFiles == right.damagedFiles
            && left.providers == right.providers
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(subjects)
        hasher.combine(providers)
    }
}
