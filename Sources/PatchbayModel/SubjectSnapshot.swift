package import PatchbayJSON

/// The last neutral state of one subject, combined from all of its captured operations.
///
/// It serves local reads, because an app cannot query a vendor, and it is replayed as the first operations for a new vendor. It
/// contains the app's values, whether or not a vendor accepted them. When another person logs in, or the known person logs out,
/// the attributes, tags, subscriptions, and consents of the previous person are removed and never apply to the next one. A
/// person's refusals apply again when that person returns.
public struct SubjectSnapshot: ObjectValue {
    /// The contact who was logged in last, which selects the credential for replayed operations.
    public var contact: String?
    /// The person's identifiers, the newest of each kind.
    public var identifiers: [Identifier] = []
    /// The attributes that have a value.
    public var attributes: [AttributeName: AttributeValue] = [:]
    /// The current tags.
    public var tags: Set<Tag> = []
    /// The subscriptions by channel and topic.
    public var subscriptions: [Subscription.Key: Subscription] = [:]
    /// The consent decisions by purpose and channel.
    public var consents: [Consent] = []
    /// The installation; nil if the subject is not one.
    public var device: Device?
    /// The person for whom the app provided the device's identities; nil if it provided none, or if no person was known.
    var deviceContact: String?
    /// The last change of person, if there was one.
    public var contactSwitch: ContactSwitch?
    /// The number of the last operation in the outbox that was captured before the current person came; nil if there was no
    /// other person before. The engine sets it.
    package var cameAfter: Int?
    /// The outbox numbers of the last operations that changed the person, oldest first. The number before each is unused. The
    /// engine sets them.
    package var personChanges: [Int] = []
    /// The people who have left, most recent last.
    var formerPeople: [FormerPerson] = []

    /// Creates an empty snapshot.
    public init() {}

    /// Applies one operation to the snapshot.
    public mutating func apply(_ operation: EngagementOperation) {
        if case .readBack = operation.action { return }
        let former = contact
        contact = operation.contact
        switch operation.action {
        case .identify(let identifiers):
            if isAnotherPerson(identifiers) {
                forgetPerson(knownAs: former)
                self.identifiers = []
            }
            merge(identifiers)
            recallRefusals()
        case .switchContact(let change):
            if isAnotherPerson(change) {
                forgetPerson(knownAs: former)
            } else if contactSwitch?.direction == .logOut, change.direction == .logIn {
                // An unknown person used the installation between two people; that person's values do not belong to the next
                // one.
                (attributes, tags) = ([:], [])
            }
            contactSwitch = change
            identifiers = change.identifiers
            recallRefusals()
        case .registerDevice(let device):
            (self.device, deviceContact) = (device, device.identities.isEmpty ? nil : operation.contact)
        case .changeAttributes(let changes):
            for (name, change) in changes { attributes[name] = change.applied(to: attributes[name]) }
        case .changeTags(let change): tags = change.applied(to: tags)
        case .changeSubscription(let subscription): subscriptions[subscription.key] = subscription
        case .setConsent(let consent):
            note(consent)
        case .erase: self = SubjectSnapshot()
        case .track, .unregister, .readBack: break
        }
    }

    /// Whether a change brings another person: a known person left, or a different one came. A person who logs in when no
    /// person was known is treated as the same person.
    public func isAnotherPerson(_ change: ContactSwitch) -> Bool {
        !identifiers.isEmpty && Set(identifiers).isDisjoint(with: change.identifiers)
    }

    /// Whether identifiers name another person than the current one: the external identifier differs. A different address or
    /// phone number alone may belong to the same person.
    public func isAnotherPerson(_ newer: [Identifier]) -> Bool {
        guard let known = identifiers.first(where: { $0.kind == .external }) else { return false }
        return newer.contains { $0.kind == .external && $0 != known } && !newer.contains(known)
    }

    /// Reverts a registration that no provider accepts.
    package mutating func keepDevice(of earlier: SubjectSnapshot) {
        (device, deviceContact) = (earlier.device, earlier.deviceContact)
    }

    /// Whether another person uses the installation after an action.
    package func isAnotherPerson(after action: Action) -> Bool {
        switch action {
        case .switchContact(let change): isAnotherPerson(change)
        case .identify(let identifiers): isAnotherPerson(identifiers)
        default: false
        }
    }

    /// Records a decision. A decision for every channel removes earlier, more permissive decisions for single channels.
    private mutating func note(_ consent: Consent) {
        consents.removeAll {
            $0.scope == consent.scope || consent.scope.covers($0.scope) && $0.state > consent.state
        }
        consents.append(consent)
    }

