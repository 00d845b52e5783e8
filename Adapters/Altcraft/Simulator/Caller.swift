import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The signer of a request, and the profile that it addresses.
struct Caller {
    /// The database.
    let database: Int64
    /// The accepted values of the query's matching mode.
    let modes: [String]
    /// The key that identifies the profile; nil with a role token, because then the push token identifies it.
    let key: String?
    /// All that a new profile is found by.
    let keys: [String]

    /// Reads the `Authorization` header, or answers why not.
    init(_ request: WireRequest, _ account: Account, at now: Instant) throws(Refusal) {
        guard let header = request[header: "Authorization"], header.hasPrefix("Bearer ") else {
            throw Refusal(401, "Authorization required")
        }
        let credential = header.dropFirst("Bearer ".count)
        if credential.hasPrefix("rtoken@") {
            guard let token = account.roleToken?.value, credential.dropFirst("rtoken@".count) == token else {
                throw Refusal(403, "Unknown role token")
            }
            self.init(database: Int64(account.roleDatabase), modes: ["push_sub", token], key: nil, keys: [])
            return
        }
        let parts = credential.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.payload(parts[1]), let claim = Self.claim(payload) else {
            throw Refusal(401, "Invalid token")
        }
        if let end = payload["exp"]?.integer, end <= now.seconds { throw Refusal(401, "Token expired") }
        let number = claim["db_id"]?.integer ?? claim["db_id"]?.string.flatMap(Int64.init)
        guard let number, account.knowsDatabase(number) else { throw Refusal(403, "Unknown database") }
        guard let matching = claim["matching"]?.string, let key = Self.key(claim, matching) else {
            throw Refusal(401, "Invalid matching")
        }
        self.init(database: number, modes: [matching], key: key, keys: Self.keys(claim))
    }

    private init(database: Int64, modes: [String], key: String?, keys: [String]) {
        (self.database, self.modes, self.key, self.keys) = (database, modes, key, keys)
    }

    private static func payload(_ text: Substring) -> JSONValue? {
        decode(text).flatMap { try? JSONValue(parsing: $0) }
    }

    /// The claim `matching` of a token's payload: JSON text in a string.
    private static func claim(_ payload: JSONValue) -> JSONObject? {
        guard let claim = payload["matching"] else { return nil }
        return claim.object ?? claim.string.flatMap { (try? JSONValue(parsing: $0))?.object }
    }

    /// Returns the key of a profile in a matching mode, from the members that this mode needs.
    static func key(_ claim: JSONObject, _ matching: String) -> String? {
        let names: [String]
        switch matching {
        case "email", "email_profile", "email_sub": names = ["email"]
        case "phone", "phone_sub": names = ["phone"]
        case "profile_id": names = ["profile_id"]
        case "push_sub": names = ["provider", "subscription_id"]
        case "custom", "custom_sub": names = ["field_name", "field_value"]
        case "email_phone", "email_phone_sub": names = claim["email"] == nil ? ["phone"] : ["email"]
        default: return nil
        }
        let values = names.compactMap { claim[$0]?.string ?? claim[$0]?.number?.text }
        guard values.count == names.count else { return nil }
        return "\(names.joined(separator: "+"))=\(values.joined(separator: "+"))"
    }

    /// Everything by which a profile can be found.
    static func keys(_ claim: JSONObject) -> [String] {
        ["email", "phone", "profile_id", "push_sub", "custom"].compactMap { key(claim, $0) }
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bytes: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for character in text.utf8 where character != UInt8(ascii: "=") {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (buffer, bits) = ((buffer << 6 | value) & 0xFFFF, bits + 6)
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        }
        return bytes
    }
}

/// The reason of a refusal.
struct Refusal: Error {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }

    /// Creates a refusal of a request's content.
    static func bad(_ text: String) -> Refusal { Refusal(400, text) }
    /// A profile field that is unknown or has a bad value.
    static func profileField(_ name: String) -> Refusal {
        bad("Platform profile processing error: with field \"\(name)\": Incorrect field")
    }
    /// A subscription field that is unknown or has a bad value.
    static func subscriptionField(_ name: String) -> Refusal {
        bad("Platform profile processing error: field \"\(name)\" is not valid: failed convert custom field")
    }
    /// A category that is not attached to the resource.
    static let category = bad(
        "Platform profile processing error: field \"subscriptions.cats\" is not valid: category not found in resource"
    )
}
