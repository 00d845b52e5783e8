import PatchbayJSON
package import PatchbayModel
package import PatchbayOutbox

/// A staged capture, as a tool reads it from an outbox without a configuration.
package struct ArrivedCapture: Sendable {
    /// The capture as the outbox stores it.
    package let stagedCapture: StagedCapture
    /// The captured operation; nil if this release cannot read it.
    package let operation: EngagementOperation?
    /// The providers that are to receive it, according to the process that stored it.
    package let providers: [String]

    /// Creates a staged capture from a row with these routes.
    fileprivate init(_ stagedCapture: StagedCapture, routes: [(provider: String, share: Share)]) {
        let operation = try? EngagementOperation(jsonBytes: stagedCapture.body)
        self.stagedCapture = stagedCapture
        self.operation = operation
        providers = routes.filter { route in
            operation.map { route.share.holds($0.contact, on: $0.subject) } ?? true
        }.map(\.provider)
    }

    /// The operation in the form that it will have once it is routed.
    package var stored: OutboxOperation? {
        operation.map { OutboxOperation($0, since: stagedCapture.since, body: stagedCapture.body) }
    }
}

extension OutboxCaptures {
    /// Returns the captures of one staged row and its stored routes; nil if the row is gone.
    package func arrived(_ number: Int64) throws -> (routes: String, captures: [ArrivedCapture])? {
        guard let row = try staged(number) else { return nil }
        let shares = (try? JSONValue(parsing: row.routes))?.object ?? [:]
        let routes = shares.map { entry in
            (provider: entry.name, share: entry.value.string.flatMap(Share.init(text:)) ?? .all)
        }
        return (row.routes, row.captures.map { ArrivedCapture($0, routes: routes) })
    }
}
