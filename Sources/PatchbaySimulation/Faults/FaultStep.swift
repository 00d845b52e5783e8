public import PatchbayModel

/// A step of a randomized run. The list of steps is generated before the run, so that a failing run can be reduced.
public struct FaultStep: Sendable {
    /// An action of the app or of a person, or a fault.
    public enum What: Sendable {
        /// The app captures actions together on one of its installations, as a group or not.
        case capture([Action], subject: Int, isGroup: Bool)
        /// A caller sends a query to a provider.
        case ask(provider: Int, ReadRequest)
        /// Time passes.
        case pass(Duration)
        /// The wall clock jumps.
        case jump(Duration)
        /// The wall clock is set to 1970.
        case epoch
        /// The app requests a flush.
        case flush
        /// The network is back, or the app is in the foreground.
        case wake
        /// A person resumes a suspended provider.
        case resume(provider: Int)
        /// The process ends immediately, and another starts.
        case kill
        /// The process dies at the n-th storage point from here.
        case die(afterPoints: Int)
        /// A number of writes fail, from the n-th storage point from here. The process continues.
        case storageFails(afterPoints: Int, times: Int)
        /// The machine reboots.
        case reboot(after: Duration)
        /// Another process starts with another configuration.
        case configure(Int)
        /// The process continues with another configuration.
        case reconfigure(Int)
        /// The process closes the outbox until its next step.
        case suspend
        /// The app's credentials for a contact or for the anonymous person (nil) change.
        case credential(contact: String?, CredentialState)
        /// All rejected operations of the provider are replayed.
        case replay(provider: Int)
        /// A vendor's fault mode changes.
        case faultMode(provider: Int, FaultMode)
    }

    /// The action or fault.
    public var what: What
    /// The index of the process, from 0.
    public var process = 0
    /// The seed that determines the fates of the requests in this step.
    public var seed: UInt64

    /// Whether the machine reboots in this step.
    var isReboot: Bool { if case .reboot = what { true } else { false } }
}

extension FaultStep: CustomStringConvertible {
    /// A description.
    public var description: String { (process > 0 ? "in the other process: " : "") + words }

    private var words: String {
        switch what {
        case .capture(let actions, let subject, let isGroup):
            "the app\(subject > 0 ? " on its other installation" : "") says "
                + actions.map(\.words).joined(separator: ", ") + (isGroup ? ", as one group" : "")
        case .ask(let provider, let question): "the app asks provider \(provider) for \(question.what)"
        case .pass(let duration): "\(duration) pass"
        case .jump(let duration): "the wall clock jumps by \(duration)"
        case .epoch: "the wall clock is set to 1970"
        case .flush: "flush"
        case .wake: "wake"
        case .resume(let provider): "provider \(provider) is resumed"
        case .kill: "the process is killed"
        case .die(let points): "the process will die at storage point \(points + 1) from here"
        case .storageFails(let points, let times):
            "the storage will fail \(times) times from point \(points + 1) from here"
        case .reboot(let pause): "the machine is off for \(pause)"
        case .configure(let number): "another process begins with configuration \(number)"
        case .reconfigure(let number): "the process continues with configuration \(number)"
        case .suspend: "the process is suspended"
        case .credential(let contact, let state):
            "the credential of \(contact ?? "the anonymous person") is \(state.rawValue)"
        case .replay(let provider): "the rejected operations of provider \(provider) are replayed"
        case .faultMode(let provider, let faultMode): "provider \(provider) is \(faultMode.rawValue) from here"
        }
    }
}

extension Action {
    fileprivate var words: String {
        switch self {
        case .track(.custom(let name, _)): "track \(name)"
        case .track(.push(let interaction, _, _)): "push \(interaction)"
        case .changeAttributes(let changes):
            changes.inOrder.map { name, change in
                if case .set(let value) = change {
                    "\(name.rawValue)=\(value.plainText ?? "…")"
                } else {
                    "unset \(name.rawValue)"
                }
            }.joined(separator: " ")
        case .setConsent(let consent): "\(consent.scope) \(consent.state.rawValue)"
        case .switchContact(let change):
            "\(change.direction.rawValue) \(change.identifiers.map(\.value).joined(separator: " "))"
        case .changeSubscription(let subscription):
            "\(subscription.channel.rawValue) \(subscription.topic ?? "") \(subscription.state.rawValue)"
        case .registerDevice(let device):
            "registerDevice(\(device.pushToken?.value ?? "no token")\(device.allowsPush ? "" : ", not allowed"))"
        default: kind.rawValue
        }
    }
}
