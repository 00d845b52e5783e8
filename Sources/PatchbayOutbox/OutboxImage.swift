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

extension OutboxStore {
    /// Returns everything that the store holds, for copies in memory; call it between two transactions.
    package func serialized() throws(OutboxError) -> [UInt8] { try connection.serialized() }

    /// Opens a store in memory that holds what another one held when it was serialized.
    package static func open(serialized bytes: [UInt8]) throws(OutboxError) -> OutboxStore {
        let made = try Connection(.memory, .readWrite)
        try made.become(bytes)
        var report = OpenReport()
        try prepare(made, &report)
        return OutboxStore(made, file: nil, isReadOnly: false, report: report)
    }
}
