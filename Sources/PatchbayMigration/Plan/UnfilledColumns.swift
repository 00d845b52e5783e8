import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

extension Migration {
    /// Leaves out the columns of the target file that no record of a source and no mapping rule can fill.
    ///
    /// A blank cell may overwrite a value that the vendor has. Nothing is left out if the source is not a regular file, or if
    /// it cannot be read to its end, because the migration itself reports why. A column that the target's setting `columns`
    /// names is always written, and so is the column of the key. The header of delimited text states what its records can
    /// contain. A source without one is read until every column is known to be filled.
    ///
    /// - Parameters:
    ///   - path: The source.
    ///   - head: The first bytes of the source: ``FileSource/rowsHead(of:)``.
    ///   - readsRecords: Whether a source without a header is read.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true ends the reading.
    public mutating func omitUnfilledColumns(
        in path: String,
        head: [UInt8]?,
        readsRecords: Bool = true,
        progress: @escaping (Progress) -> Void = { _ in },
        isCancelled: @escaping () -> Bool = { false }
    ) {
        let candidates = omissibleColumns
        guard !candidates.isEmpty, readsRecords || !recordsDecideColumns else { return }
        guard case .columns(let layout)? = sourceLayout else {
            let input = try? InputIdentity(FileSource(path: path), path: path)
            omit(unfilledColumns(inRecordsOf: path, among: candidates, progress, isCancelled))
            return surveyedInput = omittedColumns.isEmpty ? nil : input
        }
        var columns: [ColumnLayout.Column]?
        layout.eachRow(ofHead: head ?? []) { found, _ in
            columns = found
            return false
        }
        guard let columns else { return }
        var filled = FilledPlaces(columns.map(\.role))
        filled.hasConsent = filled.hasConsent || !layout.everyRow.isEmpty
        omit(unfilledColumns(filled, among: candidates))
    }

    /// Returns the columns that no record fills, according to the survey of a source.
    func unfilledColumns(_ survey: Survey) -> [String] { unfilledColumns(survey, among: omissibleColumns) }

    private func unfilledColumns(_ survey: Survey, among columns: [ContactColumn]) -> [String] {
        FilledPlaces(survey).map { unfilledColumns($0, among: columns) } ?? []
    }

    private func unfilledColumns(_ filled: FilledPlaces, among columns: [ContactColumn]) -> [String] {
        var filled = filled
        for rule in mapping.rules { filled.apply(rule) }
        return columns.filter { !filled.contains($0.place) }.map(\.name)
    }

    private func unfilledColumns(
        inRecordsOf path: String,
        among candidates: [ContactColumn],
        _ progress: @escaping (Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) -> [String] {
        guard var source = try? FileSource(path: path), source.rereadablePath != nil else { return [] }
        let surveyor = Surveyor(activity: nil, countsKeys: false)
        let isDone = { isCancelled() || unfilledColumns(surveyor.survey, among: candidates).isEmpty }
        var (survey, company) = (self, Company(surveyor: surveyor))
        // Opt-outs need not be known, because an opt-in that an opt-out lowers fills the same column.
        (survey.earlier, company.ignoresOptOuts) = (nil, true)
        let report = try? survey.run(&source, to: nil, nil, nil, company, progress, isDone)
        guard report?.isComplete == true, (try? surveyor.finish()) != nil else { return [] }
        return unfilledColumns(surveyor.survey, among: candidates)
    }

    /// Whether the records of the source, not a header, decide which columns are filled.
    var recordsDecideColumns: Bool { if case .columns? = sourceLayout { false } else { true } }

    /// Whether the target is a file with columns that are not written if nothing fills them.
    public var hasOmissibleColumns: Bool { !omissibleColumns.isEmpty }

    /// The columns of the target file that neither a setting nor the vendor requires.
    private var omissibleColumns: [ContactColumn] {
        guard let file = targetFile, file.dialect.hasHeader else { return [] }
        let named = Set(file.settings.columns.map { ColumnName(rawValue: $0.name).key })
        return file.writtenColumns.filter { column in
            !file.isRequired(column) && !named.contains(ColumnName(rawValue: column.name).key)
        }
    }
}

/// The parts of a contact that some record of a source may have.
private struct FilledPlaces {
    private var identifiers: Set<IdentifierKind> = []
    private var attributes: Set<AttributeName> = []
    private var (hasTags, hasLocale, hasTimeZone, hasDevice) = (false, false, false, false)
    var hasConsent = false

    /// Creates the parts that columns of a source can fill.
    init(_ roles: [ColumnLayout.Role]) {
        for role in roles {
            switch role {
            case .identifier(let kind): identifiers.insert(kind)
            case .attribute(let name, _): attributes.insert(name)
            case .locale: hasLocale = true
            case .timeZone: hasTimeZone = true
            case .tags, .tag: hasTags = true
            case .wish, .denied: hasConsent = true
            case .device: hasDevice = true
            case .ignored: break
            }
        }
    }

    /// Creates the parts that a survey found in the records of a source; nil if it found too many attributes to count each
    /// name.
    init?(_ survey: Survey) {
        identifiers = Set(survey.identifiers.keys.map(IdentifierKind.init(rawValue:)))
        attributes = Set(survey.attributes.keys.map { AttributeName(rawValue: $0.name) })
        guard !attributes.contains(AttributeName(rawValue: Survey.otherNames)) else { return nil }
        (hasTags, hasLocale, hasTimeZone) = (survey.withTags > 0, survey.withLocale > 0, survey.withTimeZone > 0)
        (hasDevice, hasConsent) = (survey.devices > 0, !survey.moves.isEmpty)
    }

    /// Adds the parts that a rule writes, and removes those that it moves or removes.
    mutating func apply(_ rule: MappingRule) {
        switch rule {
        case .rename(let source, let target):
            if contains(source) { insert(target) }
            remove(source)
        case .constant(let target, _), .fallback(let target, _), .join(_, _, let target): insert(target)
        case .split(_, _, let targets): targets.forEach { insert($0) }
        case .replace(let place, _, _), .convert(let place, _): if contains(place) { insert(place) }
        case .remove(let place): remove(place)
        }
    }

    private mutating func insert(_ place: MappingPlace) {
        switch place {
        case .attribute(let name): attributes.insert(name)
        case .identifier(let kind): identifiers.insert(kind)
        case .locale: hasLocale = true
        case .timeZone: hasTimeZone = true
        case .tags, .tag: hasTags = true
        case .subscription: hasConsent = true
        }
    }

    /// Removes an attribute. For any other place, another part of the contact may still fill the same columns.
    private mutating func remove(_ place: MappingPlace) {
        if case .attribute(let name) = place { attributes.remove(name) }
    }

    private func contains(_ place: MappingPlace) -> Bool {
        switch place {
        case .attribute(let name): attributes.contains(name)
        case .identifier(let kind): identifiers.contains(kind)
        case .locale: hasLocale
        case .timeZone: hasTimeZone
        case .tags, .tag: hasTags
        case .subscription: hasConsent
        }
    }

    /// Whether a column for a place may get a value.
    func contains(_ place: ContactPlace) -> Bool {
        switch place {
        case .identifier(let kind): identifiers.contains(kind)
        case .attribute(let name): attributes.contains(name)
        case .tags, .tag: hasTags
        case .locale: hasLocale
        // A device's offset from UTC is a time zone, too.
        case .timeZone: hasTimeZone || hasDevice
        case .state, .optIn, .optOut, .changedAt, .source, .denied: hasConsent
        case .device: hasDevice || hasTimeZone
        case .ignored: false
        }
    }
}
