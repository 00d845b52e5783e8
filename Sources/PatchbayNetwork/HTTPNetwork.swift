import Patchbay
import PatchbayAdapterKit
import PatchbayCommand
import PatchbayHTTP
import PatchbayJSON
import PatchbayModel
import PatchbaySandbox

/// The real network, and the sandbox's server.
struct HTTPNetwork: Network {
    func makeTransport(_ configuration: Configuration) -> any Transport { HTTPTransport(configuration) }

    func startSandbox(
        _ simulators: [any VendorSimulator],
        port: UInt16,
        faults: (rules: JSONValue, file: String)?,
        logPath: String?,
        clock: @escaping @Sendable () -> Instant
    ) throws(CommandFailure) -> any RunningSandbox {
        do {
            return try SandboxServer.start(
                simulators,
                port: port,
                faults: FaultRule.list(from: faults?.rules ?? []),
                logPath: logPath,
                clock: clock
            )
        } catch {
            let file = error.code == .badFaultRule ? faults.map { "\($0.file): " } ?? "" : ""
            let problems = error.problems.map { SandboxError.Problem(file + $0.place, $0.problem, remedy: $0.remedy) }
            throw CommandFailure(SandboxError(error.code, problems).description)
        }
    }
}

extension SandboxServer: RunningSandbox {}
