import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// A cache of the credentials that the engine uses, and of the reasons that it cannot use others.
///
/// Look-ups are synchronous. For an asynchronous source they leave requests, which the engine's driver takes by
/// ``takeRequests()`` and answers by ``receive(_:for:)``. The cache lives as long as the process: after a restart, every credential may be tried again.
package final class CredentialCache {
    /// The way in which the app provides credentials.
    package enum Source {
        /// The source answers at every look-up.
        case immediate((CredentialRequest) -> Secret?)
        /// The source answers later, through ``CredentialCache/receive(_:for:)``.
        case asynchronous
    }

    /// The reason that no usable credential is known.
    enum Problem: Hashable {
        /// The source has not answered yet.
        case requested
        /// The source has no credential.
        case missing
        /// The source threw an error of that type.
        case failed(String)
        /// The token has expired.
        case expired(at: Instant)
        /// The vendor refused it.
        case refused(Refusal)
    }

    /// A vendor's refusal of a credential.
    struct Refusal: Hashable {
        let status: Int?
        let host: String
        let date: Instant
    }

    private struct Key: Hashable {
        let provider: String
        let contact: ScalarString?
    }

    private struct Entry {
        var credential: Secret?
        /// The time at which the credential expires, read from the token once.
        var expiry: Instant?
        var isRequested = false
        /// When the source was last asked, by the clock that includes sleep; nil if it may be asked at once.
        var lastRequest: Instant?
        var failure: String?
        /// The fingerprints of refused credentials, the newest last.
        var refused: [UInt128] = []
        /// The fingerprints of credentials that were refused earlier and may be used again, because the app reported new
        /// ones.
        var refusedEarlier: [UInt128] = []
        var lastRefusal: Refusal?
        /// Whether no request was accepted since the last refusal. The refusal of another credential is then final.
        var mustBeFresh = false
    }

    /// Whether any credential was refused.
    private(set) var hasRefusals = false

    private let source: Source
    private var entries: [Key: Entry] = [:]
    /// The requests to the source that the driver has not taken yet.
    private var requests: [CredentialRequest] = []

    /// Creates an empty cache.
    package init(_ source: Source) { self.source = source }

    /// The tolerated difference between this machine's clock and the issuer's.
    private static let leeway = Duration.seconds(10)
    /// The minimum interval between requests to the source after an answer without a usable credential.
    private static let pause = Duration.seconds(30)
    /// The number of refused credentials that are remembered for each contact.
    private static let refusedLimit = 8
    /// The maximum number of contacts whose credentials are kept.
    private static let capacity = 16_384

    /// Returns the usable credential of a contact; nil while none is known.
    ///
    /// `date` is the wall clock, which decides about expiry. `uptime` is the clock that includes sleep.
    func credential(of provider: String, for contact: ScalarString?, at date: Instant, uptime: Instant) -> Secret? {
        let key = Key(provider: provider, contact: contact)
        switch source {
        case .immediate(let ask):
            let known = entries[key]
            let replaced = isUsable(known, at: date) ? nil : known?.credential
            let answer = ask(CredentialRequest(provider: provider, contact: contact?.text, replacing: replaced))
            guard known != nil || answer != nil else { return nil }
            if known == nil { makeRoom() }
            set(answer, of: key)
            return isUsable(entries[key], at: date) ? answer : nil
        case .asynchronous:
            if let entry = entries[key], isUsable(entry, at: date) { return entry.credential }
            request(key, uptime)
            return nil
        }
    }

    private func request(_ key: Key, _ uptime: Instant) {
        var entry = entries[key] ?? Entry()
        guard !entry.isRequested, entry.lastRequest.map({ uptime - $0 >= Self.pause }) ?? true else { return }
        makeRoom()
        (entry.isRequested, entry.lastRequest) = (true, uptime)
        entries[key] = entry
        requests.append(
            CredentialRequest(provider: key.provider, contact: key.contact?.text, replacing: entry.credential)
        )
    }

    /// Returns the requests to the asynchronous source since the last call.
    package func takeRequests() -> [CredentialRequest] {
        defer { requests = [] }
        return requests
    }

    private func makeRoom() {
        guard entries.count >= Self.capacity else { return }
        entries = entries.filter { $0.value.isRequested || $0.value.mustBeFresh }
    }

    private func set(_ credential: Secret?, of key: Key) {
        guard credential != entries[key]?.credential || entries[key] == nil else { return }
        entries[key, default: Entry()].credential = credential
        entries[key]?.expiry = credential.flatMap(JSONWebToken.expiry(of:))
    }

    private func isUsable(_ entry: Entry?, at date: Instant) -> Bool {
        guard let entry, let credential = entry.credential else { return false }
        if let expiry = entry.expiry, expiry + Self.leeway <= date { return false }
        return entry.refused.isEmpty || !entry.refused.contains(TextMark(credential.value).bits)
    }

    /// Whether an answer of the source is pending.
    package var isWaiting: Bool { entries.values.contains { $0.isRequested && $0.failure == nil } }

    /// Takes the answer of an asynchronous source.
    ///
    /// After an error, the request stays open: the engine's driver asks again.
    package func receive(_ answer: Result<Secret?, any Error>, for request: CredentialRequest) {
        let key = Key(provider: request.provider, contact: request.contact.map(ScalarString.init))
        switch answer {
        case .success(let credential):
            set(credential, of: key)
            entries[key]?.isRequested = false
            entries[key]?.failure = nil
        case .failure(let error): entries[key]?.failure = String(describing: type(of: error))
        }
    }

    /// Forgets the credentials of a contact at every provider. A refused credential may be used again.
    ///
    /// The refusal itself is not forgotten: if the next credential is refused, too, that is final.
    func forget(_ contact: String?) {
        let contact = contact.map(ScalarString.init)
        for (key, entry) in entries where key.contact == contact {
            var known = Entry()
            known.mustBeFresh = entry.mustBeFresh
            known.refusedEarlier = (entry.refusedEarlier + entry.refused).suffix(Self.refusedLimit)
            entries[key] = entry.mustBeFresh ? known : nil
        }
    }

    /// Allows the source to be asked again at once if its answers contained no usable credential.
    func askAgain() {
        for key in entries.keys {
            entries[key]?.lastRequest = nil
            guard entries[key]?.failure != nil else { continue }
            entries[key]?.isRequested = false
            entries[key]?.failure = nil
        }
    }

    /// Notes that a vendor refused a credential.
    ///
    /// - Returns: Whether the refusal is final: an earlier credential was refused, and no request was accepted since.
    func noteRefusal(of credential: Secret, _ refusal: Refusal, of provider: String, for contact: String?) -> Bool {
        let key = Key(provider: provider, contact: contact.map(ScalarString.init))
        var entry = entries[key] ?? Entry()
        if entry.credential == nil {
            (entry.credential, entry.expiry) = (credential, JSONWebToken.expiry(of: credential))
        }
        let mark = TextMark(credential.value).bits
        let isNew = !entry.refused.contains(mark) && !entry.refusedEarlier.contains(mark)
        let isFinal = entry.mustBeFresh && isNew
        if !entry.refused.contains(mark) { entry.refused = entry.refused.suffix(Self.refusedLimit - 1) + [mark] }
        (entry.mustBeFresh, entry.lastRefusal, entry.lastRequest) = (true, refusal, nil)
        entries[key] = entry
        hasRefusals = true
        return isFinal
    }

    /// Notes that a vendor accepted a credential.
    func noteAcceptance(of provider: String, for contact: String?) {
        let key = Key(provider: provider, contact: contact.map(ScalarString.init))
        guard entries[key]?.mustBeFresh == true else { return }
        entries[key]?.mustBeFresh = false
        entries[key]?.refused = []
        entries[key]?.refusedEarlier = []
    }

    /// Returns why no usable credential of a contact is known; nil if one is.
    func problem(of provider: String, for contact: String?, at date: Instant) -> Problem? {
        guard let entry = entries[Key(provider: provider, contact: contact.map(ScalarString.init))] else {
            return .missing
        }
        if isUsable(entry, at: date) { return nil }
        if let failure = entry.failure { return .failed(failure) }
        if let credential = entry.credential, entry.refused.contains(TextMark(credential.value).bits),
            let refusal = entry.lastRefusal
        {
            return .refused(refusal)
        }
        if let expiry = entry.expiry, expiry + Self.leeway <= date { return .expired(at: expiry) }
        return entry.isRequested ? .requested : .missing
    }
}

/// The expiry of a JSON Web Token (RFC 7519).
enum JSONWebToken {
    /// Returns the time in `exp`; nil for a token without one, and for any text that is not a token.
    static func expiry(of credential: Secret) -> Instant? {
        let parts = credential.value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ part in part.utf8.allSatisfy(isBase64URL) }) else { return nil }
        let payload = String(parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        guard let bytes = Base64.decode(payload), let json = try? JSONValue(parsing: bytes),
            let seconds = json["exp"]?.number?.double, seconds.magnitude < 1e12
        else { return nil }
        return Instant(milliseconds: Int64(seconds * 1_000))
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): true
        default: false
        }
    }
}
