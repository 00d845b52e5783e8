import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Synchronization
import Testing

/// A way in which the probe adapter breaks its contract; `none` keeps it.
enum Fault: String, NeutralWord {
    case none, plansByHash, carriesStrangers, forgetsVerdicts, repeatsAtOnce, neverEnds, waitsInThePast,
        suppressesAfterDoubt
    case readsTheDate, overtakes, fatStep, growingMemory, tellsValues, tellsSecrets, rejectsInPlan, flushesThroughPacing
    case codeWithoutRow, claimsTooMuch, refusesSilently, mangles, manyQueues, lossyMemory
}

/// An adapter that can break each rule; without a fault it keeps them all.
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
        let none = Support.unsupported(reason: "The probe hears little.")
        return AdapterDescriptor(
            id: "probe",
            title: "Probe",
            capabilities: Capabilities(Capability.known.map { ($0, available.contains($0) ? .native() : none) }),
            rules: [Rule(RuleID("probe", "1"), "All is as it is.", source: "This file")],
            findings: [unsupported, refused, waiting, told],
            replies: ReplyTable(
                [
                    .status(200...299, .accepted, rule: RuleID("probe", "1")),
                    .status(429...429, .retry, rule: RuleID("probe", "1")),
                    .status(400...499, .refused, refused, rule: RuleID("probe", "1")),
                ],
                otherwise: .otherwise(.retry, rule: RuleID("probe", "1"))
            )
        )
    }()

    static let unsupported = FindingRow(
        "probe.unsupported",
        .error,
        .unsupported,
        reason: "No place for it",
        remedy: "Go away."
    )
    static let refused = FindingRow("probe.refused", .error, .invalid, reason: "Refused", remedy: "Mend it.")
    static let waiting = FindingRow("probe.waiting", .note, reason: "Pacing", remedy: "Wait.")
    static let told = FindingRow("probe.told", .note, reason: "Told", remedy: "Nothing.")

    let settings: Settings
    var fault: Fault { settings.fault }

    init(settings: Settings) { self.settings = settings }

    func examine(_ operation: EngagementOperation) -> [Finding] {
        let isMissing = Capabilities.needs(of: operation).contains { !Self.descriptor.capabilities[$0].isAvailable }
        if fault == .claimsTooMuch, case .track = operation.action { return [Self.unsupported.at()] }
        if isMissing { return fault == .refusesSilently ? [] : [Self.unsupported.at("action")] }
        if fault == .tellsValues, let text = text(operation) { return [Self.told.at("action", detail: text)] }
        return []
    }

    func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: fault == .manyQueues ? operation.id.rawValue : "")
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
        if fault == .suppressesAfterDoubt, pending.count > 1 {
            return .settle([pending[0].id: .superseded(by: pending[1].id)])
        }
        if fault == .suppressesAfterDoubt, memory.known == text { return .settle([carried.id: .unchanged()]) }
        if fault == .fatStep, carried.step == nil, memory.closedUntil == nil {
            return .settle([carried.id: .underway(Step(text: String(repeating: "x", count: 300)))])
        }
        if fault == .neverEnds { return .settle([carried.id: .underway(nil)]) }
        var body = JSONObject([("text", .string(fault == .mangles ? text.filter(\.isASCII) : text))])
        if fault == .plansByHash { body["salt"] = .string(UUID().uuidString) }
        let request = WireRequest(
            "POST",
            "https://probe.example.com/say",
            headers: [
                WireHeader("Content-Type", "application/json"),
                WireHeader("Key", settings.key?.value ?? "", isSecret: fault != .tellsSecrets),
            ],
            body: Array(JSONValue.object(body).text.utf8)
        )
        var transmission = Transmission<ProbeAdapter>(.say, request, carrying: [carried])
        if fault == .carriesStrangers { transmission.operations.append("stranger") }
        return .send(transmission)
    }

    func interpret(_ exchange: Exchange<ProbeAdapter>, memory: inout Memory) -> Interpretation<ProbeAdapter> {
        let row = Self.descriptor.replies.row(for: exchange.outcome)
        if fault == .forgetsVerdicts { return Interpretation() }
        if fault == .lossyMemory { memory.lossy = 1 }
        if fault == .tellsSecrets { memory.key = settings.key?.value ?? "" }
        if fault == .growingMemory { memory.words += exchange.operations.map(\.id.rawValue) }
        return Interpretation(exchange.operations) { pending in
            switch row.meaning {
            case .accepted:
                memory.known = fault == .suppressesAfterDoubt ? text(pending.operation) : nil
                memory.closedUntil = nil
                return .accepted()
            case .refused, .park:
                return .rejected(Self.refused.at())
            case .retry:
                let wait = exchange.outcome.reply?.retryAfter ?? .seconds(60)
                if fault != .repeatsAtOnce { memory.closedUntil = exchange.moment.now + max(wait, .seconds(1)) }
                return .retry(.now)
            }
        }
    }
}

