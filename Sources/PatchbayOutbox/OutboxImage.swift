/// What a disk holds for certain of an outbox in memory: everything up to the last transaction that waited for it.
///
/// For simulations of a machine that loses its power.
package final class OutboxImage {
    private let connection: Connection

    /// An image of nothing.
    package init() throws(OutboxError) { connection = try Connection(.memory, .readWrite) }

    /// Takes over what a store holds now; call it between two transactions.
    package func take(from store: OutboxStore) throws(OutboxError) { try connection.become(copyOf: store.connection) }

    /// A store in memory that holds what the image does.
    package func open(_ location: OutboxLocation) throws(OutboxError) -> OutboxStore {
        let made = try Connection(location, .readWrite)
        try made.become(copyOf: connection)
        var report = OpenReport()
        try OutboxStore.prepare(made, &report)
        return OutboxStore(made, file: nil, isReadOnly: false, report: report)
    }
}
