import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce

/// The values that one operation writes, under the vendor's names, with findings.
struct ServerCells: Sendable {
    /// A value under the name of its column, or of its attribute set and attribute.
    struct Cell: PlacedValue, Equatable {
        var name: String
        var value: JSONValue

        var place: String { name.lowercased() }
    }

    /// The values to write, each name once, in the order of the neutral names.
    private(set) var cells: [Cell] = []
    /// The findings; errors if nothing is left to write.
    private(set) var findings: [Finding] = []
    /// Whether the operation contains only the contact's key, which is part of every row.
    private(set) var isKeyAlone = false

    private let route: SalesforceServerSettings.Route
    private let settings: SalesforceServerSettings
    /// The names of the cells, in lower case.
    private var names: Set<String> = []

    /// The maximum length of a column's text.
    static let textLimit = 4000
    /// The recommended maximum number of columns in a request.
    static let columnLimit = 50

    init(
        _ operation: EngagementOperation,
        _ route: SalesforceServerSettings.Route,
        _ settings: SalesforceServerSettings,
        isPart: Bool = false
    ) {
        (self.route, self.settings) = (route, settings)
        switch operation.action {
        case .identify(let identifiers): add(identifiers, key: operation.contactKey)
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .changeSubscription(let subscription): add(subscription)
        default: break
        }
        if route == .contacts, !cells.isEmpty, !isPart { checkSets(besides: ServerOptions(operation).address) }
        if cells.isEmpty, !isKeyAlone {
            findings = findings.isEmpty ? [ServerFinding.empty.at("action")] : findings.map(\.asServerError)
        } else if route != .contacts, cells.count > Self.columnLimit {
            findings.append(ServerFinding.manyColumns.at("action", detail: "\(cells.count) columns"))
        }
    }

    // MARK: Kinds

    private mutating func add(_ identifiers: [Identifier], key: String) {
        for (place, identifier) in identifiers.enumerated() {
            let path = "action.identifiers[\(place)]"
            if identifier.kind == .external {
                let isKey = ScalarString.equal(identifier.value.trimmed, key)
                if isKey { isKeyAlone = true } else { findings.append(ServerFinding.keyOther.at(path)) }
                continue
            }
            let column = settings.identifierColumns[identifier.kind]
            put("identifier.\(identifier.kind.rawValue)", column, .string(identifier.value.trimmed), path)
        }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        for (name, change) in changes.inOrder {
            let path = "action.changes.\(name.rawValue)"
            let column = settings.attributeNames[name] ?? name.rawValue
            switch change {
            case .set(let value): add(name.rawValue, column, value, path)
            case .unset: put(name.rawValue, column, removed, path)
            case .increment, .append, .remove: findings.append(ServerFinding.arithmetic.at(path))
            }
        }
    }

    private mutating func add(_ change: TagChange) {
        var states: [Tag: Bool] = [:]
        if let replace = change.replace {
            // A tag without a column can't be removed.
            for tag in settings.tagColumns.keys { states[tag] = false }
            for tag in replace { states[tag] = true }
        }
        for tag in change.remove { states[tag] = false }
        for tag in change.add { states[tag] = true }
        for (tag, isOn) in states.inOrder {
            put("tag.\(tag.rawValue)", settings.tagColumns[tag], .bool(isOn), "action.tags")
        }
    }

    private mutating func add(_ subscription: Subscription) {
        let path = "action.subscription"
        guard subscription.channel != .inApp else {
            return findings.append(ServerFinding.subscriptionChannel.at("\(path).channel"))
        }
        let name = subscription.key.settingName
        switch subscription.state {
        case .unknown: return findings.append(ServerFinding.subscriptionUnknown.at("\(path).state"))
        case .suspended: findings.append(ServerFinding.subscriptionSuspended.at("\(path).state"))
        case .subscribed, .unsubscribed: break
        }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(ServerFinding.subscriptionDetails.at(path))
        }
        let column = settings.subscriptionColumns[SalesforceSourceName(rawValue: name)]
        put("subscription.\(name)", column, .bool(subscription.state == .subscribed), path)
    }

    // MARK: Values

    private mutating func add(_ source: String, _ column: String?, _ value: AttributeValue, _ path: String) {
        if case .choices(let words) = value, words.contains(where: { $0.unicodeScalars.contains(";") }) {
            return findings.append(ServerFinding.separator.at(path))
        }
        guard let json = Self.json(value) else { return findings.append(ServerFinding.nested.at(path)) }
        put(source, column, json, path)
    }

    private mutating func put(_ source: String, _ column: String?, _ value: JSONValue, _ path: String) {
        guard let name = name(of: source, column) else { return findings.append(ServerFinding.unnamed.at(path)) }
        if let text = value.string, text.utf16.count > Self.textLimit {
            let size = "\(text.utf16.count) characters"
            return findings.append(ServerFinding.longText.at(path, detail: size))
        }
        guard route == .contacts || isColumn(name) else { return findings.append(ServerFinding.undefined.at(path)) }
        guard names.insert(name.lowercased()).inserted else {
            return findings.append(ServerFinding.collision.at(path))
        }
        cells.append(Cell(name: name, value: value))
    }

    /// Returns the vendor's name of a value on this route; nil if it has none.
    private func name(of source: String, _ column: String?) -> String? {
        guard route == .contacts else { return column.map(\.trimmed).flatMap { $0.isEmpty ? nil : $0 } }
        return settings.contactAttributes[SalesforceSourceName(rawValue: source)].flatMap(AttributeSetPlace.init)?.path
    }

    private func isColumn(_ name: String) -> Bool {
        guard !name.isSameColumn(as: settings.keyColumn) else { return false }
        return settings.columns.isEmpty || settings.columns.contains { $0.isSameColumn(as: name) }
    }

    private var removed: JSONValue { settings.unset == .blank ? "" : .null }

    /// Returns the value in the vendor's form: text, number or Boolean; nil for a list or an object.
    ///
    /// Days are `YYYY-MM-DD`, times `HH:MM`, points in time RFC 3339 in UTC, countries two letters. Choices are joined
    /// by semicolons.
    private static func json(_ value: AttributeValue) -> JSONValue? {
        switch value {
        case .boolean(let value): return .bool(value)
        case .integer, .decimal: return value.plainText.flatMap(JSONNumber.init(text:)).map(JSONValue.number)
        default: return value.plainText.map(JSONValue.string)
        }
    }

    // MARK: Attribute sets

    private mutating func checkSets(besides address: [Cell]) {
        let said = cells + address
        if !said.contains(where: ContactAddress.isInItsSets) {
            findings.append(ServerFinding.channelMissing.at("action"))
        } else if let missing = ContactAddress.missing(in: said + settings.defaults(besides: said)) {
            findings.append(ServerFinding.setIncomplete.at("action", detail: missing))
        } else {
            return
        }
        (cells, isKeyAlone) = ([], false)
    }
}

