import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// A compiled layout of lines: the steps that write a view, and their data.
struct LinePlan: BitwiseCopyable {
    /// One step.
    struct Step: BitwiseCopyable {
        enum Work: UInt8, BitwiseCopyable {
            case text, key, open, close, identifiers, attributes, timeZone, tags, subscriptions
            case noteLocale, noteTags, noteConsents
            /// The whole record, as a row of delimited text or as a contact of the neutral model.
            case row, neutral
        }

        var work: Work
        /// The text that precedes the output of the step.
        var text = Stretch.nothing
        /// The index of the kind of identifier, or of the note.
        var index = 0
        var form = FormCode.plain
        /// For a key, the plan's index of the refusal if the key is missing; -1 leaves it to the general path.
        var refusal: Int16 = -1
    }

    /// The output for a kind of identifier.
    struct Kind: BitwiseCopyable {
        /// `,"name":` of its field; empty if it has none.
        var prefix: Stretch
        var form: FormCode
        /// The required form of an address.
        var address: FormCode
        var isUsable: Bool
        /// The column of a row for the identifier, -1 for none, and the required form in it.
        var column = -1
        var fieldForm = FormCode.plain
    }

    /// The address that receives the messages of a channel.
    struct Address: BitwiseCopyable {
        enum Way: BitwiseCopyable { case none, identifier, devices }

        var way = Way.none
        /// `,{"channel":"email","resource_id":`.
        var opening = Stretch.nothing
        /// `,"email":`; for devices, the text of the provider.
        var member = Stretch.nothing
        var kind = -1
        var form = FormCode.plain
    }

    /// The output for subscriptions.
    struct Subscriptions: BitwiseCopyable {
        /// The addresses, by channel of the vocabulary.
        var addresses = Row<Address>(start: nil, count: 0)
        /// `,"status":"subscribed"}`, by state.
        var closings = Row<Stretch>(start: nil, count: 0)
        /// The resource of subscriptions without a topic, and those of topics; empty if there is none.
        var resource = Stretch.nothing
        var topics = Row<Stretch>(start: nil, count: 0)
        /// `,"provider":"ios-apns","subscription_id":`, by service and family; empty if there is none.
        var providers = Row<Stretch>(start: nil, count: 0)
        var unknown = 0, denied = 0, unnamed = 0, lostOptOut = 0, unreachable = 0, detail = 0, token = 0, provider = 0

        static func place(service: Int, family: Int) -> Int { service * (Vocabulary.families.count + 2) + family + 1 }
    }

    let vocabulary: UnsafePointer<Vocabulary>
    var attributes: AttributeBook
    let steps: Row<Step>
    let kinds: Row<Kind>
    let subscriptions: Subscriptions
    let row: UnsafePointer<RowPlan>
    /// The texts of the neutral model; nil for any other target.
    var neutral: UnsafePointer<NeutralTexts>?
    /// The compiled plan of a contact file, for values that only the file itself can write; nil for lines.
    var owner: UnsafeRawPointer?
    /// The indexes of notes: for an identifier without a field, for an invalid address, for an address that is rewritten,
    /// for an attribute's type, and for an attribute that is left out because of its form.
    let elsewhere: Int
    let unfit: Int
    let respelt: Int
    let converted: Int
    let unfitAttribute: Int
    /// The number of bytes of the layout's texts.
    let textSize: Int
    /// The maximum number of times that a byte of a record can occur in the output.
    static let factor = 32

    /// The owner of the plan.
    var compiled: CompiledPlan? { owner.map { Unmanaged<CompiledPlan>.fromOpaque($0).takeUnretainedValue() } }

    /// The maximum number of bytes of output for a record of `count` bytes. Every text of the layout may occur once for
    /// each device of each subscription.
    @inline(__always) func room(for view: RecordView, of count: Int) -> Int {
        // A denial may become a subscription of each channel.
        let denials = view.consentCount > 0 ? Vocabulary.channelNames.count : 0
        // An opt-out from a channel may become a subscription of each topic, each with the address.
        let topics = (view.subscriptionCount &+ view.consentCount > 0 ? subscriptions.topics.count : 0) &* 3
        let times = 1 &+ (view.subscriptionCount &+ denials &+ topics) &* max(1, view.deviceCount)
        return (neutral == nil ? 4096 : 32 << 10) &+ attributes.room &+ textSize &* times
            &+ (Self.factor &+ topics) &* count
    }
}

