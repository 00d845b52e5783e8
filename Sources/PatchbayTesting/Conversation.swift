import Foundation
import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
public import Testing

/// A golden of an exchange between app, engine and vendor over time: a scenario and its expected events.
///
/// `Conversations/<name>.json` is a scenario (`Schemas/scenario`), and `<name>.ndjson` is the output of `patchbay
/// simulate` for it. The conversation is evidence for the rules in the scenario's `shows`. An adapter's tests run all
/// conversations:
///
/// ```swift
/// @Test(arguments: Conversation.all())
/// func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
/// ```
///
/// The conformance suite reports outputs without a scenario, and interrupts every exchange of every conversation.
public struct Conversation: Sendable, CustomTestStringConvertible {
    /// The file name without its extension.
    public let name: String

    /// The name.
    public var testDescription: String { name }

    /// Returns the conversations of a folder of goldens, sorted by name. The path is relative to a source file.
    /// `subfolder` names the API if a vendor has several.
    public static func all(
        from file: String = #filePath,
        at relativePath: String = "../Goldens",
        subfolder: String? = nil
    ) -> [Conversation] {
        all(in: Goldens(from: file, at: relativePath, subfolder: subfolder))
    }

    static func all(in goldens: Goldens) -> [Conversation] {
        goldens.names(of: .conversations, suffix: ".json").sorted().map(Conversation.init)
    }

    /// Runs the scenario with the real engine under a virtual clock, compares the events with the golden, and checks
    /// that the claimed rules exist.
    ///
    /// - Parameters:
    ///   - harness: The adapter, its simulator and its goldens.
    ///   - modules: The other vendors of the scenario, for a switch.
    ///   - simulators: The simulators of those vendors.
    ///   - sourceLocation: The source location of issues.
    /// - Throws: An error if the scenario or its configuration is invalid.
    public func check(
        on harness: AdapterHarness<some VendorAdapter>,
        with modules: [AdapterModule] = [],
        simulators: [any VendorSimulator.Type] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let scenario = try scenario(in: harness.goldens)
        let stage = Stage(harness, modules, simulators)
        let lines = try stage.play(scenario).lines
        let text = lines.map(\.text).joined(separator: "\n")
        harness.goldens.check(text, .conversations, file: "\(name).ndjson", sourceLocation: sourceLocation)

        let unknown = scenario.shows.filter { !stage.rules.contains($0) }
        for rule in unknown {
            Issue.record(
                "\(name): \"shows\" names \(rule), which is not a rule of a vendor in it",
                sourceLocation: sourceLocation
            )
        }
        if unknown.isEmpty, let test = Test.current {
            RuleEvidence.ofRun?.add(scenario.shows, shownBy: "\(RuleEvidence.name(of: test)) \(name)")
        }
    }

    func scenario(in goldens: Goldens) throws -> Scenario {
        try Scenario(json: JSONValue(parsing: Array(Data(contentsOf: goldens.url(.conversations, "\(name).json")))))
    }
}

/// The vendors and simulators with which scenarios are run.
struct Stage {
    /// The result of a run.
    struct Played {
        /// The events, in order.
        let lines: [JSONValue]
        let requestCount: Int
        let interruptedEndpoints: Set<String>
        /// The final states of the vendors, after all faults were removed and no request was left.
        let states: [AdapterID: any Sendable]
        /// The outcomes of each operation.
        let outcomes: [String: [String]]
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
        // `modules` may contain the adapter's own module, with all its APIs.
        self.modules = modules.contains { $0.apis.contains { $0 == harness.adapterType } } ? modules : [own] + modules
        self.simulators = [harness.simulatorType].compactMap { $0 } + simulators
        folder = harness.goldens.folder.appendingPathComponent(Goldens.Kind.conversations.rawValue)
    }

    /// The rules of the vendors.
    var rules: Set<RuleID> { Set(modules.flatMap(\.apis).flatMap { $0.descriptor.tables.rules.map(\.id) }) }

    /// Runs a scenario, removes all faults, and returns the result.
    func play(_ scenario: Scenario, interruptedBy interruption: ScenarioRun.Interruption? = nil) throws -> Played {
        var lines: [JSONValue] = []
        var run = try ScenarioRun(
            scenario,
            simulators: simulators,
            interruptedBy: interruption,
            configure: { try configuration($0, of: scenario) },
            report: { lines.append($0) }
        )
        try run.play()
        let (events, requestCount, interrupted) = (lines, run.requestCount, run.interruptedEndpoints)
        try run.removeFaults()
        return Played(
            lines: events,
            requestCount: requestCount,
            interruptedEndpoints: interrupted,
            states: run.vendorStates,
            outcomes: run.outcomes,
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
