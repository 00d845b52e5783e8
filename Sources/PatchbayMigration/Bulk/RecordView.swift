import PatchbayModel

/// A value of a record. Its bytes are in the chunk, or in the record's scratch memory.
struct ValueView: BitwiseCopyable {
    enum Kind: UInt8, BitwiseCopyable, CaseIterable {
        case string, integer, decimal, yes, no, date, time, timestamp, country
        /// A list as JSON, from bracket to bracket. Its elements are strings.
        case choices, list
    }

    var kind: Kind
    /// Whether JSON writes the text with escapes. For a list, whether its JSON has escapes.
    var needsEscapes: Bool
    /// Whether all bytes are ASCII.
    var isASCII: Bool
    /// The text of a string; a date or a similar value as the model writes it; a list as JSON.
    var text: Stretch

    init(kind: Kind, needsEscapes: Bool = false, isASCII: Bool = true, text: Stretch) {
        (self.kind, self.needsEscapes, self.isASCII, self.text) = (kind, needsEscapes, isASCII, text)
    }

    /// Creates a string, and determines its flags.
    init(string text: Stretch) {
        self.init(kind: .string, needsEscapes: text.needsEscapes, isASCII: text.isASCII, text: text)
    }
}

/// The parts of a contact's record, located in the chunk. A scanner of the source fills the view, and a writer of the
/// target reads it.
///
/// The view holds fewer parts of each kind than a contact may have. A record with more takes the general path.
struct RecordView: BitwiseCopyable {
    struct IdentifierView: BitwiseCopyable {
        /// The index of the kind in the vocabulary; -1 for a kind that the plan does not use.
        var kind: Int
        /// The kind's name.
        var name = Stretch.nothing
        var value: ValueView
        /// The value in the form of an address, after it was checked.
        var address: Stretch
        /// Whether the scanner has found that the value is an e-mail address.
        var isEmail = false
    }

    struct SubscriptionView: BitwiseCopyable {
        var channel: Int
        /// The index of the topic in the vocabulary; -1 for an unknown one, -2 for none.
        var topic: Int
        var state: Int
        /// The names of the channel and the topic.
        var names = (channel: Stretch.nothing, topic: Stretch.nothing)
        /// The time of the change, its source and its evidence. Each may be absent.
        var changedAt = Detail()
        var source = Detail()
        var evidence = Detail()

        /// The number of members that layouts of lines do not write.
        var details: Int { (changedAt.isThere ? 1 : 0) + (source.isThere ? 1 : 0) + (evidence.isThere ? 1 : 0) }

        /// Whether both may concern the same channel and topic.
        func isAbout(the other: SubscriptionView) -> Bool { channel == other.channel && topic == other.topic }
    }

    struct ConsentView: BitwiseCopyable {
        var purpose: Int
        /// The index of the channel in the vocabulary; -2 for every channel.
        var channel: Int
        var state: Int
        /// The names of the purpose and the channel.
        var names = (purpose: Stretch.nothing, channel: Stretch.nothing)
        var changedAt = Detail()
    }

    /// A text that may be absent.
    struct Detail: BitwiseCopyable {
        private(set) var isThere = false
        private(set) var text = Stretch.nothing

        init() {}

        init(_ text: Stretch) { (isThere, self.text) = (true, text) }

        /// The text as a point in time; nil if it is absent or none.
        var timestamp: Timestamp? { isThere ? Timestamp(text: text.text) : nil }
    }

    struct DeviceView: BitwiseCopyable {
        /// The facts that an app reports about its device. Each may be absent.
        struct Facts: BitwiseCopyable {
            var platform = Stretch.nothing, platformVersion = Stretch.nothing, model = Stretch.nothing
            var locale = Stretch.nothing, appVersion = Stretch.nothing
            var deviceName = Detail(), timeZone = Detail(), appID = Detail(), advertisingID = Detail()
            /// A whole number.
            var utcOffset = Detail()
            var isDaylightSaving = false, allowsAdTracking = false
        }

        static let identityLimit = 4

