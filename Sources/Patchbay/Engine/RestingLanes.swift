import PatchbayAdapterKit
import PatchbayModel

/// Lanes that are not held, by name: when each wants to be planned, and why it waits. A few dozen bytes for each.
struct RestingLanes {
    /// One of them.
    struct Rest {
        var due: Instant?
        var flush: Bool
        var because: Finding?
    }

    private struct Entry {
        var due: Instant?
        var flush: Bool
        /// A place in `findings`; most lanes that wait wait for the same.
        var because: Int?
    }

    private var entries: [String: Entry] = [:]
    /// A heap, the earliest first; it may hold what rests no longer, or until another time.
    private var queue: [(due: Instant, key: String)] = []
    private var findings: [Finding] = []
    private var places: [Finding: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Why each lane waits.
    var reasons: [String: Finding] { entries.compactMapValues { $0.because.map { findings[$0] } } }

    /// When the next wants to be planned.
    var nextDue: Instant? { queue.first?.due }

    /// Lets a lane rest; one with nothing to wait for is not remembered at all.
    mutating func add(_ key: String, due: Instant?, flush: Bool, because: Finding?) {
        guard due != nil || flush || because != nil else { return }
        entries[key] = Entry(due: due, flush: flush, because: because.map { place(of: $0) })
        guard let due else { return }
        if queue.count > 2 * entries.count + 64 { rebuild() }
        push((due, key))
    }

    /// Ends a lane's rest.
    mutating func take(_ key: String) -> Rest? {
        guard !entries.isEmpty, let entry = entries.removeValue(forKey: key) else { return nil }
        dropOutdated()
        return Rest(due: entry.due, flush: entry.flush, because: entry.because.map { findings[$0] })
    }

    /// The lane that has waited longest of those whose time has come; it rests on until it is taken.
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

    /// The first is always one that rests.
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
