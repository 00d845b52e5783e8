import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Maps tags, for which the vendor has no type of its own, to a multi-selection column with the whole set or to a
/// Yes/No column per tag.
enum TagRules: Sendable {
    /// Returns the findings about a change of tags.
    static func judge(_ change: TagChange, settings: AcousticSettings) -> [Finding] {
        let path = "action.tags"
        if change.replace == nil, change.add.isEmpty, change.remove.isEmpty { return [FindingRow.tagsNothing.at(path)] }
        guard settings.tagsColumn != nil || !settings.tagColumns.isEmpty else {
            return [FindingRow.tagsColumn.at(path)]
        }
        let members = [("replace", change.replace ?? []), ("add", change.add), ("remove", change.remove)]
        return members.flatMap { member, tags in
            tags.enumerated().compactMap { place, tag in
                problem(of: tag, isRemoved: member == "remove", settings: settings)?.at("\(path).\(member)[\(place)]")
            }
        }
    }

    private static func problem(of tag: Tag, isRemoved: Bool, settings: AcousticSettings) -> FindingRow? {
        if settings.tagColumns[exactly: tag] != nil { return nil }
        guard let name = settings.tagsColumn else { return .tagWithoutColumn }
        let column = settings.columns[ScalarString(name)]
        guard case .failure(let problem) = Form.choices([tag.rawValue], column) else { return nil }
        // A tag that the column does not permit can't be in the column, so its removal is complete.
        return isRemoved && problem.row == .choices ? nil : problem.row.isAboutChoices ? .tagValue : problem.row
    }

    /// Returns the entries of a change, and the set of tags after it.
    ///
    /// The entry of the tags' column is last, whether it sets the column or deletes its value.
    static func entries(
        of change: TagChange,
        after tags: Set<Tag>,
        settings: AcousticSettings
    ) -> (entries: [Entry], tags: Set<Tag>?) {
        var flags: [Entry] = []
        for (tag, column) in settings.tagColumns.inOrder {
            guard let isSet = state(of: tag, in: change) else { continue }
            flags.append(Entry(column, WireValue(.boolean, .bool(isSet))))
        }
        guard let column = settings.tagsColumn, touchesSet(change, settings) else { return (flags.inOrder, tags) }
        let after = change.applied(to: tags).filter { settings.tagColumns[exactly: $0] == nil }
        let words = after.sorted().map(\.rawValue)
        let value = words.isEmpty ? nil : WireValue(.string, .string(words.joined(separator: ";")))
        return (flags.inOrder + [Entry(column, value)], after)
    }

    private static func touchesSet(_ change: TagChange, _ settings: AcousticSettings) -> Bool {
        change.replace != nil || (change.add + change.remove).contains { settings.tagColumns[exactly: $0] == nil }
    }

    /// Returns whether a change adds or removes a tag; nil if it does neither.
    private static func state(of tag: Tag, in change: TagChange) -> Bool? {
        func names(_ tags: [Tag]) -> Bool { tags.map(\.rawValue).containsExactly(tag.rawValue) }
        if names(change.add) { return true }
        if names(change.remove) { return false }
        return change.replace.map(names)
    }
}

extension FindingRow {
    /// Whether the finding is about the choices of a multi-selection column.
    fileprivate var isAboutChoices: Bool {
        [.choices, .choicesSeparator, .choicesBlank, .choiceLong, .choicesEmpty].contains(self)
    }
}
