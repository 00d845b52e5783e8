/// The consent decisions of many records as ``ConsentMark``s, in the order of the records. Decisions that do not fit into
/// memory are in an unnamed file.
final class ConsentDecisions {
    private var store = ShareStore<UInt64>()
    private var marks: [UInt64] = []
    /// The number of marks in memory at which they are moved to the file.
    private static let marksInMemory = 16 << 10

    /// Adds the decisions of records.
    func add(_ marks: [UInt64]) { self.marks += marks }

    /// Moves the decisions in memory to the file if there are many of them.
    func spill() throws(FileError) { if marks.count >= Self.marksInMemory { try storeMarks() } }

    private func storeMarks() throws(FileError) {
        try store.add(marks) { $0 }
        marks.removeAll(keepingCapacity: true)
    }

    /// Returns the opt-outs that contradict an opt-in, regardless of the order of the two in the source.
    func contradictedOptOuts() throws(FileError) -> Set<UInt64> {
        try storeMarks()
        var contradicted: Set<UInt64> = []
        for share in 0..<Shares.count {
            let marks = try store.values(share)
            let optOuts = Set(marks.lazy.filter { $0 & ConsentMark.no != 0 })
            for mark in marks where mark & ConsentMark.no == 0 && optOuts.contains(mark | ConsentMark.no) {
                contradicted.insert(mark | ConsentMark.no)
            }
        }
        return contradicted
    }

    /// Returns the number of opt-ins that follow an opt-out from the same subject, or that precede one.
    func optIns(_ side: Side) throws(FileError) -> Int {
        try storeMarks()
        var count = 0
        for share in 0..<Shares.count {
            let marks = try store.values(share)
            var optOuts: Set<UInt64> = []
            for place in marks.indices {
                let mark = side == .afterOptOut ? marks[place] : marks[marks.count - 1 - place]
                if mark & ConsentMark.no != 0 {
                    optOuts.insert(mark)
                } else if optOuts.contains(mark | ConsentMark.no) {
                    count += 1
                }
            }
        }
        return count
    }

    enum Side { case afterOptOut, beforeOptOut }
}
