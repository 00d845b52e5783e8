import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbaySimulation

extension Command {
    static let simulate = Command(
        "simulate",
        "plays a story under a virtual clock, without a network",
        details: """
            The real engine runs the scenario (Schemas/scenario): operations, time, replies, crashes and clock jumps in;
            every request with its time, every verdict, and what is remembered out, a JSON object a line. The
            scenario's configuration is an object, or the path of a file beside the scenario.
            """,
        arguments: [.required("SCENARIO")]
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
                tell: { try session.console.data($0) }
            )
            try run.play()
        } catch let error as ModelError {
            throw SettingsError([SessionFinding.notScenario.at(error.path, detail: error.reason, remedy: error.remedy)])
        }
        return .fine
    }
}
