public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

extension AcousticDevice {
    /// What this installation's vendor side is known to hold, and when it may be told more.
    public struct Memory: AdapterMemory {
        /// The user and the channel, which come together (I8).
        struct IDs: Codable, Sendable, Equatable {
            var user: String
            var channel: String
        }

        /// When a stream of requests may go on after a failure (Q1).
        struct Pace: Codable, Sendable, Equatable {
            /// Failures in a row.
            var failures: Int
            /// Not before.
            var until: Instant
        }

        /// The ids; nil while nobody knows them (Q4).
        var ids: IDs?
        /// The values that the vendor took, by column; a doubtful one is forgotten (K1, K7).
        var known: [String: WireValue] = [:]
        /// The whole set of tags that this installation wants, sorted.
        var tags: [String] = []
        /// The person that is logged in, as `kind=value`, so that another one is noticed (K5).
        var person: [String] = []
        /// A digest of the registration that the vendor took (I2).
        var registered: String?
        /// What the vendor was told of push last: whether it may reach this installation (P4).
        var pushTold: Bool?
        /// Whether the vendor may have been told otherwise since; nil is no.
        private(set) var isPushDoubtful: Bool?
        /// Whether the person wants push, beside the system's permission.
        var wantsPush = true
        /// When the ids were asked for last (I3).
        var phonedAt: Instant?
        /// Whether the ids are in doubt: an answer said that user or app are gone (Q5).
        var mustPhone = false
        /// The streams that wait after a failure (Q3).
        var paces: [String: Pace] = [:]
        /// Whether an erasure ended the registration (I7).
        var isReset = false

        /// Nothing known.
        public init() {}

        public var afterErase: Memory {
            RuleID.acoustic("K5").fire()
            var memory = Memory()
            (memory.isReset, memory.paces) = (true, paces)
            return memory
        }

        /// User and channel stay, and so does what the vendor was told of push.
        public func afterDenial(of scope: Consent.Scope) -> Memory {
            var memory = self
            memory.forgetValues()
            memory.tags = []
            return memory
        }

        /// Takes ids from the app or the vendor; other ids than before forget what the former user's record holds (K5).
        mutating func adopt(_ new: IDs) {
            if let ids, ids != new { forgetValues() }
            (ids, isReset, mustPhone) = (new, false, false)
        }

        /// Nothing is known of the vendor's values any more.
        mutating func forgetValues() {
            RuleID.acoustic("K5").fire()
            known = [:]
        }

        /// Notes who is logged in; another person has none of the former one's tags.
        mutating func logIn(_ identifiers: [Identifier]) {
            let new = identifiers.map { "\($0.kind.rawValue)=\($0.value)" }.sorted()
            let isSame = !Set(person.map(ScalarString.init)).isDisjoint(with: new.map(ScalarString.init))
            if !person.isEmpty, !isSame { (tags, wantsPush) = ([], true) }
            person = new
            forgetValues()
        }

        /// Forgets what a request may have changed at the vendor unseen (K7).
        mutating func doubt(_ endpoint: Endpoint, _ operations: [Pending<AcousticDevice>], _ settings: AcousticSettings)
        {
            RuleID.acoustic("K7").fire()
            switch endpoint {
            case .update, .delete:
                for entry in AttributeBatch(operations, memory: self, settings: settings).entries {
                    known[entry.key] = nil
                }
            case .register:
                registered = nil
                for case .registerDevice(let device) in operations.map(\.operation.action) { mention(mayPush(device)) }
                if settings.invalidateExistingUser { forgetValues() }
            case .events:
                for pending in operations where pending.operation.action.kind != .track {
                    isPushDoubtful = true
                    // Whoever said no is told so again at most, never a yes.
                    if case .changeSubscription(let word) = pending.operation.action, word.state != .subscribed {
                        wantsPush = false
                    }
                }
            case .phoneHome: break
            }
        }

        /// Notes what the vendor knows of push.
        mutating func tell(_ mayPush: Bool) { (pushTold, isPushDoubtful) = (mayPush, nil) }

        /// Notes that a registration says so, before the event for it does.
        mutating func mention(_ mayPush: Bool) {
            if let pushTold, pushTold != mayPush { isPushDoubtful = true }
        }

        /// Whether the vendor has to be told: it knows something else, or may.
        func owesWord(_ mayPush: Bool) -> Bool { pushTold.map { $0 != mayPush || isPushDoubtful == true } ?? false }

        /// Whether push may reach an installation: the system permits it, and the person wants it.
        func mayPush(_ device: Device) -> Bool { device.allowsPush && wantsPush }

        /// Whether that value is what the vendor holds.
        func holds(_ entry: Entry) -> Bool {
            guard let value = entry.value, let known = known[entry.key] else { return false }
            return known.isSame(as: value)
        }
    }

    /// How far an operation of several entries has got, and what was found out about it on the way.
    public struct Step: Codable, Sendable, Equatable {
        /// How many of its entries ended, from the first.
        var done = 0
        /// Which of them the vendor refused; a few, so that they can be named.
        var refused: [Int] = []
        /// How many of them the vendor refused.
        var refusals = 0
        /// The most entries in a request while one that the vendor refuses is looked for (G3).
        var suspect: Int?

        /// How many refused entries are named.
        static let named = 8
    }
}
