import PatchbayAdapterKit
import PatchbayModel

/// Collects marks of the consent decisions of a job's views, in order: ``ConsentMark``s, or only the keys for ``DecidedKeys``.
///
/// Most keys and addresses are ASCII; ``ConsentMark`` folds the others.
struct BulkMarks: BitwiseCopyable {
    /// The maximum number of marks between two calls of ``take()``.
    private static let limit = 4096
    /// The maximum number of marks of a view. For each mark of an identifier, a subscription has up to four and a consent
    /// two.
    private static let marksOfView =
        2 * RecordView.identifierLimit * (4 * RecordView.subscriptionLimit + 2 * RecordView.consentLimit)

    // `marks` has capacity for `limit`; the first `count` are returned by ``take()``. `kinds` are the indexes of the kinds
    // that identify contacts at the target. `wishes` has a mark for each channel and topic of the vocabulary, `consents`
    // for each purpose and channel, each with an additional first element for "none".
    private let marks: UnsafeMutablePointer<UInt64>
    private let count: UnsafeMutablePointer<Int>
    private let kinds: Row<Int>
    private let phone: Int
    private let external: Int
    /// ``PhoneNumber/callingCodeLengths``
    private let codeLengths: Row<UInt8>
    // The kinds of addresses, and the channels that use them.
    private let addressKinds: Row<Int>
    private let addressChannels: Row<Int>
    private let messaging: Int
    private let wishes: Row<UInt64>
    private let consents: Row<UInt64>
    /// A mark for each channel of the vocabulary: an opt-out from the whole channel, as it applies to the topics of
    /// other records.
    private let topicMarks: Row<UInt64>
    private let topics: Int
    /// Whether the keys are collected instead of the single decisions.
    private let isOfKeys: Bool
    private static let channels = Vocabulary.channelNames.count

    /// Creates marks for contacts that these kinds of identifiers identify.
    init(_ compiled: CompiledPlan, knownBy kinds: [IdentifierKind], ofKeys isOfKeys: Bool, in arena: Arena) {
        self.isOfKeys = isOfKeys
        marks = arena.make(Self.limit, of: 0)
        count = arena.make(1, of: 0)
        self.kinds = arena.make(kinds.map(compiled.index))
        phone = compiled.index(of: .phone)
        external = compiled.index(of: .external)
        codeLengths = arena.make(PhoneNumber.callingCodeLengths)
        addressKinds = arena.make(ConsentMarks.addressKinds.map { compiled.index(of: $0.kind) })
        addressChannels = arena.make(
            ConsentMarks.addressKinds.map { Vocabulary.index(of: $0.channel) }
        )
        messaging = Vocabulary.index(of: .messaging)
        let topics = [nil] + compiled.topicNames.map(Optional.some)
        self.topics = topics.count
        wishes = arena.make(
            Vocabulary.channelNames.flatMap { channel in topics.map { ConsentMark.wish(channel, $0) } }
        )
        topicMarks = arena.make(Vocabulary.channelNames.map(ConsentMark.topics))
        let channels = [nil] + Vocabulary.channelNames.map(Optional.some)
        consents = arena.make(
            Vocabulary.purposeNames.flatMap { purpose in channels.map { ConsentMark.consent(purpose, $0) } }
        )
    }

    /// Whether there is room for the marks of another view.
    @inline(__always) var hasRoom: Bool { count.pointee &+ Self.marksOfView <= Self.limit }

    /// Returns and clears the collected marks, which are valid until the next mark is collected.
    func take() -> UnsafeBufferPointer<UInt64> {
        defer { count.pointee = 0 }
        return UnsafeBufferPointer(start: marks, count: count.pointee)
    }

    /// Adds the marks of a view that is written.
    @inline(__always) func note(_ view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) {
        guard view.subscriptionCount | view.consentCount != 0 else { return }
        if isOfKeys {
            noteKeys(view, vocabulary)
        } else if view.hasKnownWords {
            noteWords(view, vocabulary)
        } else {
            noteUnknownWords(view)
        }
    }

    /// Adds the keys of a view.
    private func noteKeys(_ view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) {
        let bits = decisions(of: view, vocabulary)
        guard bits != 0 else { return }
        eachKey(of: view) { key, channel in
            let bits =
                channel.map { bits & DecisionBits.bits(DecisionBits.optIn | DecisionBits.optOut, channel: $0) } ?? bits
            // The mark is always written and conditionally counted, because a branch would often be mispredicted.
            marks[count.pointee] = key & ~DecisionBits.all | bits
            count.pointee &+= bits == 0 ? 0 : 1
        }
    }

