public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The outcome of an operation on one route.
public struct OperationOutcome: Hashable, Sendable {
    /// The outcome status. Each completed operation counts under exactly one status in the accounts.
    public enum Term: String, NeutralWord, Codable {
        /// The vendor processed it: a request carried it and was answered.
        case accepted
        /// No request was needed: the vendor had the state already, or the operation concerns this device only.
        case unchanged
        /// A later operation replaced it before it left.
        case superseded
        /// The vendor or the adapter refused it. It is kept for replay.
        case rejected
        /// A rule, such as a missing consent or a limit, does not allow it to be sent.
        case dropped
        /// The person was erased before it was sent.
        case erased
        /// Its stored row was damaged.
        case quarantined
        /// It moved to another provider in a switch.
        case moved
        /// It was part of a shadow run and does not count as delivered, regardless of the result.
        case shadowed
    }

    /// The outcome status.
    public var term: Term
    /// The reason, or further details.
    public var finding: Finding?
    /// The vendor's typed answer, if the adapter reads one.
    public var answer: JSONValue?

    /// Creates an outcome.
    public init(_ term: Term, finding: Finding? = nil, answer: JSONValue? = nil) {
        (self.term, self.finding, self.answer) = (term, finding, answer)
    }
}

/// An event that the engine reports after it is committed. Held by reference because it is large and passed on often.
public indirect enum EngineEvent: Hashable, Sendable {
    /// An operation has an outcome on a route.
    case ended(OperationID, provider: String, OperationOutcome)
    /// A query was answered.
    case answered(OperationID, provider: String, OperationOutcome)
    /// A vendor sent content for the app.
    case incoming(provider: String, JSONValue)
    /// A provider was suspended until a person acts. Its data are kept.
    case suspended(provider: String, Finding)
    /// A provider fails repeatedly. If several lanes wait, one request at a time checks whether it is back.
    case outage(provider: String, Finding)
    /// A provider that had failed answers again.
    case recovered(provider: String, Finding)
    /// A condition that a person should know about, and that ends no operation.
    case noticed(provider: String, Finding)
    /// An operation does not apply to a provider, such as a push of another vendor. It does not enter the provider's
    /// accounts.
    case passedOver(OperationID, provider: String, Finding)
    /// A part of the outbox was damaged or unreadable and was set aside. Delivery continues.
    case setAside(Finding)
    /// The outbox could not be read or written. Stored data are kept, and delivery resumes when the storage works again.
    case storageFailed(CaptureError)
    /// This process does not deliver, because its configuration would lose pending work. Captures are stored.
    case switchRefused(SwitchRefusal)
}

extension EngineEvent {
    /// Whether the event concerns the outbox as a whole and is kept for the first listener.
    var isNotice: Bool {
        switch self {
        case .setAside, .switchRefused: true
        case .noticed(_, let finding): finding.code == FindingRow.Engine.providerGone.code
        default: false
        }
    }
}

/// A request that must leave now. Held by reference because it is large and passed on often.
package final class Dispatch: Sendable {
    /// The number that identifies the exchange in ``Engine/finish(_:_:)``.
    package let ticket: Int
    /// The provider's name.
    package let provider: String
    /// The adapter's name for the kind of request.
    package let endpoint: String
    /// The request.
    package let request: WireRequest
    /// The lane that waits for its outcome.
    package let lane: String
    /// The operations that it carries.
    package let operations: [OperationID]
    /// The maximum time to wait for an answer.
    package let timeout: Duration

    init(
        ticket: Int,
        provider: String,
        endpoint: String,
        request: WireRequest,
        lane: String,
        operations: [OperationID],
        timeout: Duration
    ) {
        (self.ticket, self.provider, self.endpoint, self.request) = (ticket, provider, endpoint, request)
        (self.lane, self.operations, self.timeout) = (lane, operations, timeout)
    }
}

