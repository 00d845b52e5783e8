public import PatchbayAdapterKit

/// A sample that cannot pass a check, because a rule of the vendor prevents it.
///
/// An unused exemption fails the check.
public struct Exemption: Hashable, Sendable {
    /// The check's name.
    public let check: String
    /// The name of the sample, row or case in the check's issue.
    public let sample: String
    /// The rule of the vendor that prevents it.
    public let rule: RuleID

    /// Creates an exemption.
    public init(check: String, sample: String, rule: RuleID) {
        (self.check, self.sample, self.rule) = (check, sample, rule)
    }
}
