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
        return try await session.forEachOperation { operation, line in
            let mapped = try mapping.map(operation)
            try session.console.data(mapped.json(line: line, provider: provider.name))
            return !mapped.findings.contains(where: \.severity.matters)
        }
    }
}
