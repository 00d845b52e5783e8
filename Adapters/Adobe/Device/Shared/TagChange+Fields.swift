import PatchbayModel

extension TagChange {
    /// Whether the change names no tag.
    var isEmpty: Bool { replace == nil && add.isEmpty && remove.isEmpty }

    /// Returns the value of each tag that the change sets or removes: `true` or `false`, sorted by tag. A replacement removes
    /// all other tags that have a field.
    func texts(withFields known: some Sequence<Tag>) -> [(tag: Tag, text: String)] {
        let present = applied(to: [])
        let removed = replace == nil ? remove : known + remove
        return Set(removed).union(present).sorted().map { ($0, present.contains($0) ? "true" : "false") }
    }
}
