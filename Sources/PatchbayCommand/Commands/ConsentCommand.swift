import Patchbay
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let outboxConsent = Command(
        "outbox consent",
        "Show consent changes and their effects",
        task: .inspect,
        details: """
            The outbox is only read. It stores subjects as salted digests: --subject finds the changes of a known subject, but
            no name can be read from the file.
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.whose, .json],
        examples: [
            Example("Show all consent changes", "patchbay outbox consent outbox.sqlite"),
            Example("Show the changes of one subject", "patchbay outbox consent outbox.sqlite --subject phone-1"),
        ]
    ) { session in
        let store = try session.outbox()
        var digest: String?
        if let subject = session.invocation.text(.whose) {
            // An outbox without a consent trail has no digest; the empty text matches no record.
            digest = try ConsentTrail.digest(of: Subject(rawValue: subject), in: store) ?? ""
        }
        let records = try store.state.consentTrail(subject: digest)
        if records.isEmpty, !session.isJSON { session.console.say("No consent changes.") }
        for record in records {
            if session.isJSON {
                try session.console.data(record.json)
            } else {
                try session.console.data(record.text)
            }
        }
        return .fine
    }
}

extension ConsentRecord {
    private var scope: String {
        Consent.Scope(Purpose(rawValue: purpose), channel: channel.map(Channel.init)).description
    }

    fileprivate var json: JSONValue {
        var json: JSONObject = [
            "at": .string(Instant(milliseconds: at).text), "subject": .string(subject), "purpose": .string(purpose),
        ]
        if let channel { json["channel"] = .string(channel) }
        json["from"] = .string(before)
        json["to"] = .string(after)
        json["operation"] = .string(operation)
        json["effects"] = .object(
            JSONObject(
                effects.inOrder.map { provider, effect in
                    let counts: JSONObject = [
                        "released": .integer(effect.released), "held": .integer(effect.held),
                        "ended": .integer(effect.ended),
                    ]
                    return (provider, .object(counts))
                }
            )
        )
        return .object(json)
    }

    fileprivate var text: String {
        let done = effects.inOrder.map { provider, effect in
            "\(provider): \(effect.released) released, \(effect.held) held, \(effect.ended) ended"
        }
        let tail = done.isEmpty ? "" : "; " + done.joined(separator: "; ")
        let instant = Instant(milliseconds: at).text
        return "\(instant) \(subject.prefix(12)) \(scope): \(before) -> \(after)\(tail)"
    }
}
