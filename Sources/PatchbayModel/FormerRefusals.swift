import PatchbayJSON

/// What a person who has left had refused: it counts again when the person comes back.
///
/// A denial of the profile is not remembered: a person who logs in asks to be known.
struct FormerRefusals: ScannedValue {
    /// The contact under whom the person was known.
    var contact: String
    /// The denials.
    var consents: [Consent]
    /// The subscriptions that the person had ended.
    var subscriptions: [Subscription]

    /// How many people are remembered for one installation.
    static let limit = 16

    /// The refusals of the person who is there; nil if the person is not known or refuses nothing.
    init?(of snapshot: SubjectSnapshot, knownAs contact: String?) {
        guard let contact else { return nil }
        self.contact = contact
        consents = snapshot.consents.filter { $0.state == .denied && $0.purpose != .profile }
        subscriptions = snapshot.subscriptions.values.filter { [.unsubscribed, .suspended].contains($0.state) }
            .sorted { $0.key < $1.key }
        if consents.isEmpty, subscriptions.isEmpty { return nil }
    }

    init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["contact", "consents", "subscriptions"])
        contact = try reader.required("contact")
        consents = try reader.list("consents")
        subscriptions = try reader.list("subscriptions")
    }

    init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        contact = try scanner.required("contact")
        consents = try scanner.list("consents")
        subscriptions = try scanner.list("subscriptions")
        try scanner.endObject()
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "contact", contact)
        writer.member(known: "consents", ifNotEmpty: consents)
        writer.member(known: "subscriptions", ifNotEmpty: subscriptions)
        writer.endObject()
    }
}
