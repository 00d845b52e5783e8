public import PatchbayModel

extension [Subscription.State] {
    /// All states, least permissive first.
    package static let fromLeastAllowed: [Subscription.State] = [.unsubscribed, .suspended, .unknown, .subscribed]
}

extension [Subscription] {
    /// Returns the least permissive state of all subscriptions to a channel and topic; nil if there is none.
    ///
    /// A contact with two states of one subscription contradicts itself. A file can contain one of them, and never the more
    /// permissive.
    public func mostProtectiveState(of key: Subscription.Key) -> Subscription.State? {
        lazy.filter { $0.key == key }.map(\.state).min { $0.allowance < $1.allowance }
    }

    /// The least permissive states by channel and topic, for callers that need many of them.
    public var mostProtectiveStates: [Subscription.Key: Subscription.State] {
        Dictionary(map { ($0.key, $0.state) }) { $0.allowance <= $1.allowance ? $0 : $1 }
    }
}

extension Subscription.State {
    /// The rank of the state; a higher one is more permissive.
    fileprivate var allowance: Int { [Self].fromLeastAllowed.firstIndex(of: self) ?? 0 }
}
