public import PatchbayAdapterKit
public import PatchbayModel

extension SalesforceDevice {
    /// What this installation's vendor side is known to hold, and when it may be told more.
    public struct Memory: AdapterMemory {
        /// The state as the vendor last took it; everything pending is folded onto it.
        var registration = Registration()
        /// As whom the vendor took it: account, application and sender; nil while nobody knows what it holds (S6).
        var acceptedAs: String?
        /// When the last registration request left (S3).
        var lastStart: Instant?
        /// The newest change that an attempt has carried (S9).
        var lastTried: Int64 = -1
        /// Failed attempts since the last success or new change (S8).
        var failures = 0
        /// When the next attempt is due after a failure (S7).
        var retryAt: Instant?
        /// The status of the last failed attempt, for the person who asks why it waits; nil without an answer.
        var refusedWith: Int?
        /// Until when the vendor asked not to be called, by endpoint (S11).
        var closedUntil: [String: Instant] = [:]
        /// Lets events through; the vendor hands it out with a reply.
        var subscriberToken: Secret?
        /// Whether the vendor refused the last token, so that a registration has to ask for another (E14).
        var mustRenewToken: Bool?

        /// Nothing known.
        public init() {}

        /// The vendor's pacing stays, and nothing of the person (D7).
        public var afterErase: SalesforceDevice.Memory {
            RuleID.salesforce("D7").fire()
            var memory = SalesforceDevice.Memory()
            (memory.lastStart, memory.lastTried, memory.closedUntil) = (lastStart, lastTried, closedUntil)
            return memory
        }

        /// Who the device and its contact are at the vendor stays, so that a registration can say that push is over; what it
        /// holds counts as unknown (S6).
        public func afterDenial(of scope: Consent.Scope) -> SalesforceDevice.Memory {
            var memory = self
            (memory.registration.attributes, memory.registration.tags) = ([:], [])
            (memory.registration.signedString, memory.acceptedAs) = (nil, nil)
            return memory
        }

        /// Whether no registration of this life can have reached the vendor.
        var isUnheardOf: Bool { registration.knownAs == nil && acceptedAs == nil }
    }
}
