import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What an operation changes of the registration, with all that is wrong.
struct ClassicChange {
    /// What is wrong, and what is changed on the way.
    private(set) var findings: [Finding] = []
    private var userKey: String??
    private var parameters: [(name: String, text: String?)] = []
    private let settings: AdobeClassicSettings

    init(_ operation: EngagementOperation, _ settings: AdobeClassicSettings) {
        self.settings = settings
        switch operation.action {
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .identify(let identifiers): add(identifiers, at: "action.identifiers", needsKey: false)
        case .switchContact(let change) where change.direction == .logOut: userKey = .some(nil)
        case .switchContact(let change):
            add(change.identifiers, at: "action.switch.identifiers", needsKey: true)
        default: break
        }
    }

    /// The state after the change. What was said of one person is never told of the next.
    func applied(to memory: AdobeClassicMemory) -> AdobeClassicMemory {
        var next = memory
        if let userKey {
            if let former = memory.userKey, ScalarString(former) != userKey.map(ScalarString.init) {
                RuleID.adobe("C20").fire()
                next.parameters = [:]
            }
            next.userKey = userKey
        }
        for parameter in parameters { next.parameters[parameter.name] = parameter.text }
        return next
    }

    /// One identifier is the user key; others are parameters, if the settings name them.
    private mutating func add(_ identifiers: [Identifier], at path: String, needsKey: Bool) {
        RuleID.adobe("C11").fire()
        for (position, identifier) in identifiers.enumerated() {
            if identifier.kind.rawValue == settings.userKey {
                userKey = identifier.value
            } else if let name = settings.identifierParameters[identifier.kind] {
                set(name, identifier.value, "\(path)[\(position)]")
            } else {
                findings.append(FindingRow.identifierUnused.at("\(path)[\(position)].kind"))
            }
        }
        if userKey == nil, needsKey || parameters.isEmpty { findings.append(FindingRow.userKeyMissing.at(path)) }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        if changes.isEmpty { findings.append(FindingRow.attributesEmpty.at("action.changes")) }
        for (name, change) in changes.sorted(by: { $0.key < $1.key }) {
            let path = "action.changes".dot(name.rawValue)
            RuleID.adobe("C13").fire()
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
        if change.replace == nil, change.add.isEmpty, change.remove.isEmpty {
            findings.append(FindingRow.tagsEmpty.at("action.tags"))
        }
        let present = change.applied(to: [])
        let removed: [Tag] = change.replace == nil ? change.remove : settings.tagParameters.keys + change.remove
        for tag in Set(removed).union(present).sorted() {
            guard let name = settings.tagParameters[tag] else {
                findings.append(FindingRow.tagParameterMissing.at("action.tags".dot(tag.rawValue)))
                continue
            }
            RuleID.adobe("C14").fire()
            set(name, present.contains(tag) ? "true" : "false", "action.tags")
        }
    }

    /// XML has no place for control characters, and the vendor takes line breaks out.
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