        var token = Stretch.nothing
        var hasToken = false
        /// The index of the token's service in the vocabulary; -1 for an unknown one.
        var service = 0
        var serviceName = Stretch.nothing
        /// The environment of the token; -1 if it names none.
        var environment = -1
        var appID = Detail()
        var hasFacts = false
        var facts = Facts()
        /// The family of the platform; -1 if there is none.
        var family = -1
        var allowsPush = true, allowsBackgroundPush = false, allowsLocation = false, allowsProximity = false
        /// The names and values of the identities, sorted by name. The first `identityCount` are used.
        var identities = (Identity(), Identity(), Identity(), Identity())
        var identityCount = 0

        struct Identity: BitwiseCopyable {
            var name = Stretch.nothing, value = Stretch.nothing
        }

        /// The app that the token names, or else the one in the facts; empty if there is neither.
        var app: Stretch { appID.text.count > 0 ? appID.text : facts.appID.text }

        /// The number of members of the token that no layout writes.
        var tokenDetails: Int { (environment < 0 ? 0 : 1) + (appID.isThere ? 1 : 0) }

        /// The number of other members that no layout writes.
        var details: Int {
            (hasFacts ? 1 : 0) + (identityCount > 0 ? 1 : 0) + (allowsPush ? 0 : 1) + (allowsBackgroundPush ? 1 : 0)
                + (allowsLocation ? 1 : 0) + (allowsProximity ? 1 : 0)
        }

        /// The index of a platform's family in the vocabulary.
        static func family(of platform: Stretch) -> Int {
            func isNamed(_ name: String) -> Bool {
                platform.count == name.utf8.count
                    && zip(0..<platform.count, name.utf8).allSatisfy { platform[$0] | 0x20 == $1 }
            }
            if isNamed("ipados") { return 0 }
            return Vocabulary.families.firstIndex(where: isNamed) ?? Vocabulary.families.count
        }
    }

    static let identifierLimit = 8
    static let tagLimit = 32
    static let subscriptionLimit = 16
    static let consentLimit = 16
    static let deviceLimit = 4
    static let attributeLimit = 256

    // Each pointer has capacity for its limit, and each count is at most the limit. `attributes[rank]` is initialized if
    // the bit of the rank is set in `present`.
    let identifiers: UnsafeMutablePointer<IdentifierView>
    let attributes: UnsafeMutablePointer<ValueView>
    let present: UnsafeMutablePointer<UInt64>
    let tags: UnsafeMutablePointer<Stretch>
    let subscriptions: UnsafeMutablePointer<SubscriptionView>
    let consents: UnsafeMutablePointer<ConsentView>
    let devices: UnsafeMutablePointer<DeviceView>
    /// Memory for addresses that are rewritten, a line for each identifier.
    let addressLines: UnsafeMutablePointer<UInt8>
    let scratch: Scratch

    var identifierCount = 0
    var tagCount = 0
    var subscriptionCount = 0
    var consentCount = 0
    var deviceCount = 0
    var locale = Detail()
    var timeZone = Detail()
    /// The offset of the row's device from UTC, in seconds; empty if there is none.
    var utcOffset = Stretch.nothing

    static let presentWords = attributeLimit / 64
    static let addressLine = 32

    init(in arena: Arena) {
        let value = Self.blank
        identifiers = arena.make(Self.identifierLimit, of: IdentifierView(kind: -1, value: value, address: .nothing))
        attributes = arena.make(Self.attributeLimit, of: value)
        present = arena.make(Self.presentWords, of: 0)
        tags = arena.make(Self.tagLimit, of: .nothing)
        subscriptions = arena.make(
            Self.subscriptionLimit,
            of: SubscriptionView(channel: -1, topic: -1, state: -1)
        )
        consents = arena.make(Self.consentLimit, of: ConsentView(purpose: -1, channel: -1, state: -1))
        devices = arena.make(Self.deviceLimit, of: DeviceView())
        addressLines = arena.make(Self.identifierLimit * Self.addressLine + Padding.count, of: 0)
        scratch = Scratch(in: arena)
    }

    /// Resets the view for the next record.
    @inline(__always) mutating func clear() {
        (identifierCount, tagCount, subscriptionCount, consentCount, deviceCount) = (0, 0, 0, 0, 0)
        (locale, timeZone, utcOffset) = (Detail(), Detail(), .nothing)
        scratch.reset()
        for word in 0..<Self.presentWords { present[word] = 0 }
    }

