import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// Counts views as ``Survey`` counts contacts. It counts by index in an arena, and adds the counts to a survey by name when a
/// job is done.
///
/// A view with a name that the vocabulary does not have is not admitted. It takes the general path.
struct BulkSurvey: BitwiseCopyable {
    private enum Total {
        static let contacts = 0, withTags = 1, tags = 2, locale = 3, timeZone = 4, devices = 5, torn = 6, undecided = 7
    }

    private static let kindCount = 16
    private static let channels = Vocabulary.channelNames.count
    private static let identifierKinds = 64
    /// The maximum number of marks between two calls of ``tell(_:_:)``, and the maximum number of marks of one view.
    private static let markLimit = 8192
    private static let marksOfView =
        RecordView.identifierLimit * (1 + RecordView.subscriptionLimit) + RecordView.deviceLimit
    /// The kind of the mark of a push token.
    private static let tokenKind = identifierKinds
    /// The maximum number of different apps of push tokens. A view with a further app, or with a longer name of an app, takes
    /// the general path.
    private static let appLimit = 16
    private static let appLength = 64
    /// The kind of a mark about a topic is this number plus the kind of the identifier.
    private static let topicKinds = identifierKinds + 1

    /// Counts attributes by rank and kind of value.
    private struct Attributes: BitwiseCopyable {
        // Each pointer has room for every rank; `totals` has room for every kind of each rank. `ranks` and `kinds` hold the
        // first `count` attributes, those of the view that was remembered last.
        private let ranks: UnsafeMutablePointer<UInt8>
        private let kinds: UnsafeMutablePointer<UInt8>
        private let count: UnsafeMutablePointer<Int>
        private let totals: UnsafeMutablePointer<Int>

        init(in arena: Arena) {
            ranks = arena.make(RecordView.attributeLimit, of: 0)
            kinds = arena.make(RecordView.attributeLimit, of: 0)
            count = arena.make(1, of: 0)
            totals = arena.make(RecordView.attributeLimit * kindCount, of: 0)
        }

        /// Remembers the attributes of a view, because writing the view may change them.
        @inline(__always) func remember(_ view: RecordView) {
            var count = 0
            for word in 0..<RecordView.presentWords {
                var bits = view.present[word]
                while bits != 0 {
                    let rank = word &* 64 &+ bits.trailingZeroBitCount
                    bits &= bits &- 1
                    ranks[count] = UInt8(truncatingIfNeeded: rank)
                    kinds[count] = view.attributes[rank].kind.rawValue
                    count &+= 1
                }
            }
            self.count.pointee = count
        }

        @inline(__always) func note() {
            for index in 0..<count.pointee { totals[Int(ranks[index]) &* kindCount &+ Int(kinds[index])] &+= 1 }
        }

        /// Returns the number of attributes of a rank and kind since the last call.
        func take(_ rank: Int, _ kind: Int) -> Int { BulkSurvey.take(totals + (rank * kindCount + kind)) }
    }

    // Each pointer has room for all values of its indexes, which come from tables of the same size. `markCount` is at most
    // `markLimit`.
    private let attributes: Attributes
    /// The number of times that each note was made about each attribute: ``noteLimit`` counts for each rank.
    private let attributeNotes: UnsafeMutablePointer<Int>
    private static let noteLimit = 64
    private let identifiers: UnsafeMutablePointer<Int>
    private let wishes: UnsafeMutablePointer<Int>
    private let answers: UnsafeMutablePointer<Int>
    private let tokens: UnsafeMutablePointer<Int>
    /// The names of the known apps, `appLength` bytes each, and their lengths. `appCount` of them are known, at most
    /// `appLimit`.
    private let apps: UnsafeMutablePointer<UInt8>
    private let appLengths: UnsafeMutablePointer<Int>
    private let appCount: UnsafeMutablePointer<Int>
    private let totals: UnsafeMutablePointer<Int>
    private let marks: UnsafeMutablePointer<KeyMark>
    private let markKinds: UnsafeMutablePointer<UInt8>
    private let markCount: UnsafeMutablePointer<Int>
    /// A mark for each channel and topic of the vocabulary.
    private let topicWishes: Row<UInt64>
    private let topics: Int
    /// The number of push tokens by the age of their owner's last activity, and that age for the view that was admitted last.
    private let ages: UnsafeMutablePointer<Int>
    private let age: UnsafeMutablePointer<Int>
    private let activity: Unmanaged<ActivityBook>?

