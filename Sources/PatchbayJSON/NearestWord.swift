extension String {
    /// Returns the word that was most likely meant, which differs by few letters; nil if none is similar.
    package func nearest(in words: some Sequence<String>) -> String? {
        let limit = Swift.max(1, count / 3)
        let candidates = words.map { (word: $0, distance: editDistance(to: $0)) }.filter { $0.distance <= limit }
        return candidates.min { $0.distance < $1.distance }?.word
    }

    /// Returns at most three words that may have been meant, most similar first: words that differ by few letters, and words
    /// that contain this one or are contained in it. Case and punctuation are ignored.
    package func near(in words: some Sequence<String>) -> [String] {
        let own = lettersOnly
        let length = own.count
        let limit = Swift.max(1, length / 3)
        let candidates = words.compactMap { word -> (word: String, distance: Int)? in
            let other = word.lettersOnly
            let otherLength = other.count
            guard otherLength > 0 else { return nil }
            let isPart = Swift.min(length, otherLength) >= 4 && (own.contains(other) || other.contains(own))
            // Each letter more or less is a difference.
            guard isPart || abs(length - otherLength) <= limit else { return nil }
            let distance = own.editDistance(to: other)
            return isPart || distance <= limit ? (word, distance) : nil
        }
        return candidates.sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }.prefix(3).map(\.word)
    }

    private var lettersOnly: String { lowercased().filter { $0.isLetter || $0.isNumber } }

    /// Returns the number of letters to insert, delete, replace, or swap with their neighbor to get the other word.
    private func editDistance(to other: String) -> Int {
        let (left, right) = (Array(lowercased()), Array(other.lowercased()))
        var rows = [Array(0...right.count)]
        for place in 0..<left.count {
            var row = [place + 1]
            for column in 0..<right.count {
                let isSame = left[place] == right[column]
                var best = Swift.min(
                    row[column] + 1,
                    rows[place][column + 1] + 1,
                    rows[place][column] + (isSame ? 0 : 1)
                )
                if place > 0, column > 0, left[place] == right[column - 1], left[place - 1] == right[column] {
                    best = Swift.min(best, rows[place - 1][column - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