/// The sets of attributes by which a contact can be reached. A request for a contact needs a value of one of them
/// (V19).
enum ContactAddress: Sendable {
    /// The sets with the attributes that form the address. For identifiers, any attribute of a set counts.
    private static let sets: [String: Set<String>] = [
        "Email Addresses": ["Email Address", "HTML Enabled"],
        "MobileConnect Demographics": ["Mobile Number", "Locale"],
        "MobilePush Demographics": ["Device ID", "Application"],
    ]

    /// The required attribute of each set, and the set that another one requires (V47).
    private static let required: [(set: String, part: String)] = [
        ("Email Addresses", "HTML Enabled"), ("MobileConnect Demographics", "Locale"),
        ("MobilePush Demographics", "Application"), ("Email Demographics", "Email Addresses"),
    ]

    /// Returns the first missing requirement of the values' sets; nil if all are complete.
    static func missing(in cells: [ServerCells.Cell]) -> String? {
        let places = cells.compactMap { AttributeSetPlace($0.name) }
        let sets = Set(places.map(\.set))
        return required.first { set, part in
            sets.contains(set) && !sets.contains(part) && !places.contains { $0.set == set && $0.attribute == part }
        }.map { "\($0.set) without \($0.part)" }
    }

    static func isInItsSets(_ cell: ServerCells.Cell) -> Bool {
        AttributeSetPlace(cell.name).map { sets[$0.set] != nil } ?? false
    }

    /// Whether an attribute's value is part of the address, and not only in the same set.
    static func isPart(_ cell: ServerCells.Cell) -> Bool {
        AttributeSetPlace(cell.name).map { sets[$0.set]?.contains($0.attribute) ?? false } ?? false
    }

    /// Reads a member of the option; nil if it is no attribute of an address.
    static func cell(_ member: JSONObject.Member) -> ServerCells.Cell? {
        guard let name = AttributeSetPlace(member.name)?.path else { return nil }
        let cell = ServerCells.Cell(name: name, value: member.value)
        return isInItsSets(cell) && saysSomething(cell) ? cell : nil
    }

    /// Reads a value of the setting; nil if its name is no attribute of a set. `true` and `false` are Booleans.
    static func cell(_ path: String, _ text: String) -> ServerCells.Cell? {
        guard let name = AttributeSetPlace(path)?.path else { return nil }
        let flag: JSONValue? = ["true": true, "false": false][text]
        return ServerCells.Cell(name: name, value: flag ?? .string(text))
    }

    /// Whether it is a number, a boolean, or a text that is neither blank nor too long.
    static func saysSomething(_ cell: ServerCells.Cell) -> Bool {
        guard let text = cell.value.string else { return cell.value.number != nil || cell.value.bool != nil }
        return !text.trimmed.isEmpty && text.utf16.count <= ServerCells.textLimit
    }
}

extension String {
    /// Whether two names refer to the same column, ignoring case (V35).
    func isSameColumn(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) || lowercased() == other.lowercased()
    }
}

extension Finding {
    /// The finding as an error, for an operation without other content.
    var asServerError: Finding {
        var copy = self
        copy.severity = .error
        return copy
    }
}

/// An event that may start a journey.
enum JourneyEvent: Sendable {
    static func problems(_ name: String, _ attributes: [AttributeName: AttributeValue]) -> [Finding] {
        if name.trimmed.isEmpty { return [ServerFinding.eventBlank.at("action.event.name")] }
        return attributes.inOrder.filter { field(of: $0.value) == nil }.map {
            ServerFinding.eventNested.at("action.event.attributes.\($0.key.rawValue)")
        }
    }

    /// Returns a field of the event's data extension as text; nil for a list or an object.
    static func field(of value: AttributeValue) -> JSONValue? { value.plainText.map(JSONValue.string) }
}
