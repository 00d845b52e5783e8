import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The fields of a mobile profile that an operation changes, as text, with all findings.
struct ProfileFields {
    /// Names that the vendor keeps for itself.
    static let reserved = ["marketingCloudId", "pushPlatform"]

    /// Texts by field id.
    private(set) var texts = JSONObject()
    /// The errors and omissions.
    private(set) var findings: [Finding] = []
    private let settings: AdobeSettings

    init(_ operation: EngagementOperation, _ settings: AdobeSettings) {
        self.settings = settings
        switch operation.action {
        case .changeAttributes(let changes): add(changes)
        case .changeTags(let change): add(change)
        case .identify(let identifiers): add(identifiers, at: "action.identifiers")
        case .switchContact(let change):
            add(change.identifiers, at: "action.switch.identifiers", isSwitch: true)
        default: break
        }
    }

    private mutating func add(_ changes: [AttributeName: AttributeChange]) {
        if changes.isEmpty { findings.append(FindingRow.attributesEmpty.at("action.changes")) }
        for (name, change) in changes.inOrder {
            let path = "action.changes".dot(name.rawValue)
            guard let field = settings.field(of: name) else {
                findings.append(FindingRow.attributeUnmapped.at(path))
                continue
            }
            switch change {
            case .set(let value):
                if let text = value.campaignText(settings.timeForm) {
                    set(field, text, path)
                } else {
                    findings.append(FindingRow.attributeNested.at(path))
                }
            case .unset where settings.unsetAttributes == .empty: set(field, "", path)
            case .unset: findings.append(FindingRow.attributeUnset.at(path))
            case .increment, .append, .remove: findings.append(FindingRow.attributeInstruction.at(path))
            }
        }
    }

    private mutating func add(_ change: TagChange) {
        let path = "action.tags"
        if change.isEmpty { findings.append(FindingRow.tagsEmpty.at(path)) }
        for (tag, text) in change.texts(withFields: settings.tagFields.keys) {
            guard let field = settings.tagFields[tag] else {
                findings.append(FindingRow.tagUnmapped.at(path.dot(tag.rawValue)))
                continue
            }
            set(field, text, path)
        }
    }

    private mutating func add(_ identifiers: [Identifier], at path: String, isSwitch: Bool = false) {
        for (position, identifier) in identifiers.enumerated() {
            let path = "\(path)[\(position)]"
            guard let field = settings.identifierFields[identifier.kind] else {
                findings.append(FindingRow.identifierUnmapped.at("\(path).kind"))
                continue
            }
            set(field, identifier.value, path)
        }
        guard texts.isEmpty else { return }
        if isSwitch { return findings.append(FindingRow.personUnreconciled.at(path)) }
        findings.append(FindingRow.identifiersNone.at(path))
    }

    private mutating func set(_ field: String, _ text: String, _ path: String) {
        if let other = texts[field], other != .string(text) {
            findings.append(FindingRow.fieldTwice.at(path, detail: "field \(field)"))
        }
        texts[field] = .string(text)
    }
}

extension AdobeSettings {
    /// The field of an attribute: the one that the settings name, else its own name if that has the form of a field id.
    func field(of name: AttributeName) -> String? {
        if let field = attributeFields[name] { return field }
        let own = name.rawValue
        let isID =
            own.hasPrefix("cus") && own.utf8.count > 3
            && own.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
                default: false
                }
            }
        return isID ? own : nil
    }

    /// The findings about combinations of settings.
    var problems: [Finding] {
        let names: [(String, [(String, String)])] = [
            ("attributeFields", attributeFields.map { ($0.key.rawValue, $0.value) }),
            ("identifierFields", identifierFields.map { ($0.key.rawValue, $0.value) }),
            ("tagFields", tagFields.map { ($0.key.rawValue, $0.value) }),
        ]
        return names.flatMap { setting, pairs in
            pairs.sorted { $0.0 < $1.0 }.filter { ProfileFields.reserved.contains($0.1) }.map {
                FindingRow.fieldReserved.at("settings".dot(setting).dot($0.0))
            }
        }
    }
}

extension AttributeValue {
    /// Returns the value in a field's form, as one line of text; nil for several values.
    package func campaignText(_ form: AdobeSettings.TimeForm) -> String? {
        switch self {
        case .choices, .list, .object: nil
        case .timestamp(let time):
            form == .iso ? time.text(fractionDigits: 3) : time.text(fractionDigits: 3).replacing("T", with: " ")
        default: plainText
        }
    }
}
