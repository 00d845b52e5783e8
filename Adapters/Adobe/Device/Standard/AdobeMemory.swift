public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The vendor state that the adapter expects for one installation.
public struct AdobeMemory: AdapterMemory {
    /// The maximum number of identities kept. Work captured under an older one is rejected.
    static let identityLimit = 32

    /// The number of the next identity that the adapter generates.
    var generation = 0
    /// The identities of this installation, oldest first; the last is current. Empty until the first operation.
    var identities: [DeviceIdentity] = []
    /// Identities from the app that ended with a person, an opt-out or an erasure.
    var ended: [EndedIdentity] = []
    /// The vendor's name of the push service; nil until a device is registered.
    var platform: String?
    /// The push token of the newest device registration.
    var token: Secret?
    /// The newest device registration.
    var device: DeviceRegistration?
    /// The identity of the last decision about a registration, whether or not the vendor accepted it.
    var registeredECID: String?
    /// The last two requests that postpone the next registration, oldest first.
    var registrations: [RegistrationMark] = []
    /// A digest of the server and the app that `known` and `registeredECID` belong to.
    var account: String?

    /// The order of capture of the first pending erasure.
    var erasure: Int64?

    /// Creates an empty memory.
    public init() {}

    /// The memory that may be kept after an erasure: pacing, the ended identities, the state of later operations, and the
    /// identities whose push token the identity service may still hold and must give up.
    public var afterErase: AdobeMemory {
        var next = AdobeMemory()
        next.generation = generation + 1
        // The persons of ended identities are forgotten, so these identities are not used again.
        let all = ended.map(\.identity) + identities.compactMap { $0.given.map(Person.digest) }
        next.ended = all.suffix(2 * Self.identityLimit).map { EndedIdentity(identity: $0) }
        (next.platform, next.registrations, next.account) = (platform, registrations, account)
        if erasure != nil { (next.token, next.device) = (token, device) }
        let later = identities.filter { $0.since > erasure ?? .max }
        next.identities = identities.dropLast(later.count).compactMap { former in
            guard former.tokenOrganization != nil else { return nil }
            var rest = DeviceIdentity(given: former.given, generation: former.generation, since: former.since)
            (rest.person, rest.usedAs) = (former.person, former.usedAs)
            rest.tokenOrganization = former.tokenOrganization
            return rest
        }
        if let last = identities.last, later.isEmpty, !next.identities.isEmpty {
            var fresh = DeviceIdentity(generation: next.generation, since: last.since)
            fresh.person = last.person + 1
            next.identities.append(fresh)
        }
        next.identities += later
        return next
    }

    /// Returns the memory unchanged: the denial itself is an operation, whose plan takes the push token back and ends the
    /// identity if it covers them.
    public func afterDenial(of scope: Consent.Scope) -> AdobeMemory { self }
}

/// The newest device registration, with its operation.
struct DeviceRegistration: Codable, Sendable, Equatable {
    /// The order of capture.
    var sequence: Int64
    /// The operation's id.
    var id: String
}

/// An identity of the app that is no longer used.
struct EndedIdentity: Codable, Sendable, Equatable {
    /// The identity's digest.
    var identity: String
    /// The person to whom it belongs; nil if no person may use it again.
    var who: Person?
}

/// A successful request that postpones the next registration.
struct RegistrationMark: Codable, Sendable, Equatable {
    /// The time of the operation's capture.
    var at: Instant
    /// The time of its reply.
    var notedAt: Instant
}

/// One identity (ECID) of the installation, with the vendor state that belongs to it alone.
struct DeviceIdentity: Codable, Sendable, Equatable {
    /// The identity that the app passed; nil if the adapter generates it.
    var given: String?
    /// The number from which the adapter generates the identity.
    var generation: Int
    /// The order of capture from which operations belong to it.
    var since: Int64
    /// The number of the person on this installation: another person has another number.
    var person = 0
    /// The person, as far as operations identify one.
    var who = Person()
    /// The position in the order of capture from which `who` is known.
    var knownSince: Int64 = 0
    /// The person's consents.
    var consents = PushConsents()
    /// Whether a device registration was captured under it.
    var hasDevice = false
    /// Whether an operation that needs consent to `profile` was let through, so that a session may register it.
    var mayRegister = false
    /// Whether the newest device registration of this person has a push token.
    var takesToken = false
    /// Whether the installation is registered again for this person, as far as consent to the profile allows.
    var isRegistrationRequested = false
    /// The organization under which the identity service may hold a push token; nil if it holds none.
    var tokenOrganization: String?
    /// Whether the identity service must still be notified of the opt-out.
    var owesOptOut = false
    /// The identity as text once a request was sent under it.
    var usedAs: String?
    /// Digests of the values that the vendor accepted, by field.
    var known: [String: String] = [:]
    /// The order of capture of the newest value sent, by field.
    var written: [String: Int64] = [:]

