import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The changes of a registration that never reached the vendor, because its later changes replaced them completely
/// (S15).
struct Superseding: Sendable {
    let settings: SalesforceSettings

    /// A part of a registration that an operation sets regardless of the previous value.
    private enum Part: Hashable {
        case contactKey, signedString, device, facts, adoptedID, allTags, allAttributes, allPush
        /// The push state, as a person wants it.
        case push(ScalarString?)
        case attribute(String)
        case tag(String)

        var isPush: Bool {
            switch self {
            case .push, .allPush: true
            default: false
            }
        }
    }

    /// The replaced operations, each with the one that replaced it last.
    func find(in operations: [Pending<SalesforceDevice>]) -> [OperationID: OperationID] {
        var owners: [Part: Pending<SalesforceDevice>] = [:]
        var replaced: [OperationID: OperationID] = [:]
        for pending in operations.sorted(by: { $0.sequence > $1.sequence }) {
            let parts = parts(of: pending.operation)
            let later = parts.compactMap { part in owner(of: part, in: owners) }
            if let last = later.max(by: { $0.sequence < $1.sequence }), later.count == parts.count {
                replaced[pending.id] = last.id
            } else {
                for part in parts { owners[part] = pending }
            }
        }
        return replaced
    }

    private func owner(of part: Part, in owners: [Part: Pending<SalesforceDevice>]) -> Pending<SalesforceDevice>? {
        switch part {
        case .tag: owners[part] ?? owners[.allTags]
        case .attribute: owners[part] ?? owners[.allAttributes]
        // A statement of an anonymous person belongs to the next person.
        case .push(nil): owners.filter { $0.key.isPush }.values.max { $0.sequence < $1.sequence }
        case .push: owners[part] ?? owners[.allPush]
        default: owners[part]
        }
    }

    /// Returns the parts that an operation sets; empty if it can't be replaced.
    private func parts(of operation: EngagementOperation) -> [Part] {
        var parts: [Part] = []
        switch SalesforceOptions(operation).signedString {
        case .set, .removed: parts.append(.signedString)
        case .absent, .ignored: break
        }
        switch operation.action {
        case .identify, .switchContact:
            let key = ContactKeyRules.key(of: operation.action.identifiers ?? [], settings: settings)
            if key != nil { parts.append(.contactKey) }
        case .registerDevice(let device):
            parts.append(.device)
            if device.facts != nil { parts.append(.facts) }
            if DeviceRules.adoptedID(of: device) != nil { parts.append(.adoptedID) }
        case .changeAttributes(let changes):
            parts += AttributeRules.judge(changes, settings: settings).kept.map { .attribute($0.name) }
        case .changeTags(let change):
            let kept = TagRules.judge(change).kept
            parts += kept.replace == nil ? (kept.add + kept.remove).map(tag) : [.allTags]
        case .changeSubscription(let subscription):
            let person = operation.contact.map(ScalarString.init)
            parts.append(subscription.topic.map { tag($0.trimmed) } ?? .push(person))
        case .erase: parts += [.allAttributes, .allTags, .signedString, .device, .allPush]
        case .track, .setConsent, .unregister, .readBack: return []
        @unknown default: return []
        }
        return parts
    }

    private func tag(_ text: String) -> Part { .tag(settings.tagsIgnoreCase ? text.lowercased() : text) }
}
