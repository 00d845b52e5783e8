import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

// The owner of the ids, tags and push permission in the memory.
extension AcousticDevice.Memory {
    /// The identifiers of the person who is logged in at the vendor.
    var names: [String] { person.map { String($0.drop { $0 != "=" }.dropFirst()) } }

    /// Whether the operation's person differs from the person in the memory.
    ///
    /// Operations of an anonymous person belong to the next person.
    func isAnother(_ contact: String?) -> Bool {
        guard let contact, !person.isEmpty else { return false }
        return !names.contains { ScalarString.equal($0, contact) }
    }

    /// Records that a person's operation was carried out without a log-in. The log-in may have been refused.
    mutating func arrive(_ contact: String?) {
        guard let contact, person.isEmpty || isAnother(contact) else { return }
        logIn([Identifier(.external, contact)])
    }

    /// Records the person who logs in. Another person starts without the previous person's tags and push decision.
    mutating func logIn(_ identifiers: [Identifier]) {
        let new = identifiers.map { "\($0.kind.rawValue)=\($0.value)" }.sorted()
        let values = identifiers.map(\.value)
        let isSame =
            !Set(person.map(ScalarString.init)).isDisjoint(with: new.map(ScalarString.init))
            || values.contains { !isAnother($0) }
        if !person.isEmpty, !isSame {
            if !wantsPush { note(.unsubscribed, of: names) }
            (tags, wantsPush) = ([], true)
        }
        if let state = decisions?.arrive(values) { wantsPush = state == .subscribed }
        person = new
        // A person may have several identifiers.
        if let owner, values.contains(where: owner.containsExactly) { self.owner = (owner + values).eachOnce }
        forgetValues()
    }

    /// Records a push decision of the current person or of another one.
    mutating func decide(_ contact: String?, wantsPush wants: Bool) {
        guard let contact else { return wantsPush = wants }
        note(wants ? .subscribed : .unsubscribed, of: [contact])
        if !person.isEmpty, !isAnother(contact) { wantsPush = wants }
    }

    private mutating func note(_ state: Subscription.State, of people: [String]) {
        var decisions = decisions ?? PushDecisions()
        decisions.note(state, of: people)
        self.decisions = decisions
    }

    // MARK: Ids

    /// Stores ids that the app passed with a registration.
    ///
    /// Ids that arrive while a person is logged in belong to that person, other ids to the installation. Operations of
    /// another person are not sent under a person's ids. Operations of a person who was logged in earlier are not sent
    /// under the installation's ids.
    mutating func adopt(_ new: IDs, of registration: Pending<AcousticDevice>) {
        let contact = registration.operation.contact
        let isOther = ids != new
        adopt(new)
        if isOther {
            (owner, idsSince) = (contact.map { [$0] }, registration.sequence)
        } else if let contact, let owner, !owner.containsExactly(contact) {
            (self.owner, idsSince) = ([contact], registration.sequence)
        }
        arrive(contact)
    }

    /// Stores ids from a reply to an operation's query. Unchanged ids keep serving every person.
    mutating func adopt(_ new: IDs, namedFor pending: Pending<AcousticDevice>, people: [String]) {
        let isOther = ids.map { $0 != new } ?? false
        adopt(new)
        if isOther {
            (owner, idsSince) = (people.isEmpty ? nil : people, pending.sequence)
        } else if owner != nil, !people.isEmpty {
            owner = people
        }
    }

    /// Whether a registration contains other ids, or assigns them to another person.
    func changesIDs(_ registration: Pending<AcousticDevice>) -> Bool {
        guard let ids, case .registerDevice(let device) = registration.operation.action,
            let given = Identity.ids(of: device)
        else { return false }
        guard given == ids else { return true }
        guard let contact = registration.operation.contact, let owner else { return false }
        return !owner.containsExactly(contact)
    }

    /// Whether an operation may be sent under the present ids: now, later, or never.
    enum Ownership { case own, later, never }

    /// Returns whether an operation may be sent under the ids.
    ///
    /// - Parameters:
    ///   - pending: The operation.
    ///   - next: The contacts of the next pending log-in or registration with other ids; nil if none is pending.
    /// - Returns: Whether it may be sent now, after its person's ids arrive, or never.
    func ownership(of pending: Pending<AcousticDevice>, next: [String]?) -> Ownership {
        let isEarlier = idsSince.map { pending.sequence < $0 } ?? false
        guard let contact = pending.operation.contact else {
            // An anonymous person is the next one to log in. The owner of the ids has logged out, and may come back.
            guard let owner else { return .own }
            guard let next else { return isEarlier ? .own : .later }
            if next.contains(where: owner.containsExactly) { return .own }
            return isEarlier ? .never : .later
        }
        if let owner {
            if owner.containsExactly(contact) { return .own }
        } else if !isEarlier {
            return .own
        }
        return isEarlier || next.map { !$0.containsExactly(contact) } ?? false ? .never : .later
    }
}
