import PatchbayModel

/// What the views of a job say of consent, as ``ConsentMark``s, in order, told once a job is done.
///
/// A view whose key has an escape, a letter beyond ASCII or space around it is not admitted and goes the slow way.
struct BulkWords: BitwiseCopyable {
    /// Most marks between two tellings.
    private static let limit = 4096
    /// A yes to a subscription has three, a consent two at most.
    private static let marksOfView = 3 * RecordView.subscriptionLimit + 2 * RecordView.consentLimit

    // `marks` has room for `limit`, of which the first `count` are told next. `kinds` are the indexes of the kinds by which the
    // target knows contacts. `wishes` has a mark for each channel and topic of the lexicon, `consents` for each purpose and
    // channel, each with one more in front for none.
    private let marks: UnsafeMutablePointer<UInt64>
    private let count: UnsafeMutablePointer<Int>
    private let kinds: Row<Int>
    private let phone: Int
    private let wishes: Row<UInt64>
    private let consents: Row<UInt64>
    private let topics: Int
    private let digits: UnsafeMutablePointer<UInt8>
    private static let channels = Lexicon.channelNames.count

    /// Words of contacts that are known by those kinds; nil if nobody says which.
    init?(_ compiled: CompiledPlan, knownBy kinds: [IdentifierKind], in arena: Arena) {
        guard !kinds.isEmpty else { return nil }
        marks = arena.make(Self.limit, of: 0)
        count = arena.make(1, of: 0)
        self.kinds = arena.make(kinds.map(compiled.index))
        phone = compiled.index(of: .phone)
        let topics = [nil] + compiled.topicNames.map(Optional.some)
        self.topics = topics.count
        wishes = arena.make(
            Lexicon.channelNames.flatMap { channel in topics.map { ConsentMark.wish(channel, $0) } }
        )
        let channels = [nil] + Lexicon.channelNames.map(Optional.some)
        consents = arena.make(
            Lexicon.purposeNames.flatMap { purpose in channels.map { ConsentMark.consent(purpose, $0) } }
        )
        digits = arena.make(ConsentMark.digits + Padding.count, of: 0)
    }

    /// Whether the marks of another view fit.
    @inline(__always) var hasRoom: Bool { count.pointee &+ Self.marksOfView <= Self.limit }

    /// Hands over what was noted.
    func take() -> [UInt64] {
        defer { count.pointee = 0 }
        return Array(UnsafeBufferPointer(start: marks, count: count.pointee))
    }

    /// Notes the words of a view that is written; false if it is for the slow way, with nothing noted.
    @inline(__always) func note(_ view: RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bool {
        guard view.subscriptionCount | view.consentCount != 0 else { return true }
        return noteWords(view, lexicon)
    }

    private func noteWords(_ view: RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bool {
        guard let identifier = key(of: view) else { return true }
        let value = identifier.pointee.value
        guard value.isBare, value.text.count == 0 || value.text[0] > 0x20 && value.text[value.text.count &- 1] > 0x20
        else { return false }
        let key = mark(of: identifier)
        var place = marks + count.pointee
        for index in 0..<view.subscriptionCount {
            let wish = view.subscriptions[index]
            // What the target has no word for, it holds no yes of.
            guard wish.channel >= 0, wish.topic != Lexicon.unknown else { continue }
            let subject = wishes[wish.channel &* topics &+ (wish.topic == Lexicon.none ? 0 : wish.topic &+ 1)]
            // Written in any case, and counted if it is so: a branch would often be guessed wrong.
            let (isYes, isNo) = (
                wish.state == lexicon.pointee.subscribed,
                wish.state != lexicon.pointee.subscribed && wish.state != lexicon.pointee.unknownState
            )
            put(&place, ConsentMark.yes(key, subject) | (isNo ? ConsentMark.no : 0), if: isYes || isNo)
            put(&place, ConsentMark.yes(key, consents[wish.channel &+ 1]), if: isYes)
            put(&place, ConsentMark.yes(key, consents[0]), if: isYes)
        }
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            guard consent.purpose >= 0, consent.channel != Lexicon.unknown else { continue }
            let purpose = consent.purpose &* (Self.channels &+ 1)
            let own = consents[purpose &+ (consent.channel == Lexicon.none ? 0 : consent.channel &+ 1)]
            if consent.state == lexicon.pointee.refused {
                put(&place, ConsentMark.yes(key, own) | ConsentMark.no)
            } else if consent.state != lexicon.pointee.unanswered {
                put(&place, ConsentMark.yes(key, own))
                if consent.channel != Lexicon.none { put(&place, ConsentMark.yes(key, consents[purpose])) }
            }
        }
        count.pointee = place - marks
        return true
    }

    @inline(__always) private func put(
        _ place: inout UnsafeMutablePointer<UInt64>,
        _ mark: UInt64,
        if counts: Bool = true
    ) {
        place.pointee = mark
        place += counts ? 1 : 0
    }

    private func key(of view: RecordView) -> UnsafeMutablePointer<RecordView.IdentifierView>? {
        for place in 0..<kinds.count {
            for index in 0..<view.identifierCount where view.identifiers[index].kind == kinds[place] {
                return view.identifiers + index
            }
        }
        return nil
    }

    @inline(__always) private func mark(of identifier: UnsafeMutablePointer<RecordView.IdentifierView>) -> UInt64 {
        let text = identifier.pointee.value.text
        return KeyMark(identifier.pointee.kind == phone ? digits(of: text) : text, opinion: 0).folded
    }

    private func digits(of text: Stretch) -> Stretch {
        var count = 0
        for index in 0..<text.count where text[index] &- 0x30 < 10 && count < ConsentMark.digits {
            digits[count] = text[index]
            count &+= 1
        }
        return Stretch(Bytes(digits), count)
    }
}
