public import PatchbayModel

/// One thing that happens in a random run. The list of them is made before the run, so that a failing one can be cut down.
public struct FaultStep: Sendable {
    /// What happens.
    public enum What: Sendable {
        /// The app says this together, as one group or not, on one of its installations.
        case capture([Action], subject: Int, isGroup: Bool)
        /// A caller asks one of the providers.
        case ask(provider: Int, ReadRequest)
        /// Time passes.
        case pass(Duration)
        /// The wall clock is moved.
        case jump(Duration)
        /// The wall clock is set to 1970.
        case epoch
        /// Send now what may be sent.
        case flush
        /// The network is back, or the app in the foreground.
        case wake
        /// A person lets a stopped provider go on.
        case resume(provider: Int)
        /// The process ends, whatever is in flight, and another begins.
        case kill
        /// The process dies at the n-th point of the storage from here.
        case die(afterPoints: Int)
        /// From the n-th point of the storage from here so many writes fail; the process lives.
        case storageFails(afterPoints: Int, times: Int)
        /// The machine starts again.
        case reboot(after: Duration)
        /// Another process begins, with another configuration.
        case configure(Int)
        /// The process goes on with another configuration.
        case reconfigure(Int)
        /// The process lets go of the outbox, until it does something again.
        case suspend
        /// The app's credentials for one contact, or for the anonymous person, change.
        case credential(contact: String?, CredentialState)
        /// Every rejected operation of the provider is replayed.
        case replay(provider: Int)
        /// A vendor behaves so from now on.
        case faultMode(provider: Int, FaultMode)
    }

    /// What happens.
    public var what: What
    /// Which of the processes does it, from 0.
    public var process = 0
    /// Decides what becomes of the requests that leave in this step.
    public var seed: UInt64

    /// Whether the machine starts again in it.
    var isReboot: Bool { if case .reboot = what { true } else { false } }
}

extension FaultStep: CustomStringConvertible {
    /// In words.
    public var description: String { (process > 0 ? "in the other process: " : "") + words }

    private var words: String {
        switch what {
        case .capture(let actions, let subject, let isGroup):
            "the app\(subject > 0 ? " on its other installation" : "") says "
                + actions.map(\.words).joined(separator: ", ") + (isGroup ? ", as one group" : "")
        case .ask(let provider, let question): "somebody asks provider \(provider) for \(question.what)"
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
        case .reconfigure(let number): "the process goes on with configuration \(number)"
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
            changes.sorted { $0.key < $1.key }.map { name, change in
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
