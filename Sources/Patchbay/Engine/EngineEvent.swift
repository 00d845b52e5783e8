public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// What became of an operation on one route, as the app hears it.
public struct OperationOutcome: Hashable, Sendable {
    /// The terms of the accounts: each ended operation counts under exactly one.
    public enum Term: String, NeutralWord, Codable {
        /// The vendor took it.
        case accepted
        /// The vendor held it already.
        case unchanged
        /// A later operation replaced it before it left.
        case superseded
        /// The vendor or the adapter said no; kept for replay.
        case rejected
        /// A rule said that it must not be sent.
        case dropped
        /// The person asked to be forgotten before it left.
        case erased
        /// Its stored row was damaged.
        case quarantined
        /// It went to another provider at a switch.
        case moved
        /// It was rehearsed: whatever came of it, no vendor counts as told.
        case shadowed
    }

    /// The term.
    public var term: Term
    /// Why, or how far.
    public var finding: Finding?
    /// The vendor's typed answer, if the adapter reads one.
    public var answer: JSONValue?

    /// An outcome.
    public init(_ term: Term, finding: Finding? = nil, answer: JSONValue? = nil) {
        (self.term, self.finding, self.answer) = (term, finding, answer)
    }
}

/// Something that the engine tells after it is committed. Held by reference: what it tells is large, and handed on often.
public indirect enum EngineEvent: Hashable, Sendable {
    /// An operation ended on a route.
    case ended(OperationID, provider: String, OperationOutcome)
    /// A read was answered.
    case answered(OperationID, provider: String, OperationOutcome)
    /// A vendor handed over content for the app.
    case incoming(provider: String, JSONValue)
    /// A provider stopped, its data kept: a person has to act.
    case parked(provider: String, Finding)
    /// A provider fails again and again: where several lanes wait, one request at a time asks whether it is back.
    case outage(provider: String, Finding)
    /// A provider that failed answers again.
    case recovered(provider: String, Finding)
    /// Something a person should know that ends nothing.
    case noticed(provider: String, Finding)
    /// An operation is none of a provider's business, such as another vendor's push; it is not in its accounts.
    case passedOver(OperationID, provider: String, Finding)
    /// Something of the outbox was damaged or can't be read, and was set aside; nothing stops for it.
    case setAside(Finding)
    /// The outbox could not be read or written. What was stored stays, and delivery goes on when it can be again.
    case storageFailed(CaptureError)
    /// This process could deliver now and does not: its configuration would lose pending work. What is captured is kept.
    case switchRefused(SwitchRefusal)
}

extension EngineEvent {
    /// Whether it tells of this outbox as a whole what a person should know, also of a time when nobody listened yet.
    var isNotice: Bool {
        switch self {
        case .setAside, .switchRefused: true
        case .noticed(_, let finding): finding.code == FindingRow.Engine.providerGone.code
        default: false
        }
    }
}

