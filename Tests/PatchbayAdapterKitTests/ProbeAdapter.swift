import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Synchronization
import Testing

/// A fault of the probe adapter; without one, it keeps its contract.
enum Fault: String, NeutralWord {
    case none, plansByHash, carriesUnknownOperations, forgetsVerdicts, repeatsAtOnce, neverEnds, waitsInThePast,
        suppressesAfterUncertainty
    case readsTheDate, overtakes, fatStep, growingMemory, exposesValues, exposesSecrets, rejectsInPlan,
        flushesThroughPacing
    case codeWithoutRow, claimsTooMuch, refusesSilently, mangles, manyQueues, lossyMemory
    case believesTooMuch, placesAtRandom, forgetsVerdictsOfInvalidReplies, triesRefusalsAgain, fallsTogether,
        saysThatTextIsJSON
    case examinesAtRandom, examinesByInstance, doublesEffects, pastesTexts, acceptsPages, acceptsFailures,
        acceptsErrors, storesTokens
}

/// An adapter that can break each obligation of its contract.
struct ProbeAdapter: VendorAdapter {
    struct Settings: AdapterSettings {
        var fault = Fault.none
        var key: Secret?
        static var table: SettingsTable<Settings> {
            SettingsTable([
                .choice("fault", \.fault, isRequired: true, default: .none, "How it fails."),
                .secret("key", \.key, "A key."),
            ])
        }
    }

    enum Endpoint: String, AdapterEndpoint { case say }

    struct Memory: AdapterMemory {
        var known: String?
        var closedUntil: Instant?
        var words: [String] = []
        var key = ""
        var lossy = 0

        enum CodingKeys: CodingKey { case known, closedUntil, words, key }
    }

    struct Step: Codable, Sendable, Equatable { var text: String }

    static let descriptor: AdapterDescriptor = {
        let available: Set<Capability> = [
            .operation(.changeAttributes), .attribute(.string), .operation(.track), .event(.custom),
        ]
        let none = Support.unsupported(reason: "The probe supports few operations.")
        return AdapterDescriptor(
            id: "probe",
            title: "Probe",
            capabilities: Capabilities(Capability.known.map { ($0, available.contains($0) ? .native() : none) }),
            tables: .init(
                rules: [Rule(RuleID("probe", "1"), "All is as it is.", source: "This file")],
                findings: [unsupported, refused, waiting, noted],
                replies: ReplyTable(
                    [
                        .webPage(.retry, waiting, rule: RuleID("probe", "1")),
                        .reply(
                            "an error in a success",
                            .refused,
                            refused,
                            rule: RuleID("probe", "1"),
                            where: .success,
                            .json("error", .exists)
                        ),
                        .status(200...299, .accepted, rule: RuleID("probe", "1")),
                        .status(429...429, .retry, rule: RuleID("probe", "1")),
                        .status(400...499, .refused, refused, rule: RuleID("probe", "1")),
                    ],
                    otherwise: .otherwise(.retry, rule: RuleID("probe", "1"))
                )
            )
        )
    }()

    static let unsupported = FindingRow(
        .error("probe.unsupported", .unsupported),
        reason: "No place for it",
        remedy: "Go away."
    )
    static let refused = FindingRow(.error("probe.refused", .invalid), reason: "Refused", remedy: "Correct it.")
    static let waiting = FindingRow(.note("probe.waiting"), reason: "Pacing", remedy: "Wait.")
    static let noted = FindingRow(.note("probe.noted"), reason: "Noted", remedy: "No action is needed.")

    /// Returns whether a successful reply has an error in its body.
    @Sendable private static func isError(_ reply: WireResponse) -> Bool {
        reply.isSuccess && reply.json?["error"] != nil
    }

    let settings: Settings
    var fault: Fault { settings.fault }

    /// Identifies this instance, for a fault.
    private let instance = UUID()