@Suite("The conformance suite") struct SuiteTests {
    private func harness(_ fault: Fault, _ exemptions: [Exemption], goldens: URL) throws
        -> AdapterHarness<ProbeAdapter>
    {
        try AdapterHarness(
            settings: ["fault": .string(fault.rawValue), "key": "Schlüssel-4711"],
            storedStates: [StoredState(version: 1, part: .memory, json: ["words": [], "key": ""])],
            exemptions: exemptions,
            goldens: Goldens(folder: goldens, environment: ["UPDATE_GOLDENS": "1"])
        )
    }

    /// What those checks find broken, by the check; several issues of one are joined.
    private func broken(_ fault: Fault, _ checks: [ConformanceCheck], exempt: [Exemption] = []) throws
        -> [String: String]
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let harness = try harness(fault, exempt, goldens: folder)
        let found = Mutex<[String: String]>([:])
        for check in checks {
            try withKnownIssue(isIntermittent: true) {
                try check.run(on: harness)
            } matching: { issue in
                guard issue.isFailure else { return true }
                let text = issue.comments.map(\.rawValue).joined()
                found.withLock { $0[check.testDescription, default: ""] += text + "\n" }
                return true
            }
        }
        return found.withLock { $0 }
    }

    @Test func `an adapter without a fault passes`() throws {
        #expect(try broken(.none, ConformanceCheck.all) == [:])
    }

    @Test(arguments: [
        (Fault.plansByHash, "A1: the same values give the same plan and meaning"),
        (.carriesStrangers, "A2: a plan names only operations of its window"),
        (.forgetsVerdicts, "A3: every carried operation gets a verdict, and no other"),
        (.repeatsAtOnce, "A4: quiet after a failure"),
        (.neverEnds, "A5: it ends with a vendor that always accepts"),
        (.waitsInThePast, "A6: waits lie in the future and within a day"),
        (.suppressesAfterDoubt, "A7: after doubt nothing is suppressed"),
        (.readsTheDate, "A8: the wall clock changes bytes, never times"),
        (.overtakes, "A11: nothing overtakes its own kind in a queue"),
        (.manyQueues, "A12: queues and lanes are few"),
        (.fatStep, "A13: a step is small and comes back from storage"),
        (.lossyMemory, "A14: memory comes back from storage"),
        (.growingMemory, "A14: memory does not grow with operations"),
        (.tellsValues, "A16: no value of a person in findings and descriptions"),
        (.tellsSecrets, "A16: no secret in findings and descriptions"),
        (.rejectsInPlan, "A17: what examine passes is rejected only for reasons of state"),
        (.flushesThroughPacing, "A18: flush never shortens pacing"),
        (.codeWithoutRow, "A20: every finding has a row and a remedy"),
        (.claimsTooMuch, "capabilities: it takes what it claims"),
        (.refusesSilently, "capabilities: it refuses what it does not claim, with a remedy"),
        (.mangles, "texts: hostile texts survive or are refused"),
    ])
    func `each fault is found by its check`(_ row: (fault: Fault, check: String)) throws {
        let check = try #require(ConformanceCheck.all.first { $0.testDescription == row.check })
        #expect(try broken(row.fault, [check]).keys.contains(row.check))
    }

    // MARK: Exemptions

    private static let claims = "it takes what it claims"
    private static let rule = RuleID("probe", "1")

    private func issues(_ fault: Fault, exempt samples: String...) throws -> String {
        let check = try #require(ConformanceCheck.all.first { $0.name == Self.claims })
        let exemptions = samples.map { Exemption(check: Self.claims, sample: $0, rule: Self.rule) }
        return try broken(fault, [check], exempt: exemptions)[check.testDescription] ?? ""
    }

    @Test func `an exemption spares its sample and no other`() throws {
        let all = try issues(.claimsTooMuch)
        #expect(all.contains("track-order, track-plain: it ends rejected"))
        let fewer = try issues(.claimsTooMuch, exempt: "track-order")
        #expect(fewer.contains("track-plain: it ends rejected") && !fewer.contains("track-order"))
    }

    @Test func `an exemption that exempts nothing is a failure`() throws {
        #expect(try issues(.none, exempt: "track-order").contains("track-order: it is exempt, and nothing is wrong"))
    }

    @Test func `an exemption names a check and a rule`() throws {
        let exemption = Exemption(check: "no such check", sample: "track-order", rule: RuleID("probe", "9"))
        let found = try broken(.none, ConformanceCheck.all.filter { $0.name.hasPrefix("every ") }, exempt: [exemption])
        #expect(found["exemptions: every exemption names a check"]?.contains("no check has that name") == true)
        #expect(found["rules: every rule that a row names is there"]?.contains("names probe/9") == true)
    }
}
