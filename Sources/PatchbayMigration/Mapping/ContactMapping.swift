public import Patchbay
public import PatchbayAdapterKit
public import PatchbayModel

/// Rules that change every contact between two vendors. Each rule is applied to the result of the one before.
///
/// ```swift
/// let mapping = try ContactMapping(json: settings["mapping"] ?? [])
/// var effects = mapping.noEffects
/// let findings = mapping.apply(to: &contact, counting: &effects)
/// ```
public struct ContactMapping: Hashable, Sendable {
    /// The rules, in the order in which they are applied.
    public private(set) var rules: [MappingRule]
    private let types: [AttributeName: AttributeType]

    /// Creates a mapping.
    ///
    /// - Parameters:
    ///   - rules: The rules, in order.
    ///   - catalogue: The types of attributes, for conversion rules that name no type.
    public init(_ rules: [MappingRule] = [], catalogue: AttributeCatalogue = AttributeCatalogue()) {
        self.rules = rules
        types = Dictionary(
            rules.compactMap { rule in
                guard case .convert(.attribute(let name), nil) = rule, let type = catalogue.type(of: name) else {
                    return nil
                }
                return (name, type)
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The mapping with tables that keep unknown values, so that the value of a sample does not reject it.
    var keepingUnknown: ContactMapping {
        var mapping = self
        mapping.rules = rules.map { rule in
            if case .replace(let place, let table, _) = rule { .replace(place, table, otherwise: .keep) } else { rule }
        }
        return mapping
    }

    /// A separate mapping for each rule.
    var alone: [ContactMapping] {
        rules.map { rule in
            var mapping = self
            mapping.rules = [rule]
            return mapping
        }
    }

    /// The type that the catalogue has for a place that a rule converts.
    func type(of place: MappingPlace) -> AttributeType? {
        if case .attribute(let name) = place { types[name] } else { nil }
    }

    /// Whether the mapping has no rules.
    public var isEmpty: Bool { rules.isEmpty }

    /// Initial effects, one for each rule.
    public var noEffects: [MappingEffect] { rules.map { _ in MappingEffect() } }

    /// Applies every rule to a contact.
    ///
    /// - Parameters:
    ///   - contact: The contact. If a finding is an error, do not write it.
    ///   - effects: The counts, one for each rule, to which the effects on this contact are added.
    /// - Returns: The findings, with paths in the contact.
    public func apply(to contact: inout Contact, counting effects: inout [MappingEffect]) -> [Finding] {
        var findings: [Finding] = []
        for (number, rule) in rules.enumerated() {
            let done = apply(rule, number, &contact, &findings)
            switch done {
            case .applied: effects[number].applied += 1
            case .replaced:
                effects[number].applied += 1
                effects[number].replaced += 1
            case .idle: effects[number].idle += 1
            case .failed: effects[number].failed += 1
            }
        }
        return findings
    }

    private enum Done { case applied, replaced, idle, failed }

    private func apply(_ rule: MappingRule, _ number: Int, _ contact: inout Contact, _ findings: inout [Finding])
        -> Done
    {
        let detail = "rule \(number + 1) of the mapping"
        switch rule {
        case .rename(let source, let target):
            guard let value = contact[source] else { return .idle }
            let isTaken = contact[target] != nil
            contact[source] = nil
            return put(value, target, isTaken: isTaken, detail, &contact, &findings)
        case .constant(let target, let value):
            guard contact[target] ?? target.silence != target.taking(value) ?? value else { return .idle }
            return put(value, target, isTaken: contact[target] != nil, detail, &contact, &findings)
        case .fallback(let target, let value):
            let present = contact[target]
            guard present == nil || present == .string(""), target.silence != target.taking(value) ?? value else {
                return .idle
            }
            return put(value, target, isTaken: false, detail, &contact, &findings)
        case .split(let source, let separator, let targets):
            return split(source, separator, targets, detail, &contact, &findings)
        case .join(let sources, let separator, let target):
            return join(sources, separator, target, detail, &contact, &findings)
        case .replace(let place, let table, let otherwise):
            return replace(place, table, otherwise, detail, &contact, &findings)
        case .convert(let place, let type):
            return convert(place, type, detail, &contact, &findings)
        case .remove(let place):
            guard contact[place] != nil else { return .idle }
            contact[place] = nil
            return .applied
        }
    }

    /// Stores a value at a place if the place accepts it.
    private func put(
        _ value: AttributeValue,
        _ target: MappingPlace,
        isTaken: Bool,
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        guard let fitting = target.taking(value) else {
            findings.append(Self.noText.at(target.text, detail: detail))
            return .failed
        }
        contact[target] = fitting
        return isTaken ? .replaced : .applied
    }

    private func split(
        _ source: MappingPlace,
        _ separator: String,
        _ targets: [MappingPlace],
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        guard let value = contact[source] else { return .idle }
        guard case .string(let text) = value else {
            findings.append(Self.noText.at(source.text, detail: detail))
            return .failed
        }
        if targets == [.tags] {
            let words = text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
            contact[source] = nil
            contact.tags.formUnion(words.map(Tag.init(rawValue:)))
            return .applied
        }
        if !targets.contains(source) { contact[source] = nil }
        var (rest, isTaken) = (text, false)
        for (place, target) in targets.enumerated() {
            var part = rest
            if place < targets.count - 1, let range = rest.firstRange(of: separator) {
                (part, rest) = (String(rest[..<range.lowerBound]), String(rest[range.upperBound...]))
            } else {
                rest = ""
            }
            guard !part.isEmpty else { continue }
            isTaken = isTaken || target != source && contact[target] != nil
            contact[target] = .string(part)
        }
        return isTaken ? .replaced : .applied
    }

    private func join(
        _ sources: [MappingPlace],
        _ separator: String,
        _ target: MappingPlace,
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        var texts: [String] = []
        for source in sources {
            guard let value = contact[source] else { continue }
            guard let text = value.plainText else {
                findings.append(Self.noText.at(source.text, detail: detail))
                return .failed
            }
            if !text.isEmpty { texts.append(text) }
        }
        guard !texts.isEmpty else { return .idle }
        let isTaken = contact[target] != nil && !sources.contains(target)
        for source in sources where source != target { contact[source] = nil }
        contact[target] = .string(texts.joined(separator: separator))
        return isTaken ? .replaced : .applied
    }

    private func replace(
        _ place: MappingPlace,
        _ table: MappingTable,
        _ otherwise: MappingRule.Otherwise,
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        guard let value = contact[place] else { return .idle }
        if place == .tags { return replaceTags(table, otherwise, detail, &contact, &findings) }
        if let text = value.plainText, let other = table[text] {
            guard other != value else { return .idle }
            let done = put(other, place, isTaken: false, detail, &contact, &findings)
            return done
        }
        switch otherwise {
        case .keep: return .idle
        case .drop:
            findings.append(Self.unknownDropped.at(place.text, detail: detail))
            contact[place] = nil
        case .reject: findings.append(Self.unknownRejected.at(place.text, detail: detail))
        }
        return .failed
    }

    /// Replaces each tag of a contact according to a table.
    private func replaceTags(
        _ table: MappingTable,
        _ otherwise: MappingRule.Otherwise,
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        var (tags, hasUnknown) = (Set<Tag>(), false)
        for tag in contact.tags {
            if let word = table[tag.rawValue]?.plainText {
                tags.insert(Tag(rawValue: word))
            } else {
                hasUnknown = true
                if otherwise == .keep { tags.insert(tag) }
            }
        }
        if hasUnknown, otherwise == .reject {
            findings.append(Self.unknownRejected.at("tags", detail: detail))
            return .failed
        }
        if hasUnknown, otherwise == .drop { findings.append(Self.unknownDropped.at("tags", detail: detail)) }
        guard tags != contact.tags else { return .idle }
        contact.tags = tags
        return .applied
    }

    private func convert(
        _ place: MappingPlace,
        _ type: AttributeType?,
        _ detail: String,
        _ contact: inout Contact,
        _ findings: inout [Finding]
    ) -> Done {
        guard let value = contact[place] else { return .idle }
        guard let wanted = type ?? self.type(of: place), wanted != value.type else { return .idle }
        guard let converted = value.converted(to: wanted) else {
            findings.append(
                Self.typeLost.at(place.text, detail: "\(detail), \(value.type.rawValue) to \(wanted.rawValue)")
            )
            return .failed
        }
        return put(converted, place, isTaken: false, detail, &contact, &findings)
    }

    // MARK: Findings

    static let noText = FindingRow(
        .error("mapping.value.noText", .invalid),
        reason:
            "The target of the rule does not accept this value: tags accept words, a single tag true or "
            + "false, and any other target one text that is not empty",
        remedy: "Map the value to an accepted one, or reject such contacts with an earlier rule."
    )
    static let unknownDropped = FindingRow(
        .warning("mapping.value.unknown", .invalid),
        reason: "The rule has no entry for the value, so it is left out",
        remedy: "Add it to the rule's values, or set otherwise to keep."
    )
    static let unknownRejected = FindingRow(
        .error("mapping.value.rejected", .invalid),
        reason: "The rule has no entry for the value and rejects such contacts",
        remedy: "Add it to the rule's values, or set otherwise to keep or drop."
    )
    static let typeLost = FindingRow(
        .error("mapping.value.type", .invalid),
        reason: "The value does not convert without loss",
        remedy: "Correct it in the source, or convert to another type."
    )
}