    init(settings: Settings) { self.settings = settings }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        if fault == .examinesAtRandom { return [Self.noted.at("action", detail: UUID().uuidString)] }
        if fault == .examinesByInstance { return [Self.noted.at("action", detail: instance.uuidString)] }
        let isMissing = Capabilities.needs(of: operation).contains { !Self.descriptor.capabilities[$0].isAvailable }
        if fault == .claimsTooMuch, case .track = operation.action { return [Self.unsupported.at()] }
        if isMissing { return fault == .refusesSilently ? [] : [Self.unsupported.at("action")] }
        if fault == .exposesValues, let text = text(operation) { return [Self.noted.at("action", detail: text)] }
        return []
    }

    func place(_ operation: EngagementOperation) -> Place {
        let queue =
            switch fault {
            case .manyQueues: operation.id.rawValue
            case .placesAtRandom: UUID().uuidString
            default: ""
            }
        return Place(lane: operation.subject.rawValue, queue: queue)
    }

    private func text(_ operation: EngagementOperation) -> String? {
        switch operation.action {
        case .changeAttributes(let changes):
            changes.sorted { $0.key < $1.key }.compactMap {
                if case .set(let value) = $0.value { value.plainText } else { nil }
            }
            .joined(separator: " ")
        case .track(.custom(let name, _)): name
        default: nil
        }
    }

    func plan(_ pending: PendingOperations<ProbeAdapter>, memory: Memory, at moment: Moment) -> Plan<ProbeAdapter> {
        var carried = pending[0]
        if fault == .overtakes, pending.count > 1 { carried = pending[pending.count - 1] }
        if let until = memory.closedUntil, until > moment.now, fault != .repeatsAtOnce,
            !(fault == .flushesThroughPacing && moment.flush)
        {
            return .wait(until: until, because: Self.waiting.at())
        }
        if fault == .waitsInThePast { return .wait(until: moment.now + .seconds(-1), because: Self.waiting.at()) }
        if fault == .readsTheDate, moment.date.seconds % 7 != 0, moment.date < moment.now {
            return .wait(until: moment.now + .seconds(60), because: Self.waiting.at())
        }
        if fault == .codeWithoutRow, carried.failures == 0, memory.known == nil {
            let finding = Finding(code: "probe.surprise", severity: .note, reason: "Surprise.", remedy: "None.")
            return .settle([carried.id: .accepted(finding)])
        }
        guard let text = text(carried.operation) else { return .settle([carried.id: .rejected(Self.unsupported.at())]) }
        if fault == .rejectsInPlan { return .settle([carried.id: .rejected(Self.refused.at())]) }
        if fault == .suppressesAfterUncertainty, pending.count > 1 {
            return .settle([pending[0].id: .superseded(by: pending[1].id)])
        }
        if fault == .suppressesAfterUncertainty, memory.known == text { return .settle([carried.id: .unchanged()]) }
        if fault == .fatStep, carried.step == nil, memory.closedUntil == nil {
            return .settle([carried.id: .inProgress(Step(text: String(repeating: "x", count: 300)))])
        }
        if fault == .neverEnds { return .settle([carried.id: .inProgress(nil)]) }
        var body = JSONObject([("text", .string(fault == .mangles ? text.filter(\.isASCII) : text))])
        if fault == .plansByHash { body["salt"] = .string(UUID().uuidString) }
        var request = WireRequest(
            "POST",
            "https://probe.example.com/say" + (fault == .pastesTexts ? "/\(text)" : ""),
            headers: [
                WireHeader("Content-Type", "application/json"),
                WireHeader("Key", settings.key?.value ?? "", isSecret: fault != .exposesSecrets),
            ],
            body: Array((fault == .saysThatTextIsJSON ? text : JSONValue.object(body).text).utf8)
        )
        let together = fault == .fallsTogether ? Array(pending) : [carried]
        if fault == .fallsTogether {
            body["text"] = .string(pending.compactMap { self.text($0.operation) }.joined(separator: " "))
            request.body = Array(JSONValue.object(body).text.utf8)
        }
        var unacknowledged = memory
        unacknowledged.known = nil
        var transmission = Transmission<ProbeAdapter>(.say, request, carrying: together, unacknowledged: unacknowledged)
        if fault == .carriesUnknownOperations { transmission.operations.append("unknown") }
        return .send(transmission)
    }

    func interpret(_ exchange: Exchange<ProbeAdapter>, memory: inout Memory) -> Interpretation<ProbeAdapter> {
        var row = Self.descriptor.tables.replies.row(for: exchange.outcome)
        if let reply = exchange.outcome.reply,
            fault == .acceptsPages && reply.isWebPage || fault == .acceptsFailures && reply.status == 511
                || fault == .acceptsErrors && Self.isError(reply)
        {
            row = .otherwise(.accepted, rule: RuleID("probe", "1"))
        }
        if fault == .forgetsVerdicts { return Interpretation() }
        if fault == .forgetsVerdictsOfInvalidReplies, let reply = exchange.outcome.reply, reply.json == nil {
            return Interpretation()
        }
        if fault == .lossyMemory { memory.lossy = 1 }
        if fault == .storesTokens { memory.key = exchange.outcome.reply?.json?["pass"]?.string ?? "" }
        if fault == .exposesSecrets { memory.key = settings.key?.value ?? "" }
        if fault == .growingMemory { memory.words += exchange.operations.map(\.id.rawValue) }
        return Interpretation(exchange.operations) { pending in
            switch row.meaning {
            case .accepted:
                memory.known = text(pending.operation)
                memory.closedUntil = nil
                return .accepted()
            case .refused, .suspend:
                guard fault == .triesRefusalsAgain else { return .rejected(Self.refused.at()) }
                return .retry(.at(exchange.moment.now + .seconds(60)))
            case .retry:
                let wait = exchange.retryAfter ?? .seconds(60)
                if exchange.mayHaveWorked, fault != .suppressesAfterUncertainty { memory.known = nil }
                if fault == .believesTooMuch { memory.known = text(pending.operation) }
                if fault != .repeatsAtOnce { memory.closedUntil = exchange.moment.now + max(wait, .seconds(1)) }
                return .retry(.now)
            }
        }
    }
}

/// The probe's vendor, which stores every text that it received in order.
struct ProbeSimulator: VendorSimulator {
    struct State: Codable, Sendable, Equatable { var texts: [String] = [] }

    static let id: AdapterID = "probe"
    var initialState: State { State() }

    init(settings: JSONObject) throws(SettingsError) {}

    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        guard let text = request.json?["text"]?.string else { return WireResponse(400) }
        state.texts.append(text)
        return WireResponse(200, json: ["pass": "handed-out-1"])
    }
}

extension ExpectedState {
    /// Returns the last text and all texts that the vendor received, as a list if repeats count, else as a set.
    static func probe(countsRepeats: Bool) -> ExpectedState {
        ExpectedState { memory in
            memory["known"].map { ["last": $0] } ?? [:]
        } holds: { (state: ProbeSimulator.State, _) in
            let texts = countsRepeats ? state.texts : Set(state.texts).sorted()
            return ["last": state.texts.last.map { .string($0) } ?? .null, "texts": .array(texts.map { .string($0) })]
        }
    }
}
