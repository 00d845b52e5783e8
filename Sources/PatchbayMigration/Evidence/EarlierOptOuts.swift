import PatchbayAdapterKit
import PatchbayModel

/// What people said no to in the records so far, so that no later record of the same person says yes for them: of two answers
/// the more protective counts.
///
/// It knows ``limit`` opt-outs at once. Further ones, and each opt-in behind them, go to a temporary file without a name, as marks;
/// at the end, ``finish()`` tells whether one of those came too late to be heeded.
final class EarlierOptOuts {
    /// A set of so many takes eight MiB.
    static let usualLimit = 6 << 17

    private var table: OptOutTable

    init(limit: Int = EarlierOptOuts.usualLimit) { table = OptOutTable(limit: limit) }

    // MARK: The order of records

    /// Keeps the opt-ins that are let through, for ``optInsBeforeOptOuts()``.
    func keepOptIns() { table.keepsOptIns = true }

    /// The number of opt-ins that were let through though a later record opts out of the same.
    func optInsBeforeOptOuts() throws(FileError) -> Int { try table.optInsBeforeOptOuts() }

    // MARK: Checkpoints

    /// Keeps the marks that are added, for ``takeAdded()``.
    func keepAdded() { table.keepsAdded = true }

    /// The marks that were added since this was called last; nil if there are more opt-outs than the table holds.
    func takeAdded() -> [UInt64]? { table.takeAdded() }

    /// Whether so many marks were added that they should leave memory.
    var hasManyAdded: Bool { table.added.count > 1 << 16 }

    /// Adds the marks of an earlier run, which ``takeAdded()`` does not return again.
    func restore(_ log: OptOutLog) throws {
        try log.eachEarlier { marks in
            table.restore(marks)
            try table.keepLate()
        }
    }

    // MARK: Records one by one

    /// Lowers each opt-in of a contact to which an earlier record said no, and notes the contact's own opt-outs.
    func apply(to contact: inout Contact, _ marks: ConsentMarks) throws(FileError) -> [Finding] {
        var findings: [Finding] = []
        // A denial of the record itself is written beside its opt-in.
        let optOuts = marks.optOuts(of: contact)
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
        // An opt-in that another record lowered ends nothing else, so that the order of records does not matter.
        for optOut in optOuts { table.note(optOut) }
        try table.keepLate()
        return findings
    }

    /// What is said of an opt-in that stands behind an opt-out; nil where it stands behind none.
    private func finding(of subjects: ConsentMarks.Holders) -> FindingRow? {
        // Each is looked for: of what is late the end of the run must know.
        let (isOwn, isAddress) = (table.holds(subjects.own), table.holds(subjects.addresses))
        if !isOwn, !isAddress { table.keep(optIn: subjects.all) }
        return isOwn ? Self.heeded : isAddress ? Self.heededAddress : nil
    }

    // MARK: Records by the job

    /// Reads the marks of many records, in order; false, with none of them noted, if an opt-in follows an opt-out.
    func read(_ marks: [UInt64]) throws(FileError) -> Bool {
        let isInOrder = table.read(marks)
        try table.keepLate()
        return isInOrder
    }

    /// The same for one record among many, after which ``keepLate()`` is due.
    func read(one marks: [UInt64]) -> Bool { table.read(marks) }

    /// Takes what there was no room for out of memory, if it is much.
    func keepLate() throws(FileError) { try table.keepLate() }

    /// Checks at the end of the source that every opt-out was applied.
    ///
    /// - Throws: ``Migration/Failure`` if an opt-in followed an opt-out that was not known any more: the output must not be used.
    func finish() throws {
        let raised = try table.optInsBehindLateOptOuts()
        if raised > 0 { throw Migration.Failure([Self.unheeded.at("subscriptions", detail: "\(raised) of them")]) }
    }

    // MARK: What is said

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
    /// Whether a run failed because of opt-outs that it did not know in time.
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
        .warning,
        .consent,
        reason: "A later record of the same contact or address opts out, but the earlier opt-in is written",
        remedy: "Use --in FILE and --out FILE, so that the input can be read again with all opt-outs in memory."
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
            "Use --in FILE and --out FILE, so the input can be read again with all opt-outs in memory; or "
            + "leave one record of each contact in the source."
    )
}
