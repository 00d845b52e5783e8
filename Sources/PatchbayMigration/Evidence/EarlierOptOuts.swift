import PatchbayAdapterKit
import PatchbayModel

/// Remembers the opt-outs of the records so far, so that a later opt-in of the same person does not replace them: of two
/// decisions the more protective one counts.
///
/// Up to ``limit`` opt-outs are kept in memory. Further opt-outs, and the opt-ins after them, are written as marks to an
/// unnamed temporary file. At the end, ``finish()`` checks whether any of these opt-outs was known too late to be applied.
final class EarlierOptOuts {
    /// The default limit. A set of this size takes 8 MiB.
    static let usualLimit = 6 << 17

    var table: OptOutTable

    init(limit: Int = EarlierOptOuts.usualLimit) { table = OptOutTable(limit: limit) }

    /// Creates a collector of all decisions, which applies none of them.
    static func collector() -> EarlierOptOuts {
        let collector = EarlierOptOuts()
        collector.table = OptOutTable()
        return collector
    }

    /// Adds the marks of an earlier run. They are not kept for a checkpoint again.
    func restore(_ log: OptOutLog) throws {
        try log.eachEarlier { marks in
            table.restore(marks)
            try table.keepLate()
        }
    }

    // MARK: Single records

    /// The number of opt-ins that were lowered.
    private(set) var lowered = 0

    /// Lowers each opt-in of a contact from which an earlier record opted out, and adds the contact's own opt-outs.
    func apply(to contact: inout Contact, _ marks: ConsentMarks) throws(FileError) -> [Finding] {
        // An opt-in that another record lowered is no opt-out, so the order of records does not matter.
        let optOuts = marks.optOuts(of: contact)
        let findings = lower(&contact, marks, besides: optOuts)
        note(optOuts)
        try table.keepLate()
        return findings
    }

    /// Adds opt-outs.
    func note(_ optOuts: [UInt64]) { for optOut in optOuts { table.note(optOut) } }

    /// Lowers each opt-in of a contact from which an earlier record opted out.
    ///
    /// The contact's own opt-outs, `optOuts`, do not lower its opt-ins: both are written.
    func lower(_ contact: inout Contact, _ marks: ConsentMarks, besides optOuts: [UInt64]) -> [Finding] {
        var findings: [Finding] = []
        let own = Set(optOuts)
        for place in contact.subscriptions.indices where contact.subscriptions[place].state == .subscribed {
            guard let row = finding(of: marks.subjects(of: contact.subscriptions[place]).without(own)) else { continue }
            contact.subscriptions[place].state = .unsubscribed
            findings.append(row.at("subscriptions[\(place)]"))
        }
        for place in contact.consents.indices where contact.consents[place].state == .granted {
            guard let row = finding(of: marks.subjects(of: contact.consents[place]).without(own)) else { continue }
            contact.consents[place].state = .denied
            findings.append(row.at("consents[\(place)]"))
        }
        lowered += findings.count
        return findings
    }

    /// The finding about an opt-in that follows an opt-out; nil if it follows none.
    private func finding(of subjects: ConsentMarks.Holders) -> FindingRow? {
        // Both are looked up, because an opt-in after a late opt-out must be recorded for the end of the run.
        let (isOwn, isAddress) = (table.holds(subjects.own), table.holds(subjects.addresses))
        if !isOwn, !isAddress { for subject in subjects.all { table.keep(optIn: subject) } }
        return isOwn ? Self.heeded : isAddress ? Self.heededAddress : nil
    }

    // MARK: Records of a job

    /// Reads the marks of many records, in order. If an opt-in follows an opt-out, returns false and adds none of them.
    func read(_ marks: [UInt64]) throws(FileError) -> Bool {
        let isInOrder = table.read(marks)
        try table.keepLate()
        return isInOrder
    }

    /// Checks at the end of the source that every opt-out was applied.
    ///
    /// - Throws: ``Migration/Failure`` if an opt-in followed an opt-out that was no longer in memory. The output must not
    ///   be used then.
    func finish() throws {
        let raised = try table.optInsBehindLateOptOuts()
        if raised > 0 { throw Migration.Failure([Self.unheeded.at("subscriptions", detail: "\(raised) of them")]) }
    }

    // MARK: Findings

    static let heeded = FindingRow(
        "migration.consent.earlierNo",
        .warning,
        .consent,
        reason: "Another record of the same contact opts out, so the opt-out applies",
        remedy: "Ask the person, or leave one record of each contact in the source."
    )
    static let heededAddress = FindingRow(
        "migration.consent.earlierNoOfAddress",
        .warning,
        .consent,
        reason: "A record of another contact with the same address opts out, so the opt-out applies",
        remedy: "Ask the person, or leave one record of each address in the source."
    )
    /// The findings about an opt-in that is lowered.
    static let notes = [heeded, heededAddress]

    /// Whether a run failed because it did not know opt-outs in time.
    static func isUnheeded(_ finding: Finding) -> Bool { [unheeded.code, later.code].contains(finding.code) }

    static let rejected = FindingRow(
        "migration.consent.rejected",
        .warning,
        .consent,
        reason:
            "A rejected record opts out, or its consent cannot be read. Other records of the same key or address are opted out, but "
            + "the target receives no opt-out of this record",
        remedy: "Correct the rejected rows and migrate them with --after FILE, where FILE is this source."
    )
    static let later = FindingRow(
        "migration.consent.laterNo",
        .error,
        .consent,
        reason:
            "A record opts in, and a later record of the same contact or address opts out. No file was written; discard output "
            + "that went to standard output",
        remedy: "Use --in FILE, so that all opt-outs can be read first."
    )

    static let unheeded = FindingRow(
        "migration.consent.unheeded",
        .error,
        .consent,
        reason:
            "Some records opt in after an opt-out of the same contact or address that is too far back in the "
            + "file to be remembered. No file was written; discard output that went to a pipe or standard "
            + "output",
        remedy:
            "Use --in FILE, so that all opt-outs can be read first; or leave one record of each contact in the source."
    )
}
