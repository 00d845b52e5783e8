package import PatchbayAdapterKit
package import PatchbayModel

/// Findings about resources in the settings that are shared or invalid.
///
/// A resource has one status per address. If two topics shared a resource, an opt-out from the first and an opt-in to the
/// second would set the same status, and the last would win.
package struct ResourceProblems: Sendable {
    package private(set) var findings: [Finding] = []

    /// Checks the resources of a setting.
    ///
    /// - Parameters:
    ///   - resources: The numbers by name, as in the settings.
    ///   - path: The path of the setting.
    ///   - taken: The numbers in other settings, with those settings' names.
    ///   - group: Returns the part of a name within which each number must be unique.
    package init<Name: NeutralKey>(
        _ resources: [Name: String],
        at path: String,
        besides taken: [Int: String] = [:],
        within group: (Name) -> String = { _ in "" }
    ) {
        var owners: [String: [Int: String]] = [:]
        for (name, text) in resources.inOrder {
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
