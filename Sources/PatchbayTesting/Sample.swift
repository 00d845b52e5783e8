public import PatchbayModel
public import Testing

/// A few operations that a person could cause, with a name that is the same for every vendor.
public struct Sample: Sendable, CustomTestStringConvertible {
    /// The name: a file name in every vendor's goldens.
    public let name: String
    /// The purpose of the sample, in one sentence.
    public let summary: String
    /// The operations, in order of capture.
    public let operations: [EngagementOperation]
    /// Whether the sample begins with a subject that the vendor does not know. Otherwise the harness registers and logs
    /// in first.
    public let startsAfresh: Bool
    /// Whether a vendor that claims the capabilities must accept the sample. Other samples have values that a vendor
    /// may refuse.
    public let isOrdinary: Bool

    /// Creates a sample.
    public init(
        _ name: String,
        _ summary: String,
        startsAfresh: Bool = false,
        isOrdinary: Bool = true,
        _ operations: [EngagementOperation]
    ) {
        (self.name, self.summary, self.operations) = (name, summary, operations)
        (self.startsAfresh, self.isOrdinary) = (startsAfresh, isOrdinary)
    }

    /// The name.
    public var testDescription: String { name }
}
