import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// A row that is being migrated through a server API.
struct ServerItem {
    /// The source record.
    var record: SourceRecord
    /// The operations of the row.
    var row: ServerRow
    /// The server API's options for all operations of the row.
    var options: JSONObject?
    /// The effects of the mapping rules on the row.
    var effects: [MappingEffect] = []
    /// The outcome of each action; nil while it is pending.
    var outcomes: [OperationOutcome?] = []
    var open = 0
    /// Whether the row holds its contact: no other row of the contact is sent before this one is complete.
    var isOnItsWay = false

    init(_ record: SourceRecord, _ row: ServerRow, effects: [MappingEffect] = []) {
        (self.record, self.row, self.effects) = (record, row, effects)
        options = row.options
        if row.isRejected { self.row.actions = [] }
    }

    var number: Int { record.number }

    /// Marks every operation as pending.
    mutating func begin() {
        outcomes = Array(repeating: nil, count: row.actions.count)
        open = row.actions.count
    }

    mutating func note(_ outcome: OperationOutcome, at place: Int) {
        guard outcomes.indices.contains(place), outcomes[place] == nil else { return }
        outcomes[place] = outcome
        open -= 1
    }

    /// The findings about the row after all of its operations have outcomes.
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
                // If the vendor does not have the contact, a lost opt-in does no harm; a setting decides about a lost
                // opt-out.
                let isHarmless = action.isYes || action.isNo && lostOptOuts == .warn
                if isHarmless, finding.error == .notFound || finding.error == .unsupported {
                    finding.severity = .warning
                }
                findings.append(finding)
            }
        }
        return findings
    }

    /// The actions that the vendor accepted.
    var taken: [Action] {
        zip(row.actions, outcomes).compactMap { action, outcome in
            switch outcome?.term {
            case .accepted, .unchanged, .superseded: action
            default: nil
            }
        }
    }

    /// The ids of the operations. They are the same whenever a run sends the same row again.
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
