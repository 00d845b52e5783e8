public import PatchbayModel

/// One thing that the app, the person or the vendor does in a trial.
public enum TrialStep: Sendable {
    /// The app captures these together.
    case capture([Action], subject: Subject, contact: String?)
    /// A caller asks the vendor something, and waits a minute for the answer.
    case ask(String)
    /// Time passes.
    case pass(Duration)
    /// The network comes back.
    case wake
    /// Send now what may be sent.
    case flush
    /// A person lets the stopped provider go on.
    case resume
    /// What the app gives as credential from now on.
    case credential(String)
    /// The vendor is in another mood from now on: ``VendorLedger/mood``.
    case vendor(String)

    /// The app tracks these events together.
    public static func track(
        _ names: String...,
        subject: Subject = "s-1",
        contact: String? = nil
    ) -> TrialStep {
        .capture(names.map { .track(.custom(name: $0)) }, subject: subject, contact: contact)
    }

    /// The app sets these attributes, each an operation, together: `"tier=gold"`.
    public static func set(_ pairs: String..., subject: Subject = "s-1", contact: String? = nil) -> TrialStep {
        .capture(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return .changeAttributes([AttributeName(rawValue: parts[0]): .set(.string(parts[1]))])
            },
            subject: subject,
            contact: contact
        )
    }

    /// The app says one thing.
    public static func say(_ action: Action, subject: Subject = "s-1", contact: String? = nil) -> TrialStep {
        .capture([action], subject: subject, contact: contact)
    }
}

extension EngagementOperation {
    /// The operation in a word, for a trial's notes: the event's name, `tier=gold`, or the kind.
    public var word: String {
        switch action {
        case .track(.custom(let name, _)): name
        case .changeAttributes(let changes):
            changes.sorted { $0.key < $1.key }.map { name, change in
                if case .set(let value) = change { "\(name.rawValue)=\(value.plainText ?? "")" } else { name.rawValue }
            }.joined(separator: ",")
        case .readBack(let request): request.what
        default: action.kind.rawValue
        }
    }
}
