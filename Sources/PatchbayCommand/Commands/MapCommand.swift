import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension Command {
    static let map = Command(
        "map",
        "turns operations into one vendor's requests, without a network",
        details: """
            The real engine runs under a clock of its own, against the vendor's simulator where there is one, else
            against a vendor that says 200 to all. Each operation gives one line: {line, id, provider, outcome,
            requests, findings}. Requests that several operations share stand with the one that made them leave.
            """,
        arguments: [.optional("FILE")],
        required: [.config, .provider],
        optional: [.subject]
    ) { session in
        let configuration = try session.configuration()
        let provider = try session.provider(of: configuration)
        var mapping = try Mapping(provider, of: configuration)
        let path = session.invocation.argument(0)
        var status = ExitStatus.fine
        try await session.readOperations(path, defaults: session.operationDefaults) { lines in
            for line in lines {
                switch line.operation {
                case .failure(let fault):
                    session.console.say(fault.finding, at: "\(session.name(ofInput: path)):\(line.number)")
                    status = .findings
                case .success(let operation):
                    let mapped = try mapping.map(operation)
                    if mapped.findings.contains(where: \.severity.matters) { status = .findings }
                    try session.console.data(mapped.json(line: line.number, provider: provider.name))
                }
            }
        }
        return status
    }
}
