import Patchbay
import PatchbayAdapterKit
import PatchbayCommand
import PatchbayHTTP
import PatchbayJSON
import PatchbayModel
import PatchbaySandbox

/// The real network, and the sandbox's server.
struct HTTPNetwork: Network {
    func makeTransport() -> any Transport { URLSessionTransport() }

    func startSandbox(
        _ simulators: [any VendorSimulator],
        port: UInt16,
        faults: JSONValue,
        logPath: String?,
        clock: @escaping @Sendable () -> Instant
    ) throws(CommandFailure) -> any RunningSandbox {
        do {
            return try SandboxServer.start(
                simulators,
                port: port,
                faults: FaultRule.list(from: faults),
                logPath: logPath,
                clock: clock
            )
        } catch {
            throw CommandFailure(error.description)
        }
    }
}

extension SandboxServer: RunningSandbox {}
