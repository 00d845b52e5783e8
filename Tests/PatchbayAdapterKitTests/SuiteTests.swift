import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@Suite("The conformance suite") struct SuiteTests {
    private func harness(
        _ fault: Fault,
        _ exemptions: [Exemption],
        statusAlone: [String: RuleID],
        goldens: URL
    ) throws -> AdapterHarness<ProbeAdapter> {
        try AdapterHarness(
            settings: ["fault": .string(fault.rawValue), "key": "Schlüssel-4711"],
            vendor: .init(simulator: ProbeSimulator(settings: [:]), statusAlone: statusAlone),
            memory: .init(
                expected: .probe(countsRepeats: fault == .doublesEffects),
                stored: [StoredState(version: 1, part: .memory, json: ["words": [], "key": ""])]
            ),
            secrets: .init(handedOut: ["pass"]),
            exemptions: exemptions,
            goldens: Goldens(folder: goldens, environment: ["UPDATE_GOLDENS": "1"])
        )
    }

    /// Returns the issues of each check that fails, joined by check.
    private func broken(
        _ fault: Fault,
        _ checks: [ConformanceCheck],
        exempt: [Exemption] = [],
        statusAlone: [String: RuleID] = [:],
        samples: Set<String>? = nil
    ) async throws -> [String: String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.writeConversation(in: folder)
        let harness = try harness(fault, exempt, statusAlone: statusAlone, goldens: folder)
        return try await broken(checks, on: samples.map(harness.limited) ?? harness)
    }

    /// Writes a conversation with one event, which ends a minute later.
    private static func writeConversation(in folder: URL) throws {
        let story = """
            {"vendors": {"probe": {}}, "environment": {"KEY": "Schlüssel-4711"},
             "configuration": {"providers": {"p": {"adapter": "probe", "settings": {"fault": "none", "key": "${KEY}"}}},
                               "routes": [{"provider": "p", "mode": "live"}]},
             "steps": [{"capture": {"action": {"kind": "track", "event": {"kind": "custom", "name": "Opened"}}}},
                       {"advance": 60}]}
            """
        let conversations = folder.appendingPathComponent("Conversations")
        try FileManager.default.createDirectory(at: conversations, withIntermediateDirectories: true)
        try Data(story.utf8).write(to: conversations.appendingPathComponent("opened.json"))
    }

    private func broken(_ checks: [ConformanceCheck], on harness: AdapterHarness<some VendorAdapter>) async throws
        -> [String: String]
    {
        var found: [String: String] = [:]
        for check in checks {
            let texts = try await collectedIssues { try check.run(on: harness) }.failureTexts
            if !texts.isEmpty { found[check.testDescription] = texts.map { $0 + "\n" }.joined() }
        }
        return found
    }

    @Test func `an adapter without a fault passes`() async throws {
        #expect(try await broken(.none, ConformanceCheck.all) == [:])
    }

    /// Mutations of the probe and the checks that find them.
    private static let mutations: [(fault: Fault, check: String)] = [
        (.examinesAtRandom, "A1: examine depends on the operation and the settings alone"),
        (.examinesByInstance, "A1: examine depends on the operation and the settings alone"),
        (.plansByHash, "A1: the same values give the same plan and meaning"),
        (.plansByHash, "A1: the same sample sends the same bytes each time"),
        (.carriesUnknownOperations, "A2: a plan names only operations of its window"),
        (.forgetsVerdicts, "A3: every carried operation gets a verdict, and no other"),
        (.forgetsVerdictsOfNonsense, "A3: every reply gets a verdict, nonsense too"),
        (.repeatsAtOnce, "A4: quiet after a failure"),
        (.neverEnds, "A5: it ends with a vendor that always accepts"),
        (.triesRefusalsAgain, "A5: it ends with a vendor that always refuses"),
        (.neverEnds, "A5: many operations end"),
        (.waitsInThePast, "A6: waits lie in the future and within a day"),
        (.suppressesAfterUncertainty, "A7: after uncertain delivery nothing is suppressed"),
        (.suppressesAfterUncertainty, "A7: what was changed and set back is sent"),
        (.readsTheDate, "A8: the wall clock changes bytes, never times"),
        (.believesTooMuch, "A9: memory claims nothing that the vendor does not hold"),
        (.doublesEffects, "A10: an interrupted exchange ends well"),
        (.doublesEffects, "A10: a cut conversation ends as the whole one"),
        (.overtakes, "A11: nothing overtakes its own kind in a queue"),
        (.fallsTogether, "A11: a refused operation falls alone"),
        (.manyQueues, "A12: queues and lanes are few"),
        (.placesAtRandom, "A12: an operation's place depends on it and the settings alone"),
        (.fatStep, "A13: a step is small and comes back from storage"),
        (.lossyMemory, "A14: memory comes back from storage"),
        (.growingMemory, "A14: memory does not grow with operations"),
        (.exposesValues, "A16: no value of a person in findings and descriptions"),
        (.exposesSecrets, "A16: no secret in findings and descriptions"),
        (.storesTokens, "A16: no secret in findings and descriptions"),
        (.exposesSecrets, "A16: no secret is stored"),
        (.rejectsInPlan, "A17: what examine passes is rejected only for reasons of state"),
        (.flushesThroughPacing, "A18: flush never shortens pacing"),
        (.codeWithoutRow, "A20: every finding has a row and a remedy"),
        (.claimsTooMuch, "capabilities: it takes what it claims"),
        (.refusesSilently, "capabilities: it refuses what it does not claim, with a remedy"),
        (.mangles, "texts: hostile texts survive or are refused"),
        (.acceptsPages, "replies: no answer is left without a verdict, and no failure is a yes"),
        (.acceptsFailures, "replies: no answer is left without a verdict, and no failure is a yes"),
        (.acceptsErrors, "replies: an error inside a success is reported, unless the status alone decides"),
        (.forgetsVerdictsOfNonsense, "replies: no answer is left without a verdict, and no failure is a yes"),
        (.saysThatTextIsJSON, "texts: JSON bodies are JSON"),
        (.pastesTexts, "texts: no text leads a request elsewhere"),
    ]

    @Test(arguments: mutations)
    func `each check finds its fault`(_ row: (fault: Fault, check: String)) async throws {
        let check = try #require(ConformanceCheck.all.first { $0.testDescription == row.check })
        // A few samples show each fault. Only all samples together need too many queues.
        let few: Set = [
            "register-first", "attribute-twice", "hostile-event", "track-plain", "track-order", "two-people",
            "read-back",
        ]
        let samples = row.fault == .manyQueues ? nil : few
        #expect(try await broken(row.fault, [check], samples: samples).keys.contains(row.check))
    }

    /// Checks that only an adapter with wrong tables or an incomplete harness can break.
    private static let tabled: [String] = [
        "A4: a failed maintenance request is not repeated at once",
        "A9: the harness defines the state that memory claims",
        "A15: an object of the app arrives as it was",
        "A15: what the vendor hands over comes back as it was",
        "A16: bad settings are refused with a remedy, never with their value",
        "A16: an API's secrets are looked for",
        "A19: stored states of every version can be read",
        "A20: a journaled endpoint is interrupted in some conversation",
        "A20: every endpoint is sent in some sample",
        "A20: finding codes are unique and begin with the adapter's id",
        "capabilities: another vendor's push does not enter",
        "capabilities: capabilities name every kind",
        "exemptions: every exemption names a check",
        "fields: field tables agree with the wire schemas",
        "goldens: every conversation has its scenario",
        "goldens: every sample has exactly one golden",
        "goldens: no golden shows a secret",
        "replies: every endpoint has a golden of what replies mean",
        "replies: every reply has a row, and what is not accepted has a finding",
        "replies: every row of the reply table is reached",
        "rules: every rule that a row names is there",
        "rules: rules are unique and bear the adapter's name",
    ]

    @Test func `reports an adapter with wrong tables`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let checks = ConformanceCheck.all.filter { Self.tabled.contains($0.testDescription) }
        let harness = try BadProbe.harness(in: folder).limited(to: [
            "attribute-object-nested", "push-tapped", "push-foreign", "track-plain", "track-order",
        ])
        let found = try await broken(checks, on: harness)
        for name in Self.tabled { #expect(found.keys.contains(name), "\(name)") }
    }

    @Test func `every check has a fault that it finds`() {
        let proved = Set(Self.mutations.map(\.check) + Self.tabled)
        #expect(proved == Set(ConformanceCheck.all.map(\.testDescription)))
    }

    // MARK: Secrets

    /// Returns the problem of an API whose only secret is too short to be distinguished from other text.
    private func foundWithoutSecrets(reason: String?, watched: [String] = []) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let harness = try AdapterHarness<ProbeAdapter>(
            settings: ["fault": "none", "key": "k"],
            vendor: .init(
                simulator: ProbeSimulator(settings: [:])
            ),
            memory: .init(
                expected: .probe(countsRepeats: false)
            ),
            secrets: .init(
                watched: watched,
                reasonForNone: reason
            ),
            goldens: Goldens(folder: folder, environment: [:])
        )
        let check = try #require(ConformanceCheck.all.first { $0.name == "an API's secrets are looked for" })
        return try await broken([check], on: harness)[check.testDescription] ?? ""
    }

    @Test func `requires a reason for an API without a secret`() async throws {
        #expect(try await foundWithoutSecrets(reason: nil).contains("no secret is checked"))
        #expect(try await foundWithoutSecrets(reason: "The probe has no secret.") == "")
        let both = try await foundWithoutSecrets(reason: "The probe has no secret.", watched: ["this is never sent"])
        #expect(both.contains("but it has one. Remove it."))
        #expect(both.contains("no request carries the watched text 1"))
    }

    // MARK: Expected states

    @Test func `reports an expected state that never claims anything`() async throws {
        let check = try #require(
            ConformanceCheck.all.first { $0.name == "the harness defines the state that memory claims" }
        )
        let misread = ExpectedState { memory in
            memory["knwon"].map { ["last": $0] } ?? [:]
        } holds: { (_: ProbeSimulator.State, _) in
            [:]
        }
        for (expectedState, isVain) in [(misread, true), (.probe(countsRepeats: false), false)] {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let harness = try AdapterHarness<ProbeAdapter>(
                settings: ["fault": "none", "key": "k"],
                vendor: .init(
                    simulator: ProbeSimulator(settings: [:])
                ),
                memory: .init(
                    expected: expectedState
                ),
                goldens: Goldens(folder: folder, environment: [:])
            )
            let found = try await broken([check], on: harness)[check.testDescription] ?? ""
            #expect(found.contains("no memory that is stored has a claim") == isVain)
        }
    }

    // MARK: The status alone

    private static let hidden = "an error inside a success is reported, unless the status alone decides"

    private func foundInSuccess(_ fault: Fault, statusAlone: [String: RuleID]) async throws -> [String: String] {
        try await broken(
            fault,
            ConformanceCheck.all.filter { $0.name == Self.hidden || $0.name == "every rule that a row names is there" },
            statusAlone: statusAlone
        )
    }

    @Test func `exempts an endpoint whose rule lets the status alone decide`() async throws {
        let unsaid = try await foundInSuccess(.acceptsErrors, statusAlone: [:])
        #expect(unsaid["replies: \(Self.hidden)"]?.contains("say: 200 with an error inside counts as a success") == true)
        #expect(try await foundInSuccess(.acceptsErrors, statusAlone: ["say": Self.rule]) == [:])
    }

    @Test func `reports a rule that exempts nothing and an unknown rule`() async throws {
        let needless = try await foundInSuccess(.none, statusAlone: ["say": Self.rule, "never": RuleID("probe", "9")])
        #expect(needless["replies: \(Self.hidden)"]?.contains("never, say: no success that holds an error") == true)
        #expect(needless["rules: every rule that a row names is there"]?.contains("names probe/9") == true)
    }

    // MARK: Exemptions

    private static let claims = "it takes what it claims"
    private static let rule = RuleID("probe", "1")

    private func issues(_ fault: Fault, exempt samples: String...) async throws -> String {
        let check = try #require(ConformanceCheck.all.first { $0.name == Self.claims })
        let exemptions = samples.map { Exemption(check: Self.claims, sample: $0, rule: Self.rule) }
        return try await broken(fault, [check], exempt: exemptions)[check.testDescription] ?? ""
    }

    @Test func `exempts the named sample and no other`() async throws {
        let all = try await issues(.claimsTooMuch)
        #expect(all.contains("track-order, track-plain, two-people: it ends rejected"))
        let fewer = try await issues(.claimsTooMuch, exempt: "track-order")
        #expect(fewer.contains("track-plain, two-people: it ends rejected") && !fewer.contains("track-order"))
    }

    @Test func `reports an exemption that exempts nothing`() async throws {
        #expect(
            try await issues(.none, exempt: "track-order").contains("track-order: it is exempt, and nothing is wrong")
        )
    }

    @Test func `reports an exemption with an unknown check or rule`() async throws {
        let exemption = Exemption(check: "no such check", sample: "track-order", rule: RuleID("probe", "9"))
        let found = try await broken(
            .none,
            ConformanceCheck.all.filter { $0.name.hasPrefix("every ") },
            exempt: [exemption]
        )
        #expect(found["exemptions: every exemption names a check"]?.contains("no check has that name") == true)
        #expect(found["rules: every rule that a row names is there"]?.contains("names probe/9") == true)
    }
}
