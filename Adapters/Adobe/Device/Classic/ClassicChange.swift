import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The registration after an operation, with all findings.
struct ClassicChange {
    /// The errors and conversions.
    private(set) var findings: [Finding] = []
    private var userKey: String?
    private var parameters: [(name: String, text: String?)] = []
    private let settings: AdobeClassicSettings
    private let action: Action

    init(_ operation: EngagementOperation, _ settings: AdobeClassicSettings) {
        (self.settings, action) = (settings, operation.action)
        switch operation.action {
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .identify(let identifiers): add(identifiers, at: "action.identifiers", needsKey: false)
        case .switchContact(let change) where change.direction == .logIn:
            add(change.identifiers, at: "action.switch.identifiers", needsKey: true)
        default: break
        }
    }

    /// Whether the operation changes the person.
    var isSwitch: Bool { action.kind == .switchContact }
    /// Whether the change logs a known person out.
    var isLogOut: Bool { if case .switchContact(let change) = action { change.direction == .logOut } else { false } }

    /// Returns the memory with the operation's person. Values of another person are not kept.
    func person(in memory: AdobeClassicMemory, contact: String?, _ sequence: Int64) -> AdobeClassicMemory {
        var next = memory
        switch action {
        case .switchContact(let change) where change.direction == .logOut:
            guard !next.who.isUnknown || next.userKey != nil else { return next }
            next.begin(Person(), userKey: nil, sequence)
        case .switchContact(let change):
            let who = Person(change.identifiers, contact: contact)
            if next.who.differs(from: who) {
                next.begin(who, userKey: userKey, sequence)
            } else {
                next.who.join(who)
                replaceKey(in: &next)
            }
        case .identify(let identifiers):
            let who = Person(identifiers, contact: contact)
            if let external = who.external, let known = next.who.external, external != known {
                next.begin(who, userKey: userKey, sequence, keepingConsents: true)
            } else {
                next.who.join(who)
                replaceKey(in: &next)
            }
        default:
            guard let contact else { return next }
            if next.who.differs(from: contact) {
                // The engine registers the installation again for a person whose consents allow it.
                let isRegistration = action.kind == .registerDevice
                next.begin(Person([], contact: contact), userKey: nil, sequence, keepingConsents: !isRegistration)
            } else {
                next.who.join(Person([], contact: contact))
            }
        }
        return next
    }

    /// Sets the operation's user key, if it has one. Another key starts with empty parameters.
    private func replaceKey(in memory: inout AdobeClassicMemory) {
        guard let userKey else { return }
        if let former = memory.userKey, ScalarString(former) != ScalarString(userKey) { memory.parameters = [:] }
        memory.userKey = userKey
    }

    /// Returns the state after the vendor accepted the change.
    func applied(to memory: AdobeClassicMemory) -> AdobeClassicMemory {
        var next = memory
        for parameter in parameters { next.parameters[parameter.name] = parameter.text }
        return next
    }

    /// Adds identifiers. One is the user key; others are parameters if the settings name them.
    private mutating func add(_ identifiers: [Identifier], at path: String, needsKey: Bool) {
        for (position, identifier) in identifiers.enumerated() {
            if identifier.kind.rawValue == settings.userKey {
                userKey = identifier.value
            } else if let name = settings.identifierParameters[identifier.kind] {
                set(name, identifier.value, "\(path)[\(position)]")
            } else {
                findings.append(FindingRow.identifierUnused.at("\(path)[\(position)].kind"))
            }
        }
        guard userKey == nil, needsKey || parameters.isEmpty else { return }
        // A change of person counts without a user key, too.
        findings.append((needsKey ? FindingRow.userKeyNone : .userKeyMissing).at(path))
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        if changes.isEmpty { findings.append(FindingRow.attributesEmpty.at("action.changes")) }
        for (name, change) in changes.inOrder {
            let path = "action.changes".dot(name.rawValue)
            let parameter = settings.parameterNames[name] ?? name.rawValue
            switch change {
            case .set(let value):
                guard let text = value.campaignText(settings.timeForm) else {
                    findings.append(FindingRow.parameterNested.at(path))
                    continue
                }
                set(parameter, text, path)
            case .unset: set(parameter, nil, path)
            case .increment, .append, .remove: findings.append(FindingRow.parameterInstruction.at(path))
            }
        }
    }

    private mutating func add(_ change: TagChange) {
        let path = "action.tags"
        if change.isEmpty { findings.append(FindingRow.tagsEmpty.at(path)) }
        for (tag, text) in change.texts(withFields: settings.tagParameters.keys) {
            guard let name = settings.tagParameters[tag] else {
                findings.append(FindingRow.tagParameterMissing.at(path.dot(tag.rawValue)))
                continue
            }
            set(name, text, path)
        }
    }

    /// Sets a parameter. XML permits no control characters, and the vendor removes line breaks.
    private mutating func set(_ name: String, _ text: String?, _ path: String) {
        let scalars = [name, text ?? ""].flatMap(\.unicodeScalars)
        if scalars.contains(where: { $0.value < 0x20 && !["\r", "\n", "\t"].contains($0) }) {
            findings.append(FindingRow.parameterControl.at(path))
        } else if scalars.contains(where: { $0 == "\r" || $0 == "\n" }) {
            findings.append(FindingRow.parameterLines.at(path))
        }
        parameters.append((name, text))
    }
}
