import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension Command {
    static let map = Command(
        "map",
        "Show the requests that a vendor would receive",
        task: .attempt,
        details: """
            Runs the engine under a virtual clock against the vendor's simulator. Nothing is sent. Prints one JSON object per
            operation: line, id, provider, outcome, requests and findings. A request that several operations share is listed
            with the operation that triggered it. Secrets are masked.

            An operation may leave out id, subject and capturedAt. Operations are mapped in order: if a vendor needs a
            registration first, put a registerDevice operation before the others.
            """,
        arguments: [
            .optional("FILE", "File with one operation per line (default: standard input)")
        ],
        required: [.config, .provider],
        optional: [.subject],
        findings: "an operation was rejected or has a warning",
        examples: [
            Example(
                "Show the requests for a file of operations",
                "patchbay map --config altcraft.json --provider altcraft operations.ndjson"
            ),
            Example(
                "Show the requests for standard input",
                "cat operations.ndjson | patchbay map --config salesforce.json --provider salesforce"
            ),
        ]
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
