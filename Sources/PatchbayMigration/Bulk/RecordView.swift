/// A value of a record, where it stands in the chunk.
struct ValueView: BitwiseCopyable {
    enum Kind: UInt8, BitwiseCopyable, CaseIterable {
        case string, integer, decimal, yes, no, date, time, timestamp, country
        /// `text` is the list from bracket to bracket, of strings alone.
        case choices, list
    }

    var kind: Kind
    /// Whether the bytes hold an escape; only such as the writer would write again.
    var isEscaped: Bool
    /// Whether all bytes are ASCII.
    var isASCII: Bool
    /// A string without its quotes; a date and its kin as the model writes them.
    var text: Stretch

    /// A text that is nothing but what it says: checks may look at its bytes.
    var isBare: Bool { isASCII && !isEscaped }
}

/// A contact's record, where its parts stand in the chunk: what a source's scanner fills and a target's writer reads.
///
/// It holds fewer of each part than a contact may have; a record with more goes the slow way.
struct RecordView: BitwiseCopyable {
    struct IdentifierView: BitwiseCopyable {
        /// The index of the kind in the lexicon; -1 for one that nobody asks for.
        var kind: Int
        var value: ValueView
        /// The value as an address, once it was checked.
        var address: Stretch
        /// Whether the scanner found it to be an e-mail address.
        var isEmail = false
    }

    struct SubscriptionView: BitwiseCopyable {
        var channel: Int
        /// The index of the topic in the lexicon, -1 for an unknown one, -2 for none.
        var topic: Int
        var state: Int
        /// How many members it has that no layout writes.
        var details: Int

        /// Whether both may be about the same channel and topic.
        func isAbout(the other: SubscriptionView) -> Bool { channel == other.channel && topic == other.topic }
    }

    struct ConsentView: BitwiseCopyable {
        var purpose: Int
        /// -2 for every channel.
        var channel: Int
        var state: Int
        /// Whether it says when.
        var isDated = false
    }

    struct DeviceView: BitwiseCopyable {
        var token: ValueView
        var hasToken: Bool
        var hasFacts: Bool
        /// The environment of its token, -1 if it says none, and whether it names its app.
        var environment = -1
        var hasAppID = false
        /// The app that the token names, or else what the device says of itself; empty if neither does.
        var app = Stretch.nothing
        /// How many members its token has that no layout writes.
        var tokenDetails: Int { (environment < 0 ? 0 : 1) + (hasAppID ? 1 : 0) }
        var service: Int
        /// The family of its platform; -1 if nothing is said of it.
        var family: Int
    }

    static let identifierLimit = 8
    static let tagLimit = 32
    static let subscriptionLimit = 16
    static let consentLimit = 16
    static let deviceLimit = 4
    static let attributeLimit = 256

    // Each pointer has room for its limit, and each count is at most that. `attributes[rank]` was written if the bit of
    // that rank is set in `present`.
    let identifiers: UnsafeMutablePointer<IdentifierView>
    let attributes: UnsafeMutablePointer<ValueView>
    let present: UnsafeMutablePointer<UInt64>
    let tags: UnsafeMutablePointer<Stretch>
    let subscriptions: UnsafeMutablePointer<SubscriptionView>
    let consents: UnsafeMutablePointer<ConsentView>
    let devices: UnsafeMutablePointer<DeviceView>
    /// Room for addresses that are written otherwise than they stand, a line for each identifier.
    let scratch: UnsafeMutablePointer<UInt8>

    var identifierCount = 0
    var tagCount = 0
    var subscriptionCount = 0
    var consentCount = 0
    var deviceCount = 0
    var hasLocale = false
    var hasTimeZone = false
    var locale = Stretch.nothing
    var timeZone = Stretch.nothing

    static let presentWords = attributeLimit / 64
    static let scratchLine = 32

    init(in arena: Arena) {
        let value = Self.blank
        identifiers = arena.make(Self.identifierLimit, of: IdentifierView(kind: -1, value: value, address: .nothing))
        attributes = arena.make(Self.attributeLimit, of: value)
        present = arena.make(Self.presentWords, of: 0)
        tags = arena.make(Self.tagLimit, of: .nothing)
        subscriptions = arena.make(
            Self.subscriptionLimit,
            of: SubscriptionView(channel: -1, topic: -1, state: -1, details: 0)
        )
        consents = arena.make(Self.consentLimit, of: ConsentView(purpose: -1, channel: -1, state: -1))
        devices = arena.make(
            Self.deviceLimit,
            of: DeviceView(token: value, hasToken: false, hasFacts: false, service: -1, family: -1)
        )
        scratch = arena.make(Self.identifierLimit * Self.scratchLine + Padding.count, of: 0)
    }

