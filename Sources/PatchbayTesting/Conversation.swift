import Foundation
import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
public import Testing

/// A talk of app, engine and vendor over time: a scenario among an adapter's goldens, and what playing it tells.
///
/// `Conversations/<name>.json` is a scenario (`Schemas/scenario`), `<name>.ndjson` what `patchbay simulate` prints for it.
/// The rules that the scenario `shows` must fire while it is played. An adapter's tests run all of them:
///
/// ```swift
/// @Test(arguments: Conversation.all())
/// func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
/// ```
///
/// The conformance suite finds lines whose scenario is gone, and cuts every exchange of every conversation.
public struct Conversation: Sendable, CustomTestStringConvertible {
    /// The file's name without its ending.
    public let name: String

    /// The name.
    public var testDescription: String { name }

    /// The conversations of the goldens at a place given from a source file, by name; of one API, where a vendor has several.
    public static func all(
        from file: String = #filePath,
        at relativePath: String = "../Goldens",
        subfolder: String? = nil
    ) -> [Conversation] {
        all(in: Goldens(from: file, at: relativePath, subfolder: subfolder))
    }

    static func all(in goldens: Goldens) -> [Conversation] {
        goldens.names(of: .conversations, ending: ".json").sorted().map(Conversation.init)
    }

    /// Plays it with the real engine under a virtual clock, compares what is told with the golden, and checks its claims.
    ///
    /// - Parameters:
    ///   - harness: the adapter, its simulator and its goldens.
    ///   - modules: the other vendors of the scenario, for a switch.
    ///   - simulators: those vendors' other sides.
    ///   - sourceLocation: where an issue is shown.
    /// - Throws: what is wrong with the scenario or its configuration.
    public func check(
        on harness: AdapterHarness<some VendorAdapter>,
        with modules: [AdapterModule] = [],
        simulators: [any VendorSimulator.Type] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (outer, recorder) = (RuleTrace.recorder, RuleRecorder())
        let scenario = try scenario(in: harness.goldens)
        let lines = try RuleTrace.$recorder.withValue(recorder) {
            try Stage(harness, modules, simulators).play(scenario).lines
        }
        for rule in recorder.fired { outer?.record(rule) }
        let text = lines.map(\.text).joined(separator: "\n")
        harness.goldens.check(text, .conversations, file: "\(name).ndjson", sourceLocation: sourceLocation)

        let judged = RuleClaims(scenario.shows.map(\.text), of: harness.adapterType, fired: recorder.fired)
        for reason in judged.refuted { Issue.record("\(name): \(reason)", sourceLocation: sourceLocation) }
        if judged.refuted.isEmpty, let test = Test.current {
            RuleEvidence.note(judged.shown, test: "\(RuleEvidence.name(of: test)) \(name)")
        }
    }

    func scenario(in goldens: Goldens) throws -> Scenario {
        try Scenario(json: JSONValue(parsing: Array(Data(contentsOf: goldens.url(.conversations, "\(name).json")))))
    }
}

/// Where scenarios are played: the vendors that are there.
struct Stage {
    /// What came of a play.
    struct Played {
        /// Everything that was told, in order.
        let lines: [JSONValue]
        let requestCount: Int
        let interruptedEndpoints: Set<String>
        /// What the vendors held when all had healed and nothing moved any more.
        let states: [AdapterID: any Sendable]
        /// How each operation ended.
        let endings: [String: [String]]
        let pendingCount: Int
    }

    private let modules: [AdapterModule]
    private let simulators: [any VendorSimulator.Type]
    private let folder: URL

    init(
        _ harness: AdapterHarness<some VendorAdapter>,
        _ modules: [AdapterModule] = [],
        _ simulators: [any VendorSimulator.Type] = []
    ) {
        let descriptor = harness.adapterType.descriptor
        let own = AdapterModule(id: descriptor.id, title: descriptor.title, apis: [harness.adapterType])
        // A module that is given may be the adapter's own, with all its APIs.
        self.modules = modules.contains { $0.apis.contains { $0 == harness.adapterType } } ? modules : [own] + modules
        self.simulators = [harness.simulatorType].compactMap { $0 } + simulators
        folder = harness.goldens.folder.appendingPathComponent(Goldens.Kind.conversations.rawValue)
    }

    /// Plays a scenario, heals everything, and tells.
    func play(_ scenario: Scenario, cutting cut: ScenarioRun.Cut? = nil) throws -> Played {
        var lines: [JSONValue] = []
        var run = try ScenarioRun(
            scenario,
            simulators: simulators,
            cutting: cut,
            configure: { try configuration($0, of: scenario) },
            tell: { lines.append($0) }
        )
        try run.play()
        let (told, requestCount, interrupted) = (lines, run.requestCount, run.interruptedEndpoints)
        try run.heal()
        return Played(
            lines: told,
            requestCount: requestCount,
            interruptedEndpoints: interrupted,
            states: run.vendorStates,
            endings: run.endings,
            pendingCount: try run.pendingCount
        )
    }

    private func configuration(_ json: JSONValue, of scenario: Scenario) throws -> Configuration {
        let url = json.string.map { folder.appendingPathComponent($0) }
        return try .load(
            bytes: try url.map { Array(try Data(contentsOf: $0)) } ?? Array(json.prettyText.utf8),
            path: url?.path ?? "scenario",
            environment: scenario.environment,
            modules: modules
        )
    }
}
