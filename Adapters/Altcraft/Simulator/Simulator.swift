public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of Altcraft's mobile API and of the import of one profile, as a pure value.
///
/// It checks credentials, headers, queries and bodies as strictly as they are documented, and replies with the vendor's
/// texts. Where the vendor's behavior is unknown, it refuses; the README lists these cases.
public struct AltcraftSimulator: VendorSimulator {
    public typealias State = AltcraftState

    public static let id: AdapterID = "altcraft"

    let account: Account

    public init(settings: JSONObject) throws(SettingsError) {
        account = try Account.table.read(settings, over: Account(), at: "")
    }

    public var initialState: State { State() }

    public func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        do {
            if path(request).hasSuffix("/profiles/import") { return try importProfile(request, &state) }
            let caller = try Caller(request, account, at: now)
            try identify(request, &state)
            return try route(request, caller, &state)
        } catch {
            return answer(error.status, error: error.status, text: error.text)
        }
    }

    private func path(_ request: WireRequest) -> String { URLText.path(of: request.url) }

    /// Counts the request's id. A repeated id is counted, not ignored.
    private func identify(_ request: WireRequest, _ state: inout State) throws(Refusal) {
        let id = request[header: "Request-ID"] ?? ""
        let groups = id.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
        guard groups == [8, 4, 4, 4, 12], id.allSatisfy({ $0 == "-" || $0.isHexDigit }) else {
            throw .bad("Request-ID is no UUID")
        }
        if state.requestIDs.contains(id) { state.duplicates.append(id) } else { state.requestIDs.append(id) }
    }

    private func route(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        let routes: [(method: String, path: String, isJSON: Bool, run: Route)] = [
            ("POST", "/subscription/push/subscribe/", true, subscribe),
            ("POST", "/subscription/push/update/", true, updateToken),
            ("POST", "/subscription/push/unsuspend/", true, unsuspend),
            ("GET", "/subscription/push/status/", true, status),
            ("POST", "/event/push/delivery", true, pushEvent),
            ("POST", "/event/push/open", true, pushEvent),
            ("POST", "/event/post", false, customEvent),
            ("POST", "/profile/update", true, updateProfile),
        ]
        let path = path(request)
        guard let route = routes.first(where: { path.hasSuffix($0.path) }) else { throw Refusal(404, "Not found") }
        guard route.method == request.method else { throw Refusal(405, "Method not allowed") }
        guard !route.isJSON || request[header: "Content-Type"] == "application/json" else {
            throw Refusal(415, "Content type must be application/json")
        }
        return try route.run(request, caller, &state)
    }

    private typealias Route = (WireRequest, Caller, inout State) throws(Refusal) -> WireResponse

    // MARK: Answers

    func answer(_ status: Int = 200, error: Int = 0, text: String = "", profile: JSONValue = .null) -> WireResponse {
        WireResponse(status, json: ["error": .integer(error), "error_text": .string(text), "profile": profile])
    }

    /// A profile as answers show it, with one of its subscriptions.
    func json(_ profile: State.Profile, _ subscription: State.Subscription?) -> JSONValue {
        [
            "id": .string(profile.id), "status": "subscribed", "is_test": false,
            "subscription": subscription.map(json) ?? .null,
        ]
    }

    private func json(_ subscription: State.Subscription) -> JSONValue {
        var fields = subscription.fields.object ?? [:]
        if let version = fields["_os_ver"]?.string {
            let parts = version.split(separator: ".").map { "\"\($0).0\"" }.joined(separator: ", ")
            fields["_os_ver"] = ["raw": .string(version), "ver": .string("[\(parts)]")]
        }
        let categories = (subscription.categories.object ?? [:]).map { category -> JSONValue in
            [
                "name": .string(category.name), "title": .string("About \(category.name)"),
                "steady": .bool(account.steadyCategories.contains(category.name)), "active": category.value,
            ]
        }
        return [
            "subscription_id": .string(subscription.token), "hash_id": .string(hash(subscription.number)),
            "provider": .string(subscription.provider), "status": .string(subscription.status),
            "fields": .object(fields), "cats": .array(categories),
        ]
    }

    private func hash(_ number: Int) -> String {
        let digits = String(UInt32(truncatingIfNeeded: number) &* 2_654_435_761, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    // MARK: Profiles

    /// Returns the index of a caller's profile. With a role token, the push token identifies it.
    func place(of caller: Caller, _ token: (provider: String, token: String)?, in state: State) -> Int? {
        state.profiles.firstIndex { profile in
            guard profile.database == caller.database else { return false }
            if let key = caller.key {
                return profile.keys.contains(key) || key == "profile_id=\(profile.id)" || profile.isFound(by: key)
            }
            guard let token else { return false }
            return profile.subscriptions.contains { $0.provider == token.provider && $0.token == token.token }
        }
    }

    func create(_ caller: Caller, in state: inout State) -> Int {
        let id = "profile-\(state.number())"
        state.profiles.append(State.Profile(id: id, database: caller.database, keys: caller.keys))
        return state.profiles.count - 1
    }
}
