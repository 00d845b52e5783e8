import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// Collects the survey of a whole run, and counts the keys.
final class Surveyor {
    private(set) var survey = Survey()
    let activity: Activity?
    private var counters: [String: KeyCounter] = [:]
    private var topicCounters: [String: KeyCounter] = [:]
    /// The maximum number of kinds of keys that are counted exactly. The survey counts the identifiers of further kinds.
    private static let mostKinds = 16
    /// The number of records whose counts are added to the survey together.
    private static let batch = 512
    private var pending = Survey()

    private let countsKeys: Bool

    /// Creates a surveyor.
    ///
    /// - Parameters:
    ///   - activity: The attribute with the time of a person's last activity.
    ///   - countsKeys: Whether the distinct keys are counted.
    init(activity: Activity?, countsKeys: Bool = true) { (self.activity, self.countsKeys) = (activity, countsKeys) }

    func add(_ part: Survey) throws(FileError) {
        survey.add(part)
        guard countsKeys else { return }
        for (kind, marks) in part.marks where counters[kind] != nil || counters.count < Self.mostKinds {
            let counter = counters[kind] ?? KeyCounter()
            counters[kind] = counter
            try counter.add(marks)
        }
        for (kind, marks) in part.topicMarks where counters[kind] != nil {
            let counter = topicCounters[kind] ?? KeyCounter()
            topicCounters[kind] = counter
            try counter.add(marks)
        }
    }

    func note(_ record: SourceRecord, _ findings: [Finding]) throws(FileError) {
        let isWritten = !findings.contains { $0.severity == .error }
        if let contact = record.contact {
            pending.note(contact, activity: activity, isWritten: isWritten)
        } else if let refused = record.said?.read.identifiers, !refused.isEmpty {
            pending.note(Contact(identifiers: refused), activity: activity, isWritten: false)
        }
        pending.note(decisionsOf: record, nil)
        pending.note(findings, isWritten: isWritten)
        if pending.contacts >= Self.batch { try settle() }
    }

    private func settle() throws(FileError) {
        try add(pending)
        pending = Survey()
    }

    /// Returns the counts by kind of key.
    func finish() throws(FileError) -> [String: KeyCounter.Counts] {
        try settle()
        var counts: [String: KeyCounter.Counts] = [:]
        for (kind, counter) in counters {
            var count = try counter.finish()
            count.tornTopics = try topicCounters[kind]?.finish().torn ?? 0
            counts[kind] = count
        }
        return counts
    }
}
