public import PatchbayModel

extension [Subscription.State] {
    /// All states, what allows least first.
    package static let fromLeastAllowed: [Subscription.State] = [.unsubscribed, .suspended, .unknown, .subscribed]
}

extension [Subscription] {
    /// The state that allows least, of all that are said of one channel and topic; nil if nothing is.
    ///
    /// A contact that says two things of one subscription contradicts itself; a file holds one, and never the louder.
    public func mostProtectiveState(of key: Subscription.Key) -> Subscription.State? {
        lazy.filter { $0.key == key }.map(\.state).min { $0.allowance < $1.allowance }
    }

    /// The state that allows least, by channel and topic: for whoever asks for each of many.
    public var mostProtectiveStates: [Subscription.Key: Subscription.State] {
        Dictionary(map { ($0.key, $0.state) }) { $0.allowance <= $1.allowance ? $0 : $1 }
    }
}

extension Subscription.State {
    /// How much it allows beside the others.
    fileprivate var allowance: Int { [Self].fromLeastAllowed.firstIndex(of: self) ?? 0 }
}
