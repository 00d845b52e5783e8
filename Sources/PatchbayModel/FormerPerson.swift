import PatchbayJSON

/// The consent decisions of a person who has left an installation.
///
/// A person's refusals apply again when the person returns. A denial of the purpose profile is not kept, because a person who
/// logs in asks to be known.
struct FormerPerson: ObjectValue {
    /// The contact by which the person was known.
    var contact: String
    /// The person's last decision about push messages; a denied registration denies them. It applies while the vendor still has
    /// this contact.
    var pushMessages = Consent.State.unknown
    /// The denials.
    var denials: [Consent]
    /// The subscriptions that the person has ended.
    var subscriptions: [Subscription]

    /// The maximum number of former people per installation.
    static let limit = 16

    /// Creates the decisions of the current person.
    init(of snapshot: SubjectSnapshot, knownAs contact: String) {
        self.contact = contact
        let mayRegister = snapshot.consent(for: .profile, channel: .push) != .denied
        pushMessages = mayRegister ? snapshot.consent(for: .messaging, channel: .push) : .denied
        denials = snapshot.consents.filter { $0.state == .denied && $0.purpose != .profile }
        subscriptions = snapshot.subscriptions.inOrder.map(\.value).filter(\.state.isOptOut)
    }

    package enum Member: MemberName, MemberTable {
        case contact, pushMessages, denials, subscriptions
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        contact = try reader.required(Member.contact)
        pushMessages = try reader.optional(Member.pushMessages) ?? .unknown
        denials = try reader.list(Member.denials)
        subscriptions = try reader.list(Member.subscriptions)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.contact, contact)
        if pushMessages != .unknown { writer.member(Member.pushMessages, pushMessages) }
        writer.member(Member.denials, ifNotEmpty: denials)
        writer.member(Member.subscriptions, ifNotEmpty: subscriptions)
    }
}

/// A person's last decision about push messages.
package struct PushWord {
    /// The consent to messages on the channel push.
    package let consent: Consent.State
    /// Whether the person has ended or paused the subscription to the channel push as a whole.
    package let isEnded: Bool

    init(consent: Consent.State, subscriptions: some Sequence<Subscription>) {
        self.consent = consent
        isEnded = subscriptions.contains {
            $0.channel == .push && $0.topic == nil && $0.state.isOptOut
        }
    }
}
