import PatchbayJSON
public import PatchbayModel

/// The part of a contact that a column of a file holds.
public enum ContactPlace: Hashable, Sendable {
    /// The first identifier of a kind.
    case identifier(IdentifierKind)
    /// An attribute.
    case attribute(AttributeName)
    /// All tags.
    case tags
    /// Whether the contact has one tag.
    case tag(Tag)
    /// The locale.
    case locale
    /// The time zone: a name, or where a device has none an offset.
    case timeZone
    /// The person's consent to a channel, or to a topic on it, and what a yes in the column means.
    case state(Subscription.Key, Polarity = .consent)
    /// Since when it is wanted.
    case optIn(Subscription.Key)
    /// Since when it is not wanted.
    case optOut(Subscription.Key)
    /// When the person said so.
    case changedAt(Subscription.Key)
    /// Where the person said so.
    case source(Subscription.Key)
    /// Whether the person forbids a use of the data, on a channel or on every one.
    case denied(Consent.Scope)
    /// A part of the first device.
    case device(DevicePart)
    /// Nothing.
    case ignored

    /// What a yes in a column of consent means.
    public enum Polarity: String, Hashable, Sendable, CaseIterable {
        /// Status words; a yes is an opt-in.
        case consent
        /// Whether the person opted in.
        case optedIn
        /// Whether the person opted out.
        case optedOut
    }

    /// What a column may hold of a device.
    public enum DevicePart: String, Hashable, Sendable, CaseIterable {
        /// The id that the vendor's own SDK gave it.
        case deviceID
        /// Where push notifications go.
        case pushToken
        /// `iOS`, `Android` ….
        case platform
        /// The system's version.
        case platformVersion
        /// The hardware's model.
        case model
        /// The offset from UTC, in hours or seconds.
        case utcOffset
        /// Whether daylight saving is in force.
        case daylightSaving
        /// Whether geofences are on.
        case locationEnabled
        /// The app to which the push token belongs, by the vendor's own id.
        case pushAppID
        /// Whether the push token is for released apps or for test builds: `production`, `sandbox`.
        case pushEnvironment
    }

    /// Whether it says what a person allows or wants.
    var isAboutConsent: Bool { subject != nil }

    /// What it is about what a person wants or allows; nil where it says nothing of that.
    var subject: AnyHashable? {
        switch self {
        case .state(let key, _), .optIn(let key), .optOut(let key): AnyHashable(key)
        case .denied(let scope): AnyHashable(scope)
        default: nil
        }
    }

    /// What a yes in the column means; nil if it holds no words of consent.
    var polarity: Polarity? { if case .state(_, let polarity) = self { polarity } else { nil } }

    /// Whether columns of both places hold the same, a yes in both meaning the same.
    func isSame(as other: ContactPlace) -> Bool {
        self == other || polarity != nil && subject == other.subject && !isOpposite(of: other) && other.polarity != nil
    }

    /// Whether a yes in a column of the other place would mean the opposite.
    func isOpposite(of other: ContactPlace) -> Bool {
        guard let polarity, let others = other.polarity else { return false }
        return (polarity == .optedOut) != (others == .optedOut)
    }

    /// The words that a setting may use, for error texts.
    public static let allowed =
        "identifier:<kind>, attribute:<name>, tag:<name>, consent:<channel>[/<topic>], optedIn:…, optedOut:…, "
        + "optIn:… and optOut:… for dates, changedAt:…, source:…, denied:<purpose>[/<channel>], "
        + words.keys.sorted().joined(separator: ", ")

    private static let push = Subscription.Key(channel: .push)

    private static let words: [String: ContactPlace] = {
        var words: [String: ContactPlace] = [
            "locale": .locale, "timeZone": .timeZone, "tags": .tags, "ignored": .ignored,
            "optInDate": .optIn(push), "optOutDate": .optOut(push),
        ]
        for part in DevicePart.allCases { words[part.rawValue] = .device(part) }
        return words
    }()

