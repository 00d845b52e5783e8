public import PatchbayAdapterKit
public import PatchbayModel

/// A catalogue of attributes: their types, the side that may write them, and their names at the vendors.
///
/// An attribute that is not in the catalogue is passed on unchanged.
public struct AttributeCatalogue: Hashable, Sendable {
    /// The properties of an attribute.
    public struct Entry: Hashable, Sendable {
        /// The type of its values; nil allows any type.
        public var type: AttributeType?
        /// The side that writes it; nil allows both.
        public var owner: AdapterDescriptor.Side?
        /// Its names at vendors, where they differ from the adapter's default.
        public var names: [AdapterID: String]

        /// Creates an entry.
        public init(
            type: AttributeType? = nil,
            owner: AdapterDescriptor.Side? = nil,
            names: [AdapterID: String] = [:]
        ) {
            (self.type, self.owner, self.names) = (type, owner, names)
        }
    }

    /// The entries by attribute name.
    public let entries: [AttributeName: Entry]

    /// Creates a catalogue.
    public init(_ entries: [AttributeName: Entry] = [:]) { self.entries = entries }

    /// All findings that the catalogue can produce for an operation or a contact.
    public static let findings = [typeLost, notANumber, notAList, ownedElsewhere]

    private static let typeLost = FindingRow(
        .error("catalogue.attribute.type", .invalid),
        reason: "The value does not convert to the type in the catalogue without loss",
        remedy: "Give a value of that type, or change the type in the catalogue."
    )
    private static let notANumber = FindingRow(
        .error("catalogue.attribute.increment", .invalid),
        reason: "The catalogue's type does not allow that number to be added",
        remedy: "Set the value instead, or change the type in the catalogue."
    )
    private static let notAList = FindingRow(
        .error("catalogue.attribute.append", .invalid),
        reason: "The catalogue's type does not allow these values to be added or removed",
        remedy: "Set the value instead, or change the type in the catalogue."
    )
    private static let ownedElsewhere = FindingRow(
        .error("catalogue.attribute.owner", .forbidden),
        reason: "According to the catalogue, the other side owns this attribute",
        remedy: "Change it there, or change its owner in the catalogue."
    )

    /// Converts an operation's attribute values to their catalogued types where nothing is lost.
    ///
    /// - Returns: The operation, and an error finding for each value that could not be converted.
    public func coerce(_ operation: EngagementOperation) -> (EngagementOperation, [Finding]) {
        guard !entries.isEmpty, case .changeAttributes(let changes) = operation.action else { return (operation, []) }
        var (coerced, findings) = (changes, [Finding]())
        for (name, change) in changes.inOrder {
            guard let type = entries[name]?.type else { continue }
            let path = "action.changes".dot(name.rawValue)
            switch change {
            case .set(let value):
                coerced[name] = .set(convert(value, to: type, at: path.dot("set"), &findings))
            case .increment(let number):
                let isAllowed = type == .decimal || type == .integer && !number.text.contains(".")
                if !isAllowed { findings.append(Self.notANumber.at(path, detail: "it is \(type.rawValue)")) }
            case .append(let values), .remove(let values):
                let isAllowed = type == .list || type == .choices && values.allSatisfy { $0.type == .string }
                if !isAllowed { findings.append(Self.notAList.at(path, detail: "it is \(type.rawValue)")) }
            case .unset: break
            }
        }
        var operation = operation
        operation.action = .changeAttributes(coerced)
        return (operation, findings)
    }

    /// Converts a contact's attribute values to their catalogued types where nothing is lost.
    ///
    /// - Returns: The contact, and an error finding for each value that could not be converted.
    public func coerce(_ contact: Contact) -> (Contact, [Finding]) {
        guard !entries.isEmpty else { return (contact, []) }
        var (coerced, findings) = (contact, [Finding]())
        for (name, value) in contact.attributes.inOrder {
            guard let type = entries[name]?.type, type != value.type else { continue }
            coerced.attributes[name] = convert(value, to: type, at: "attributes".dot(name.rawValue), &findings)
        }
        return (coerced, findings)
    }

    /// Returns a finding for each attribute that an operation changes although the other side owns it.
    public func ownership(of operation: EngagementOperation, at side: AdapterDescriptor.Side) -> [Finding] {
        guard case .changeAttributes(let changes) = operation.action else { return [] }
        return changes.keys.sorted().compactMap { name in
            guard let owner = entries[name]?.owner, owner != side else { return nil }
            return Self.ownedElsewhere.at(
                "action.changes".dot(name.rawValue),
                detail: "the owner is the \(owner.rawValue)"
            )
        }
    }

    /// Converts an operation's attribute values, and reports those that do not fit or that the other side owns.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - side: The side that captures it: an app or a back end.
    /// - Returns: The converted operation, and an error for each value that must not be sent.
    public func admit(_ operation: EngagementOperation, from side: AdapterDescriptor.Side)
        -> (EngagementOperation, [Finding])
    {
        guard !entries.isEmpty else { return (operation, []) }
        let (coerced, findings) = coerce(operation)
        return (coerced, findings + ownership(of: coerced, at: side))
    }

    /// Returns the names that differ from the adapter's defaults.
    func names(for adapter: AdapterID) -> [(attribute: AttributeName, name: String)] {
        entries.inOrder.compactMap { entry in entry.value.names[adapter].map { (entry.key, $0) } }
    }

    private func convert(
        _ value: AttributeValue,
        to type: AttributeType,
        at path: String,
        _ findings: inout [Finding]
    ) -> AttributeValue {
        if let converted = value.converted(to: type) { return converted }
        findings.append(Self.typeLost.at(path, detail: "\(value.type.rawValue) to \(type.rawValue)"))
        return value
    }
}
