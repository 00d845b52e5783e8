import PatchbayAdapterKit
import PatchbayModel

/// Lanes that are not in memory, by name: when each is due and why it waits, in a few dozen bytes per lane.
struct RestingLanes {
    /// The state of a resting lane.
    struct Rest {
        var due: Instant?
        var flush: Bool
        var because: Finding?
    }

    private struct Entry {
        var due: Instant?
        var flush: Bool
        /// An index into `findings`. Most lanes wait for the same reason.
        var because: Int?
    }

    private var entries: [String: Entry] = [:]
    /// A heap, the earliest first. It may contain outdated entries.
    private var queue: [(due: Instant, key: String)] = []
    private var findings: [Finding] = []
    private var places: [Finding: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The reason that each lane waits, by lane.
    var reasons: [String: Finding] { entries.compactMapValues { $0.because.map { findings[$0] } } }

    /// The time at which the next lane is due.
    var nextDue: Instant? { queue.first?.due }

    /// Adds a lane. A lane that waits for nothing is not stored.
    mutating func add(_ key: String, due: Instant?, flush: Bool, because: Finding?) {
        guard due != nil || flush || because != nil else { return }
        entries[key] = Entry(due: due, flush: flush, because: because.map { place(of: $0) })
        guard let due else { return }
        if queue.count > 2 * entries.count + 64 { rebuild() }
        push((due, key))
    }

    /// Removes a lane and returns its state.
    mutating func take(_ key: String) -> Rest? {
        guard !entries.isEmpty, let entry = entries.removeValue(forKey: key) else { return nil }
        dropOutdated()
        return Rest(due: entry.due, flush: entry.flush, because: entry.because.map { findings[$0] })
    }

    /// Returns the due lane that has waited longest. It stays until it is taken.
    mutating func firstDue(at now: Instant) -> String? {
        guard let first = queue.first, first.due <= now else { return nil }
        return first.key
    }

    private mutating func place(of finding: Finding) -> Int {
        if let place = places[finding] { return place }
        findings.append(finding)
        places[finding] = findings.count - 1
        return findings.count - 1
    }

    // MARK: The heap

    private func isOutdated(_ element: (due: Instant, key: String)) -> Bool { entries[element.key]?.due != element.due }

    /// Removes outdated entries, so that the first entry is current.
    private mutating func dropOutdated() {
        while let first = queue.first, isOutdated(first) {
            let last = queue.removeLast()
            if queue.isEmpty { return }
            queue[0] = last
            sink(from: 0)
        }
    }

    private mutating func rebuild() {
        queue = []
        for (key, entry) in entries { if let due = entry.due { push((due, key)) } }
    }

    private mutating func push(_ element: (due: Instant, key: String)) {
        queue.append(element)
        var place = queue.count - 1
        while place > 0, queue[place].due < queue[(place - 1) / 2].due {
            queue.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < queue.count && queue[child].due < queue[least].due
            {
                least = child
            }
            guard least != place else { return }
            queue.swapAt(place, least)
            place = least
        }
    }
}
