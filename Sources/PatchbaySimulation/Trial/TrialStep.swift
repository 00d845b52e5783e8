public import PatchbayModel

/// An action of the app, the person or the vendor in a trial.
public enum TrialStep: Sendable {
    /// The app captures actions together.
    case capture([Action], subject: Subject, contact: String?)
    /// A caller sends a query, with a timeout of one minute.
    case ask(String)
    /// Time passes.
    case pass(Duration)
    /// The network comes back.
    case wake
    /// The app requests a flush.
    case flush
    /// A person resumes the suspended provider.
    case resume
    /// The app's credential changes.
    case credential(String)
    /// The vendor's mode changes: see ``VendorLedger/mode``.
    case vendor(String)

    /// Returns a step in which the app tracks events together.
    public static func track(
        _ names: String...,
        subject: Subject = "s-1",
        contact: String? = nil
    ) -> TrialStep {
        .capture(names.map { .track(.custom(name: $0)) }, subject: subject, contact: contact)
    }

    /// Returns a step in which the app sets attributes together, one operation for each: `"tier=gold"`.
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

    /// Returns a step in which the app captures one action.
    public static func say(_ action: Action, subject: Subject = "s-1", contact: String? = nil) -> TrialStep {
        .capture([action], subject: subject, contact: contact)
    }
}

extension EngagementOperation {
    /// A short text for the operation in a trial: the event's name, `tier=gold`, or the kind.
    public var word: String {
        switch action {
        case .track(.custom(let name, _)): name
        case .changeAttributes(let changes):
            changes.inOrder.map { name, change in
                if case .set(let value) = change { "\(name.rawValue)=\(value.plainText ?? "")" } else { name.rawValue }
            }.joined(separator: ",")
        case .readBack(let request): request.what
        default: action.kind.rawValue
        }
    }
}
