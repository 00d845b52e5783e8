public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

extension AcousticDevice {
    /// The vendor state that this installation expects, and the times of its next requests.
    public struct Memory: AdapterMemory {
        /// The user id and the channel id, which the vendor assigns together (I8).
        struct IDs: Codable, Sendable, Equatable {
            var user: String
            var channel: String

            /// Creates ids; nil if either is missing or empty.
            init?(user: String?, channel: String?) {
                guard let user, let channel, !user.isEmpty, !channel.isEmpty else { return nil }
                (self.user, self.channel) = (user, channel)
            }
        }

        /// The retry state of a stream of requests after a failure (Q1).
        struct Pace: Codable, Sendable, Equatable {
            /// The number of consecutive failures.
            var failures: Int
            /// The earliest time of the next attempt.
            var until: Instant
        }

        /// The ids; nil until the app or the vendor provides them (Q4).
        var ids: IDs?
        /// The values that the vendor accepted, by column. Uncertain values are removed (K1, K7).
        var known = ColumnValues()
        /// The whole set of tags that this installation wants, sorted.
        var tags: [String] = []
        /// The identifiers of the person who is logged in, as `kind=value`, to detect a change of person (K5).
        var person: [String] = []
        /// A digest of the registration that the vendor accepted (I2).
        var registered: String?
        /// Whether push may reach this installation, as last reported to the vendor (P4).
        var reportedPush: Bool?
        /// Whether the vendor may have received another push state since; nil means false.
        private(set) var isPushUncertain: Bool?
        /// Whether the person wants push, regardless of the system's permission.
        var wantsPush = true
        /// Whether the system permitted push at the last registration; nil if unknown.
        var permitsPush: Bool?
        /// The latest push decisions of people; nil without any.
        var decisions: PushDecisions?
        /// The identifiers of the person to whom the ids belong; nil if they are the installation's.
        var owner: [String]?
        /// The position, in the order of capture, of the operation that brought other ids; nil for the first ids.
        var idsSince: Int64?
        /// Whether a first registration was sent and not acknowledged, so that the vendor may know the installation.
        var mayBeRegistered: Bool?
        /// The time of the last query for the ids (I3).
        var phonedAt: Instant?
        /// Whether the ids are uncertain, because a reply said that the user or the app is unknown (Q5).
        var mustPhone = false
        /// The streams that wait after a failure (Q3).
        var paces: [String: Pace] = [:]
        /// Whether an erasure ended the registration (I7).
        var isReset = false

        /// Creates an empty memory.
        public init() {}

        /// Delays a stream of requests after a failure (Q1), at least as long as the server asks.
        mutating func delay(_ stream: String, asked: Duration?, at moment: Moment) {
            let failures = paces[stream]?.failures ?? 0
            let until = Intervals.backoff.next(after: failures, asked: asked, at: moment)
            paces[stream] = Pace(failures: failures + 1, until: until)
        }

        public var afterErase: Memory {
            var memory = Memory()
            (memory.paces, memory.mayBeRegistered) = (paces, mayBeRegistered)
            guard let ids, mayReach else {
                memory.isReset = true
                return memory
            }
            // The ids are needed until push is reported as disabled, which the erasure does before it is complete.
            (memory.ids, memory.reportedPush, memory.isPushUncertain) = (ids, reportedPush, isPushUncertain)
            return memory
        }

        public func withoutContact(_ contact: String) -> Memory {
            changing { $0.decisions?.forget(contact) }
        }

        /// Forgets the values and tags if the profile is denied. A denial of anything else covers nothing that is kept
        /// here: ids, pacing and push state are needed for an opt-out and an unregistration.
        public func afterDenial(of scope: Consent.Scope) -> Memory {
            guard scope == .profile else { return self }
            return changing {
                $0.forgetValues()
                $0.tags = []
            }
        }

        /// Stores ids from the app or the vendor. If they differ from the present ids, the expected values are
        /// forgotten (K5).
        mutating func adopt(_ new: IDs) {
            if let ids, ids != new { forgetValues() }
            (ids, isReset, mustPhone, mayBeRegistered) = (new, false, false, nil)
        }

        /// Forgets the ids and everything that the vendor received under them.
        mutating func forgetIDs() { (ids, reportedPush, isPushUncertain, registered) = (nil, nil, nil, nil) }