    /// Removes the data of the person. The installation stays, and so do the person's refusals.
    private mutating func forgetPerson(knownAs former: String?) {
        // A person who was only identified is known by the external identifier.
        let name = former ?? identifiers.first { $0.kind == .external }?.value
        let person = FormerPerson(of: self, knownAs: name ?? "")
        (attributes, tags, subscriptions, consents) = ([:], [], [:], [])
        if name == nil {
            // The person who logs in may have refused before the log-in.
            recall(person)
        } else {
            formerPeople = Array((formerPeople + [person]).suffix(FormerPerson.limit))
        }
    }

    /// Restores the refusals of a returning person. They override decisions that an unknown person made meanwhile.
    private mutating func recallRefusals() {
        guard let contact, let place = formerPeople.lastIndex(where: { ScalarString.equal($0.contact, contact) })
        else { return }
        recall(formerPeople.remove(at: place))
    }

    /// Removes everything about an erased contact that left earlier: its refusals, and the device identities that belong to it.
    ///
    /// - Returns: Whether there was anything to remove.
    package mutating func forgetFormerContact(_ contact: String) -> Bool {
        let before = self
        formerPeople.removeAll { ScalarString.equal($0.contact, contact) }
        if let deviceContact, ScalarString.equal(deviceContact, contact), self.contact != contact {
            self.deviceContact = nil
            device?.identities = [:]
        }
        return self != before
    }

    private mutating func recall(_ person: FormerPerson) {
        for consent in person.denials { note(consent) }
        for subscription in person.subscriptions { subscriptions[subscription.key] = subscription }
    }

    private mutating func merge(_ newer: [Identifier]) {
        var places = Dictionary(zip(identifiers.map(\.kind), identifiers.indices)) { first, _ in first }
        for identifier in newer {
            if let place = places[identifier.kind] {
                identifiers[place] = identifier
            } else {
                places[identifier.kind] = identifiers.count
                identifiers.append(identifier)
            }
        }
    }

    /// The operations that give a new vendor the current state, in the order in which an app would capture them.
    public var replay: [Action] {
        var actions: [Action] = consents.map(Action.setConsent)
        if let device = replayedDevice { actions.append(.registerDevice(device)) }
        if !identifiers.isEmpty { actions.append(.identify(identifiers)) }
        if !attributes.isEmpty { actions.append(.changeAttributes(attributes.mapValues(AttributeChange.set))) }
        if !tags.isEmpty { actions.append(.changeTags(TagChange(add: tags.sorted()))) }
        for (_, subscription) in subscriptions.inOrder {
            actions.append(.changeSubscription(subscription))
        }
        return actions
    }

    /// The installation, without identities that the app provided for another person.
    private var replayedDevice: Device? {
        guard var device, let deviceContact, contact.map({ !ScalarString.equal($0, deviceContact) }) ?? true else {
            return self.device
        }
        device.identities = [:]
        return device
    }

    /// The current person's last decision about push messages.
    package var push: PushWord {
        PushWord(consent: consent(for: .messaging, channel: .push), subscriptions: subscriptions.values)
    }

    /// The last push decisions of each person who has left, by contact.
    package var formerPush: [(contact: String, push: PushWord)] {
        formerPeople.map { ($0.contact, PushWord(consent: $0.pushMessages, subscriptions: $0.subscriptions)) }
    }

    /// Returns the subject's decision for a purpose on a channel: the channel's own decision, otherwise the one for every
    /// channel.
    public func consent(for purpose: Purpose, channel: Channel? = nil) -> Consent.State {
        let words = consents.filter { $0.purpose == purpose }
        return (words.first { $0.channel == channel } ?? words.first { $0.channel == nil })?.state ?? .unknown
    }

    package enum Member: MemberName, MemberTable {
        case contact, identifiers, attributes, tags, subscriptions, consents, device, deviceContact, `switch`
        case cameAfter, personChanges, formerPeople
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        contact = try reader.optional(Member.contact)
        identifiers = try reader.list(Member.identifiers)
        attributes = try reader.dictionary(Member.attributes)
        tags = Set(try reader.list(Member.tags, of: Tag.self))
        for subscription in try reader.list(Member.subscriptions, of: Subscription.self) {
            subscriptions[subscription.key] = subscription
        }
        consents = try reader.list(Member.consents)
        device = try reader.optional(Member.device)
        deviceContact = try reader.optional(Member.deviceContact)
        contactSwitch = try reader.optional(Member.switch)
        cameAfter = try reader.optional(Member.cameAfter)
        personChanges = try reader.list(Member.personChanges)
        formerPeople = try reader.list(Member.formerPeople)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.contact, ifPresent: contact)
        writer.member(Member.identifiers, ifNotEmpty: identifiers)
        writer.member(Member.attributes, ifNotEmpty: attributes)
        writer.member(Member.tags, ifNotEmpty: tags.sorted())
        writer.member(Member.subscriptions, ifNotEmpty: subscriptions.inOrder.map(\.value))
        writer.member(Member.consents, ifNotEmpty: consents)
        writer.member(Member.device, ifPresent: device)
        writer.member(Member.deviceContact, ifPresent: deviceContact)
        writer.member(Member.switch, ifPresent: contactSwitch)
        if let cameAfter { writer.member(Member.cameAfter, cameAfter) }
        writer.member(Member.personChanges, ifNotEmpty: personChanges)
        writer.member(Member.formerPeople, ifNotEmpty: formerPeople)
    }
}

