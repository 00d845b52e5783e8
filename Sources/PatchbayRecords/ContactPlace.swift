import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The part of a contact that a column of a file contains.
public enum ContactPlace: Hashable, Sendable {
    /// The first identifier of a kind.
    case identifier(IdentifierKind)
    /// An attribute.
    case attribute(AttributeName)
    /// All tags.
    case tags
    /// Whether the contact has a tag.
    case tag(Tag)
    /// The locale.
    case locale
    /// The time zone: a name or, for a device without one, an offset.
    case timeZone
    /// The person's consent to a channel or a topic, and the meaning of a yes in the column.
    case state(Subscription.Key, Polarity = .consent)
    /// The date of the opt-in.
    case optIn(Subscription.Key)
    /// The date of the opt-out.
    case optOut(Subscription.Key)
    /// The date of the consent decision.
    case changedAt(Subscription.Key)
    /// The source of the consent decision.
    case source(Subscription.Key)
    /// Whether the person denies consent to a purpose, on one channel or all.
    case denied(Consent.Scope)
    /// A part of the first device.
    case device(DevicePart)
    /// The column is ignored.
    case ignored

    /// The meaning of a yes in a column of consent.
    public enum Polarity: String, Hashable, Sendable, CaseIterable {
        /// The column contains status values; a yes is an opt-in.
        case consent
        /// The column states whether the person opted in.
        case optedIn
        /// The column states whether the person opted out.
        case optedOut
    }

    /// The parts of a device that a column may contain.
    public enum DevicePart: String, Hashable, Sendable, CaseIterable {
        /// The device id of the vendor's own SDK.
        case deviceID
        /// The push token.
        case pushToken
        /// The platform: `iOS`, `Android`, ….
        case platform
        /// The version of the operating system.
        case platformVersion
        /// The hardware model.
        case model
        /// The offset from UTC, in hours or seconds.
        case utcOffset
        /// Whether daylight saving time is in effect.
        case daylightSaving
        /// Whether geofences are enabled.
        case locationEnabled
        /// The vendor's id of the app that the push token belongs to.
        case pushAppID
        /// The environment of the push token: `production` or `sandbox`.
        case pushEnvironment
    }

    /// Whether the column contains consent.
    var isAboutConsent: Bool { subject != nil }

    /// The subject of the consent; nil if the column contains no consent.
    var subject: AnyHashable? {
        switch self {
        case .state(let key, _), .optIn(let key), .optOut(let key): AnyHashable(key)
        case .denied(let scope): AnyHashable(scope)
        default: nil
        }
    }

    /// The meaning of a yes in the column; nil if it contains no consent values.
    var polarity: Polarity? { if case .state(_, let polarity) = self { polarity } else { nil } }

    /// Whether both places have the same subject and the same meaning of a yes.
    func isSame(as other: ContactPlace) -> Bool {
        self == other || polarity != nil && subject == other.subject && !isOpposite(of: other) && other.polarity != nil
    }

    /// Whether both places have the same subject and opposite meanings of a yes.
    func isOpposite(of other: ContactPlace) -> Bool {
        guard let polarity, let others = other.polarity else { return false }
        return (polarity == .optedOut) != (others == .optedOut)
    }

    /// The texts that a setting may use, for error messages.
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

    /// Creates a place from a text such as `identifier:external`, `attribute:city`, `optedOut:email/weekly`, or a word; nil if
    /// it is invalid.
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

    /// The same consent place for text messages, if this one is for push messages; otherwise unchanged.
    var aboutTexts: ContactPlace {
        let sms = Subscription.Key(channel: .sms)
        return switch self {
        // This is a second column, besides a column of statuses that settings name.
        case .state(ContactPlace.push, _): .state(sms, .optedOut)
        case .optIn(ContactPlace.push): .optIn(sms)
        case .optOut(ContactPlace.push): .optOut(sms)
        default: self
        }
    }

    /// The channel on which the value at this place reaches a person.
    package var reach: Channel? {
        switch self {
        case .identifier(.email): .email
        case .identifier(.phone): .sms
        case .device(.deviceID), .device(.pushToken): .push
        default: nil
        }
    }

    /// The text from which ``init(text:)`` creates the place.
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
    /// The sort key among the identifiers of a contact that is read: the external identifier comes first.
    public var place: (Int, String) { (self == .external ? 0 : 1, rawValue) }
}

extension Subscription.Key {
    /// Creates a key from `email` or `email/weekly`.
    package init(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(channel: Channel(rawValue: parts.first ?? ""), topic: parts.dropFirst().first)
    }

    /// The text `email` or `email/weekly`.
    package var text: String { topic.map { "\(channel.rawValue)/\($0)" } ?? channel.rawValue }
}

extension Consent.Scope {
    /// Creates a scope from `messaging` or `messaging/email`.
    init(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(
            Purpose(rawValue: parts.first ?? ""),
            channel: parts.count > 1 ? Channel(rawValue: parts[1]) : nil
        )
    }

    /// The text `messaging` or `messaging/email`.
    var text: String { channel.map { "\(purpose.rawValue)/\($0.rawValue)" } ?? purpose.rawValue }
}

/// The name of a column in a file's header.
public struct ColumnName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name for comparison, without regard to case, spaces, underscores, and hyphens. A leading underscore counts, because
    /// it marks a vendor's own columns.
    public var key: String {
        let letters = rawValue.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" }
        return (rawValue.trimmed.hasPrefix("_") ? "_" : "") + letters
    }
}

/// Conversion of names to snake case.
public enum SnakeCase: Sendable {
    /// Returns `Loyalty Tier`, `LoyaltyTier`, or `loyalty-tier` as `loyalty_tier`.
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
    /// The columns that fill a part of the contact that an earlier column fills, each with that column.
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
