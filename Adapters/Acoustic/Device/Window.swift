import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    /// The operations of a window that may be sent now, in order of capture.
    ///
    /// A log-in, an unregistration and a registration with other ids are barriers: no operation that was captured after
    /// a barrier overtakes it, except an opt-out.
    struct Window {
        typealias Operations = [Pending<AcousticDevice>]

        private(set) var reads: Operations = []
        private(set) var local: Operations = []
        /// Registrations that may be carried out now.
        private(set) var registrations: Operations = []
        private(set) var attributes: Operations = []
        private(set) var events: Operations = []
        /// Operations of another person than the owner of the ids. They wait for that person's ids.
        private(set) var later: Operations = []
        /// Operations of a person who logged out before that person's ids were known. They can never be sent.
        private(set) var unsendable: Operations = []
        /// Opt-ins that a later log-in of another person made obsolete.
        private(set) var obsolete: Operations = []
        /// The first operation that later operations must not overtake.
        private(set) var barrier: Pending<AcousticDevice>?
        /// Consents that decide whether push messages are allowed.
        private(set) var consents: Operations = []
        /// Opt-outs, regardless of barriers.
        private(set) var optOuts: Operations = []
        /// All pending operations of the window.
        private(set) var all: Operations = []
        /// Whether the provider is being removed.
        private(set) var isLeaving: Bool

        init(_ pending: PendingOperations<AcousticDevice>, _ memory: Memory) {
            isLeaving = pending.isLeaving
            var others: Operations = []
            all.reserveCapacity(pending.count)
            others.reserveCapacity(pending.count)
            for one in pending.operations {
                guard one.operation.action.kind != .readBack else {
                    reads.append(one)
                    continue
                }
                all.append(one)
                if one.operation.action == .unregister { isLeaving = true }
                guard !one.isImmediate else { continue }
                // An erasure is a barrier, too: operations after it are not sent under the ids that it forgets.
                let isLocal = Queue(name: one.queue) == .local && one.operation.action != .erase
                if isLocal, one.operation.action.pushMessageConsent != nil, memory.ids != nil {
                    consents.append(one)
                } else if isLocal {
                    local.append(one)
                } else {
                    others.append(one)
                }
            }
            divide(others, memory, isCut: pending.hasMore)
        }

        private mutating func divide(_ operations: Operations, _ memory: Memory, isCut: Bool) {
            let place = operations.firstIndex { $0.isBarrier(memory) }
            barrier = place.map { operations[$0] }
            let changes = operations[..<(place ?? operations.endIndex)].filter { $0.queue == Queue.attributes.rawValue }
            // A change of person may be outside a window that is full of changes.
            let isFull = isCut && changes.count >= AcousticDevice.window / 4
            let limit = barrier?.sequence ?? (isFull ? changes.last.map { $0.sequence + 1 } : nil) ?? .max
            let people = Self.peopleAfter(operations, memory)
            var before: Operations = []
            // An erasure opts out of push messages, too, and forgets earlier operations.
            let erasure = operations.first { $0.operation.action == .erase }?.sequence ?? .max
            for (one, next) in zip(operations, people) {
                if one.isOptOut {
                    guard one.sequence < erasure else { continue }
                    let isNever = memory.ids != nil && memory.ownership(of: one, next: next) == .never
                    if isNever { unsendable.append(one) } else { optOuts.append(one) }
                    continue
                }
                if one.queue == Queue.registration.rawValue {
                    if memory.ids == nil || one.sequence < limit { registrations.append(one) }
                    continue
                }
                guard one.sequence < limit, memory.ids != nil, one.operation.action != .erase else { continue }
                if one.isOptIn, let next, let contact = one.operation.contact, !next.containsExactly(contact) {
                    obsolete.append(one)
                    continue
                }
                switch memory.ownership(of: one, next: next) {
                case .own: before.append(one)
                case .later where !isLeaving: later.append(one)
                case .later, .never: unsendable.append(one)
                }
            }
            if let barrier, barrier.queue == Queue.registration.rawValue {
                // Earlier operations of the same person are sent under the new ids.
                let contact = barrier.operation.contact.map(ScalarString.init)
                before.removeAll { $0.operation.contact.map(ScalarString.init) == contact }
                // An opt-out under the present ids is repeated before the ids change.
                let hasOptOut = optOuts.contains { $0.sequence < barrier.sequence }
                if before.isEmpty, obsolete.isEmpty, unsendable.isEmpty, !hasOptOut { registrations.append(barrier) }
            }
            if memory.mustPhone, barrier != nil {
                // The vendor no longer knows these ids, and their owner has logged out.
                unsendable += before
                before = []
            }
            for one in before {
                if one.queue == Queue.attributes.rawValue { attributes.append(one) } else { events.append(one) }
            }
        }

        /// Returns, for each operation, the contacts of the next log-in or registration with other ids after it.
        private static func peopleAfter(_ operations: Operations, _ memory: Memory) -> [[String]?] {
            var people = [[String]?](repeating: nil, count: operations.count)
            var next: [String]?
            for place in operations.indices.reversed() {
                people[place] = next
                switch operations[place].operation.action {
                case .switchContact(let change): next = change.identifiers.map(\.value)
                case .registerDevice where memory.changesIDs(operations[place]):
                    next = operations[place].operation.contact.map { [$0] } ?? []
                default: break
                }
            }
            return people
        }

        /// Returns the later log-in of another person, who overtakes a log-in; nil if there is none.
        func overtaking(_ change: ContactSwitch, at pending: Pending<AcousticDevice>) -> OperationID? {
            let later = all.last { $0.operation.action.kind == .switchContact }
            guard let later, later.sequence > pending.sequence, case .switchContact(let next) = later.operation.action
            else { return nil }
            return next.identifiers.contains { change.identifiers.contains($0) } ? nil : later.id
        }

        /// Whether operations precede the barrier.
        var hasOperationsBeforeBarrier: Bool { !attributes.isEmpty || !events.isEmpty }
    }
}

extension Pending<AcousticDevice> {
    /// Whether it ends push messages.
    var isOptOut: Bool { pushState.map { $0 != .subscribed } ?? false }

    /// Whether the operation opts in to push messages.
    var isOptIn: Bool { pushState == .subscribed }

    private var pushState: Subscription.State? {
        guard case .changeSubscription(let subscription) = operation.action else { return nil }
        return subscription.state
    }

    /// Whether later operations must not overtake the operation.
    fileprivate func isBarrier(_ memory: AcousticDevice.Memory) -> Bool {
        switch operation.action {
        case .switchContact, .unregister, .erase: true
        case .registerDevice: memory.changesIDs(self)
        default: false
        }
    }
}
