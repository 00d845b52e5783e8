import PatchbayJSON
package import PatchbayModel
package import PatchbayOutbox

/// A capture that has no place yet, for whoever looks at an outbox without a configuration.
package struct ArrivedCapture: Sendable {
    /// The capture as it arrived.
    package let stagedCapture: StagedCapture
    /// What it says; nil if this release can't read it.
    package let operation: EngagementOperation?
    /// Who is to hear it, as the process said that took it in.
    package let providers: [String]

    /// A capture of a row with these routes.
    fileprivate init(_ stagedCapture: StagedCapture, routes: [(provider: String, share: Share)]) {
        let operation = try? EngagementOperation(jsonBytes: stagedCapture.body)
        self.stagedCapture = stagedCapture
        self.operation = operation
        providers = routes.filter { route in
            operation.map { route.share.holds($0.contact, on: $0.subject) } ?? true
        }.map(\.provider)
    }

    /// The operation as it would stand in the outbox with its places.
    package var stored: OutboxOperation? {
        operation.map { OutboxOperation($0, since: stagedCapture.since, body: stagedCapture.body) }
    }
}

extension OutboxStore {
    /// The captures of one row that waits for its places, and its routes in the engine's words; nil if it is gone.
    package func arrived(_ number: Int64) throws -> (routes: String, captures: [ArrivedCapture])? {
        guard let row = try stagedCapture(number) else { return nil }
        let shares = (try? JSONValue(parsing: row.routes))?.object ?? [:]
        let routes = shares.map { entry in
            (provider: entry.name, share: entry.value.string.flatMap(Share.init(text:)) ?? .all)
        }
        return (row.routes, row.captures.map { ArrivedCapture($0, routes: routes) })
    }
}