    /// The number of counts in `wishes` for written records. As many follow for rejected records, and as many again for
    /// subscriptions of written records on a channel on which the record denies messages. `answers` has ``answerCount``
    /// counts for written records, followed by those for rejected records.
    private let wishCount: Int
    private static let answerCount = Vocabulary.purposeNames.count * (channels + 1) * Vocabulary.answers.count
    private static let environmentCount = 1 + PushToken.Environment.allCases.count
    private static let tokenCount = Vocabulary.serviceNames.count * environmentCount * (appLimit + 1) * 2

    init(_ plan: CompiledPlan, _ activity: Activity?, in arena: Arena) {
        let names = plan.topicNames
        topics = names.count
        ages = arena.make(Survey.Age.allCases.count, of: 0)
        age = arena.make(1, of: 0)
        self.activity = activity.map { arena.keep(object: ActivityBook($0, plan)) }
        topicWishes = arena.make(
            Vocabulary.channelNames.flatMap { channel in names.map { ConsentMark.wish(channel, $0) } }
        )
        attributes = Attributes(in: arena)
        attributeNotes = arena.make(RecordView.attributeLimit * Self.noteLimit, of: 0)
        identifiers = arena.make(Self.identifierKinds, of: 0)
        wishCount = Self.channels * (topics + 1) * Vocabulary.states.count
        wishes = arena.make(3 * wishCount, of: 0)
        answers = arena.make(2 * Self.answerCount, of: 0)
        tokens = arena.make(Self.tokenCount, of: 0)
        apps = arena.make(Self.appLimit * Self.appLength + Padding.count, of: 0)
        appLengths = arena.make(Self.appLimit, of: 0)
        appCount = arena.make(1, of: 0)
        totals = arena.make(8, of: 0)
        marks = arena.make(Self.markLimit, of: KeyMark(.nothing, opinion: 0))
        markKinds = arena.make(Self.markLimit, of: 0)
        markCount = arena.make(1, of: 0)
    }

    /// Whether there is room for the marks of another view.
    @inline(__always) var hasRoom: Bool { markCount.pointee &+ Self.marksOfView <= Self.markLimit }

