import PatchbayAdapterKit
import PatchbayModel

/// The opt-outs that lower opt-ins of the same person: of two decisions the more protective one counts.
///
/// If the source was read before, all opt-outs that contradict an opt-in are known from the start. Otherwise the opt-outs are
/// learned from the records, in order. Up to ``usualLimit`` of them are kept in memory, and ``finish(needsAll:)`` checks at
/// the end whether any of them was needed and not known.
final class EarlierOptOuts {
    /// The default limit. A set of this size takes 8 MiB.
    static let usualLimit = 6 << 17

    /// The opt-outs, as ``ConsentMark``s.
    private var known: Set<UInt64>
    private let limit: Int
    /// The decisions of the records that were accepted; nil if nothing is learned.
    private let decisions: ConsentDecisions?
    private var forgets = false

    /// Creates opt-outs that are learned from the records, at most `limit` of them.
    init(limit: Int = EarlierOptOuts.usualLimit) { (known, self.limit, decisions) = ([], limit, ConsentDecisions()) }

    /// Creates opt-outs that are known from the start. No others count.
    init(known: Set<UInt64>) { (self.known, limit, decisions) = (known, 0, nil) }

    /// Lowers each opt-in of a contact from which an earlier record opted out, and learns the contact's own decisions.
    func apply(to contact: inout Contact, _ marks: ConsentMarks) -> [Finding] {
        // An opt-in that another record lowered is no opt-out, so the order of records does not matter.
        let optOuts = marks.optOuts(of: contact)
        let findings = lower(&contact, marks, besides: optOuts)
        learn(optOuts)
        return findings
    }

    /// Learns decisions of records that were accepted.
    func learn(_ marks: [UInt64]) {
        guard let decisions else { return }
        for mark in marks where mark & ConsentMark.no != 0 {
            if known.count < limit { known.insert(mark) } else { forgets = true }
        }
        decisions.add(marks)
    }

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
        return findings
    }

    /// The finding about an opt-in that follows an opt-out; nil if it follows none.
    private func finding(of subjects: ConsentMarks.Holders) -> FindingRow? {
        if subjects.own.contains(where: isOptedOut) { return Self.heeded }
        if subjects.addresses.contains(where: isOptedOut) { return Self.heededAddress }
        decisions?.add(subjects.all)
        return nil
    }

    private func isOptedOut(_ optIn: UInt64) -> Bool { known.contains(optIn | ConsentMark.no) }

    /// Learns the decisions of a record, unless one of its opt-ins must be lowered. Returns false in that case.
    func accepts(_ marks: UnsafeBufferPointer<UInt64>) -> Bool {
        if !known.isEmpty, marks.contains(where: { $0 & ConsentMark.no == 0 && isOptedOut($0) }) { return false }
        guard decisions != nil else { return true }
        let own = Set(marks.lazy.filter { $0 & ConsentMark.no != 0 })
        learn(marks.filter { $0 & ConsentMark.no != 0 || !own.contains($0 | ConsentMark.no) })
        return true
    }

    /// Moves decisions out of memory if there are many of them.
    func spill() throws(FileError) { try decisions?.spill() }

    /// Checks at the end of the source that every opt-out was applied.
    ///
    /// - Parameter needsAll: Whether an opt-in must not precede an opt-out either.
    /// - Throws: ``Migration/Failure`` if an opt-in followed an opt-out that was no longer in memory, or preceded one. The
    ///   output must not be used then.
    func finish(needsAll: Bool) throws {
        guard let decisions else { return }
        let raised = forgets ? try decisions.optIns(.afterOptOut) : 0
        if raised > 0 { throw Migration.Failure([Self.unheeded.at("subscriptions", detail: "\(raised) of them")]) }
        if needsAll, try decisions.optIns(.beforeOptOut) > 0 {
            throw Migration.Failure([Self.later.at("subscriptions")])
        }
    }

    // MARK: Findings

    static let heeded = FindingRow(
        .warning("migration.consent.earlierNo", .consent),
        reason: "Another record of the same contact opts out, so the opt-out applies",
        remedy: "Ask the person, or leave one record of each contact in the source."
    )
    static let heededAddress = FindingRow(
        .warning("migration.consent.earlierNoOfAddress", .consent),
        reason: "A record of another contact with the same address opts out, so the opt-out applies",
        remedy: "Ask the person, or leave one record of each address in the source."
    )
    /// The findings about an opt-in that is lowered.
    static let notes = [heeded, heededAddress]

    static let rejected = FindingRow(
        .warning("migration.consent.rejected", .consent),
        reason:
            "A rejected record opts out, or its consent cannot be read. Other records of the same key or address are opted out, but "
            + "the target receives no opt-out of this record",
        remedy: "Correct the rejected rows and migrate them with --after FILE, where FILE is this source."
    )
    static let later = FindingRow(
        .error("migration.consent.laterNo", .consent),
        reason:
            "A record opts in, and a later record of the same contact or address opts out. No file was written; discard output "
            + "that went to standard output",
        remedy: "Use --in FILE, so that all opt-outs can be read first."
    )

    static let unheeded = FindingRow(
        .error("migration.consent.unheeded", .consent),
        reason:
            "Some records opt in after an opt-out of the same contact or address that is too far back in the "
            + "file to be remembered. No file was written; discard output that went to a pipe or standard "
            + "output",
        remedy:
            "Use --in FILE, so that all opt-outs can be read first; or leave one record of each contact in the source."
    )
}