/// A plan with its memory and the values that it was compiled from.
final class CompiledPlan {
    /// The plan, which is valid while this object lives.
    let plan: UnsafeMutablePointer<LinePlan>
    /// The notes of the bulk path, by index.
    let notes: [FindingRow]
    /// The scope of each note.
    let noteScopes: [NoteScope]
    /// The findings for which the bulk path may reject a record, by index.
    let refusals: [Finding]
    /// Whether the target's records can be written by the plan.
    let canWrite: Bool
    /// The contact file that is written, with its columns.
    private(set) var file: ContactFile?
    private(set) var fileColumns: [ContactColumn] = []
    private let arena: Arena
    private let layout: LineLayout.Attributes?
    private let columns: [String: ColumnHome]
    private let catalogue: AttributeCatalogue
    private var names: Set<String>
    /// The memory of the plan's attributes.
    private var attributeArena = Arena()

    /// The kinds of identifiers, and the topics, by index.
    let kindNames: [String]
    let topicNames: [String]
    /// The known attributes, by rank.
    private(set) var attributeNames: [String]

    /// Compiles a layout. `attributes` are the names in the source and in the mapping. `kinds` of identifiers and `topics`
    /// of subscriptions are distinguished even if the target has no field for them.
    init(
        _ layout: TargetLayout?,
        catalogue: AttributeCatalogue,
        attributes: [AttributeName] = [],
        kinds: [IdentifierKind] = [],
        topics: [String] = [],
        sourceNotes: [FindingRow] = [],
        isMapped: Bool = false,
        counts: Bool = false
    ) {
        let arena = Arena()
        let (lines, row): (LineLayout?, RowCompiler?) =
            switch layout {
            case .lines(let lines)?: (lines, nil)
            case .neutralLines?: (nil, nil)
            case .rows(let file, let channels)?:
                (nil, RowCompiler(file, judging: channels, isSurveyed: counts, in: arena))
            case nil: (nil, nil)
            }
        var isNeutral = false
        if case .neutralLines? = layout { isNeutral = true }
        canWrite = lines != nil || row != nil || isNeutral
        // A layout without parts writes nothing. Findings of a catalogue or a mapping about a rejected record require the
        // general path.
        let canRefuse = catalogue.entries.isEmpty && !isMapped
        var compiler = LineCompiler(lines ?? LineLayout([]), canRefuse: canRefuse, in: arena)
        if isNeutral { compiler.steps = [LinePlan.Step(work: .neutral)] }
        // Consent decisions depend on these kinds, whether the target has a field for them or not.
        compiler.compile(row, knowing: kinds + [.external, .email, .phone], topics)
        let otherNotes = sourceNotes + EarlierOptOuts.notes + (isMapped ? [ContactMapping.unknownDropped] : [])
        for row in otherNotes { _ = compiler.notes.place(of: row) }
        (self.arena, self.catalogue, self.layout, notes) = (arena, catalogue, compiler.attributes, compiler.notes)
        (refusals, noteScopes) = (compiler.refusals, NoteScope.scopes(of: compiler.notes, layout))
        (kindNames, topicNames, columns) = (compiler.kindNames, compiler.topicNames, row?.attributes ?? [:])
        let known = [Array((compiler.attributes?.names ?? [:]).keys), Array(catalogue.entries.keys), attributes]
        names = Set(known.joined().map(\.rawValue)).union(columns.keys)
        if names.count > RecordView.attributeLimit { names = [] }
        attributeNames = Self.sorted(names)
        let vocabulary = Vocabulary(kinds: compiler.kindNames, topics: compiler.topicNames, in: arena)
        let plan = LinePlan(
            vocabulary: arena.keep(vocabulary),
            attributes: AttributeBook(self.layout, columns, names: names, catalogue: catalogue, in: attributeArena),
            steps: arena.make(compiler.steps),
            kinds: arena.make(compiler.kinds),
            subscriptions: compiler.subscriptions,
            row: arena.keep(compiler.row ?? RowPlan()),
            elsewhere: compiler.elsewhere,
            unfit: compiler.unfit,
            respelt: compiler.respelt,
            converted: compiler.converted,
            unfitAttribute: compiler.unfitAttribute,
            textSize: arena.textSize
        )
        self.plan = arena.make(1, of: plan)
        if isNeutral { self.plan.pointee.neutral = arena.keep(NeutralTexts(in: arena)) }
        if case .rows(let file, _)? = layout { (self.file, fileColumns) = (file, file.writtenColumns) }
        self.plan.pointee.owner = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// The index of a kind of identifier; -1 for one that the target does not use.
    func index(of kind: IdentifierKind) -> Int { kindNames.firstIndex(of: kind.rawValue) ?? Vocabulary.unknown }

    /// The rank of an attribute, which is valid until another attribute is learned.
    func rank(of name: AttributeName) -> Int? {
        attributeNames.firstIndex(of: name.rawValue)
    }

    private static func sorted(_ names: Set<String>) -> [String] {
        names.sorted { $0.precedes($1) }
    }

    /// Adds the name of an attribute, so that the next record with it takes the bulk path.
    func learn(_ name: String) -> Bool {
        guard names.count < RecordView.attributeLimit, KeyTable.canEnter(name), names.insert(name).inserted else {
            return false
        }
        attributeNames = Self.sorted(names)
        let arena = Arena()
        plan.pointee.attributes = AttributeBook(layout, columns, names: names, catalogue: catalogue, in: arena)
        attributeArena = arena
        return true
    }
}

extension [FindingRow] {
    /// The index of a finding, which is added if it is new; -1 for an error, which the general path must report.
    mutating func place(of row: FindingRow) -> Int {
        guard row.severity != .error else { return -1 }
        if let index = firstIndex(of: row) { return index }
        append(row)
        return count - 1
    }
}

/// Compiles the parts of a layout to the steps of a plan.
private struct LineCompiler {
    let layout: LineLayout
    let canRefuse: Bool
    let arena: Arena
    var steps: [LinePlan.Step] = []
    var kindNames: [String] = []
    var kinds: [LinePlan.Kind] = []
    var topicNames: [String] = []
    /// The target's name of each topic; empty for a topic without one.
    private var resources: [String] = []
    var subscriptions = LinePlan.Subscriptions()
    private(set) var row: RowPlan?
    var notes: [FindingRow] = []
    private(set) var refusals: [Finding] = []
    var elsewhere = 0
    var unfit = 0
    var respelt = 0
    var converted = 0
    var unfitAttribute = -1
    /// Nil if the target writes no attributes.
    var attributes: LineLayout.Attributes?
    private var pending = ""

