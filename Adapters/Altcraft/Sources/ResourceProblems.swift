import PatchbayAdapterKit
import PatchbayModel

/// Resources of an account's settings that can't be told apart, or are none.
///
/// A resource holds one word for each address. Were two topics to share one, a no to the first and a yes to the second would go
/// to the same place, and the last would count.
struct ResourceProblems: Sendable {
    private(set) var findings: [Finding] = []

    /// Looks at resources by name.
    ///
    /// - Parameters:
    ///   - resources: the numbers by name, as the settings hold them.
    ///   - path: where they stand.
    ///   - taken: numbers that other settings name already, with those settings' names.
    ///   - group: the part of a name within which each number may stand once.
    init<Name: NeutralKey>(
        _ resources: [Name: String],
        at path: String,
        besides taken: [Int: String] = [:],
        within group: (Name) -> String = { _ in "" }
    ) {
        var owners: [String: [Int: String]] = [:]
        for (name, text) in resources.sorted(by: { $0.key < $1.key }) {
            let place = path.dot(name.rawValue)
            guard let number = Int(text), number > 0 else {
                let remedy = "Give the resource's number, in quotes."
                findings.append(.invalidSetting(place, "The value is not a whole number from 1.", remedy))
                continue
            }
            guard let owner = owners[group(name), default: taken][number] else {
                owners[group(name), default: taken][number] = "\"\(name.rawValue)\""
                continue
            }
            let reason = "\(owner) has the same resource: a no to one and a yes to the other would go to one place."
            let remedy = "Make a resource for each in the platform, or take one of the two out of the settings."
            findings.append(.invalidSetting(place, reason, remedy))
        }
    }
}
