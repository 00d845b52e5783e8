import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Synchronization

/// The token that signs a request, and how it identifies the profile.
package struct Authorization {
    /// The value of the header.
    let header: String
    /// The query's matching mode.
    let matchingMode: String

    /// Chooses between the role token and the contact's own token, and checks the latter as far as an app can.
    ///
    /// - Parameters:
    ///   - credential: The contact's JSON Web Token.
    ///   - adapter: The adapter whose settings may contain a role token.
    /// - Throws: The reason why no request can be signed.
    init(_ credential: Secret?, _ adapter: AltcraftDevice) throws(Held) {
        let settings = adapter.settings
        if let token = settings.usedRoleToken {
            header = String(joining: "Bearer rtoken@", token)
            matchingMode = settings.roleTokenMatching == .token ? token : settings.roleTokenMatching.rawValue
            return
        }
        guard let token = credential, !token.value.isEmpty else {
            throw Held(.credentialMissing)
        }
        let claim = try adapter.claims.claim(of: token)
        (matchingMode, header) = (claim.matching, claim.header)
    }

    /// Whether a token can be part of a header: it consists of visible ASCII characters.
    package static func isWritable(_ token: String) -> Bool { token.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

/// The reason why an operation can't be sent yet. It holds later operations of the same person, and no others.
struct Held: Error {
    let finding: Finding

    init(_ row: FindingRow, detail: String? = nil, remedy: String? = nil) {
        finding = row.at(detail: detail, remedy: remedy)
    }
}

/// Reads contacts' tokens, each once: a contact's token signs every request of the contact.
final class ClaimReader: Sendable {
    private let last = Mutex<(token: Secret, claim: MatchingClaim)?>(nil)

    /// Returns the claim of a token.
    ///
    /// - Throws: The reason why the token can't sign.
    func claim(of token: Secret) throws(Held) -> MatchingClaim {
        if let known = last.withLock({ $0?.token == token ? $0?.claim : nil }) { return known }
        let claim = try MatchingClaim(token)
        last.withLock { $0 = (token, claim) }
        return claim
    }
}

/// The claim `matching` of a contact's token: the database, and the way to find the contact's profile in it.
struct MatchingClaim {
    /// The matching mode, passed on exactly as in the token.
    let matching: String
    /// The value of the header that shows the token.
    let header: String

    /// The size in bytes below which a payload must be.
    private static let payloadLimit = 16 * 1024
    private static let identifiers = [
        "email", "phone", "profile_id", "field_name", "field_value", "provider", "subscription_id",
    ]

    /// Reads the claim. The signature is not checked; that is the vendor's task.
    ///
    /// - Throws: The reason why the token can't sign.
    init(_ token: Secret) throws(Held) {
        let parts = token.value.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard Authorization.isWritable(token.value), parts.count >= 2,
            let payload = Base64URL.decode(Substring(parts[1]))
        else {
            throw Held(
                .credentialUnreadable,
                detail: "it is not a JSON Web Token",
                remedy: "Give the token that the back end signs for the contact: three parts with points between them."
            )
        }
        guard payload.count < Self.payloadLimit else { throw Held(.credentialTooLarge) }
        guard let claim = (try? JSONValue(parsing: payload))?["matching"] else {
            throw Held(.credentialUnreadable, detail: "the claim is missing")
        }
        let text = claim.string.flatMap { try? JSONValue(parsing: $0) }
        guard let object = (text ?? claim).object else {
            throw Held(.credentialUnreadable, detail: "the claim is not an object")
        }
        let database = object["db_id"]
        let missing = [
            (database?.integer ?? database?.string.flatMap(Int64.init)) == nil ? "db_id" : nil,
            (object["matching"]?.string ?? "").isEmpty ? "matching" : nil,
        ].compactMap(\.self)
        guard missing.isEmpty, let matching = object["matching"]?.string else {
            throw Held(.credentialIncomplete, detail: missing.joined(separator: ", "))
        }
        guard Self.identifiers.contains(where: { Self.isPresent(object[$0]) }) else {
            throw Held(.credentialAnonymous)
        }
        self.matching = matching
        header = String(joining: "Bearer ", token.value)
    }

    private static func isPresent(_ value: JSONValue?) -> Bool {
        switch value {
        case .string(let text): !text.isEmpty
        case .number: true
        default: false
        }
    }
}

/// Base 64 with the alphabet for URLs (RFC 4648, section 5), padding optional.
enum Base64URL {
    /// Returns the decoded bytes; nil if the text contains another character or has an impossible length.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        var characters = Array(text.utf8)
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        bytes.reserveCapacity(characters.count)
        for character in characters {
            guard let value = value(of: character) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            buffer &= (1 << bits) - 1
        }
        return bits < 6 && buffer == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character - 0x41)
        case 0x61...0x7A: UInt32(character - 0x61) + 26
        case 0x30...0x39: UInt32(character - 0x30) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
