import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The rules of a mapping, compiled to steps on a view.
///
/// A step changes a view as ``ContactMapping`` changes a contact. Cases that a step does not support are left to the rule
/// itself, which is applied to a contact with the places that the rule names.
final class MappingPlan {
    /// A part of a view that a step reads or writes.
    struct Spot: BitwiseCopyable {
        enum Part: BitwiseCopyable { case attribute, identifier, locale, timeZone, tags, tag }

        var part: Part
        /// The index of an attribute in ``names``, or of a kind of identifier.
        var index = 0
        /// The name of a tag, without surrounding white space.
        var tag = Stretch.nothing

        static func == (left: Spot, right: Spot) -> Bool {
            left.part == right.part && left.index == right.index && left.tag.compare(right.tag) == 0
        }
    }

    struct Step: BitwiseCopyable {
        enum Work: BitwiseCopyable { case rename, set, fallback, split, join, replace, convert, remove, rule }

        var work: Work
        /// The place that is read; for a step that only writes, the place that is written.
        var spot: Spot
        /// The place that is written, or one of several places.
        var target = Spot(part: .tags)
        var spots = Row<Spot>(start: nil, count: 0)
        /// The value that is written, or the text between joined values.
        var value = RecordView.blank
        var type = TypeCode.any
        /// The index of the table in ``tables``, and whether a value that is not in it is kept or dropped.
        var table = 0
        var keepsUnknown = false
        var dropsUnknown = false
    }

    /// The result of a step.
    enum Done: UInt8, BitwiseCopyable {
        case idle, applied, replaced, failed
        /// The view has no room for the result and must not be used any more.
        case full
    }

    /// A separate mapping for each rule, with the places that it names.
    let rules: [(mapping: ContactMapping, places: [MappingPlace])]
    /// The attributes and the kinds of identifiers that rules name; the kinds with their indexes in the plan.
    let names: [AttributeName]
    let kinds: [IdentifierKind: Int]
    /// The names of the plan's kinds.
    let kindNames: Row<Stretch>
    /// The number of bytes that the steps may add to a record, and the number of times that they may double it.
    let room: Int
    let doublings: Int

    /// The replacement values, by their text.
    let tables: [[ScalarString: ValueView]]
    // `steps`, `done` and `counts` have one element for each rule; `ranks` has one for each of `names`.
    let steps: Row<Step>
    let done: UnsafeMutablePointer<Done>
    let ranks: UnsafeMutablePointer<Int>
    private let counts: UnsafeMutablePointer<(applied: Int, idle: Int, replaced: Int, failed: Int)>
    private let arena: Arena

    /// Compiles rules for a plan; nil if the plan does not know all of their names and kinds.
    init?(_ compiler: MappingCompiler, for plan: CompiledPlan) {
        let hasOwnRules = compiler.mapping.rules.contains { rule in
            // Rules that split or replace tags, and rules about subscriptions, are not compiled.
            if case .split(_, _, [.tags]) = rule { return true }
            if case .replace(.tags, _, _) = rule { return true }
            return rule.places.contains { if case .subscription = $0 { true } else { false } }
        }
        guard !hasOwnRules else { return nil }
        var compiler = compiler
        let steps = compiler.steps(kinds: plan.index)
        (names, tables, arena) = (compiler.names, compiler.tables, compiler.arena)
        rules = compiler.mapping.alone.map { ($0, Array(Set($0.rules.flatMap(\.places)))) }
        kinds = compiler.indexes
        guard kinds.values.allSatisfy({ $0 >= 0 }) else { return nil }
        (room, doublings) = (compiler.room, compiler.doublings)
        kindNames = compiler.arena.make(plan.kindNames.map { compiler.arena.text($0) })
        self.steps = arena.make(steps)
        done = arena.make(steps.count, of: .idle)
        counts = arena.make(steps.count, of: (0, 0, 0, 0))
        ranks = arena.make(names.count, of: 0)
        guard rank(in: plan) else { return nil }
    }

