import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The column values that one operation writes for its contact, with findings.
struct ServerCells: Sendable {
    /// A value under its column's name.
    struct Cell: PlacedValue, Equatable {
        var column: String
        var value: String

        /// The column's name in ASCII: canonically equivalent names are different columns.
        var place: String { Place.name(column) }
    }

    /// The values to write, one per column, in the order of the neutral names.
    private(set) var cells: [Cell] = []
    /// The contact lists that the contact joins, in order of the neutral names.
    private(set) var lists: [String] = []
    /// The findings; one is an error if no value is left to write.
    private(set) var findings: [Finding] = []
    /// The paths of invalid entries that the settings leave out.
    private(set) var leftOut: [String] = []
    /// Whether the operation contains only the contact's key, which is part of every call.
    private(set) var isKeyAlone = false

    private let settings: AcousticServerSettings
    /// The columns of the cells.
    private var columns: Set<ScalarString> = []

    init(_ operation: EngagementOperation, _ settings: AcousticServerSettings) {
        self.settings = settings
        switch operation.action {
        case .identify(let identifiers): add(identifiers, key: operation.contactKey)
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .changeSubscription(let subscription): add(subscription, operation)
        default: break
        }
        if cells.isEmpty, lists.isEmpty, findings.isEmpty, !isKeyAlone {
            findings = [ServerFinding.nothing.at("action")]
        }
        settle()
    }

    /// Rejects the whole operation for one bad entry, unless the settings leave invalid entries out (S24).
    private mutating func settle() {
        guard findings.contains(where: { $0.severity == .error }) else { return }
        guard settings.onInvalid == .sendValid, !(cells.isEmpty && lists.isEmpty) else {
            return (cells, lists) = ([], [])
        }
        for place in findings.indices where findings[place].severity == .error {
            findings[place].severity = .warning
            leftOut.append(findings[place].path)
        }
    }

    // MARK: Kinds

    private mutating func add(_ identifiers: [Identifier], key: String) {
        for (place, identifier) in identifiers.enumerated() {
            let path = "action.identifiers[\(place)]"
            let isKey = ScalarString.equal(identifier.value.trimmed, key)
            let column = settings.identifierColumns[exactly: identifier.kind]
            if identifier.kind == .external {
                if isKey { isKeyAlone = true } else { findings.append(ServerFinding.keyOther.at(path)) }
            } else if let column {
                put(.string(identifier.value.trimmed), column, path)
            } else if identifier.kind == .email, settings.isKeyedByEmail, isKey {
                isKeyAlone = true
            } else {
                findings.append(ServerFinding.nameMissing.at(path))
            }
        }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        for (name, change) in changes.inOrder {
            let path = "action.changes".dot(name.rawValue)
            let column = settings.attributeNames[exactly: name] ?? name.rawValue
            switch change {
            case .set(let value): put(value, column, path)
            case .unset: clear(column, path)
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
            if settings.tagLists.keys.contains(where: { states[$0] == nil }) {
                findings.append(ServerFinding.listStays.at("action.tags"))
            }
        }
        for tag in change.remove { states[tag] = false }
        for tag in change.add { states[tag] = true }
        for (tag, isOn) in states.inOrder {
            if let column = settings.tagColumns[exactly: tag] {
                put(.boolean(isOn), column, "action.tags")
            } else if let list = settings.tagLists[exactly: tag] {
                join(list, isOn, "action.tags")
            } else {
                findings.append(ServerFinding.nameMissing.at("action.tags"))
            }
        }
    }

    private mutating func add(_ subscription: Subscription, _ operation: EngagementOperation) {
        let path = "action.subscription"
        guard subscription.channel != .inApp else {
            return findings.append(ServerFinding.subscriptionChannel.at("\(path).channel"))
        }
        switch subscription.state {
        case .unknown: return findings.append(ServerFinding.subscriptionUnknown.at("\(path).state"))
        case .suspended where subscription.list(settings) != nil: break
        case .suspended: findings.append(ServerFinding.subscriptionSuspended.at("\(path).state"))
        case .subscribed, .unsubscribed: break
        }
        if subscription.consentName(settings) != nil { return addConsent(subscription, operation, path) }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(ServerFinding.subscriptionDetails.at(path))
        }
        if let column = subscription.column(settings) {
            put(.boolean(subscription.state == .subscribed), column, path)
        } else if let list = subscription.list(settings) {
            join(list, subscription.state == .subscribed, path)
        } else if subscription.isOptOut(settings) {
            isKeyAlone = true
        } else {
            let isAddress = subscription.channel == .email && subscription.topic == nil
            findings.append((isAddress ? ServerFinding.optIn : ServerFinding.nameMissing).at(path))
        }
    }

