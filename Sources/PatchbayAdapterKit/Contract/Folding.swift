public import PatchbayModel

/// A value with its place in a record: a column or a field.
public protocol PlacedValue: Sendable {
    /// The place. Names that the vendor treats as equal have the same text here.
    var place: String { get }
}

/// The combined values of several operations for one record. If several values have the same place, the last one applies.
public struct Folding<Value: PlacedValue>: Sendable {
    /// The operations, in order.
    public private(set) var operations: [OperationID] = []
    /// The values, one per place, in the order in which the places were first written.
    public private(set) var values: [Value] = []
    /// The offset of each place's value, and the last operation that wrote it.
    private var written: [String: (offset: Int, by: OperationID)] = [:]

    /// Creates an empty value.
    public init() {}

    /// Adds the values of an operation.
    public mutating func add(_ id: OperationID, _ new: [Value]) {
        operations.append(id)
        for value in new {
            let place = value.place
            let offset = written[place]?.offset ?? values.count
            if offset < values.count { values[offset] = value } else { values.append(value) }
            written[place] = (offset, id)
        }
    }

    /// Returns the operation that replaced the last remaining value of another one. Returns nil if a value of that operation is
    /// still included, or if it wrote none.
    public func replacement(of id: OperationID, _ values: [Value]) -> OperationID? {
        let last = values.compactMap { written[$0.place]?.by }
        guard last.count == values.count, !last.contains(id) else { return nil }
        return operations.last(where: last.contains)
    }
}