    /// Updates the ranks of the attributes, also after the plan has learned a name. Returns false if one has no rank.
    @discardableResult
    func rank(in plan: CompiledPlan) -> Bool {
        for (index, name) in names.enumerated() {
            guard let rank = plan.rank(of: name) else { return false }
            ranks[index] = rank
        }
        return true
    }

    /// Counts the effects on a record that was written.
    func count() {
        for index in 0..<steps.count {
            switch done[index] {
            case .idle: counts[index].idle &+= 1
            case .applied: counts[index].applied &+= 1
            case .replaced:
                counts[index].applied &+= 1
                counts[index].replaced &+= 1
            case .failed, .full: counts[index].failed &+= 1
            }
        }
    }

    /// Returns and clears the effects of the rules.
    func takeEffects() -> [MappingEffect] {
        (0..<steps.count).map { index in
            defer { counts[index] = (0, 0, 0, 0) }
            var effect = MappingEffect()
            (effect.applied, effect.idle) = (counts[index].applied, counts[index].idle)
            (effect.replaced, effect.failed) = (counts[index].replaced, counts[index].failed)
            return effect
        }
    }
}

/// Compiles the rules of a mapping to steps.
struct MappingCompiler {
    fileprivate let mapping: ContactMapping
    let arena: Arena
    /// The attributes and the kinds of identifiers that rules name.
    private(set) var names: [AttributeName] = []
    private(set) var kinds: [IdentifierKind] = []
    fileprivate private(set) var tables: [[ScalarString: ValueView]] = []
    fileprivate private(set) var room = 0
    fileprivate private(set) var doublings = 0
    fileprivate private(set) var indexes: [IdentifierKind: Int] = [:]

    init(_ mapping: ContactMapping, in arena: Arena) {
        (self.mapping, self.arena) = (mapping, arena)
        for place in mapping.rules.flatMap(\.places) {
            switch place {
            case .attribute(let name) where !names.contains(name): names.append(name)
            case .identifier(let kind) where !kinds.contains(kind): kinds.append(kind)
            default: break
            }
        }
    }

    /// Returns a step for each rule.
    fileprivate mutating func steps(kinds index: (IdentifierKind) -> Int) -> [MappingPlan.Step] {
        for kind in kinds { indexes[kind] = index(kind) }
        return mapping.rules.map { rule in
            if let step = step(rule) { return step }
            doublings += 1
            return MappingPlan.Step(work: .rule, spot: MappingPlan.Spot(part: .tags))
        }
    }

    private mutating func step(_ rule: MappingRule) -> MappingPlan.Step? {
        switch rule {
        case .rename(let source, let target):
            guard source.hasValue || source == .tags, target.hasValue, let spot = spot(source),
                let other = self.spot(target)
            else { return nil }
            return MappingPlan.Step(work: .rename, spot: spot, target: other)
        case .constant(let target, let value): return writing(.set, target, value)
        case .fallback(let target, let value): return writing(.fallback, target, value)
        case .split(let source, let separator, let targets):
            guard source.hasValue, targets.allSatisfy(\.hasValue), let spot = spot(source), let spots = spots(targets),
                let value = view(of: .string(separator)), value.isASCII
            else { return nil }
            doublings += 1
            return MappingPlan.Step(work: .split, spot: spot, spots: spots, value: value)
        case .join(let sources, let separator, let target):
            guard target.hasValue, sources.allSatisfy(\.hasValue), Set(sources).count == sources.count,
                let spot = spot(target), let spots = spots(sources), let value = view(of: .string(separator))
            else { return nil }
            room += sources.count * value.text.count
            return MappingPlan.Step(work: .join, spot: spot, spots: spots, value: value)
        case .replace(let place, let table, let otherwise):
            guard place.hasValue, let spot = spot(place) else { return nil }
            var values: [ScalarString: ValueView] = [:]
            for (text, value) in table.values {
                guard spot.part == .attribute || value.type == .string, let view = place.taking(value).flatMap(view)
                else { return nil }
                values[text] = view
            }
            room += values.values.map(\.text.count).max() ?? 0
            tables.append(values)
            return MappingPlan.Step(
                work: .replace,
                spot: spot,
                table: tables.count - 1,
                keepsUnknown: otherwise == .keep,
                dropsUnknown: otherwise == .drop
            )
        case .convert(let place, let type):
            guard place.hasValue, let spot = spot(place), let type = type ?? mapping.type(of: place) else { return nil }
            return MappingPlan.Step(work: .convert, spot: spot, type: TypeCode(type))
        case .remove(let place): return spot(place).map { MappingPlan.Step(work: .remove, spot: $0) }
        }
    }