    /// Handles membership of a list. A contact can join a list, but not leave it (S56).
    private mutating func join(_ list: String, _ isOn: Bool, _ path: String) {
        if isOn { return lists.append(list) }
        findings.append(ServerFinding.listLeft.at(path))
    }

    /// A consent is written by a request of its own, and not into a column.
    private mutating func addConsent(_ subscription: Subscription, _ operation: EngagementOperation, _ path: String) {
        isKeyAlone = true
        findings += subscription.consentFindings(at: path)
        if let problem = ConsentPlace(operation, settings)?.problem(settings) { findings.append(problem.at(path)) }
    }

    // MARK: Values

    private mutating func put(_ value: AttributeValue, _ name: String, _ path: String) {
        guard let column = column(name, path) else { return }
        switch ServerForm.text(value, column.known, settings) {
        case .success(let text):
            if case .timestamp(let instant) = value, instant.nanoseconds != 0 {
                findings.append(ServerFinding.valuePrecision.at(path))
            }
            if !settings.allowsHTML, text.contains("<") { findings.append(ServerFinding.valueMarkup.at(path)) }
            add(Cell(column: name, value: text), path)
        case .failure(let problem): findings.append(problem.row.at(path, detail: problem.detail))
        }
    }

    private mutating func clear(_ name: String, _ path: String) {
        guard column(name, path) != nil else { return }
        guard settings.unset == .blank else { return findings.append(ServerFinding.unsetRefused.at(path)) }
        add(Cell(column: name, value: ""), path)
    }

    private mutating func add(_ cell: Cell, _ path: String) {
        guard columns.insert(ScalarString(cell.column)).inserted else {
            return findings.append(ServerFinding.columnTwice.at(path))
        }
        cells.append(cell)
    }

    /// Returns a column, as far as the settings describe it; nil if it must not be written.
    private mutating func column(_ name: String, _ path: String) -> (name: String, known: Column?)? {
        if settings.isKey(name) {
            findings.append(ServerFinding.columnKey.at(path))
            return nil
        }
        guard !settings.columns.isEmpty else {
            guard AttributeRules.nameLengths.contains(name.utf16.count), XMLTree.canHold(name) else {
                findings.append(ServerFinding.columnName.at(path, detail: "\(name.utf16.count) characters"))
                return nil
            }
            return (name, nil)
        }
        guard let column = settings.columns[ScalarString(name)] else {
            findings.append(ServerFinding.columnUnknown.at(path))
            return nil
        }
        if column.type.isUnwritable {
            findings.append(ServerFinding.columnUnwritable.at(path, detail: "type \(column.type.rawValue)"))
            return nil
        }
        if column.owner == .device { findings.append(ServerFinding.columnOfDevice.at(path)) }
        return (name, column)
    }
}

extension ColumnType {
    /// Whether neither a device nor a back end may write it as a plain value.
    fileprivate var isUnwritable: Bool {
        switch self {
        case .segmenting, .system, .smsOptIn, .smsOptOutDate, .syncId: true
        default: false
        }
    }
}

extension Subscription {
    /// Returns the column of the subscription; nil if the settings name none.
    func column(_ settings: AcousticServerSettings) -> String? {
        settings.subscriptionColumns[exactly: AcousticSourceName(rawValue: key.settingName)]
    }

    /// Whether the vendor's own call reports the opt-out: one from all e-mail, unless a column contains it.
    func isOptOut(_ settings: AcousticServerSettings) -> Bool {
        channel == .email && topic == nil && state.isOptOut && column(settings) == nil
    }
}
