public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbaySimulation

/// The parts of an adapter's samples that are particular to its vendor.
public struct VendorSamples: Sendable {
    var pushPayload: JSONObject
    var readBack: ReadRequest
    var preparation: [EngagementOperation]?
    var extras: [Sample]

    /// Creates samples.
    ///
    /// - Parameters:
    ///   - pushPayload: A push message as this vendor sends it.
    ///   - readBack: A query in the adapter's terms.
    ///   - preparation: The operations that are delivered before each sample. By default a device API registers and
    ///     logs in.
    ///   - extras: Additional samples for this adapter.
    public init(
        pushPayload: JSONObject = Corpus.plainPush,
        readBack: ReadRequest = ReadRequest("profile"),
        preparation: [EngagementOperation]? = nil,
        extras: [Sample] = []
    ) {
        (self.pushPayload, self.readBack) = (pushPayload, readBack)
        (self.preparation, self.extras) = (preparation, extras)
    }
}

/// The replies of a vendor in the checks of an adapter.
public struct VendorReplies: Sendable {
    var simulator: (any VendorSimulator)?
    var answer: @Sendable (String, WireRequest) -> WireResponse
    var refusal: WireResponse?
    var statusAlone: [String: RuleID]
    var replies: [SampleReply]
    var pages: Set<String>
    var echoes: [Echo]

    /// Creates replies.
    ///
    /// - Parameters:
    ///   - simulator: The vendor simulator. Without a simulator, `answer` accepts everything.
    ///   - answer: The successful reply of a vendor without a simulator, by endpoint.
    ///   - refusal: A reply by which this vendor refuses a request permanently; nil if it has none.
    ///   - statusAlone: The rule that makes the status alone decide about success, by endpoint. At other endpoints an
    ///     adapter must report an error inside a success.
    ///   - replies: Replies of the vendor that the reply table distinguishes by more than their status.
    ///   - pages: Endpoints whose successful reply may be a web page, by the vendor's documentation.
    ///   - echoes: Opaque values that the vendor sends and expects back.
    public init(
        simulator: (any VendorSimulator)? = nil,
        answer: @escaping @Sendable (String, WireRequest) -> WireResponse = { _, _ in WireResponse(200, json: [:]) },
        refusal: WireResponse? = WireResponse(400, json: [:]),
        statusAlone: [String: RuleID] = [:],
        replies: [SampleReply] = [],
        pages: Set<String> = [],
        echoes: [Echo] = []
    ) {
        (self.simulator, self.answer, self.refusal) = (simulator, answer, refusal)
        (self.statusAlone, self.replies, self.pages, self.echoes) = (statusAlone, replies, pages, echoes)
    }
}

/// Facts about an adapter's memory.
public struct MemoryFacts: Sendable {
    var expected: ExpectedState?
    var stored: [StoredState]

    /// Creates facts.
    ///
    /// - Parameters:
    ///   - expected: The expected vendor state in the memory, and the state of the simulator. Required if the adapter has
    ///     both a memory and a simulator.
    ///   - stored: One stored memory and one stored step for each state version.
    public init(expected: ExpectedState? = nil, stored: [StoredState] = []) {
        (self.expected, self.stored) = (expected, stored)
    }
}

/// The secrets of an adapter beside those of its settings.
public struct SecretFacts: Sendable {
    var handedOut: Set<String>
    var watched: [String]
    var reasonForNone: String?

    /// Creates facts.
    ///
    /// - Parameters:
    ///   - handedOut: Members and headers of the vendor's replies that contain secrets, such as tokens that the vendor
    ///     issues.
    ///   - watched: Texts of the samples that must stay hidden like secrets, such as a push token that a memory holds as
    ///     one.
    ///   - reasonForNone: The reason that the adapter has no secrets; nil if it has some.
    public init(handedOut: Set<String> = [], watched: [String] = [], reasonForNone: String? = nil) {
        (self.handedOut, self.watched, self.reasonForNone) = (handedOut, watched, reasonForNone)
    }
}
