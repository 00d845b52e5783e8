public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// What an erasure did, provider by provider, and what a person still has to do. It names nobody.
///
/// The report is made when the erasure is on the disk: here everything of the person is gone then, but for what a vendor's
/// deletion needs. How that ended says ``outcome(on:)``, and ``answered()`` for all vendors that have.
public struct ErasureReport: NeutralValue, CustomStringConvertible {
    /// What became of what an adapter remembers of the vendor's side.
    public enum Memory: String, NeutralWord {
        /// There is none.
        case none
        /// It is gone.
        case forgotten
        /// It goes when the vendor's deletion has ended, which may need it.
        case untilDeletion
    }

    /// How the deletion at a vendor ended.
    public struct Answer: NeutralValue {
        /// The operation that asked.
        public var operation: OperationID
        /// How it ended.
        public var term: OperationOutcome.Term
        /// Why, with the vendor's own code and request id if it gave them.
        public var finding: Finding?

        /// Whether the vendor still has what it was asked to delete, and nobody else asks.
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

    /// What the erasure did at one provider.
    public struct Provider: NeutralValue {
        /// The provider's name.
        public var provider: String
        /// What was pending and will not be sent, by kind of operation (`unreadable` for what this release can't read). The
        /// history keeps an ending for each, under its random id.
        public var withdrawn: [String: Int]
        /// Operations that had been refused and kept.
        public var rejects: Int
        /// What became of what the adapter remembers.
        public var memory: Memory
        /// The operations that ask the vendor to forget, one for each subject; none where nobody asks it.
        public var requested: [OperationID]
        /// How they ended, as far as the vendor had answered when the report was made.
        public var answers: [Answer]
        /// What a person has to do at the vendor; nil if the vendor's deletion is all.
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
            for (kind, count) in withdrawn.sorted(by: { $0.key < $1.key }) { writer.member(kind, count) }
            writer.endObject()
            writer.member("rejects", rejects)
            writer.member("memory", memory)
            writer.member("requested", requested)
            writer.member("answers", ifNotEmpty: answers)
            writer.member("manualStep", ifPresent: manualStep)
            writer.endObject()
        }
    }

    /// How many subjects were erased.
    public var subjects: Int
    /// Of how many of them a state was kept.
    public var snapshots: Int
    /// Damaged rows in which a subject could still be read.
    public var damagedRows: Int
    /// Damaged files beside the outbox that were deleted.
    public var damagedFiles: Int
    /// What was done, sorted by provider.
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

    /// Whether nothing of the person was found here.
    package var foundNothing: Bool {
        snapshots == 0 && damagedRows == 0 && providers.allSatisfy { $0.withdrawn.isEmpty && $0.rejects == 0 }
    }

    /// Whether it says of every deletion how it ended.
    package var isAnswered: Bool { providers.allSatisfy { $0.answers.count == $0.requested.count } }

    /// The same, with what the vendors have answered until now.
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
    /// - Throws: as ``Receipt/outcome(on:)``.
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
            let kinds = provider.withdrawn.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
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
                // Such an adapter at most unsubscribes the person.
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