    /// Whether every name of a view is known. Remembers the parts that writing the view may change.
    @inline(__always) func admits(_ view: RecordView) -> Bool {
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers[index]
            guard identifier.kind >= 0, identifier.kind < Self.identifierKinds else { return false }
        }
        guard view.hasKnownWords else { return false }
        for index in 0..<view.deviceCount where view.devices[index].hasToken {
            guard view.devices[index].service >= 0, app(of: view.devices[index]) != nil else { return false }
        }
        attributes.remember(view)
        if let activity, view.deviceCount > 0 { age.pointee = activity.takeUnretainedValue().age(of: view) }
        return true
    }

    /// Counts the view that was admitted last and was rejected before any part of it was written.
    @inline(never) func note(refused view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) {
        note(view, vocabulary, isWritten: false)
    }

    /// Counts the view that was admitted last and that a writer has written.
    @inline(__always) func note(
        _ view: RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        writtenBy writer: LineWriter
    ) {
        for index in 0..<writer.attributeNoteCount {
            let (rank, note) = writer.attributeNotes[index]
            attributeNotes[Int(rank) &* Self.noteLimit &+ min(Int(note), Self.noteLimit &- 1)] &+= 1
        }
        note(view, vocabulary, isWritten: true)
    }

    @inline(__always) private func note(_ view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>, isWritten: Bool) {
        totals[Total.contacts] &+= 1
        attributes.note()
        if view.tagCount > 0 { totals[Total.withTags] &+= 1 }
        totals[Total.tags] &+= view.tagCount
        if view.locale.isThere { totals[Total.locale] &+= 1 }
        if view.timeZone.isThere { totals[Total.timeZone] &+= 1 }
        var (opinion, isStated): (UInt64, Bool) = (0, false)
        var denied: UInt64 = 0
        let answers = isWritten ? answers : answers + Self.answerCount
        for index in 0..<view.consentCount {
            let each = view.consents[index]
            let channel = each.channel == Vocabulary.none ? Self.channels : each.channel
            answers[(each.purpose &* (Self.channels &+ 1) &+ channel) &* Vocabulary.answers.count &+ each.state] &+= 1
            isStated = isStated || Vocabulary.answers[each.state] != .unknown
            // Messaging is the first purpose of the vocabulary.
            guard each.purpose == 0, each.state == vocabulary.pointee.refused else { continue }
            denied |= each.channel == Vocabulary.none ? .max : 1 &<< UInt64(truncatingIfNeeded: each.channel)
            opinion |= KeyMark.Opinion.bits(KeyMark.Opinion.no, channel: each.channel)
        }
        for index in 0..<view.subscriptionCount {
            let each = view.subscriptions[index]
            // A view with a topic that the vocabulary does not know is not admitted.
            let topic = each.topic == Vocabulary.none ? 0 : each.topic &+ 1
            let isDenied = denied &>> UInt64(truncatingIfNeeded: each.channel) & 1 == 1
            let wishes = wishes + (isWritten ? (isDenied ? 2 &* wishCount : 0) : wishCount)
            wishes[(each.channel &* (topics &+ 1) &+ topic) &* Vocabulary.states.count &+ each.state] &+= 1
            isStated = isStated || each.state != vocabulary.pointee.unknownState
            let isYes = each.state == vocabulary.pointee.subscribed
            // An opt-out from a topic is not an opt-out from its channel.
            guard isYes || topic == 0 && each.state != vocabulary.pointee.unknownState else { continue }
            opinion |= KeyMark.Opinion.bits(isYes ? KeyMark.Opinion.yes : KeyMark.Opinion.no, channel: each.channel)
        }
        if KeyMark.Opinion.isTorn(opinion) { totals[Total.torn] &+= 1 }
        if !isStated { totals[Total.undecided] &+= 1 }
        var kinds: UInt64 = 0
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers[index]
            let kind: UInt64 = 1 &<< UInt64(truncatingIfNeeded: identifier.kind)
            identifiers[identifier.kind] &+= 1
            // The first identifier of a kind is a key of the written record.
            let said = isWritten && kinds & kind == 0 ? opinion | KeyMark.Opinion.key : opinion
            let mark =
                identifier.value.isASCII
                ? KeyMark(identifier.value.text, opinion: said)
                : KeyMark(key: identifier.value.text.text, opinion: said)
            add(mark, kind: identifier.kind)
            kinds |= kind
            if view.subscriptionCount > 0 { note(topicsOf: view, key: mark.folded, kind: identifier.kind, vocabulary) }
        }
        if view.deviceCount > 0 { note(devicesOf: view) }
    }

    @inline(__always) private func add(_ mark: KeyMark, kind: Int) {
        marks[markCount.pointee] = mark
        markKinds[markCount.pointee] = UInt8(truncatingIfNeeded: kind)
        markCount.pointee &+= 1
    }

    private func note(topicsOf view: RecordView, key: UInt64, kind: Int, _ vocabulary: UnsafePointer<Vocabulary>) {
        for index in 0..<view.subscriptionCount {
            let wish = view.subscriptions[index]
            guard wish.topic >= 0, wish.state != vocabulary.pointee.unknownState else { continue }
            let said = wish.state == vocabulary.pointee.subscribed ? KeyMark.Opinion.yes : KeyMark.Opinion.no
            let subject = topicWishes[wish.channel &* topics &+ wish.topic]
            add(KeyMark(of: key, on: subject, opinion: said), kind: Self.topicKinds &+ kind)
        }
    }

    private func note(devicesOf view: RecordView) {
        totals[Total.devices] &+= view.deviceCount
        for index in 0..<view.deviceCount where view.devices[index].hasToken {
            let device = view.devices[index]
            let bytes = UnsafeBufferPointer(start: device.token.start, count: device.token.count)
            let isWellFormed = TokenForm.fits(Vocabulary.serviceNames[device.service], bytes)
            // An admitted view has only apps that have a number.
            guard let app = app(of: device) else { continue }
            let place = device.service &* Self.environmentCount &+ device.environment &+ 1
            tokens[(place &* (Self.appLimit &+ 1) &+ app) &* 2 &+ (isWellFormed ? 1 : 0)] &+= 1
            add(KeyMark(device.token, opinion: 0), kind: Self.tokenKind)
            if activity != nil { ages[age.pointee] &+= 1 }
        }
    }

    /// The number of a device's app, from 1. A new app gets the next number. The result is 0 if the device has no app, and
    /// nil if there is no room for another app.
    private func app(of device: RecordView.DeviceView) -> Int? {
        let name = device.app
        guard name.count > 0 else { return 0 }
        for index in 0..<appCount.pointee {
            let known = Stretch(apps + index &* Self.appLength, appLengths[index])
            if known.compare(name) == 0 { return index &+ 1 }
        }
        let index = appCount.pointee
        guard index < Self.appLimit, name.count <= Self.appLength else { return nil }
        (apps + index &* Self.appLength).update(from: name.start, count: name.count)
        appLengths[index] = name.count
        appCount.pointee &+= 1
        return index &+ 1
    }

    // MARK: Adding to a survey

    /// Adds all counts to a survey, and resets them.
    func tell(_ survey: inout Survey, _ plan: CompiledPlan) {
        survey.contacts += Self.take(totals + Total.contacts)
        survey.withTags += Self.take(totals + Total.withTags)
        survey.tags += Self.take(totals + Total.tags)
        survey.withLocale += Self.take(totals + Total.locale)
        survey.withTimeZone += Self.take(totals + Total.timeZone)
        survey.devices += Self.take(totals + Total.devices)
        survey.torn += Self.take(totals + Total.torn)
        survey.undecided += Self.take(totals + Total.undecided)
        tellAttributes(&survey, plan)
        for (index, name) in plan.kindNames.enumerated() {
            let count = Self.take(identifiers + index)
            if count > 0 { survey.identifiers[name, default: 0] += count }
        }
        for (index, age) in Survey.Age.allCases.enumerated() {
            let count = Self.take(ages + index)
            if count > 0 { survey.ages[age, default: 0] += count }
        }
        addMarks(&survey, plan.topicNames)
        tellTokens(&survey)
        tellMarks(&survey, plan)
    }

    /// Adds the marks grouped by kind, so that the name of each kind is looked up once.
    private func tellMarks(_ survey: inout Survey, _ plan: CompiledPlan) {
        var marksOfKinds = [[KeyMark]](repeating: [], count: Self.topicKinds + plan.kindNames.count)
        for index in 0..<markCount.pointee { marksOfKinds[Int(markKinds[index])].append(marks[index]) }
        for (kind, marks) in marksOfKinds.enumerated() where !marks.isEmpty {
            switch kind {
            case Self.tokenKind: survey.marks[Survey.tokenKey, default: []] += marks
            case ..<Self.tokenKind: survey.marks[plan.kindNames[kind], default: []] += marks
            default: survey.topicMarks[plan.kindNames[kind - Self.topicKinds], default: []] += marks
            }
        }
        markCount.pointee = 0
    }

    private static func take(_ place: UnsafeMutablePointer<Int>) -> Int {
        defer { place.pointee = 0 }
        return place.pointee
    }

    private func tellAttributes(_ survey: inout Survey, _ plan: CompiledPlan) {
        for (rank, name) in plan.attributeNames.enumerated() {
            for (note, row) in plan.notes.prefix(Self.noteLimit).enumerated() {
                let count = Self.take(attributeNotes + (rank * Self.noteLimit + note))
                if count > 0 { survey.note(Survey.AttributeFinding(name: name, code: row.code), count) }
            }
            for raw in 0..<Self.kindCount {
                guard let kind = ValueView.Kind(rawValue: UInt8(raw)) else { continue }
                let count = attributes.take(rank, raw)
                if count > 0 { survey.note(name, kind.type, count) }
            }
        }
    }

    private func addMarks(_ survey: inout Survey, _ topicNames: [String]) {
        for part in 0..<3 {
            let isWritten = part != 1
            let (wishes, answers) = (wishes + part * wishCount, isWritten ? answers : answers + Self.answerCount)
            for (channel, name) in Vocabulary.channelNames.enumerated() {
                for (place, topic) in ([nil] + topicNames.map(Optional.some)).enumerated() {
                    for (state, word) in Vocabulary.states.enumerated() {
                        let index = (channel * (topics + 1) + place) * Vocabulary.states.count + state
                        let count = Self.take(wishes + index)
                        guard count > 0 else { continue }
                        let wish = Survey.Wish(channel: name, topic: topic, state: word.rawValue)
                        survey.note(wish, count)
                        var move = Survey.Move(wish, isWritten ? wish.state : Survey.Move.rejected)
                        move.isDenied = part == 2
                        survey.add(move, count)
                    }
                }
            }
            for (purpose, name) in Vocabulary.purposeNames.enumerated() {
                for channel in 0...Self.channels {
                    for (state, word) in Vocabulary.answers.enumerated() {
                        let place = (purpose * (Self.channels + 1) + channel) * Vocabulary.answers.count + state
                        let count = Self.take(answers + place)
                        guard count > 0 else { continue }
                        let on = channel == Self.channels ? nil : Vocabulary.channelNames[channel]
                        let answer = Survey.Answer(purpose: name, channel: on, state: word.rawValue)
                        survey.answers[answer, default: 0] += count
                        survey.add(Survey.Move(answer, isWritten ? answer.state : Survey.Move.rejected), count)
                    }
                }
            }
        }
    }

    private func tellTokens(_ survey: inout Survey) {
        let environments: [String?] = [nil] + PushToken.Environment.allCases.map(\.rawValue)
        let known = (0..<appCount.pointee).map { index in
            String(
                decoding: UnsafeBufferPointer(start: apps + index * Self.appLength, count: appLengths[index]),
                as: UTF8.self
            )
        }
        let names: [String?] = [nil] + known.map(Optional.some)
        for (service, serviceName) in Vocabulary.serviceNames.enumerated() {
            for (environment, word) in environments.enumerated() {
                let place = (service * Self.environmentCount + environment) * (Self.appLimit + 1)
                for (app, name) in names.enumerated() {
                    for form in 0..<2 {
                        let count = Self.take(tokens + ((place + app) * 2 + form))
                        guard count > 0 else { continue }
                        let token = Survey.Token(
                            service: serviceName,
                            environment: word,
                            app: name,
                            isWellFormed: form == 1
                        )
                        survey.note(token, count)
                    }
                }
            }
        }
    }
}

