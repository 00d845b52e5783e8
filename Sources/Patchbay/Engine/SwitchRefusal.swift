public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayOutbox

/// A change of configuration that can't be carried out without loss. Nothing has changed: the old configuration still works.
public struct SwitchRefusal: Error, Hashable, Sendable {
    /// A pending operation that would be lost.
    public struct Operation: Hashable, Sendable {
        /// Which.
        public let id: OperationID
        /// What it is.
        public let kind: Action.Kind
        /// The provider that it waits for.
        public let provider: String
        /// Why each of those that would take over refuses it, or has refused it, by provider; without those whose reject is
        /// gone.
        public let refusals: [String: Finding]
    }

    /// The operations, a hundred at most.
    public let operations: [Operation]
    /// How many there are.
    public let count: Int
    /// What is the case.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// So many operations are named.
    static let limit = 100

    /// Pending work that nobody would take, at a switch or where a person asked for the move.
    init(lost operations: [Operation], count: Int, isAskedFor: Bool = false) {
        (self.operations, self.count) = (operations, count)
        let (subject, object) = count == 1 ? ("1 pending operation", "it") : ("\(count) pending operations", "them")
        reason =
            "\(subject) would be lost: every provider that would receive \(object) refuses \(object). Nothing was moved."
        let asked = "Leave \(object) with the old provider until it is available again"
        let switched = "Set \"onSwitch\" to \"drain\" or \"both\", so that the old provider still receives \(object)"
        remedy =
            "\(isAskedFor ? asked : switched), or set \"onLoss\" to \"reject\" to keep \(object) among the rejects."
    }

    /// Another vendor under the name of one that has not been left.
    init(replacing record: ProviderRecord, pending count: Int) {
        (operations, self.count) = ([], count)
        reason =
            count > 0
            ? "\(record.name) cannot change its adapter: \(Self.text(count)) still pending for \(record.adapter)."
            : "\(record.name) cannot change its adapter: the unregister for \(record.adapter) is still pending."
        remedy =
            "Add another provider with a route for the new vendor, and keep \(record.name) without a route until nothing is pending for it."
    }

    private static func text(_ count: Int) -> String {
        count == 1 ? "1 of its operations is" : "\(count) of its operations are"
    }

    /// A shadow run under a name that real work waits under.
    init(shadowing provider: String, pending count: Int) {
        (operations, self.count) = ([], count)
        reason =
            count > 0
            ? "\(provider) cannot become a shadow that sends: \(Self.text(count)) still pending for delivery."
            : "\(provider) cannot become a shadow that sends: its unregister is still pending."
        remedy =
            "Add another provider with the sandbox's settings for the shadow, or remove the route first until nothing is pending."
    }
}

extension SwitchRefusal: CustomStringConvertible {
    /// The reason and the remedy, and a line for each operation that is named.
    public var description: String {
        let lines = operations.map { operation in
            let reasons = operation.refusals.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sentence)" }
            let told = reasons.isEmpty ? ["refused earlier"] : reasons
            return "  \(operation.id.rawValue) \(operation.kind.rawValue), pending at \(operation.provider); "
                + told.joined(separator: "; ")
        }
        let more = count > operations.count && !operations.isEmpty ? ["  and \(count - operations.count) more"] : []
        return (["\(reason) \(remedy)"] + lines + more).joined(separator: "\n")
    }
}