extension AttributeChange {
    /// Returns the value after this change; nil if it is unset. A number to which the change cannot be added exactly stays
    /// unchanged.
    public func applied(to value: AttributeValue?) -> AttributeValue? {
        switch self {
        case .set(let value): return value
        case .unset: return nil
        case .increment(let step):
            switch value {
            case .integer(let number):
                guard let step = Int64(step.text) else {
                    return ExactDecimal(number).adding(step).map(AttributeValue.decimal) ?? value
                }
                let (sum, overflow) = number.addingReportingOverflow(step)
                return overflow ? value : .integer(sum)
            case .decimal(let number): return number.adding(step).map(AttributeValue.decimal) ?? value
            case nil: return Int64(step.text).map(AttributeValue.integer) ?? .decimal(step)
            default: return value
            }
        case .append(let added): return .list((value?.elements ?? []) + added)
        case .remove(let removed):
            let removed = Set(removed)
            return value.map { .list($0.elements.filter { !removed.contains($0) }) }
        }
    }
}

extension AttributeValue {
    /// The elements of a list or of choices; a scalar counts as a list with one element.
    var elements: [AttributeValue] {
        switch self {
        case .list(let values): values
        case .choices(let words): words.map(AttributeValue.string)
        default: [self]
        }
    }
}

extension ExactDecimal {
    /// Returns the exact sum, with as many decimals as the longer of the two fractions; nil if it needs more than 400 digits.
    func adding(_ other: ExactDecimal) -> ExactDecimal? {
        let scale = max(fractionDigits, other.fractionDigits)
        var (left, right) = (scaled(to: scale), other.scaled(to: scale))
        let width = max(left.digits.count, right.digits.count) + 1
        left.digits = Array(repeating: 0, count: width - left.digits.count) + left.digits
        right.digits = Array(repeating: 0, count: width - right.digits.count) + right.digits
        let sum: (isNegative: Bool, digits: [Int8])
        if left.isNegative == right.isNegative {
            sum = (left.isNegative, Self.add(left.digits, right.digits))
        } else if left.digits.lexicographicallyPrecedes(right.digits) {
            sum = (right.isNegative, Self.subtract(right.digits, left.digits))
        } else {
            sum = (left.isNegative, Self.subtract(left.digits, right.digits))
        }
        let text = sum.digits.map { String($0) }.joined()
        let whole = text.dropLast(scale).drop { $0 == "0" }
        let plain = (whole.isEmpty ? "0" : String(whole)) + (scale > 0 ? "." + text.suffix(scale) : "")
        let isZero = sum.digits.allSatisfy { $0 == 0 }
        return ExactDecimal(text: (sum.isNegative && !isZero ? "-" : "") + plain)
    }

    private var fractionDigits: Int { text.split(separator: ".").dropFirst().first?.utf8.count ?? 0 }

    private func scaled(to scale: Int) -> (isNegative: Bool, digits: [Int8]) {
        let digits = text.utf8.filter { (0x30...0x39).contains($0) }.map { Int8($0 - 0x30) }
        return (text.hasPrefix("-"), digits + Array(repeating: 0, count: scale - fractionDigits))
    }

    private static func add(_ left: [Int8], _ right: [Int8]) -> [Int8] {
        var (sum, carry) = (left, Int8(0))
        for place in left.indices.reversed() {
            let digit = left[place] + right[place] + carry
            (sum[place], carry) = (digit % 10, digit / 10)
        }
        return sum
    }

    private static func subtract(_ left: [Int8], _ right: [Int8]) -> [Int8] {
        var (difference, borrow) = (left, Int8(0))
        for place in left.indices.reversed() {
            let digit = left[place] - right[place] - borrow
            (difference[place], borrow) = digit < 0 ? (digit + 10, 1) : (digit, 0)
        }
        return difference
    }
}
