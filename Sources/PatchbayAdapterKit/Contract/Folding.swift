public import PatchbayModel

/// A value with the place in a record where it stands: a column, a field.
public protocol PlacedValue: Sendable {
    /// The place. What the vendor takes for the same place has the same text here, whatever its letters.
    var place: String { get }
}

/// What several operations write into one record, folded: of several values for one place the last.
public struct Folding<Value: PlacedValue>: Sendable {
    /// The operations, in order.
    public private(set) var operations: [OperationID] = []
    /// The values, each place once, where it was first written.
    public private(set) var values: [Value] = []
    /// Where a place's value stands, and the last operation that wrote it.
    private var written: [String: (offset: Int, by: OperationID)] = [:]

    /// Nothing yet.
    public init() {}

    /// Adds what an operation writes.
    public mutating func add(_ id: OperationID, _ new: [Value]) {
        operations.append(id)
        for value in new {
            let place = value.place
            let offset = written[place]?.offset ?? values.count
            if offset < values.count { values[offset] = value } else { values.append(value) }
            written[place] = (offset, id)
        }
    }

    /// The operation that replaced the last of what another wrote; nil where some of that left, and where it wrote nothing.
    public func replacement(of id: OperationID, _ values: [Value]) -> OperationID? {
        let last = values.compactMap { written[$0.place]?.by }
        guard last.count == values.count, !last.contains(id) else { return nil }
        return operations.last(where: last.contains)
    }
}
