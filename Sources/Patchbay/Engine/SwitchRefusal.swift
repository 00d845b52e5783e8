public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox

/// The error of a configuration change that would lose operations. The old configuration stays in use.
public struct SwitchRefusal: Error, Hashable, Sendable {
    /// A pending operation that would be lost.
    public struct Operation: Hashable, Sendable {
        /// The operation's id.
        public let id: OperationID
        /// The operation's kind.
        public let kind: Action.Kind
        /// The provider at which it is pending.
        public let provider: String
        /// The findings of the providers that would take over and refuse it, or refused it earlier, by provider. Earlier
        /// refusals are included if their reject is kept.
        public let refusals: [String: Finding]
    }

    /// The operations, at most 100.
    public let operations: [Operation]
    /// The number of all such operations.
    public let count: Int
    /// The reason.
    public let reason: String
    /// The remedy.
    public let remedy: String

    /// The maximum number of listed operations.
    static let limit = 100

    /// Creates the error for pending operations that no provider accepts, in a switch or in a requested move.
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

    /// Creates the error for a different vendor under the name of a provider with pending work or a route.
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

    /// Creates the error for a shadow run under the name of a provider with pending work.
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
    /// The reason and the remedy, and a line for each listed operation.
    public var description: String {
        let lines = operations.map { operation in
            let reasons = operation.refusals.inOrder.map { "\($0.key): \($0.value.sentence)" }
            let shownReasons = reasons.isEmpty ? ["refused earlier"] : reasons
            return "  \(operation.id.rawValue) \(operation.kind.rawValue), pending at \(operation.provider); "
                + shownReasons.joined(separator: "; ")
        }
        let more = count > operations.count && !operations.isEmpty ? ["  and \(count - operations.count) more"] : []
        return (["\(reason) \(remedy)"] + lines + more).joined(separator: "\n")
    }
}
