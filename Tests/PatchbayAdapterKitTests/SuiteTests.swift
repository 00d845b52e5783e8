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
        (.examinesAtRandom, "A1: examine depends only on the operation and the settings"),
        (.examinesByInstance, "A1: examine depends only on the operation and the settings"),
        (.plansByHash, "A1: plan and interpret return equal results for equal arguments"),
        (.plansByHash, "A1: a sample sends the same bytes in every run"),
        (.carriesUnknownOperations, "A2: a plan names only operations in its window"),
        (.forgetsVerdicts, "A3: every operation of a request gets a verdict, and no other operation does"),
        (.forgetsVerdictsOfInvalidReplies, "A3: every reply gets a verdict, including an invalid one"),
        (.repeatsAtOnce, "A4: a failed request is not repeated at once"),
        (.neverEnds, "A5: all operations complete if the vendor accepts every request"),
        (.triesRefusalsAgain, "A5: all operations complete if the vendor refuses every request"),
        (.neverEnds, "A5: many operations complete within the request limit"),
        (.waitsInThePast, "A6: waits end in the future and within a day"),
        (.suppressesAfterUncertainty, "A7: a value is sent again after an uncertain delivery"),
        (.suppressesAfterUncertainty, "A7: a value that was changed and set back is sent again"),
        (.readsTheDate, "A8: the wall clock affects the content of requests, never their timing"),
        (.believesTooMuch, "A9: memory claims only state that the vendor holds"),
        (.doublesEffects, "A10: an interrupted sample has the same outcome as an uninterrupted one"),
        (.doublesEffects, "A10: an interrupted conversation has the same outcome as an uninterrupted one"),
        (.overtakes, "A11: no operation overtakes an earlier one of its kind in a queue"),
        (.fallsTogether, "A11: a refused operation fails alone"),
        (.manyQueues, "A12: the number of queues and lanes is limited"),
        (.placesAtRandom, "A12: lane and queue depend only on the operation and the settings"),
        (.fatStep, "A13: a step is small and survives storage unchanged"),
        (.lossyMemory, "A14: memory survives storage unchanged"),
        (.growingMemory, "A14: memory does not grow with the number of operations"),
        (.exposesValues, "A16: findings and descriptions contain no personal value"),
        (.exposesSecrets, "A16: findings and descriptions contain no secret"),
        (.storesTokens, "A16: findings and descriptions contain no secret"),
        (.exposesSecrets, "A16: no secret is stored"),
        (.rejectsInPlan, "A17: an operation that examine accepts is rejected later only for reasons of state"),
        (.flushesThroughPacing, "A18: a flush never shortens the vendor's pacing"),
        (.codeWithoutRow, "A20: every finding has a table row and a remedy"),
        (.claimsTooMuch, "capabilities: an operation with claimed capabilities is accepted"),
        (.refusesSilently, "capabilities: an operation without a claimed capability is refused with a remedy"),
        (.mangles, "texts: hostile texts arrive unchanged or are refused"),
        (.acceptsPages, "replies: every reply gets a verdict, and no failure counts as accepted"),
        (.acceptsFailures, "replies: every reply gets a verdict, and no failure counts as accepted"),
        (.acceptsErrors, "replies: an error in a successful reply is reported, unless the status alone decides"),
        (.forgetsVerdictsOfInvalidReplies, "replies: every reply gets a verdict, and no failure counts as accepted"),
        (.saysThatTextIsJSON, "texts: JSON bodies are valid JSON"),
        (.pastesTexts, "texts: no text changes the host or path of a request"),
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
        "A9: the harness defines the vendor state that memory claims",
        "A15: an object of the app arrives unchanged",
        "A15: an opaque value of the vendor is returned unchanged",
        "A16: invalid settings are refused with a remedy and without their value",
        "A16: the harness names the secrets of the API",
        "A19: stored states of every version can be read",
        "A20: every journaled endpoint is interrupted in a conversation",
        "A20: every endpoint is used by a sample",
        "A20: finding codes are unique and begin with the adapter's id",
        "capabilities: a push message of another vendor is not accepted",
        "capabilities: the descriptor lists every capability",
        "exemptions: every exemption names an existing check",
        "fields: field tables agree with the wire schemas",
        "goldens: every conversation golden has a scenario",
        "goldens: every sample has exactly one golden",
        "goldens: no golden contains a secret",
        "replies: every endpoint has a golden with the meaning of each reply",
        "replies: every reply has a table row, and every refusal has a finding",
        "replies: every row of the reply table applies to a reply",
        "rules: every rule that a table row names exists",
        "rules: rule ids are unique and begin with the adapter's id",
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
        let check = try #require(ConformanceCheck.all.first { $0.name == "the harness names the secrets of the API" })
        return try await broken([check], on: harness)[check.testDescription] ?? ""
    }

    @Test func `requires a reason for an API without a secret`() async throws {
        #expect(try await foundWithoutSecrets(reason: nil).contains("no secret is checked"))
        #expect(try await foundWithoutSecrets(reason: "The probe has no secret.") == "")
        let both = try await foundWithoutSecrets(reason: "The probe has no secret.", watched: ["this is never sent"])
        #expect(both.contains("but it has one. Remove it."))
        #expect(both.contains("a text of secrets.watched is in no request"))
    }

    // MARK: Expected states

    @Test func `reports an expected state that never claims anything`() async throws {
        let check = try #require(
            ConformanceCheck.all.first { $0.name == "the harness defines the vendor state that memory claims" }
        )
        let misread = ExpectedState { memory in
            memory["knwon"].map { ["last": $0] } ?? [:]
        } holds: { (_: ProbeSimulator.State, _) in
            [:]
        }
        for (expectedState, neverClaims) in [(misread, true), (.probe(countsRepeats: false), false)] {
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
            #expect(found.contains("no stored memory contains a claim") == neverClaims)
        }
    }

    // MARK: The status alone

    private static let hidden = "an error in a successful reply is reported, unless the status alone decides"

    private func foundInSuccess(_ fault: Fault, statusAlone: [String: RuleID]) async throws -> [String: String] {
        try await broken(
            fault,
            ConformanceCheck.all.filter {
                $0.name == Self.hidden || $0.name == "every rule that a table row names exists"
            },
            statusAlone: statusAlone
        )
    }

    @Test func `exempts an endpoint whose rule lets the status alone decide`() async throws {
        let unsaid = try await foundInSuccess(.acceptsErrors, statusAlone: [:])
        #expect(
            unsaid["replies: \(Self.hidden)"]?.contains("say: 200 with an error in the body counts as a success")
                == true
        )
        #expect(try await foundInSuccess(.acceptsErrors, statusAlone: ["say": Self.rule]) == [:])
    }

    @Test func `reports a rule that exempts nothing and an unknown rule`() async throws {
        let needless = try await foundInSuccess(.none, statusAlone: ["say": Self.rule, "never": RuleID("probe", "9")])
        #expect(
            needless["replies: \(Self.hidden)"]?.contains("never, say: every error in a successful reply is reported")
                == true
        )
        #expect(needless["rules: every rule that a table row names exists"]?.contains("names probe/9") == true)
    }

    // MARK: Exemptions

    private static let claims = "an operation with claimed capabilities is accepted"
    private static let rule = RuleID("probe", "1")

    private func issues(_ fault: Fault, exempt samples: String...) async throws -> String {
        let check = try #require(ConformanceCheck.all.first { $0.name == Self.claims })
        let exemptions = samples.map { Exemption(check: Self.claims, sample: $0, rule: Self.rule) }
        return try await broken(fault, [check], exempt: exemptions)[check.testDescription] ?? ""
    }

    @Test func `exempts the named sample and no other`() async throws {
        let all = try await issues(.claimsTooMuch)
        #expect(all.contains("track-order, track-plain, two-people: its outcome is rejected"))
        let fewer = try await issues(.claimsTooMuch, exempt: "track-order")
        #expect(fewer.contains("track-plain, two-people: its outcome is rejected") && !fewer.contains("track-order"))
    }

    @Test func `reports an exemption that exempts nothing`() async throws {
        #expect(
            try await issues(.none, exempt: "track-order").contains(
                "track-order: the sample is exempt, but the check passes"
            )
        )
    }

    @Test func `reports an exemption with an unknown check or rule`() async throws {
        let exemption = Exemption(check: "no such check", sample: "track-order", rule: RuleID("probe", "9"))
        let found = try await broken(
            .none,
            ConformanceCheck.all.filter { ["exemptions", "rules"].contains($0.requirement) },
            exempt: [exemption]
        )
        #expect(
            found["exemptions: every exemption names an existing check"]?.contains("no check has this name") == true
        )
        #expect(found["rules: every rule that a table row names exists"]?.contains("names probe/9") == true)
    }
}
