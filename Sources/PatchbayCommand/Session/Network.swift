package import Patchbay
package import PatchbayAdapterKit
package import PatchbayJSON
package import PatchbayModel

/// What speaks HTTP, for the commands that do.
///
/// It comes from outside, because to load it takes as long as a short command: `patchbay` has none, and hands what needs
/// one to the program beside it.
package protocol Network: Sendable {
    /// Returns a transport to the vendors of a configuration.
    func makeTransport(_ configuration: Configuration) -> any Transport

    /// Plays the vendors over HTTP on this machine; at any free port for 0.
    ///
    /// The faults are a list of rules for answers that go wrong; a log gets a line for each request.
    func startSandbox(
        _ simulators: [any VendorSimulator],
        port: UInt16,
        faults: (rules: JSONValue, file: String)?,
        logPath: String?,
        clock: @escaping @Sendable () -> Instant
    ) throws(CommandFailure) -> any RunningSandbox
}

/// A sandbox that answers.
package protocol RunningSandbox {
    /// Where it answers.
    var url: String { get }
    /// What a browser's request to a control endpoint needs in the header `X-Sandbox-Token`.
    var token: String { get }
    /// Where that vendor does.
    func url(of vendor: String) -> String
    /// Ends it.
    func stop()
}

/// Why something could not be done, in words for the person who asked for it.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
