import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbaySimulation

extension Command {
    static let simulate = Command(
        "simulate",
        "Run a scenario under a virtual clock",
        task: .develop,
        details: """
            A scenario holds a configuration and steps: operations, time, replies, crashes and clock changes;
            `Schemas/scenario/scenario.schema.json` describes it. Prints one JSON object per event: each request with its time,
            each outcome, and at the end the counts and the adapters' memory. Nothing is sent.
            """,
        arguments: [
            .required("SCENARIO", "Scenario file; its configuration is an object or the path of a file beside it")
        ],
        examples: [
            Example("Run a scenario", "patchbay simulate scenario.json"),
            Example("Show only the requests", "patchbay simulate scenario.json | grep '\"url\"'"),
        ]
    ) { session in
        let path = session.invocation.argument(0) ?? ""
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        do {
            let scenario = try Scenario(json: session.json(path))
            var run = try ScenarioRun(
                scenario,
                simulators: Vendors.simulators,
                configure: { json in
                    if let name = json.string {
                        let file = name.hasPrefix("/") ? name : folder + name
                        return try session.loadConfiguration(file, with: scenario.environment)
                    }
                    return try session.configuration(json, of: path, with: scenario.environment)
                },
                report: { try session.console.data($0) }
            )
            try run.play()
        } catch let error as ModelError {
            let finding = SessionFinding.notScenario.at(error.path, detail: error.statement, remedy: error.remedy)
            throw SettingsFileError(file: path, findings: [finding])
        }
        return .fine
    }
}