    /// Forgets the last record.
    @inline(__always) mutating func clear() {
        (identifierCount, tagCount, subscriptionCount, consentCount, deviceCount) = (0, 0, 0, 0, 0)
        (hasLocale, hasTimeZone) = (false, false)
        for word in 0..<Self.presentWords { present[word] = 0 }
    }

    /// Whether all that it says of consent is about channels, topics and purposes of the lexicon.
    @inline(__always) var hasKnownWords: Bool {
        for index in 0..<subscriptionCount {
            guard subscriptions[index].channel >= 0, subscriptions[index].topic != Lexicon.unknown else { return false }
        }
        for index in 0..<consentCount {
            guard consents[index].purpose >= 0, consents[index].channel != Lexicon.unknown else { return false }
        }
        return true
    }

    /// Whether two words may be about one thing and differ: then the slow way settles them.
    @inline(__always) var mayContradict: Bool {
        subscriptionCount > 1 && hasTornSubscriptions || consentCount > 1 && hasTornConsents
    }

    private var hasTornSubscriptions: Bool {
        for index in 1..<subscriptionCount {
            for other in 0..<index {
                let (one, two) = (subscriptions[index], subscriptions[other])
                if one.channel == two.channel, one.topic == two.topic, one.state != two.state { return true }
            }
        }
        return false
    }

    private var hasTornConsents: Bool {
        for index in 1..<consentCount {
            for other in 0..<index {
                let (one, two) = (consents[index], consents[other])
                if one.purpose == two.purpose, one.channel == two.channel, one.state != two.state { return true }
            }
        }
        return false
    }

    /// A value that holds nothing.
    static var blank: ValueView { ValueView(kind: .string, isEscaped: false, isASCII: true, text: .nothing) }

    /// Puts a tag at its place in the order of bytes, once; false if there is no more room.
    @inline(__always) mutating func insert(tag: Stretch) -> Bool {
        var place = tagCount
        while place > 0 {
            let order = tag.compare(tags[place - 1])
            if order == 0 { return true }
            if order > 0 { break }
            place -= 1
        }
        guard tagCount < Self.tagLimit else { return false }
        var index = tagCount
        while index > place {
            tags[index] = tags[index - 1]
            index -= 1
        }
        tags[place] = tag
        tagCount += 1
        return true
    }

    /// Whether the record has that attribute.
    @inline(__always) func has(_ rank: Int) -> Bool { present[rank &>> 6] & (1 &<< UInt64(rank & 63)) != 0 }

    func setAttribute(_ rank: Int, _ value: ValueView) {
        present[rank &>> 6] |= 1 &<< UInt64(rank & 63)
        attributes[rank] = value
    }

    func removeAttribute(_ rank: Int) { present[rank &>> 6] &= ~(1 &<< UInt64(rank & 63)) }

    /// Takes a tag out; false if there is none of that name.
    mutating func remove(tag: Stretch) -> Bool {
        guard let place = (0..<tagCount).first(where: { tags[$0].compare(tag) == 0 }) else { return false }
        tagCount -= 1
        for index in place..<tagCount { tags[index] = tags[index + 1] }
        return true
    }

    /// Becomes the same as another view, of which it leaves everything as it is.
    mutating func copy(_ other: RecordView) {
        for word in 0..<Self.presentWords {
            present[word] = other.present[word]
            var bits = present[word]
            while bits != 0 {
                let rank = word &* 64 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                attributes[rank] = other.attributes[rank]
            }
        }
        identifiers.update(from: other.identifiers, count: other.identifierCount)
        tags.update(from: other.tags, count: other.tagCount)
        subscriptions.update(from: other.subscriptions, count: other.subscriptionCount)
        consents.update(from: other.consents, count: other.consentCount)
        devices.update(from: other.devices, count: other.deviceCount)
        (identifierCount, tagCount, subscriptionCount) = (
            other.identifierCount, other.tagCount, other.subscriptionCount
        )
        (consentCount, deviceCount) = (other.consentCount, other.deviceCount)
        (hasLocale, hasTimeZone, locale, timeZone) = (other.hasLocale, other.hasTimeZone, other.locale, other.timeZone)
    }

    /// The place of an attribute's value; nil if the record has one of that name already.
    @inline(__always) func attribute(_ rank: Int) -> UnsafeMutablePointer<ValueView>? {
        let (word, bit) = (rank &>> 6, 1 as UInt64 &<< UInt64(rank & 63))
        guard present[word] & bit == 0 else { return nil }
        present[word] |= bit
        return attributes + rank
    }
}
