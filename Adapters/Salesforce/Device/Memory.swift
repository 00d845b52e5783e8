public import PatchbayAdapterKit
public import PatchbayModel

extension SalesforceDevice {
    /// The vendor state that this installation expects, and the times of its next requests.
    public struct Memory: AdapterMemory {
        /// The state that the vendor last accepted, or may have accepted: a request that may have been processed counts
        /// as processed. Pending operations are folded onto it.
        var registration = Registration()
        /// The account, application and sender under which the vendor accepted the state; nil while the vendor's state
        /// is unknown (S6).
        var acceptedAs: String?
        /// The contact key of the last registration that the vendor acknowledged.
        var heldKey: String?
        /// Whether a registration with another contact key may have been processed since, although a later one has the
        /// held key again.
        var mayHoldOtherKey: Bool?
        /// Whether the vendor may have received a registration without a contact key, and none with one since (K6).
        var mayBeKeyless: Bool?
        /// Whether an erasure ended the last registration, and none has been sent since.
        var isErased: Bool?
        /// Whether the profile purpose was denied, and nothing of it has been sent since.
        var isProfileDenied: Bool?
        /// The time of the last registration request (S3).
        var lastStart: Instant?
        /// Failed attempts since the last success (S8).
        var failures = 0
        /// The time of the next attempt after a failure (S7).
        var retryAt: Instant?
        /// The status of the last failed attempt, for reports about the wait; nil without a reply.
        var refusedWith: Int?
        /// Failed requests with events since the last success (E12).
        var eventFailures: Int?
        /// The times until which the vendor asked for no requests, by endpoint (S11).
        var closedUntil: [String: Instant] = [:]
        /// The token that permits events. The vendor issues it with a reply.
        var subscriberToken: Secret?
        /// Whether the vendor refused the last token, so that a registration has to ask for another (E14).
        var mustRenewToken: Bool?

        /// Creates an empty memory.
        public init() {}

        /// The memory after an erasure: the vendor's pacing, and nothing of the person (D7). It also contains the
        /// device and the names of the attributes to clear, which the erasure itself still needs.
        public var afterErase: SalesforceDevice.Memory {
            var memory = SalesforceDevice.Memory()
            (memory.lastStart, memory.closedUntil) = (lastStart, closedUntil)
            (memory.failures, memory.retryAt, memory.eventFailures) = (failures, retryAt, eventFailures)
            memory.isErased = isErased
            (memory.registration.knownAs, memory.registration.facts) = (registration.knownAs, registration.facts)
            memory.registration.attributes = registration.attributes.mapValues { _ in "" }
            memory.registration.silenced = registration.silenced
            return memory
        }

        public func withoutContact(_ contact: String) -> SalesforceDevice.Memory {
            var memory = self
            memory.registration.decisions?.forget(contact)
            return memory
        }

        /// Forgets the data that a denied purpose covers: the person's attributes, tags and signed string for the
        /// profile, the push token and permission for the profile on the push channel (D8).
        ///
        /// Other purposes and channels cover no stored data. Device and contact stay, so that a registration can report
        /// the end of push. The names of attributes stay, so that the next registration clears them.
        public func afterDenial(of scope: Consent.Scope) -> SalesforceDevice.Memory {
            guard scope.purpose == .profile, scope.channel == nil || scope.channel == .push else { return self }
            var memory = self
            memory.markStateUnknown()
            if scope.channel == nil {
                memory.isProfileDenied = true
                memory.registration.emptyAttributes()
                (memory.registration.tags, memory.registration.signedString) = ([], nil)
            } else {
                (memory.registration.pushToken, memory.registration.permissions.push) = (nil, false)
            }
            return memory
        }

        /// Marks the vendor's state as unknown.
        mutating func markStateUnknown() {
            if acceptedAs != nil {
                heldKey = registration.contactKey
            } else if heldKey != registration.contactKey {
                mayHoldOtherKey = true
            }
            acceptedAs = nil
        }

        /// The position of the operation whose contact key is in a registration without a clear reply.
        var unacknowledgedKeyChange: Int64? {
            acceptedAs == nil && (heldKey != registration.contactKey || mayHoldOtherKey == true)
                ? registration.keyAt : nil
        }

        /// Whether no registration of this installation can have reached the vendor.
        var isUnknownToVendor: Bool { registration.knownAs == nil && acceptedAs == nil }
    }
}