extension FindingRow {
    /// The engine's own findings.
    enum Engine {
        static let adapterLoops = FindingRow(
            .error("engine.adapter.loops", .adapterFault),
            reason: "The adapter repeats the same step without progress",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let adapterUnknownOperation = FindingRow(
            .error("engine.adapter.unknown", .adapterFault),
            reason: "The adapter named an unknown operation, or settled nothing",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let adapterUnsafe = FindingRow(
            .error("engine.adapter.unsafe", .adapterFault),
            reason: "The adapter made a request that is not safe to send",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let verdictMissing = FindingRow(
            .warning("engine.adapter.verdictMissing", .adapterFault),
            reason: "The adapter reported no outcome for an operation that it had sent",
            remedy: "Report it to the adapter's author; the operation is tried again in a minute."
        )
        static let stateNewer = FindingRow(
            .error("engine.state.newer", .misconfigured),
            reason: "The stored state was written by a newer version of the adapter",
            remedy: "Install that version again, or clear the provider's memory."
        )
        static let stateUnreadable = FindingRow(
            .error("engine.state.unreadable", .misconfigured),
            reason: "The stored state cannot be read",
            remedy: "The data is kept. Clear the provider's memory to start again without it."
        )
        static let consentUnknown = FindingRow(
            .error("engine.consent.unknown", .consent),
            reason: "The person has not been asked yet, and this kind of operation does not wait",
            remedy: "Set the person's consent before capturing it."
        )
        static let providerLeft = FindingRow(
            .error("engine.provider.left", .conflict),
            reason: "The operation needs a consent that is missing, and the provider was left",
            remedy:
                "Nothing is sent to a provider that was left. Route the provider again and replay the operation if the provider must get it."
        )
        static let consentUnanswered = FindingRow(
            .error("engine.consent.unanswered", .consent),
            reason: "The person logged out without a consent decision, which the next person cannot make for them",
            remedy: "Ask each person before the next one logs in."
        )
        static let consentDenied = FindingRow(
            .error("engine.consent.denied", .consent),
            reason: "The person has not given consent",
            remedy: "No action is needed; it must not be sent."
        )
        static let personForgotten = FindingRow(
            .error("engine.erased", .consent),
            reason: "The person was erased before the query was sent",
            remedy: "No action is needed; it must not be sent."
        )
        static let consentWithdrawn = FindingRow(
            .error("engine.consent.withdrawn", .consent),
            reason:
                "The person withdrew the consent while the request was in progress. The vendor may have processed it; what it did "
                + "is not recorded",
            remedy: "It is not sent again. Delete it at the vendor if it must not stay there."
        )
        static let eraseGone = FindingRow(
            .warning("engine.erase.unconfigured", .misconfigured),
            reason: "The configuration no longer has the provider, so its vendor is not asked to erase",
            remedy: "Add the provider again and repeat the erasure, or delete the contact at the vendor manually."
        )
        static let providerSuspended = FindingRow(
            .error("engine.provider.stopped", .unavailable),
            reason: "The provider is suspended",
            remedy: "Correct the cause, then resume the provider."
        )
        static let deadline = FindingRow(
            .error("engine.read.deadline", .unavailable),
            reason: "The vendor did not reply in time",
            remedy: "Ask again."
        )
        static let providerGone = FindingRow(
            .warning("engine.provider.unconfigured", .misconfigured),
            reason: "Operations wait for a provider that the configuration no longer has",
            remedy:
                "Add the provider again to deliver them, move them with `patchbay outbox retarget`, or discard them with "
                + "`patchbay outbox clear`."
        )
        static let replayProviderGone = FindingRow(
            .error("engine.replay.provider", .misconfigured),
            reason: "The configuration has no provider of that name",
            remedy: "Add the provider to the configuration, then replay the operation."
        )
        static let replayUnreadable = FindingRow(
            .error("engine.replay.unreadable", .invalid),
            reason: "This release cannot read the rejected operation",
            remedy: "Replay it with the release that wrote it."
        )
        static let rowDamaged = FindingRow(
            .error("engine.outbox.damaged", .invalid),
            reason: "The stored row was damaged on the disk",
            remedy: "Its bytes are kept in the quarantine. Capture it again if it is still needed."
        )
        static let outboxFull = FindingRow(
            .error("engine.outbox.full", .unavailable),
            reason: "The outbox was full, so tracking events were dropped",
            remedy: "Find out why delivery is slow, or raise the limits of the outbox."
        )
        static let outboxAged = FindingRow(
            .error("engine.outbox.aged", .unavailable),
            reason: "The event waited longer than the outbox keeps tracking events",
            remedy: "Find out why delivery is slow, or raise the age limit of the outbox."
        )
        static let rejectsForgotten = FindingRow(
            .warning("engine.outbox.rejectsForgotten", .unavailable),
            reason: "The outbox reached its limit of rejects and deleted the oldest",
            remedy: "Correct and replay rejects in time, or raise the limit. The counts still include them."
        )
        static let stagedCaptureUnreadable = FindingRow(
            .error("engine.stagedCapture.unreadable", .adapterFault),
            reason: "This release cannot read a capture; it was set aside",
            remedy: "List it with `patchbay outbox quarantine list`; another release wrote it."
        )
        static let snapshotUnreadable = FindingRow(
            .warning("engine.snapshot.unreadable", .invalid),
            reason: "This release cannot read the stored state of an installation or contact",
            remedy: "Its bytes are kept in the quarantine. Opt-outs remain in force; the rest starts from nothing."
        )
        static let outboxRecovered = FindingRow(
            .warning("engine.outbox.recovered", .invalid),
            reason: "The outbox was damaged and has been rebuilt from the readable rows",
            remedy:
                "The damaged file is kept beside the new one. Check the disk, and capture lost operations again if they are still needed."
        )
        static let endedElsewhere = FindingRow(
            .note("engine.process.other"),
            reason: "Another process delivered it, and the outbox keeps only the code of the reason",
            remedy: "Observe outcomes in the process that delivers for the full reason."
        )
        static let personLeft = FindingRow(
            .error("engine.switch.person", .conflict),
            reason: "It belongs to a person who has logged out, and the provider already has the next person",
            remedy: "Replay it from the rejects, if it is kept there, to a provider that still has this person."
        )
        static let bodyUnreadable = FindingRow(
            .error("engine.operation.unreadable", .invalid),
            reason: "This release cannot read the stored operation",
            remedy: "Open the outbox with the release that wrote it."
        )
    }
}