/// A request that must leave now. Held by reference: it is large, and handed on often.
package final class Dispatch: Sendable {
    /// Names the exchange to ``Engine/finish(_:_:)``.
    package let ticket: Int
    /// The provider it is for.
    package let provider: String
    /// What kind of request, in the adapter's word.
    package let endpoint: String
    /// The request.
    package let request: WireRequest
    /// The lane that waits for its outcome.
    package let lane: String
    /// What it carries.
    package let operations: [OperationID]
    /// How long to wait for an answer.
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
    /// Everything that the engine itself may say.
    enum Engine {
        static let adapterLoops = FindingRow(
            "engine.adapter.loops",
            .error,
            .adapterFault,
            reason: "The adapter repeats the same step without progress",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let adapterStranger = FindingRow(
            "engine.adapter.stranger",
            .error,
            .adapterFault,
            reason: "The adapter named an unknown operation, or settled nothing",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let adapterUnsafe = FindingRow(
            "engine.adapter.unsafe",
            .error,
            .adapterFault,
            reason: "The adapter made a request that is not safe to send",
            remedy: "Report it to the adapter's author; the data is kept. Resume the provider after an update."
        )
        static let verdictMissing = FindingRow(
            "engine.adapter.verdictMissing",
            .warning,
            .adapterFault,
            reason: "The adapter gave no verdict for an operation that it had sent",
            remedy: "Report it to the adapter's author; the operation is tried again in a minute."
        )
        static let stateNewer = FindingRow(
            "engine.state.newer",
            .error,
            .misconfigured,
            reason: "The stored state was written by a newer version of the adapter",
            remedy: "Install that version again, or clear the provider's memory."
        )
        static let stateUnreadable = FindingRow(
            "engine.state.unreadable",
            .error,
            .misconfigured,
            reason: "The stored state can't be read",
            remedy: "The data is kept. Clear the provider's memory to start again without it."
        )
        static let consentUnknown = FindingRow(
            "engine.consent.unknown",
            .error,
            .consent,
            reason: "Nobody asked the person yet, and this kind of operation does not wait",
            remedy: "Set the person's consent before capturing it."
        )
        static let providerLeft = FindingRow(
            "engine.provider.left",
            .error,
            .conflict,
            reason: "The operation needs a consent that is missing, and the provider was left",
            remedy:
                "Nothing is sent to a provider that was left. Route the provider again and replay the operation if the provider must get it."
        )
        static let consentUnanswered = FindingRow(
            "engine.consent.unanswered",
            .error,
            .consent,
            reason: "The person left without saying yes or no, and the next one can't say it for them",
            remedy: "Ask before somebody else logs in."
        )
        static let consentDenied = FindingRow(
            "engine.consent.denied",
            .error,
            .consent,
            reason: "The person does not allow it",
            remedy: "Nothing: it must not be sent."
        )
        static let personForgotten = FindingRow(
            "engine.erased",
            .error,
            .consent,
            reason: "The person asked to be forgotten before the question left",
            remedy: "Nothing: it must not be sent."
        )
        static let consentWithdrawn = FindingRow(
            "engine.consent.withdrawn",
            .error,
            .consent,
            reason: "The person took the consent back while it was under way: the vendor may have it, and what it made "
                + "of it is not recorded",
            remedy: "It is not sent again. Have it deleted at the vendor if it must not stay there."
        )
        static let eraseGone = FindingRow(
            "engine.erase.unconfigured",
            .warning,
            .misconfigured,
            reason: "The configuration no longer has the provider, so its vendor is not told",
            remedy: "Add the provider again and erase once more, or delete the contact at the vendor yourself."
        )
        static let providerParked = FindingRow(
            "engine.provider.stopped",
            .error,
            .unavailable,
            reason: "The provider is stopped",
            remedy: "Correct the cause, then resume the provider."
        )
        static let deadline = FindingRow(
            "engine.read.deadline",
            .error,
            .unavailable,
            reason: "The vendor did not answer in time",
            remedy: "Ask again."
        )
        static let providerGone = FindingRow(
            "engine.provider.unconfigured",
            .warning,
            .misconfigured,
            reason: "Operations wait for a provider that the configuration no longer has",
            remedy:
                "Add the provider again to deliver them, move them with `patchbay outbox retarget`, or discard them with "
                + "`patchbay outbox clear`."
        )
        static let replayProviderGone = FindingRow(
            "engine.replay.provider",
            .error,
            .misconfigured,
            reason: "The configuration has no provider of that name",
            remedy: "Add the provider to the configuration, then replay the operation."
        )
        static let replayUnreadable = FindingRow(
            "engine.replay.unreadable",
            .error,
            .invalid,
            reason: "This release cannot read the rejected operation",
            remedy: "Replay it with the release that wrote it."
        )
        static let rowDamaged = FindingRow(
            "engine.outbox.damaged",
            .error,
            .invalid,
            reason: "The stored row was damaged on the disk",
            remedy: "Its bytes are kept in the quarantine. Say it again if it still holds."
        )
        static let outboxFull = FindingRow(
            "engine.outbox.full",
            .error,
            .unavailable,
            reason: "The outbox was full, and tracking events are the first to go",
            remedy: "Find out why delivery lags behind, or raise the outbox's limits."
        )
        static let outboxAged = FindingRow(
            "engine.outbox.aged",
            .error,
            .unavailable,
            reason: "It waited longer than the outbox keeps tracking events",
            remedy: "Find out why delivery lags behind, or raise the outbox's limit of age."
        )
        static let rejectsForgotten = FindingRow(
            "engine.outbox.rejectsForgotten",
            .warning,
            .unavailable,
            reason: "The outbox keeps no more rejected operations than its limit: the oldest were forgotten",
            remedy: "Mend and replay what is rejected in time, or raise the limit. The accounts still count them."
        )
        static let arrivalUnreadable = FindingRow(
            "engine.arrival.unreadable",
            .error,
            .adapterFault,
            reason: "Something that was captured can't be read by this release, and was set aside",
            remedy: "Look at it with `patchbay outbox quarantine list`; another release wrote it."
        )
        static let mirrorUnreadable = FindingRow(
            "engine.mirror.unreadable",
            .warning,
            .invalid,
            reason: "The stored state of an installation or contact is sound but this release can't read it",
            remedy: "Its bytes are kept in the quarantine. What the person refused holds; the rest begins anew."
        )
        static let outboxRecovered = FindingRow(
            "engine.outbox.recovered",
            .warning,
            .invalid,
            reason: "The outbox's file was damaged, and is rebuilt from what could be read",
            remedy:
                "The damaged file stands beside the new one. Check the volume; say again what is lost if it still holds."
        )
        static let endedElsewhere = FindingRow(
            "engine.process.other",
            .note,
            reason: "Another process delivered it, and the outbox keeps the code of its reason alone",
            remedy: "Listen in the process that delivers for the whole reason."
        )
        static let personLeft = FindingRow(
            "engine.switch.person",
            .error,
            .conflict,
            reason: "It belongs to a person who has left since, and the provider knows the next one already",
            remedy: "The old provider can take it; among the rejects it is kept for whoever still has that person."
        )
        static let bodyUnreadable = FindingRow(
            "engine.operation.unreadable",
            .error,
            .invalid,
            reason: "The stored operation is sound but this release can't read it",
            remedy: "Open the outbox with the release that wrote it."
        )
    }
}
