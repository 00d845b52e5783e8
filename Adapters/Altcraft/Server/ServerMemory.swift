public import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel

extension AltcraftServer {
    public static let conventions = ServerConventions<Endpoint>(
        replies: .altcraftServer,
        pace: ServerPace.pace,
        findings: ServerFinding.self
    )

    /// The state that all lanes share: the pauses and the owed opt-outs. It contains no personal values.
    public struct Memory: ServerAPIMemory {
        /// The pauses of all lanes.
        public var server = ServerMemory()

        /// Opt-outs of contacts that the platform does not know yet or has no address of, oldest first.
        var owed: [Owed]?

        public init() {}

        public var afterErase: Memory { self }

        /// An opt-out that is applied when the platform has its contact's address.
        struct Owed: Codable, Sendable, Equatable {
            /// A mark of the contact's key, which identifies the key without revealing it.
            var contact: String
            var channel: Channel
            var topic: String?
            var state: Subscription.State
            /// The operation's place in the order of capture.
            var sequence: Int64
        }

        /// The most opt-outs that are kept.
        static let owedLimit = 1_000

        /// Stores an opt-out in place of an earlier one for the same subscription. Returns false if the list is full.
        mutating func owe(_ one: Owed) -> Bool {
            var all = (owed ?? []).filter { !($0.contact == one.contact && $0.isAbout(one.channel, one.topic)) }
            guard all.count < Self.owedLimit else { return false }
            all.append(one)
            owed = all
            return true
        }

        /// Returns the opt-outs owed to a contact, oldest first.
        func optOuts(owedTo contact: String) -> [Owed] { (owed ?? []).filter { $0.contact == contact } }

        /// Removes the owed opt-outs that pass the test.
        mutating func removeOwed(where test: (Owed) -> Bool) {
            let left = (owed ?? []).filter { !test($0) }
            owed = left.isEmpty ? nil : left
        }
    }
}

extension AltcraftServer.Memory.Owed {
    /// Whether it is about a channel, or a topic of it.
    func isAbout(_ channel: Channel, _ topic: String?) -> Bool {
        self.channel == channel && self.topic.map(ScalarString.init) == topic.map(ScalarString.init)
    }
}

extension ProfileKey {
    /// A mark that identifies the key without revealing it.
    var mark: String { RequestID.text(for: OperationID(rawValue: text), part: "key") }
}

/// Intervals and limits; the vendor documents none.
enum ServerPace: Sendable {
    /// A backoff of 2 s, doubled after each failure, at most five minutes, with random variation between clients (V22).
    static let pace = TokenPolicy(backoff: .doubling(from: .seconds(2), upTo: .seconds(300), jitter: 0.25))
    /// Profiles that are looked up at once.
    static let lookUps = 100
}
