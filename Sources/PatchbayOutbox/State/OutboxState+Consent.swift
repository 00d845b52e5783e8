import PatchbayJSON

/// A change of a person's consent as the consent trail stores it. It contains nothing that identifies the person.
package struct ConsentRecord: Sendable, Equatable {
    /// The effect of the change on the pending operations of one provider.
    package struct Effect: Sendable, Equatable {
        package var released = 0
        package var held = 0
        package var ended = 0

        package init() {}
    }

    /// The number of the record, rising over time.
    package var number: Int64 = 0
    /// The time of the change by the wall clock, in milliseconds.
    package var at: Int64
    /// The subject's digest.
    package var subject: String
    package var purpose: String
    package var channel: String?
    /// The effective consent before and after the change.
    package var before: String
    package var after: String
    /// The id of the operation that made the change.
    package var operation: String
    package var effects: [String: Effect]

    package init(
        at: Int64,
        subject: String,
        purpose: String,
        channel: String?,
        before: String,
        after: String,
        operation: String,
        effects: [String: Effect]
    ) {
        (self.at, self.subject, self.purpose, self.channel) = (at, subject, purpose, channel)
        (self.before, self.after, self.operation, self.effects) = (before, after, operation, effects)
    }

    fileprivate var effectBytes: [UInt8] {
        TextList.bytes(
            effects.inOrder.flatMap { [$0, "\($1.released)", "\($1.held)", "\($1.ended)"] }
        )
    }

    fileprivate static func effects(_ bytes: [UInt8]) -> [String: Effect] {
        let texts = TextList.read(bytes)
        var effects: [String: Effect] = [:]
        for start in stride(from: 0, to: texts.count - texts.count % 4, by: 4) {
            var effect = Effect()
            effect.released = Int(texts[start + 1]) ?? 0
            effect.held = Int(texts[start + 2]) ?? 0
            effect.ended = Int(texts[start + 3]) ?? 0
            effects[texts[start]] = effect
        }
        return effects
    }
}

/// The consent trail.
extension OutboxState {
    /// Adds a change to the trail and deletes the oldest records beyond the limit of the history.
    package func recordConsent(_ record: ConsentRecord) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            let number =
                (try store.connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'consent'") ?? 0) + 1
            try store.add(
                .consent,
                .integer(number),
                .integer(record.at),
                .text(record.subject),
                .text(record.purpose),
                .optional(record.channel),
                .text(record.before),
                .text(record.after),
                .text(record.operation),
                .blob(record.effectBytes)
            )
            try store.connection.run(
                "DELETE FROM consent WHERE number <= ?1",
                .integer(number - Int64(store.history.limit))
            )
        }
    }

    /// Returns the consent changes, oldest first, of one subject (by its digest) or of all subjects.
    package func consentTrail(subject: String?) throws(OutboxError) -> [ConsentRecord] {
        try store.soundRows(
            .consent,
            where: "(?1 IS NULL OR subject = ?1)",
            order: "number",
            .optional(subject)
        ) { row in
            var record = ConsentRecord(
                at: row.integer(1),
                subject: row.text(2),
                purpose: row.text(3),
                channel: row.optionalText(4),
                before: row.text(5),
                after: row.text(6),
                operation: row.text(7),
                effects: ConsentRecord.effects(row.blob(8))
            )
            record.number = row.integer(0)
            return record
        }
    }
}
