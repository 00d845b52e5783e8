public import PatchbayModel

extension [Subscription] {
    /// The state that allows least, of all that are said of one channel and topic; nil if nothing is.
    ///
    /// A contact that says two things of one subscription contradicts itself; a file holds one, and never the louder.
    public func mostProtectiveState(of key: Subscription.Key) -> Subscription.State? {
        let order: [Subscription.State] = [.unsubscribed, .suspended, .unknown, .subscribed]
        let states = filter { $0.key == key }.map(\.state)
        return order.first(where: states.contains)
    }
}
