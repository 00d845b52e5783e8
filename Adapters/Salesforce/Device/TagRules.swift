import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Validates tags.
enum TagRules: Sendable {
    /// A change with valid tags, trimmed.
    struct Change: Equatable, Sendable {
        /// The whole new set; nil keeps the present one.
        var replace: [String]?
        var add: [String] = []
        var remove: [String] = []

        /// Whether the change is empty.
        var isEmpty: Bool { replace == nil && add.isEmpty && remove.isEmpty }
    }

    /// The tags that the platform itself adds to every registration (T5).
    static func automatic(on platform: String, isDebugBuild: Bool) -> [String] {
        ["ALL", platform.lowercased() == "android" ? "Android" : "IOS"] + (isDebugBuild ? ["DEBUG"] : [])
    }

    private static let reserved: Set<String> = ["all", "ios", "android", "debug"]

    /// Returns the finding about an invalid tag; nil if the tag is valid.
    static func problem(of tag: String) -> FindingRow? {
        let text = tag.trimmed
        if text.isEmpty { return .tagBlank }
        return reserved.contains(text.lowercased()) ? .tagReserved : nil
    }

    /// Validates each tag separately. Returns the valid tags and the findings.
    static func judge(_ change: TagChange) -> (kept: Change, findings: [Finding]) {
        var findings: [Finding] = []
        func pass(_ tags: [Tag], _ member: String) -> [String] {
            tags.enumerated().compactMap { place, tag in
                let text = tag.rawValue.trimmed
                guard let row = problem(of: tag.rawValue) else { return text }
                findings.append(row.at("action.tags.\(member)[\(place)]"))
                return nil
            }
        }
        let replace = change.replace.map { pass($0, "replace") }
        let isLost = replace?.isEmpty == true && change.replace?.isEmpty == false
        let kept = Change(
            replace: isLost ? nil : replace,
            add: pass(change.add, "add"),
            remove: pass(change.remove, "remove")
        )
        return (kept, findings)
    }

    /// The app's tags after a change: a set in ascending order (T3, T4, T11).
    static func applying(_ change: Change, to tags: [String], ignoringCase: Bool) -> [String] {
        func key(_ tag: String) -> String { ignoringCase ? tag.lowercased() : tag }
        var present = Dictionary(tags.map { (key($0), $0) }) { first, _ in first }
        if let replace = change.replace {
            present = [:]
            insert(replace)
        }
        for tag in change.remove { present.removeValue(forKey: key(tag)) }
        insert(change.add)
        return present.values.sorted { $0.precedes($1) }

        func insert(_ tags: [String]) {
            for tag in tags { present[key(tag)] = tag }
        }
    }
}