    /// The identity as text.
    func ecid(of subject: Subject) -> String { given ?? Identity.made(for: subject, generation) }
}

// MARK: - Identities

extension AdobeMemory {
    /// Returns the index of the identity under which an operation was captured; nil if it is no longer stored.
    func index(of sequence: Int64) -> Int? { identities.lastIndex { $0.since <= sequence } }

    /// The position of an identity by its text.
    func index(of ecid: String, _ subject: Subject) -> Int? {
        identities.lastIndex { $0.usedAs == ecid || $0.ecid(of: subject) == ecid }
    }

    /// Returns the consents of the person to whom an identity belongs. The person's newest identity has the latest decisions.
    func consents(of identity: DeviceIdentity) -> PushConsents {
        (identities.last { $0.person == identity.person } ?? identity).consents
    }

    /// Returns the index of the current identity for operations from a sequence on. Creates the identity if there is none.
    mutating func current(since sequence: Int64 = 0) -> Int {
        if identities.isEmpty { identities.append(DeviceIdentity(generation: generation, since: sequence)) }
        return identities.count - 1
    }

    /// Starts a new identity for the same person.
    mutating func begin(_ sequence: Int64, given: String? = nil) {
        let last = identities[current()]
        var next = DeviceIdentity(given: given, generation: generation, since: sequence)
        (next.person, next.who, next.knownSince) = (last.person, last.who, last.knownSince)
        next.consents = last.consents
        if let given { use(given, for: &next) }
        append(next)
    }

    /// Uses an identity that the app passes at a position that has none.
    mutating func use(_ given: String, at place: Int) {
        var identity = identities[place]
        use(given, for: &identity)
        identities[place] = identity
    }

    /// Moves the vendor state of an identity that the app passed earlier, so that no two entries share it.
    private mutating func use(_ given: String, for identity: inout DeviceIdentity) {
        identity.given = given
        guard let place = identities.lastIndex(where: { $0.given == given }) else { return }
        (identity.tokenOrganization, identity.usedAs) = (identities[place].tokenOrganization, identities[place].usedAs)
        (identity.known, identity.written) = (identities[place].known, identities[place].written)
        identities[place].tokenOrganization = nil
    }

    /// Starts an identity for another person. Consent decisions are forgotten unless `keepingConsents` is set.
    mutating func begin(_ sequence: Int64, for who: Person, keepingConsents: Bool = false) {
        let place = current()
        end(place, for: identities[place].who)
        var next = DeviceIdentity(generation: generation, since: sequence)
        (next.person, next.who, next.knownSince) = (identities[place].person + 1, who, sequence)
        if keepingConsents { next.consents = identities[place].consents }
        append(next)
    }

    /// Ends an identity of the app. The same person may use it again, unless an opt-out ended it.
    mutating func end(_ place: Int, for who: Person? = nil) {
        guard let given = identities[place].given else { return }
        let digest = Person.digest(given)
        ended.removeAll { $0.identity == digest }
        ended = Array((ended + [EndedIdentity(identity: digest, who: who)]).suffix(2 * Self.identityLimit))
    }

    /// Whether the current person may use an identity that the app passes.
    func mayUse(_ given: String, for who: Person) -> Bool {
        let digest = Person.digest(given)
        guard let end = ended.last(where: { $0.identity == digest }) else { return true }
        guard let former = end.who, !former.isUnknown, !who.isUnknown else { return false }
        return !former.differs(from: who)
    }

    private mutating func append(_ identity: DeviceIdentity) {
        generation += 1
        var identity = identity
        identity.generation = generation
        identities.append(identity)
        while identities.count > Self.identityLimit {
            let place = identities.dropLast().firstIndex { $0.tokenOrganization == nil && !$0.owesOptOut }
            identities.remove(at: place ?? 0)
        }
    }

    /// Records the person of an operation. A contact to whom the identity does not belong starts another one.
    mutating func note(contact: String, _ sequence: Int64) {
        _ = current()
        guard let place = index(of: sequence) else { return }
        let other = Person([], contact: contact)
        if identities[place].who.isUnknown {
            join(place, other, sequence)
        } else if identities[place].who.differs(from: other), place == identities.count - 1,
            sequence >= identities[place].knownSince
        {
            begin(sequence, for: other, keepingConsents: true)
        }
    }