    /// Reads `identifier:external`, `attribute:city`, `optedOut:email/weekly` or a word; nil if it is none of them.
    public init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
        switch (parts.first, parts.dropFirst().first) {
        case ("identifier", let kind?) where !kind.isEmpty: self = .identifier(IdentifierKind(rawValue: kind))
        case ("attribute", let name?) where !name.isEmpty: self = .attribute(AttributeName(rawValue: name))
        case ("tag", let name?) where !name.isEmpty: self = .tag(Tag(rawValue: name))
        case ("consent", let key?), ("subscription", let key?):
            guard !key.isEmpty else { return nil }
            self = .state(Subscription.Key(text: key))
        case ("optedIn", let key?) where !key.isEmpty: self = .state(Subscription.Key(text: key), .optedIn)
        case ("optedOut", let key?) where !key.isEmpty: self = .state(Subscription.Key(text: key), .optedOut)
        case ("optIn", let key?) where !key.isEmpty: self = .optIn(Subscription.Key(text: key))
        case ("optOut", let key?) where !key.isEmpty: self = .optOut(Subscription.Key(text: key))
        case ("changedAt", let key?) where !key.isEmpty: self = .changedAt(Subscription.Key(text: key))
        case ("source", let key?) where !key.isEmpty: self = .source(Subscription.Key(text: key))
        case ("denied", let scope?) where !scope.isEmpty: self = .denied(Consent.Scope(text: scope))
        case (let word?, nil):
            guard let place = ContactPlace.words[word] else { return nil }
            self = place
        default: return nil
        }
    }

    /// The same consent about text messages, of a place that is about push messages; any other place stays.
    var aboutTexts: ContactPlace {
        let sms = Subscription.Key(channel: .sms)
        return switch self {
        // Besides a column of statuses that settings name, this is a second one.
        case .state(ContactPlace.push, _): .state(sms, .optedOut)
        case .optIn(ContactPlace.push): .optIn(sms)
        case .optOut(ContactPlace.push): .optOut(sms)
        default: self
        }
    }

    /// The channel on which a person is reached by what stands here.
    package var reach: Channel? {
        switch self {
        case .identifier(.email): .email
        case .identifier(.phone): .sms
        case .device(.deviceID), .device(.pushToken): .push
        default: nil
        }
    }

    /// The text that ``init(text:)`` reads.
    public var text: String {
        switch self {
        case .identifier(let kind): "identifier:\(kind.rawValue)"
        case .attribute(let name): "attribute:\(name.rawValue)"
        case .tags: "tags"
        case .tag(let tag): "tag:\(tag.rawValue)"
        case .locale: "locale"
        case .timeZone: "timeZone"
        case .state(let key, let polarity): "\(polarity.rawValue):\(key.text)"
        case .optIn(let key): key == ContactPlace.push ? "optInDate" : "optIn:\(key.text)"
        case .optOut(let key): key == ContactPlace.push ? "optOutDate" : "optOut:\(key.text)"
        case .changedAt(let key): "changedAt:\(key.text)"
        case .source(let key): "source:\(key.text)"
        case .denied(let scope): "denied:\(scope.text)"
        case .device(let part): part.rawValue
        case .ignored: "ignored"
        }
    }
}

extension IdentifierKind {
    /// Its place among the identifiers of a contact that is read: what finds a contact elsewhere, too, stands first.
    public var place: (Int, String) { (self == .external ? 0 : 1, rawValue) }
}

extension Subscription.Key {
    /// Reads `email` or `email/weekly`.
    package init(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(channel: Channel(rawValue: parts.first ?? ""), topic: parts.dropFirst().first)
    }

    /// `email`, `email/weekly`.
    package var text: String { topic.map { "\(channel.rawValue)/\($0)" } ?? channel.rawValue }
}

extension Consent.Scope {
    /// Reads `messaging` or `messaging/email`.
    init(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(
            Purpose(rawValue: parts.first ?? ""),
            channel: parts.count > 1 ? Channel(rawValue: parts[1]) : nil
        )
    }

    /// `messaging`, `messaging/email`.
    var text: String { channel.map { "\(purpose.rawValue)/\($0.rawValue)" } ?? purpose.rawValue }
}

/// The name of a column in a file's header.
public struct ColumnName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// What two spellings of one column share: case, spaces, underscores and hyphens do not count, a leading underscore
    /// does, because it marks a vendor's own columns.
    public var key: String {
        let letters = rawValue.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" }
        return (rawValue.trimmed.hasPrefix("_") ? "_" : "") + letters
    }
}

/// Names in lower case with underscores.
public enum SnakeCase: Sendable {
    /// `Loyalty Tier`, `LoyaltyTier` and `loyalty-tier` as `loyalty_tier`.
    public static func text(_ name: String) -> String {
        var words: [String] = [""]
        var previous: Character?
        for character in name {
            let isWord = character.isLetter || character.isNumber
            let startsWord = character.isUppercase && (previous?.isLowercase ?? false || previous?.isNumber ?? false)
            if !isWord || startsWord { words.append("") }
            if isWord { words[words.count - 1] += character.lowercased() }
            previous = character
        }
        return words.filter { !$0.isEmpty }.joined(separator: "_")
    }
}

extension [ContactPlace] {
    /// The columns that fill a part of the contact for which there is one before, each with that one.
    var repeated: [(column: Int, first: Int)] {
        var first: [ContactPlace: Int] = [:]
        return enumerated().compactMap { column, place in
            guard place != .ignored else { return nil }
            if let other = first[place] { return (column, other) }
            first[place] = column
            return nil
        }
    }
}
