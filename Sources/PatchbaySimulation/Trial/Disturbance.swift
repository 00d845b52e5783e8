/// The single fault of a trial.
public enum Disturbance: Hashable, Sendable, CustomStringConvertible {
    /// No fault.
    case none
    /// The process dies at the n-th point of the storage, from 1: before a transaction, before or after its commit.
    case death(atStoragePoint: Int)
    /// The n-th request does not reach the vendor, and the process dies during the request.
    case interrupted(request: Int)
    /// The vendor processes the n-th request, and the reply does not arrive.
    case lost(request: Int)
    /// The n-th request does not leave the machine, and the transport reports that.
    case unsent(request: Int)
    /// Another process starts after the n-th step.
    case restart(afterStep: Int)
    /// The machine reboots after the n-th step.
    case reboot(afterStep: Int)
    /// The wall clock jumps by a number of seconds after the n-th step.
    case jump(afterStep: Int, seconds: Int)

    /// Whether the delivery of a request may be uncertain. A vendor may then receive the request twice, unless the
    /// adapter queries the vendor first.
    public var leavesUncertainDelivery: Bool {
        switch self {
        case .none, .unsent, .jump: false
        case .death, .interrupted, .lost, .restart, .reboot: true
        }
    }

    /// Whether a process ends. State that exists in the process only, such as a query, ends with it.
    public var endsProcess: Bool {
        switch self {
        case .none, .unsent, .jump, .lost: false
        case .death, .interrupted, .restart, .reboot: true
        }
    }

    /// Returns every disturbance of a trial with these numbers of storage points, requests and steps.
    public static func all(storagePoints: Int, requests: Int, steps: Int) -> [Disturbance] {
        [.none]
            + (0..<storagePoints).map { .death(atStoragePoint: $0 + 1) }
            + (0..<requests).flatMap {
                [.interrupted(request: $0 + 1), .lost(request: $0 + 1), .unsent(request: $0 + 1)]
            }
            + (0..<steps).flatMap { step -> [Disturbance] in
                [
                    .restart(afterStep: step + 1), .reboot(afterStep: step + 1),
                    .jump(afterStep: step + 1, seconds: 4_000_000), .jump(afterStep: step + 1, seconds: -4_000_000),
                ]
            }
    }

    /// A description.
    public var description: String {
        switch self {
        case .none: "undisturbed"
        case .death(let point): "death at storage point \(point)"
        case .interrupted(let request): "death before request \(request) arrived"
        case .lost(let request): "the answer to request \(request) is lost"
        case .unsent(let request): "request \(request) does not leave"
        case .restart(let step): "a new process after step \(step)"
        case .reboot(let step): "a reboot after step \(step)"
        case .jump(let step, let seconds): "the clock jumps by \(seconds) s after step \(step)"
        }
    }
}
