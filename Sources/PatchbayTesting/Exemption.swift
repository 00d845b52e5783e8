public import PatchbayAdapterKit

/// A sample that can't pass a check, because a rule of the vendor forbids it.
///
/// An exemption that nothing needs fails the check, so that it goes when its reason goes.
public struct Exemption: Hashable, Sendable {
    /// The check's name.
    public let check: String
    /// The sample's name, or that of the row or case that the check's issue names.
    public let sample: String
    /// The rule of the vendor behind it.
    public let rule: RuleID

    /// An exemption.
    public init(check: String, sample: String, rule: RuleID) {
        (self.check, self.sample, self.rule) = (check, sample, rule)
    }
}
