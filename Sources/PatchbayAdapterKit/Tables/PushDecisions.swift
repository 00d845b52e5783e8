import PatchbayJSON
public import PatchbayModel

/// The last statement of each person about push messages on one installation.
///
/// Vendors keep one push state for an installation. An adapter that remembers the statements restores a
/// person's own when the person comes back. A statement made while no person was known belongs to the person who comes next.
public struct PushDecisions: Codable, Sendable, Equatable {
    private struct Entry: Codable, Sendable, Equatable {
        /// The person's names: a contact, identifiers.
        var names: [String]
        var state: Subscription.State
    }

    private var entries: [Entry] = []
    /// The statement that was made while no person was known.
    private var anonymous: Subscription.State?
    /// Whether an opt-out was left out because there were too many.
    private var hasForgotten: Bool?

    /// The maximum number of people who are remembered.
    static let limit = 64

    /// Creates an empty list.
    public init() {}

    /// Notes a statement; without names it belongs to the person who comes next.
    public mutating func note(_ state: Subscription.State, of names: [String]) {
        guard !names.isEmpty else { return anonymous = state }
        let known = remove(names)
        entries.append(Entry(names: ((known?.names ?? []) + names).eachOnce, state: state))
        guard entries.count > Self.limit else { return }
        // An opt-in can be given again; a forgotten opt-out makes everybody who is not remembered count as opted out.
        if let optIn = entries.firstIndex(where: { $0.state == .subscribed }) {
            entries.remove(at: optIn)
        } else {
            entries.removeFirst()
            hasForgotten = true
        }
    }

    /// Notes that a person came, and returns the person's last statement; nil if there was none.
    public mutating func arrive(_ names: [String]) -> Subscription.State? {
        guard !names.isEmpty else { return nil }
        if let state = anonymous {
            anonymous = nil
            note(state, of: names)
        }
        return state(of: names)
    }

    /// Returns the last statement of a person; nil if there was none.
    public func state(of names: [String]) -> Subscription.State? {
        place(of: names).map { entries[$0].state }
            ?? (hasForgotten == true ? .unsubscribed : nil)
    }

    private func place(of names: [String]) -> Int? {
        let names = Set(names.map(ScalarString.init))
        return entries.lastIndex { $0.names.contains { names.contains(ScalarString($0)) } }
    }

    private mutating func remove(_ names: [String]) -> Entry? {
        place(of: names).map { entries.remove(at: $0) }
    }
}
