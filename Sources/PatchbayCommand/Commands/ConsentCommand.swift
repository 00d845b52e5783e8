import Patchbay
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let outboxConsent = Command(
        "outbox consent",
        "shows when which consent changed, and what that did to what was pending",
        details: """
            The file is only read. A subject stands in it as a digest with the file's own salt: whoever knows the subject
            finds its changes with --subject, and nobody reads who it is.
            """,
        arguments: [.required("FILE")],
        optional: [.whose, .json]
    ) { session in
        let store = try OutboxStore.open(.file(session.invocation.argument(0) ?? ""), readOnly: true)
        var digest: String?
        if let subject = session.invocation.text(.whose) {
            // Without a trail there is nobody in it.
            digest = try ConsentTrail.digest(of: Subject(rawValue: subject), in: store) ?? ""
        }
        for record in try store.consentTrail(subject: digest) {
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
                effects.sorted { $0.key < $1.key }.map { provider, effect in
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
        let done = effects.sorted { $0.key < $1.key }.map { provider, effect in
            "\(provider): \(effect.released) released, \(effect.held) held, \(effect.ended) ended"
        }
        let tail = done.isEmpty ? "" : "; " + done.joined(separator: "; ")
        let instant = Instant(milliseconds: at).text
        return "\(instant) \(subject.prefix(12)) \(scope): \(before) -> \(after)\(tail)"
    }
}
