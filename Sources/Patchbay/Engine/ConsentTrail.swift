import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The trail of what people allowed, as an outbox keeps it.
package enum ConsentTrail {
    static let saltKey = "consentSalt"

    /// The name of a subject in the trail of that outbox; nil while it has no trail.
    package static func digest(of subject: Subject, in store: OutboxStore) throws -> String? {
        guard let salt = try store.meta(saltKey) else { return nil }
        return SHA256.digest(of: Array("\(salt)/\(subject.rawValue)".utf8)).hexText
    }

    /// The name of an erased person's lane in that outbox, which no lane can have; nil while it has no trail.
    package static func erasedKey(_ lane: String, in store: OutboxStore) throws -> String? {
        try digest(of: Subject(rawValue: lane), in: store).map { "%erased-\($0)" }
    }

    /// What a subject refuses by the trail of that outbox, for a state that is lost.
    ///
    /// A yes is not taken from there: with the state it is lost who said it, and the next one's log-in could not end it.
    static func refusals(of subject: Subject, in store: OutboxStore) throws -> [Consent] {
        guard let digest = try digest(of: subject, in: store) else { return [] }
        var answers: [Consent.Scope: (state: Consent.State, operation: String)] = [:]
        for record in try store.consentTrail(subject: digest) {
            let purpose = Purpose(rawValue: record.purpose)
            let scope = Consent.Scope(purpose, channel: record.channel.map { Channel(rawValue: $0) })
            let state = Consent.State(rawValue: record.after) ?? .denied
            // Where one word changed both alike, the channel has no word of its own any more.
            let general = scope.channel == nil ? nil : answers[Consent.Scope(purpose)]
            let isCovered = general.map { $0.operation == record.operation && $0.state == state } ?? false
            if isCovered {
                answers.removeValue(forKey: scope)
            } else {
                answers[scope] = (state: state, operation: record.operation)
            }
        }
        return answers.filter { $0.value.state == .denied }.keys.sorted().map {
            Consent(purpose: $0.purpose, channel: $0.channel, state: .denied)
        }
    }
}