    /// The ``DecisionBits`` of a view.
    @inline(__always) private func decisions(of view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) -> UInt64 {
        var bits: UInt64 = 0
        for index in 0..<view.subscriptionCount {
            let wish = view.subscriptions[index]
            guard wish.state != vocabulary.pointee.unknownState else { continue }
            let decision = wish.state == vocabulary.pointee.subscribed ? DecisionBits.optIn : DecisionBits.optOut
            bits |= DecisionBits.bits(decision, channel: wish.channel)
        }
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            guard consent.state != vocabulary.pointee.unanswered else { continue }
            let decision = consent.state == vocabulary.pointee.refused ? DecisionBits.optOut : DecisionBits.optIn
            bits |=
                consent.purpose == messaging
                ? DecisionBits.bits(decision, channel: consent.channel) : DecisionBits.ofOtherPurpose(decision)
        }
        return bits
    }

    /// Adds the marks of a view whose names are not in the vocabulary, by the rules of the general path.
    @inline(never) private func noteUnknownWords(_ view: RecordView) {
        let contact = Contact(consentOf: view, isIdentified: true)
        let own = key(of: view).map { IdentifierKind(rawValue: $0.pointee.name.text) }
        guard let all = ConsentMarks(contact, knownBy: own.map { [$0] } ?? []) else { return }
        // The number of entries of a view is limited, so `hasRoom` ensures room for all of its marks.
        for mark in all.optIns(of: contact) + all.optOuts(of: contact) {
            marks[count.pointee] = mark
            count.pointee &+= 1
        }
    }

    /// Adds the marks of a view whose names are all in the vocabulary.
    private func noteWords(_ view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) {
        var place = marks + count.pointee
        eachKey(of: view) { key, channel in note(view, vocabulary, key, reachedOn: channel, &place) }
        count.pointee = place - marks
    }

    /// Calls a closure with the mark of each key of a view: of its key at the target, of the contact's own number, and of each
    /// address together with the channel that reaches it.
    @inline(__always) private func eachKey(of view: RecordView, _ take: (_ key: UInt64, _ channel: Int?) -> Void) {
        let own = key(of: view)
        if let own { eachMark(of: own) { take($0, nil) } }
        // The contact's own number, if the target identifies contacts in another way.
        let number = first(external, of: view)
        if let number, number != own { eachMark(of: number) { take($0, nil) } }
        for index in 0..<addressKinds.count where Self.mayReach(addressChannels[index], view) {
            for one in 0..<view.identifierCount where view.identifiers[one].kind == addressKinds[index] {
                let address = view.identifiers + one
                guard address != own, isAddress(address) else { continue }
                eachMark(of: address) { take($0, addressChannels[index]) }
            }
        }
    }

    /// Calls a closure with each mark of an identifier. A telephone number has one mark for its digits and one for its national
    /// number.
    @inline(__always) private func eachMark(
        of identifier: UnsafeMutablePointer<RecordView.IdentifierView>,
        _ take: (UInt64) -> Void
    ) {
        guard isPlain(identifier) else {
            for mark in ConsentMark.keys(model(identifier)) { take(mark) }
            return
        }
        let text = text(of: identifier)
        take(KeyMark(text, opinion: 0).folded)
        guard identifier.pointee.kind == phone, text.count >= 3 else { return }
        let first = (0..<3).reduce(0) { $0 &* 10 &+ Int(text[$1] &- 0x30) }
        var prefix = PhoneNumber.prefixLength(
            first,
            count: text.count,
            code: codeLengths[first],
            isInternational: text.count < identifier.pointee.value.text.count
        )
        guard prefix > 0 else { return }
        while prefix < text.count, text[prefix] == 0x30 { prefix &+= 1 }
        take(KeyMark(Stretch(text.start + prefix, text.count &- prefix), opinion: 0).folded)
    }

    private func model(_ identifier: UnsafeMutablePointer<RecordView.IdentifierView>) -> Identifier {
        Identifier(identifier.pointee.kind == phone ? .phone : .external, identifier.pointee.value.text.text)
    }

    /// Whether the view has any decision about a channel. Most addresses have none.
    @inline(__always) private static func mayReach(_ channel: Int, _ view: RecordView) -> Bool {
        for index in 0..<view.subscriptionCount where view.subscriptions[index].channel == channel { return true }
        return view.consentCount > 0
    }

    /// ``ConsentMark/isAddress(_:)``.
    @inline(__always) private func isAddress(_ identifier: UnsafeMutablePointer<RecordView.IdentifierView>) -> Bool {
        guard isPlain(identifier) else { return ConsentMark.isAddress(model(identifier)) }
        let text = text(of: identifier)
        return identifier.pointee.kind == phone
            ? text.count >= ConsentMark.fewestDigits : text.index(of: 0x40, or: 0x40, from: 0) < text.count
    }

    /// Whether the text can be hashed as it is: a telephone number must consist of digits, with an optional plus sign
    /// before them.
    @inline(__always) private func isPlain(_ identifier: UnsafeMutablePointer<RecordView.IdentifierView>) -> Bool {
        let (value, text) = (identifier.pointee.value, identifier.pointee.value.text)
        if identifier.pointee.kind == phone {
            return Forms.plainDigits(text) >= 0 && text[0] != 0x30
        }
        return value.isASCII && (text.count == 0 || text[0] > 0x20 && text[text.count &- 1] > 0x20)
    }

    /// Adds the marks of the view's decisions for a key: on one channel, or on every channel if `channel` is nil.
    @inline(__always) private func note(
        _ view: RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ key: UInt64,
        reachedOn channel: Int?,
        _ place: inout UnsafeMutablePointer<UInt64>
    ) {
        for index in 0..<view.subscriptionCount {
            let wish = view.subscriptions[index]
            guard wish.channel == channel ?? wish.channel else { continue }
            let subject = wishes[wish.channel &* topics &+ (wish.topic == Vocabulary.none ? 0 : wish.topic &+ 1)]
            // The mark is always written and conditionally counted, because a branch would often be mispredicted.
            let (isYes, isNo) = (
                wish.state == vocabulary.pointee.subscribed,
                wish.state != vocabulary.pointee.subscribed && wish.state != vocabulary.pointee.unknownState
            )
            put(&place, ConsentMark.yes(key, subject) | (isNo ? ConsentMark.no : 0), if: isYes || isNo)
            put(
                &place,
                ConsentMark.yes(key, consents[wish.channel &+ 1]),
                if: isYes && !refuses(wish.channel, view, vocabulary)
            )
            put(&place, ConsentMark.yes(key, consents[0]), if: isYes && !refuses(Vocabulary.none, view, vocabulary))
            let topics = ConsentMark.yes(key, topicMarks[wish.channel])
            if wish.topic == Vocabulary.none {
                if isNo, !hasOptInToTopic(wish.channel, view, vocabulary) { put(&place, topics | ConsentMark.no) }
            } else {
                put(&place, topics, if: isYes)
            }
        }
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            // Addresses receive messages only.
            guard channel == nil || consent.purpose == messaging,
                consent.channel == Vocabulary.none || consent.channel == channel ?? consent.channel
            else { continue }
            let purpose = consent.purpose &* (Self.channels &+ 1)
            let own = consents[purpose &+ (consent.channel == Vocabulary.none ? 0 : consent.channel &+ 1)]
            if consent.state == vocabulary.pointee.refused {
                put(&place, ConsentMark.yes(key, own) | ConsentMark.no)
            } else if consent.state != vocabulary.pointee.unanswered {
                put(&place, ConsentMark.yes(key, own))
                if consent.channel != Vocabulary.none { put(&place, ConsentMark.yes(key, consents[purpose])) }
            }
        }
    }

    /// Whether a view denies messages on a channel, or on every channel.
    @inline(__always) private func refuses(
        _ channel: Int,
        _ view: RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            if consent.purpose == messaging, consent.channel == channel, consent.state == vocabulary.pointee.refused {
                return true
            }
        }
        return false
    }

    /// Whether a view has an opt-in to a topic of a channel.
    private func hasOptInToTopic(
        _ channel: Int,
        _ view: RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        for index in 0..<view.subscriptionCount {
            let wish = view.subscriptions[index]
            if wish.channel == channel, wish.topic != Vocabulary.none, wish.state == vocabulary.pointee.subscribed {
                return true
            }
        }
        return false
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
            if let first = first(kinds[place], of: view) { return first }
        }
        return nil
    }

    @inline(__always) private func first(
        _ kind: Int,
        of view: RecordView
    ) -> UnsafeMutablePointer<RecordView.IdentifierView>? {
        for index in 0..<view.identifierCount where view.identifiers[index].kind == kind {
            return view.identifiers + index
        }
        return nil
    }

    /// The part of a plain identifier that is hashed: the digits of a telephone number.
    @inline(__always) private func text(of identifier: UnsafeMutablePointer<RecordView.IdentifierView>) -> Stretch {
        let text = identifier.pointee.value.text
        return identifier.pointee.kind == phone && text[0] == 0x2B ? Stretch(text.start + 1, text.count &- 1) : text
    }
}