        /// Forgets the person, but keeps the data that an unregistration needs.
        mutating func forgetPerson() {
            (tags, person, owner, decisions) = ([], [], nil, nil)
            forgetValues()
        }

        /// Forgets all values that the vendor accepted.
        mutating func forgetValues() { known = ColumnValues() }

        /// Forgets values that an unacknowledged request may have changed at the vendor (K7).
        mutating func markUncertain(
            _ endpoint: Endpoint,
            _ operations: [Pending<AcousticDevice>],
            _ settings: AcousticSettings
        ) {
            switch endpoint {
            case .update, .delete:
                for entry in AttributeBatch(operations, memory: self, settings: settings).entries {
                    known[entry.column] = nil
                }
            case .register:
                registered = nil
                if ids == nil { mayBeRegistered = true }
                for pending in operations {
                    guard case .registerDevice(let device) = pending.operation.action else { continue }
                    noteRegisteredPush(mayPush(device, of: pending.operation.contact))
                }
                if settings.invalidateExistingUser { forgetValues() }
            case .events:
                for pending in operations where pending.operation.action.kind != .track {
                    isPushUncertain = true
                    // At most an opt-out is reported again, never an opt-in.
                    if pending.isOptOut { decide(pending.operation.contact, wantsPush: false) }
                }
            case .phoneHome: break
            }
        }

        /// Records the push state that an event reported.
        mutating func notePushReport(_ mayPush: Bool) { (reportedPush, isPushUncertain) = (mayPush, nil) }

        /// Records that a registration reported a push state before the event for it did.
        mutating func noteRegisteredPush(_ mayPush: Bool) {
            if let reportedPush, reportedPush != mayPush { isPushUncertain = true }
        }

        /// Whether push may be enabled for the installation at the vendor.
        var mayReach: Bool { reportedPush != false || isPushUncertain == true }

        /// Marks the push state under the present ids as unknown, so that the next registration reports it.
        mutating func expectReport() { (reportedPush, isPushUncertain) = (false, true) }

        /// Whether a report is due, because the vendor holds or may hold another push state.
        func owesReport(_ mayPush: Bool) -> Bool {
            reportedPush.map { $0 != mayPush || isPushUncertain == true } ?? false
        }

        /// Whether push may reach an installation: the system permits it, and the person wants it.
        func mayPush(_ device: Device, of contact: String?) -> Bool {
            guard let contact else { return device.allowsPush && wantsPush }
            return device.allowsPush && decisions?.state(of: [contact]).map { $0 == .subscribed } ?? true
                && (wantsPush || isAnother(contact))
        }

        /// Whether push may reach the installation of the current person, as far as the memory knows.
        var mayPush: Bool { permitsPush == true && wantsPush }

        /// Whether the last push decision of a person who has logged in is an opt-in that the vendor does not know.
        func owesOptIn(of change: ContactSwitch) -> Bool {
            let names = change.identifiers.map(\.value)
            return decisions?.state(of: names) == .subscribed && mayPush && names.contains(where: isOwn)
                && owesReport(true)
        }

        /// Whether the ids are the installation's, or a person's own.
        func isOwn(_ contact: String?) -> Bool { owner.map { contact.map($0.containsExactly) ?? false } ?? true }

        /// Whether the vendor is expected to hold the entry's value.
        func holds(_ entry: Entry) -> Bool {
            guard let value = entry.value, let known = known[entry.column] else { return false }
            return known.isSame(as: value)
        }
    }

    /// The progress of an operation with several entries.
    public struct Step: Codable, Sendable, Equatable {
        /// The number of processed entries, from the first.
        var done = 0
        /// A digest of the entries' columns. After a change of settings the count is invalid, and all entries are sent
        /// again.
        var layout: String?
        /// The refused entries, limited to a number that a finding can name.
        var refused: [Int] = []
        /// The number of entries that the vendor refused.
        var refusals = 0
        /// The maximum number of entries in a request while the adapter isolates a refused entry (G3).
        var suspect: Int?
        /// Whether a log-in is known here, so that only its push state may have to be reported.
        var isLoggedIn: Bool?

        /// The maximum number of refused entries that are named.
        static let named = 8

        /// Whether the count refers to these entries.
        func isOf(_ entries: [Entry]) -> Bool { layout == nil || layout == entries.layout }
    }
}
