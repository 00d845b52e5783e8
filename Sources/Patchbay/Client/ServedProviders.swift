package import PatchbayOutbox

/// The providers of an outbox and of a configuration that leaves some of them.
package struct ServedProviders: Sendable {
    /// The providers that the outbox serves and the configuration does not, each with its number of pending operations.
    package let removed: [(name: String, pending: Int)]
    /// The providers that the configuration serves and the outbox does not.
    package let added: [String]

    /// Compares an outbox, which is only read, with a configuration.
    ///
    /// - Throws: ``OutboxError`` if the file cannot be read.
    package init(of store: OutboxStore, under configuration: Configuration) throws {
        let accounts = try ProviderAccounts.read(store) { _ in false }
        let served = Set(try store.state.providers().filter { $0.state == "live" }.map(\.name))
        let routed = Set(configuration.routes.filter { $0.mode != .shadow }.map(\.provider))
        removed = served.subtracting(routed).sorted().map { name in
            (name, accounts.first { $0.provider == name }?.pending ?? 0)
        }
        added = served.isEmpty ? [] : routed.subtracting(served).sorted()
    }

    /// Whether the configuration serves other providers than the outbox.
    package var isSwitch: Bool { !removed.isEmpty || !added.isEmpty }
}
