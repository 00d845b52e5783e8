public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

extension Migration {
    /// The columns of a target file that no column of the source and no mapping rule can fill.
    ///
    /// A blank cell may overwrite a value that the vendor has, so these columns are not written. A column that the target's setting
    /// `columns` names is always written, and so is the key's.
    ///
    /// - Parameters:
    ///   - source: the source's format and settings; only delimited text has a header that states what its records can hold.
    ///   - target: the target's format and settings.
    ///   - mapping: the rules between both.
    ///   - head: the first bytes of the source: ``FileSource/rowsHead(of:)``.
    /// - Returns: the names, in the order of the target's header; none if the source's header does not decide it, or if the
    ///   settings cannot be read.
    public static func unfilledColumns(
        from source: (format: RecordFormat, settings: JSONObject),
        to target: (format: RecordFormat, settings: JSONObject),
        mapping: ContactMapping,
        inHead head: [UInt8]
    ) -> [String] {
        guard case .columns(let layout)? = try? source.format.makeSourceLayout?(source.settings),
            case .rows(let file, _)? = try? target.format.makeTargetLayout?(target.settings), file.dialect.hasHeader
        else { return [] }
        var columns: [ColumnLayout.Column]?
        layout.eachRow(ofHead: head) { found, _ in
            columns = found
            return false
        }
        guard let columns else { return [] }
        var filled = FilledPlaces(columns.map(\.role))
        filled.hasConsent = filled.hasConsent || !layout.everyRow.isEmpty
        for rule in mapping.rules { filled.apply(rule) }
        let named = Set(file.settings.columns.map { ColumnName(rawValue: $0.name).key })
        return file.writtenColumns.filter { column in
            !file.isRequired(column) && !named.contains(ColumnName(rawValue: column.name).key)
                && !filled.contains(column.place)
        }
        .map(\.name)
    }
}

/// The parts of a contact that some record of a source may have.
private struct FilledPlaces {
    private var identifiers: Set<IdentifierKind> = []
    private var attributes: Set<AttributeName> = []
    private var (hasTags, hasLocale, hasTimeZone, hasDevice) = (false, false, false, false)
    var hasConsent = false

    /// What the columns of a source hold.
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

    /// Adds what a rule writes, and removes what it moves away.
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

    /// Removes an attribute; of everything else another part of the contact may be left.
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

    /// Whether a column of that place may get a value.
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
