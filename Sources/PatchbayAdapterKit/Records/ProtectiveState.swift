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
        let states = filter { $0.key == key }.map(\.state)
        return [Subscription.State].fromLeastAllowed.first(where: states.contains)
    }
}
