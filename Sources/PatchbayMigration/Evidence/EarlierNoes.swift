import PatchbayAdapterKit
import PatchbayModel

/// What people said no to in the records so far, so that no later record of the same person says yes for them: of two answers
/// the more protective counts.
///
/// It knows ``limit`` noes at once. Further ones, and each yes behind them, go to a temporary file without a name, as marks;
/// at the end, ``finish()`` tells whether one of those came too late to be heeded.
final class EarlierNoes {
    /// As many as fit into four MiB.
    static let usualLimit = 7 << 16

    private let limit: Int
    /// Marks at the places that they lead to, or behind; zero is a free place. Half of them are free at least while it grows.
    private var table = [UInt64](repeating: 0, count: 1 << 12)
    private var count = 0
    /// The places that were filled for the words at hand, to be freed again.
    private var filled: [Int] = []
    /// What came when the table was full, in order, and what of that is of the words at hand.
    private var late: ShareStore?
    private var lateWords: [UInt64] = []

    init(limit: Int = EarlierNoes.usualLimit) { self.limit = limit }

    // MARK: Records one by one

    /// Lowers each yes of a contact to which an earlier record said no, and notes the contact's own noes.
    func heed(_ contact: inout Contact, _ marks: ConsentMarks) throws(FileError) -> [Finding] {
        var findings: [Finding] = []
        for place in contact.subscriptions.indices where contact.subscriptions[place].state == .subscribed {
            guard isHeld(marks.subjects(of: contact.subscriptions[place])) else { continue }
            contact.subscriptions[place].state = .unsubscribed
            findings.append(Self.heeded.at("subscriptions[\(place)]"))
        }
        for place in contact.consents.indices where contact.consents[place].state == .granted {
            guard isHeld(marks.subjects(of: contact.consents[place])) else { continue }
            contact.consents[place].state = .denied
            findings.append(Self.heeded.at("consents[\(place)]"))
        }
        for no in marks.noes(of: contact) { _ = note(no) }
        try keepLate()
        return findings
    }

    private func isHeld(_ subjects: [UInt64]) -> Bool {
        if late != nil { lateWords += subjects }
        return subjects.contains { place(of: $0).isFound }
    }

    // MARK: Records by the job

    /// Hears the words of many records, in order; false, with none of them noted, if a yes stands behind a no.
    func hear(_ words: [UInt64]) throws(FileError) -> Bool {
        filled.removeAll(keepingCapacity: true)
        for word in words {
            if word & ConsentMark.no != 0 {
                if let place = note(word) { filled.append(place) }
            } else {
                guard !place(of: word).isFound else {
                    forget()
                    return false
                }
                if late != nil { lateWords.append(word) }
            }
        }
        try keepLate()
        return true
    }

    /// Frees the places of the words at hand, the last first: so what was led behind one is freed before it.
    private func forget() {
        for place in filled.reversed() { table[place] = 0 }
        count -= filled.count
        filled.removeAll(keepingCapacity: true)
        lateWords.removeAll()
    }

    // MARK: The table

    /// Notes a no, and says which place was filled for it.
    private func note(_ word: UInt64) -> Int? {
        let mark = word & ~ConsentMark.no
        let found = place(of: mark)
        if found.isFound { return nil }
        guard count < limit else {
            if late == nil { late = ShareStore(bufferSize: 2 << 10) }
            lateWords.append(word)
            return nil
        }
        if 8 * (count + 1) > 7 * table.count {
            grow()
            return note(word)
        }
        table[found.place] = mark | ConsentMark.no
        count += 1
        return found.place
    }

    private func place(of mark: UInt64) -> (place: Int, isFound: Bool) {
        let (wanted, mask) = (mark | ConsentMark.no, table.count - 1)
        var place = Int(truncatingIfNeeded: wanted &>> 1) & mask
        while table[place] != 0 {
            if table[place] == wanted { return (place, true) }
            place = (place + 1) & mask
        }
        return (place, false)
    }

    /// Places change, so what is heard at the moment can't be taken back one by one any more: it is put at its new places in the
    /// same order.
    private func grow() {
        let (old, last) = (table, filled.map { table[$0] })
        let mine = Set(last)
        table = [UInt64](repeating: 0, count: 2 * old.count)
        for mark in old where mark != 0 && !mine.contains(mark) { table[place(of: mark).place] = mark }
        filled = last.map { mark in
            let place = place(of: mark).place
            table[place] = mark
            return place
        }
    }

    // MARK: What came when the table was full

    private func keepLate() throws(FileError) {
        guard let late, !lateWords.isEmpty else { return }
        for word in lateWords {
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
            try late.add(bytes, to: Int(truncatingIfNeeded: word &>> 56))
        }
        lateWords.removeAll(keepingCapacity: true)
    }

    /// Says at the end of the source whether every no was heeded.
    ///
    /// - Throws: ``Migration/Failure`` if a yes stood behind a no that was not known any more: what was written must not be used.
    func finish() throws {
        guard let late else { return }
        var raised = 0
        for share in 0..<ShareStore.shares {
            let bytes = try late.bytes(share)
            var noes: Set<UInt64> = []
            for start in stride(from: 0, to: bytes.count, by: 8) {
                let word = (0..<8).reduce(0 as UInt64) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
                if word & ConsentMark.no != 0 { noes.insert(word) } else if noes.contains(word | 1) { raised += 1 }
            }
        }
        if raised > 0 { throw Migration.Failure([Self.unheeded.at("subscriptions", detail: "\(raised) of them")]) }
    }

    // MARK: What is said

    static let heeded = FindingRow(
        "migration.consent.earlierNo",
        .warning,
        .consent,
        reason: "An earlier record of the same contact says no; the no counts",
        remedy: "Ask the person, or leave one record of each contact in the source."
    )
    static let unheeded = FindingRow(
        "migration.consent.unheeded",
        .error,
        .consent,
        reason:
            "Some records say yes behind a no of the same contact that is too far back to be known; no file was written",
        remedy: "Run it with --evidence FILE, which knows every no, or leave one record of each contact in the source."
    )
}