    private mutating func writing(_ work: MappingPlan.Step.Work, _ target: MappingPlace, _ value: AttributeValue)
        -> MappingPlan.Step?
    {
        // The absence of a tag is not a value, and choices are not compared here.
        guard let spot = spot(target), spot.part != .tags, let taken = target.taking(value), let view = view(of: taken),
            spot.part != .tag || taken == .boolean(true)
        else { return nil }
        room += max(view.text.count, spot.tag.count)
        return MappingPlan.Step(work: work, spot: spot, value: view)
    }

    private func spots(_ places: [MappingPlace]) -> Row<MappingPlan.Spot>? {
        let spots = places.compactMap(spot)
        return spots.count == places.count ? arena.make(spots) : nil
    }

    private func spot(_ place: MappingPlace) -> MappingPlan.Spot? {
        switch place {
        case .attribute(let name):
            return names.firstIndex(of: name).map { MappingPlan.Spot(part: .attribute, index: $0) }
        case .identifier(let kind):
            return indexes[kind].flatMap { $0 >= 0 ? MappingPlan.Spot(part: .identifier, index: $0) : nil }
        case .locale: return MappingPlan.Spot(part: .locale)
        case .timeZone: return MappingPlan.Spot(part: .timeZone)
        case .tags: return MappingPlan.Spot(part: .tags)
        case .tag(let tag):
            guard let name = view(of: .string(tag.rawValue)), name.isASCII, name.text.count > 0 else { return nil }
            return MappingPlan.Spot(part: .tag, tag: name.text)
        case .subscription: return nil
        }
    }

    /// The value as a scanner would read it; nil for one that a scanner would leave to the general path.
    private func view(of value: AttributeValue) -> ValueView? {
        let kind: ValueView.Kind
        switch value {
        case .string: kind = .string
        case .integer: kind = .integer
        case .decimal(let number) where number.text.utf8.contains(0x2E): kind = .decimal
        case .boolean(let isTrue): kind = isTrue ? .yes : .no
        case .date: kind = .date
        case .time: kind = .time
        case .timestamp: kind = .timestamp
        case .country: kind = .country
        case .decimal, .choices, .list, .object: return nil
        }
        guard let plain = value.plainText else { return nil }
        var view = ValueView(string: arena.text(plain))
        view.kind = kind
        return view
    }
}

extension MappingRule {
    /// Every place that the rule reads or writes.
    var places: [MappingPlace] {
        switch self {
        case .rename(let source, let target): [source, target]
        case .constant(let place, _), .fallback(let place, _), .replace(let place, _, _), .convert(let place, _),
            .remove(let place):
            [place]
        case .split(let source, _, let targets): [source] + targets
        case .join(let sources, _, let target): sources + [target]
        }
    }
}

extension MappingPlace {
    /// Whether the place has a single value.
    fileprivate var hasValue: Bool {
        switch self {
        case .attribute, .identifier, .locale, .timeZone: true
        case .tags, .tag, .subscription: false
        }
    }
}