    init(_ layout: LineLayout, canRefuse: Bool, in arena: Arena) {
        (self.layout, self.canRefuse, self.arena) = (layout, canRefuse, arena)
    }

    mutating func compile(_ row: RowCompiler?, knowing kinds: [IdentifierKind], _ topics: [String]) {
        if let row {
            add(row)
        } else if steps.isEmpty {
            steps.append(LinePlan.Step(work: .open))
            add(layout.parts)
            close()
        }
        for kind in kinds { _ = self.kind(kind) }
        topicNames += topics.filter { !topicNames.contains($0) }
        resources += [String](repeating: "", count: topicNames.count - resources.count)
        subscriptions.topics = arena.make(resources.map { arena.text($0) })
    }

    private mutating func add(_ compiler: RowCompiler) {
        (steps, notes, topicNames) = ([LinePlan.Step(work: .row)], compiler.notes, compiler.topicNames)
        var row = compiler.row
        row.standIns = arena.make(compiler.standIns.map { self.kind($0) })
        self.row = row
        for (kind, column) in compiler.kinds {
            let index = self.kind(kind)
            kinds[index].column = column
            kinds[index].fieldForm = kind == .email ? .email : kind == .phone ? .phones : .plain
        }
    }

    private mutating func note(_ row: FindingRow) -> Int { notes.place(of: row) }

    private mutating func kind(_ kind: IdentifierKind) -> Int {
        if let index = kindNames.firstIndex(of: kind.rawValue) { return index }
        kindNames.append(kind.rawValue)
        kinds.append(
            LinePlan.Kind(prefix: .nothing, form: .plain, address: .plain, isUsable: true)
        )
        return kindNames.count - 1
    }

    private func prefix(_ name: String) -> Stretch { arena.text(",\(JSONValue.string(name).text):") }

    /// Joins adjacent constants to one text.
    private mutating func flush() {
        guard !pending.isEmpty else { return }
        steps.append(LinePlan.Step(work: .text, text: arena.text(pending)))
        pending = ""
    }

    private mutating func close() {
        flush()
        steps.append(LinePlan.Step(work: .close))
    }

    private mutating func add(_ step: LinePlan.Step) {
        flush()
        steps.append(step)
    }

