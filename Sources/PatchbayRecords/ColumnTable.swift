import PatchbayModel

/// The columns of one file with their indexes, for reading and writing rows. It is created once per file.
final class ColumnTable: Sendable {
    let file: ContactFile
    let columns: [ContactColumn]
    let places: [ContactPlace: Int]
    /// The columns that no row may leave blank, by index.
    let required: [Int]
    /// The kinds of identifiers with their columns. The identifier that identifies a contact elsewhere comes first.
    let identifiers: [(kind: IdentifierKind, column: Int)]
    let attributes: [(name: AttributeName, column: Int)]
    let tags: [(tag: Tag, column: Int)]
    /// The channels and topics for which columns state a decision, by a consent value or by dates.
    let wishes: [Subscription.Key]
    /// The columns with consent values.
    let states: [Subscription.Key: [Int]]
    /// The columns that state a denial, with the meanings of their words.
    let denials: [(scope: Consent.Scope, column: Int, words: [String: Bool])]
    /// The text forms of each column's values.
    let forms: [FieldForms]

    init(_ file: ContactFile, _ columns: [ContactColumn]) {
        (self.file, self.columns) = (file, columns)
        let places = Dictionary(columns.enumerated().map { ($0.element.place, $0.offset) }) { first, _ in first }
        self.places = places
        forms = columns.map(file.forms)
        required = columns.indices.filter { file.isRequired(columns[$0]) }
            .sorted { columns[$0].name < columns[$1].name }
        identifiers = places.compactMap { place, column in
            if case .identifier(let kind) = place { (kind, column) } else { nil }
        }
        .sorted { $0.0.place < $1.0.place }
        attributes = places.compactMap { place, column in
            if case .attribute(let name) = place { (name, column) } else { nil }
        }
        .sorted { $0.0 < $1.0 }
        tags = places.compactMap { place, column in if case .tag(let tag) = place { (tag, column) } else { nil } }
            .sorted { $0.0 < $1.0 }
        let keys = places.keys.compactMap { place -> Subscription.Key? in
            switch place {
            case .state(let key, _), .optIn(let key), .optOut(let key): key
            default: nil
            }
        }
        wishes = Set(keys).sorted()
        states = columns.indices.reduce(into: [:]) { states, index in
            guard case .state(let key, _) = columns[index].place, places[columns[index].place] == index else { return }
            states[key, default: []].append(index)
        }
        denials = places.compactMap { place, column in
            guard case .denied(let scope) = place else { return nil }
            return (scope, column, file.settings.forms.denials(of: columns[column]))
        }
        .sorted { $0.0 < $1.0 }
    }
}
