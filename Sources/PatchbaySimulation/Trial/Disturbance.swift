/// The one thing that goes wrong in a trial.
public enum Disturbance: Hashable, Sendable, CustomStringConvertible {
    /// Nothing.
    case none
    /// The process dies at the n-th point of the storage, from 1: before a transaction, before or after its commit.
    case death(atStoragePoint: Int)
    /// The n-th request never reaches the vendor, and the process dies before it could know.
    case cut(request: Int)
    /// The vendor processes the n-th request, and the answer never arrives.
    case lost(request: Int)
    /// The n-th request surely does not leave the machine.
    case unsent(request: Int)
    /// Another process begins after the n-th step.
    case restart(afterStep: Int)
    /// The machine starts again after the n-th step.
    case reboot(afterStep: Int)
    /// The wall clock is moved by that many seconds after the n-th step.
    case jump(afterStep: Int, seconds: Int)

    /// Whether the engine may be in uncertain delivery about a request: then a vendor may see it twice, unless the adapter asks first.
    public var leavesUncertainDelivery: Bool {
        switch self {
        case .none, .unsent, .jump: false
        case .death, .cut, .lost, .restart, .reboot: true
        }
    }

    /// Whether a process ends: what stands only in a process, such as a caller's question, ends with it.
    public var endsProcess: Bool {
        switch self {
        case .none, .unsent, .jump, .lost: false
        case .death, .cut, .restart, .reboot: true
        }
    }

    /// Every disturbance of a trial that went through so many storage points, requests and steps undisturbed.
    public static func all(storagePoints: Int, requests: Int, steps: Int) -> [Disturbance] {
        [.none]
            + (0..<storagePoints).map { .death(atStoragePoint: $0 + 1) }
            + (0..<requests).flatMap { [.cut(request: $0 + 1), .lost(request: $0 + 1), .unsent(request: $0 + 1)] }
            + (0..<steps).flatMap { step -> [Disturbance] in
                [
                    .restart(afterStep: step + 1), .reboot(afterStep: step + 1),
                    .jump(afterStep: step + 1, seconds: 4_000_000), .jump(afterStep: step + 1, seconds: -4_000_000),
                ]
            }
    }

    /// In words.
    public var description: String {
        switch self {
        case .none: "undisturbed"
        case .death(let point): "death at storage point \(point)"
        case .cut(let request): "death before request \(request) arrived"
        case .lost(let request): "the answer to request \(request) is lost"
        case .unsent(let request): "request \(request) does not leave"
        case .restart(let step): "a new process after step \(step)"
        case .reboot(let step): "a reboot after step \(step)"
        case .jump(let step, let seconds): "the clock jumps by \(seconds) s after step \(step)"
        }
    }
}