    /// Records further identifiers of the current person.
    mutating func join(_ place: Int, _ who: Person, _ sequence: Int64) {
        if identities[place].who.isUnknown { identities[place].knownSince = sequence }
        identities[place].who.join(who)
    }

    // MARK: Pending requests to the identity service

    /// Whether an identity may hold the push token of a person who allows push messages.
    private func isEntitled(_ place: Int, _ organization: String) -> Bool {
        let identity = identities[place]
        // State of version 1 contains neither the token nor its organization.
        let isFormer = identity.tokenOrganization == ""
        return place == identities.count - 1 && identity.takesToken
            && (isFormer || token != nil && organization == identity.tokenOrganization ?? organization)
    }

    /// Whether the current identity may hold the push token.
    func isEntitled(_ organization: String, allowsToken: Bool) -> Bool {
        allowsToken && !identities.isEmpty && isEntitled(identities.count - 1, organization)
    }

    /// Returns the index of the first identity whose push token must be taken back: any that started before an operation, and
    /// any that may not hold it.
    func staleToken(_ organization: String, allowsToken: Bool, before sequence: Int64 = 0) -> Int? {
        identities.indices.first {
            identities[$0].tokenOrganization != nil
                && (identities[$0].since < sequence || !allowsToken || !isEntitled($0, organization))
        }
    }

    /// Whether the installation has a push token that no registration has given to the current person.
    var lacksToken: Bool {
        guard token != nil, let last = identities.last, !last.consents.deniesProfile else { return false }
        return !last.takesToken && !last.isRegistrationRequested
            && !identities.contains { $0.tokenOrganization != nil }
    }

    /// The index of the first identity whose opt-out the identity service does not know.
    var owedOptOut: Int? { identities.firstIndex(where: \.owesOptOut) }

    /// Records that the identity service no longer holds a push token under an identity.
    mutating func takeBack(_ ecid: String, of subject: Subject) {
        for place in identities.indices where identities[place].ecid(of: subject) == ecid {
            identities[place].tokenOrganization = nil
        }
    }

    /// Records that a request was sent under an identity.
    mutating func use(_ place: Int, as ecid: String) {
        if identities[place].usedAs != ecid { identities[place].usedAs = ecid }
    }

    // MARK: Delivery

    /// Records the data that a request may change at the vendor, regardless of its reply.
    mutating func markUncertain(_ sent: SentRequest) {
        guard let place = sent.place(in: self) else { return }
        use(place, as: sent.ecid)
        for field in sent.fields { identities[place].known[field.name] = nil }
        if sent.setsToken { identities[place].tokenOrganization = sent.organization }
    }

    /// Whether two memories differ in nothing but the account, which is stored with the next change.
    func isEqual(_ other: AdobeMemory) -> Bool {
        var other = other
        other.account = account
        return self == other
    }

    /// Forgets the state of another server or app than the one in the settings, whose digest is `present`.
    mutating func enter(_ present: String) {
        defer { account = present }
        guard let account, account != present else { return }
        registeredECID = nil
        registrations = []
        for place in identities.indices { (identities[place].known, identities[place].written) = ([:], [:]) }
    }
}

/// The content of a request, read from the request itself.
struct SentRequest {
    let endpoint: AdobeDevice.Endpoint
    let ecid: String
    let organization: String
    /// The fields of a mobile profile.
    let fields: [JSONObject.Member]
    /// Whether the request sets a push token at the identity service; false if it takes one back.
    let setsToken: Bool
    private let subject: Subject

    init(_ endpoint: AdobeDevice.Endpoint, _ request: WireRequest, of subject: Subject) {
        (self.endpoint, self.subject) = (endpoint, subject)
        let body = request.json?.object ?? [:]
        let query = URLText.queryItems(of: request.url)
        func item(_ name: String) -> String? { query.first { $0.name == name }?.value }
        ecid = body["marketingCloudId"]?.string ?? item("mcId") ?? item("mcid") ?? item("d_mid") ?? ""
        organization = item("d_orgid") ?? ""
        fields = endpoint == .attributes ? body.filter { !ProfileFields.reserved.contains($0.name) } : []
        setsToken = endpoint == .pushToken && item("d_cid")?.hasSuffix("\u{1}") == false
    }

    func place(in memory: AdobeMemory) -> Int? { memory.index(of: ecid, subject) }
}
