import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The history of consent changes in an outbox.
package enum ConsentTrail {
    static let saltKey = "consentSalt"

    /// Returns the name of a subject in the outbox's trail; nil if the outbox has no trail.
    package static func digest(of subject: Subject, in store: OutboxStore) throws -> String? {
        guard let salt = try store.state.meta(saltKey) else { return nil }
        return SHA256.digest(of: Array("\(salt)/\(subject.rawValue)".utf8)).hexText
    }

    /// Returns the key of an erased person's lane, which differs from all lane names; nil if the outbox has no trail.
    package static func erasedKey(_ lane: String, in store: OutboxStore) throws -> String? {
        try digest(of: Subject(rawValue: lane), in: store).map { "%erased-\($0)" }
    }

    /// Returns the denials of a subject according to the trail, for a subject whose state is lost.
    ///
    /// Opt-ins are not restored. The lost state named the person who gave them, so the next person's log-in could not end
    /// them.
    static func refusals(of subject: Subject, in store: OutboxStore) throws -> [Consent] {
        guard let digest = try digest(of: subject, in: store) else { return [] }
        var answers: [Consent.Scope: (state: Consent.State, operation: String)] = [:]
        for record in try store.state.consentTrail(subject: digest) {
            let purpose = Purpose(rawValue: record.purpose)
            let scope = Consent.Scope(purpose, channel: record.channel.map { Channel(rawValue: $0) })
            let state = Consent.State(rawValue: record.after) ?? .denied
            // If one decision changed both, the channel no longer has a decision of its own.
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