    private mutating func add(_ parts: [LineLayout.Part]) {
        for part in parts {
            switch part {
            case .constant(let name, let value): pending += ",\(JSONValue.string(name).text):\(value.text)"
            case .key(let name, let kind, let form, let missing):
                let index = self.kind(kind)
                require(form, of: index)
                var step = LinePlan.Step(work: .key, text: prefix(name), index: index, form: FormCode(form))
                if canRefuse, let missing {
                    step.refusal = Int16(truncatingIfNeeded: refusals.count)
                    refusals.append(missing)
                }
                add(step)
            case .object(let name, let parts):
                add(LinePlan.Step(work: .open, text: prefix(name)))
                add(parts)
                close()
            case .identifiers(let fields, let elsewhere, let unfit, let respelt):
                (self.elsewhere, self.unfit, self.respelt) = (note(elsewhere), note(unfit), note(respelt))
                add(fields)
            case .attributes(let attributes):
                self.attributes = attributes
                converted = note(attributes.converted)
                unfitAttribute = note(attributes.unfit)
                add(LinePlan.Step(work: .attributes))
            case .timeZone(let name): add(LinePlan.Step(work: .timeZone, text: prefix(name)))
            case .tags(let name): add(LinePlan.Step(work: .tags, text: prefix(name)))
            case .subscriptions(let subscriptions): add(subscriptions)
            case .dropped(.locale, let row): add(LinePlan.Step(work: .noteLocale, index: note(row)))
            case .dropped(.tags, let row): add(LinePlan.Step(work: .noteTags, index: note(row)))
            case .dropped(.consents, let row): add(LinePlan.Step(work: .noteConsents, index: note(row)))
            }
        }
    }

    /// Requires the form of an address for a kind of identifier. Records with an invalid one take the general path.
    private mutating func require(_ form: RecordForm, of kind: Int) {
        switch form {
        case .email, .phones: kinds[kind].address = FormCode(form)
        default: break
        }
    }

    private mutating func add(_ fields: [IdentifierKind: LineLayout.Field]) {
        let uses = Dictionary(fields.values.map { ($0.name, 1) }, uniquingKeysWith: +)
        for (kind, field) in fields.inOrder {
            let index = self.kind(kind)
            require(field.form, of: index)
            kinds[index].prefix = prefix(field.name)
            kinds[index].form = FormCode(field.form)
            kinds[index].isUsable = uses[field.name] == 1
        }
        add(LinePlan.Step(work: .identifiers))
    }

    private mutating func add(_ layout: LineLayout.Subscriptions) {
        func text(_ value: String) -> String { JSONValue.string(value).text }
        let members = layout.members
        var addresses = Vocabulary.channelNames.map { _ in LinePlan.Address() }
        for (channel, address) in layout.addresses {
            guard let index = Vocabulary.channelNames.firstIndex(of: channel.rawValue) else { continue }
            let opening = ",{\(text(members.channel)):\(text(channel.rawValue)),\(text(members.resource)):"
            addresses[index].opening = arena.text(opening)
            switch address {
            case .identifier(let kind, let name, let form):
                addresses[index].way = .identifier
                addresses[index].member = prefix(name)
                addresses[index].kind = self.kind(kind)
                addresses[index].form = FormCode(form)
                require(form, of: self.kind(kind))
            case .devices(let provider, let token, let rows):
                addresses[index].way = .devices
                add(rows, provider: provider, token: token)
            }
        }
        subscriptions.addresses = arena.make(addresses)
        subscriptions.closings = arena.make(
            Vocabulary.states.map { arena.text(",\(text(members.state)):\(text($0.rawValue))}") }
        )
        subscriptions.resource = layout.resource.map { arena.text(String($0)) } ?? .nothing
        topicNames = layout.topics.keys.sorted()
        resources = topicNames.map { layout.topics[$0].map(String.init) ?? "" }
        let findings = layout.findings
        subscriptions.unknown = note(findings.unknown)
        subscriptions.denied = note(findings.denied)
        (subscriptions.unnamed, subscriptions.lostOptOut) = (note(findings.resource), note(findings.lostOptOut))
        subscriptions.unreachable = note(findings.unreachable)
        subscriptions.detail = note(findings.detail)
        subscriptions.token = note(findings.token)
        subscriptions.provider = note(findings.provider)
        add(LinePlan.Step(work: .subscriptions, text: prefix(layout.name)))
    }

    /// Adds the providers. Exactly one row must match a service and, if it is known, a platform.
    private mutating func add(_ rows: [LineLayout.Subscriptions.Provider], provider: String, token: String) {
        var providers: [Stretch] = []
        for service in Vocabulary.serviceNames {
            for family in [nil] + (Vocabulary.families + [""]).map(Optional.some) {
                let fitting = rows.filter {
                    $0.service.rawValue == service && (family == nil || $0.platform == family)
                }
                guard fitting.count == 1, let word = fitting.first.map({ JSONValue.string($0.name).text }) else {
                    providers.append(.nothing)
                    continue
                }
                let names = [provider, token].map { JSONValue.string($0).text }
                providers.append(arena.text(",\(names[0]):\(word),\(names[1]):"))
            }
        }
        subscriptions.providers = arena.make(providers)
    }
}
