import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// One row on its way through a server API.
struct ServerItem {
    /// The record behind it.
    var record: SourceRecord
    /// What is said.
    var row: ServerRow
    /// Words for the server API about all that is said.
    var options: JSONObject?
    /// What each rule of the mapping did with it.
    var effects: [MappingEffect] = []
    /// What became of each action; nil while it is on its way.
    var outcomes: [OperationOutcome?] = []
    var open = 0
    /// Whether its contact waits for it: no other row of the contact is said before it has its verdict.
    var isOnItsWay = false

    init(_ record: SourceRecord, _ row: ServerRow, effects: [MappingEffect] = []) {
        (self.record, self.row, self.effects) = (record, row, effects)
        options = row.options
        if row.isRejected { self.row.actions = [] }
    }

    var number: Int { record.number }

    /// Begins to wait for what is said.
    mutating func begin() {
        outcomes = Array(repeating: nil, count: row.actions.count)
        open = row.actions.count
    }

    mutating func note(_ outcome: OperationOutcome, at place: Int) {
        guard outcomes.indices.contains(place), outcomes[place] == nil else { return }
        outcomes[place] = outcome
        open -= 1
    }

    /// Everything that is to be known of the row, once all of it has ended.
    func verdict(lostOptOuts: ServerSettings.LostOptOut) -> [Finding] {
        var findings = row.findings
        for (place, outcome) in outcomes.enumerated() {
            guard let outcome else { continue }
            let action = row.actions[place]
            switch outcome.term {
            case .accepted, .unchanged, .superseded:
                if let finding = outcome.finding, finding.severity == .warning || finding.severity == .error {
                    findings.append(ServerMapper.moved(finding, action, row.paths[place]))
                }
            case .rejected, .dropped, .erased, .quarantined, .moved, .shadowed:
                var finding = outcome.finding ?? ServerFinding.ended.at(detail: outcome.term.rawValue)
                finding = ServerMapper.moved(finding, action, row.paths[place])
                finding.severity = .error
                // A yes that finds nobody to reach is lost without harm; a no is what its setting says.
                let isHarmless = action.isYes || action.isNo && lostOptOuts == .warn
                if isHarmless, finding.error == .notFound || finding.error == .unsupported {
                    finding.severity = .warning
                }
                findings.append(finding)
            }
        }
        return findings
    }

    /// What was said and taken.
    var taken: [Action] {
        zip(row.actions, outcomes).compactMap { action, outcome in
            switch outcome?.term {
            case .accepted, .unchanged, .superseded: action
            default: nil
            }
        }
    }

    /// The ids of what is said: the same whenever a row says the same in the same run.
    func ids(in run: String) -> [OperationID] {
        var said: [[UInt8]: Int] = [:]
        return row.actions.map { action in
            let bytes = action.jsonBytes
            said[bytes, default: 0] += 1
            let digits = SHA256.digest(of: Array("\(run):\(number):\(said[bytes] ?? 0):".utf8) + bytes).hexText
            let parts = [0..<8, 8..<12, 13..<16, 17..<20, 20..<32].map { range in
                String(digits.dropFirst(range.lowerBound).prefix(range.count))
            }
            return OperationID(rawValue: "\(parts[0])-\(parts[1])-4\(parts[2])-8\(parts[3])-\(parts[4])")
        }
    }
}
