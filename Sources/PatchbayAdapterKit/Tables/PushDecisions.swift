import PatchbayJSON
public import PatchbayModel

/// The last statement of each person about push messages on one installation.
///
/// Vendors keep one push state for an installation. An adapter that remembers the statements restores a
/// person's own when the person comes back. A statement made while no person was known belongs to the person who comes next.
public struct PushDecisions: Codable, Sendable, Equatable {
    private struct Entry: Codable, Sendable, Equatable {
        /// The names of the person: a contact, identifiers.
        var names: [String]
        var state: Subscription.State
        /// The position in the order of capture; nil if that is the order of the calls.
        var sequence: Int64?
    }

    private var entries: [Entry] = []
    /// The statement that was made while no person was known.
    private var anonymous: Entry?
    /// Whether an opt-out was discarded because there were too many.
    private var hasForgotten: Bool?

    /// The maximum number of people who are remembered.
    static let limit = 64

    /// Creates an empty list.
    public init() {}

    /// Records a statement. Without names it belongs to the person who comes next. Pass the sequence (the order of capture) if
    /// it may differ from the order of the calls; a later statement then stays.
    public mutating func note(_ state: Subscription.State, of names: [String], at sequence: Int64? = nil) {
        guard !isOvertaken(of: names, at: sequence ?? .max) else { return }
        guard !names.isEmpty else { return anonymous = Entry(names: [], state: state, sequence: sequence) }
        let known = remove(names)
        entries.append(Entry(names: ((known?.names ?? []) + names).eachOnce, state: state, sequence: sequence))
        guard entries.count > Self.limit else { return }
        // An opt-in can be given again. After an opt-out was discarded, every person who is not in the list counts as opted
        // out.
        if let optIn = entries.firstIndex(where: { $0.state == .subscribed }) {
            entries.remove(at: optIn)
        } else {
            entries.removeFirst()
            hasForgotten = true
        }
    }

    /// Removes the statement of an erased person with this name.
    public mutating func forget(_ name: String) { _ = remove([name]) }

    /// Records that a person came, and returns the person's last statement; nil if there was none.
    ///
    /// The sequence states when the person came, in the order of capture. A later statement without names does not belong to
    /// the person.
    public mutating func arrive(_ names: [String], at sequence: Int64? = nil) -> Subscription.State? {
        guard !names.isEmpty else { return nil }
        if let anonymous, anonymous.sequence ?? .min <= sequence ?? .max {
            self.anonymous = nil
            note(anonymous.state, of: names, at: anonymous.sequence)
        }
        return state(of: names)
    }

    /// Whether a person made a statement after the sequence; without names, whether one was made while no person was known.
    public func isOvertaken(of names: [String], at sequence: Int64) -> Bool {
        let last = names.isEmpty ? anonymous : place(of: names).map { entries[$0] }
        return last?.sequence.map { $0 > sequence } ?? false
    }

    /// Whether the next person's statement, made while no person was known, is an opt-out.
    public var isNextOptedOut: Bool { anonymous.map { $0.state != .subscribed } ?? false }

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