    /// Whether all consent decisions concern channels, topics and purposes of the vocabulary.
    @inline(__always) var hasKnownWords: Bool {
        for index in 0..<subscriptionCount {
            guard subscriptions[index].channel >= 0, subscriptions[index].topic != Vocabulary.unknown else {
                return false
            }
        }
        for index in 0..<consentCount {
            guard consents[index].purpose >= 0, consents[index].channel != Vocabulary.unknown else { return false }
        }
        return true
    }

    /// Whether two consent decisions may concern one subject and differ. The general path resolves them.
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

    /// An empty value.
    static var blank: ValueView { ValueView(kind: .string, text: .nothing) }

    /// Inserts a tag in the order of bytes, unless it exists; returns false if there is no room.
    @inline(__always) mutating func insert(tag: Stretch) -> Bool {
        if !tag.isASCII, hasTag(equivalentTo: tag) { return true }
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

    /// Whether there is a canonically equivalent tag with other bytes.
    @inline(never) private func hasTag(equivalentTo tag: Stretch) -> Bool {
        let text = tag.text
        return (0..<tagCount).contains { tags[$0].text == text }
    }

    /// Whether the record has the attribute with a rank.
    @inline(__always) func has(_ rank: Int) -> Bool { present[rank &>> 6] & (1 &<< UInt64(rank & 63)) != 0 }

    func setAttribute(_ rank: Int, _ value: ValueView) {
        present[rank &>> 6] |= 1 &<< UInt64(rank & 63)
        attributes[rank] = value
    }

    func removeAttribute(_ rank: Int) { present[rank &>> 6] &= ~(1 &<< UInt64(rank & 63)) }

    /// Removes a tag; returns false if it does not exist.
    mutating func remove(tag: Stretch) -> Bool {
        guard let place = (0..<tagCount).first(where: { tags[$0].compare(tag) == 0 }) else { return false }
        tagCount -= 1
        for index in place..<tagCount { tags[index] = tags[index + 1] }
        return true
    }

    /// Copies another view, which does not change.
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
        (locale, timeZone) = (other.locale, other.timeZone)
    }

    /// The place for the value of an attribute; nil if the record has a value of it already.
    @inline(__always) func attribute(_ rank: Int) -> UnsafeMutablePointer<ValueView>? {
        let (word, bit) = (rank &>> 6, 1 as UInt64 &<< UInt64(rank & 63))
        guard present[word] & bit == 0 else { return nil }
        present[word] |= bit
        return attributes + rank
    }
}

extension Contact {
    /// Creates a contact with the consent decisions of a view, and with its identifiers if `isIdentified` is true.
    init(consentOf view: RecordView, isIdentified: Bool = false) {
        self.init(
            identifiers: (0..<(isIdentified ? view.identifierCount : 0)).map { index in
                let each = view.identifiers + index
                return Identifier(IdentifierKind(rawValue: each.pointee.name.text), each.pointee.value.text.text)
            },
            subscriptions: (0..<view.subscriptionCount).map { Subscription(view.subscriptions[$0]) },
            consents: (0..<view.consentCount).map { Consent(view.consents[$0]) }
        )
    }
}

extension Subscription {
    /// Creates the subscription at a place in a chunk.
    init(_ view: RecordView.SubscriptionView) {
        self.init(
            channel: Channel(rawValue: view.names.channel.text),
            topic: view.topic == Vocabulary.none ? nil : view.names.topic.text,
            state: Vocabulary.states[view.state],
            changedAt: view.changedAt.timestamp,
            source: view.source.isThere ? view.source.text.text : nil
        )
    }
}

extension Consent {
    /// Creates the consent at a place in a chunk.
    init(_ view: RecordView.ConsentView) {
        self.init(
            purpose: Purpose(rawValue: view.names.purpose.text),
            channel: view.channel == Vocabulary.none ? nil : Channel(rawValue: view.names.channel.text),
            state: Vocabulary.answers[view.state],
            changedAt: view.changedAt.timestamp
        )
    }
}
