/// The durable content of an in-memory outbox: everything up to the last transaction that waited for the disk.
///
/// Simulations of power failures use it.
package final class OutboxImage {
    private let connection: Connection

    /// Creates an empty image.
    package init() throws(OutboxError) { connection = try Connection(.memory, .readWrite) }

    /// Copies the current content of a store. Call it between two transactions.
    package func take(from store: OutboxStore) throws(OutboxError) { try connection.become(copyOf: store.connection) }

    /// Opens an in-memory store with the content of the image.
    package func open(_ location: OutboxLocation) throws(OutboxError) -> OutboxStore {
        let made = try Connection(location, .readWrite)
        try made.become(copyOf: connection)
        var report = OpenReport()
        try OutboxFormat.prepare(made, &report)
        return OutboxStore(made, file: nil, isReadOnly: false, report: report)
    }
}

extension OutboxStore {
    /// Returns the whole content of the store for in-memory copies. Call it between two transactions.
    package func serialized() throws(OutboxError) -> [UInt8] { try connection.serialized() }

    /// Opens an in-memory store with the content of another store when that was serialized.
    package static func open(serialized bytes: [UInt8]) throws(OutboxError) -> OutboxStore {
        let made = try Connection(.memory, .readWrite)
        try made.become(bytes)
        // The bytes come from a prepared store, so the schema is complete.
        _ = try OutboxFormat.configure(made)
        return OutboxStore(made, file: nil, isReadOnly: false, report: OpenReport())
    }
}