/// Determines how long ago the contact of a view was last seen.
private final class ActivityBook {
    private let activity: Activity
    private unowned let plan: CompiledPlan

    init(_ activity: Activity, _ plan: CompiledPlan) { (self.activity, self.plan) = (activity, plan) }

    /// The index of the age among all ages.
    func age(of view: RecordView) -> Int {
        var text: String?
        if let rank = plan.rank(of: activity.attribute), view.has(rank) {
            let value = view.attributes[rank]
            if [.string, .date, .timestamp].contains(value.kind) { text = value.text.text }
        }
        return Survey.Age.allCases.firstIndex(of: activity.age(text)) ?? 0
    }
}

/// The counts of a mapper until its job is done.
final class SurveyBook {
    private var survey = Survey()
    private let activity: Activity?

    init(activity: Activity?) { self.activity = activity }

    /// Counts a record of the general path.
    func note(_ record: SourceRecord, _ findings: [Finding], _ final: Contact?) {
        survey.note(decisionsOf: record, final)
        let isWritten = !findings.contains { $0.severity == .error }
        if let contact = record.contact {
            survey.note(contact, activity: activity, isWritten: isWritten)
        } else if let refused = record.said?.read.identifiers, !refused.isEmpty {
            survey.note(Contact(identifiers: refused), activity: activity, isWritten: false)
        }
        survey.note(findings, isWritten: isWritten)
    }

    /// Records the finding for which the bulk path rejected a record that it has counted.
    func note(refusal: Finding) { survey.note([refusal], isWritten: false) }

    func note(_ bulk: BulkSurvey, _ plan: CompiledPlan) { bulk.tell(&survey, plan) }

    func take() -> Survey {
        defer { survey = Survey() }
        return survey
    }
}

extension ValueView.Kind {
    /// The type of the value in the model.
    var type: AttributeType {
        switch self {
        case .string: .string
        case .integer: .integer
        case .decimal: .decimal
        case .yes, .no: .boolean
        case .date: .date
        case .time: .time
        case .timestamp: .timestamp
        case .country: .country
        case .choices: .choices
        case .list: .list
        }
    }
}

extension TypeCode {
    /// A kind of value of the type; nil for any type and for objects.
    var kind: ValueView.Kind? {
        switch self {
        case .any, .object: nil
        case .string: .string
        case .integer: .integer
        case .decimal: .decimal
        case .boolean: .yes
        case .date: .date
        case .time: .time
        case .timestamp: .timestamp
        case .country: .country
        case .choices: .choices
        case .list: .list
        }
    }
}
