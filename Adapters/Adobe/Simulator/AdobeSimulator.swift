public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the device API of one Campaign Standard instance and its identity service, as a pure value.
///
/// Of the replies, only 200 for success and 404 for an untracked delivery are documented. Otherwise the simulator returns:
///
/// - 404 for an unknown path, app or organization.
/// - 405 for another method, and 415 for another content type.
/// - 400 for a request that it can't read: missing, repeated, reordered or unknown parameters, an identity that is not 38
///   digits or differs from the path's, a value that is not text, a field that the resource lacks.
public struct AdobeSimulator: VendorSimulator {
    public static let id: AdapterID = "adobe"

    private let settings: AccountSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try AccountSettings.table.read(settings, over: AccountSettings(), at: "")
    }

    public var initialState: AdobeAccount { AdobeAccount() }

    public func respond(to request: WireRequest, state: inout AdobeAccount, now: Instant) -> WireResponse {
        let (kind, response) = answer(request, &state, now)
        state.counts["\(kind) \(response.status)", default: 0] += 1
        return response
    }

    private func answer(_ request: WireRequest, _ state: inout AdobeAccount, _ now: Instant) -> (String, WireResponse) {
        do throws(Refusal) {
            let path = URLText.path(of: request.url).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            switch Array(path) {
            case ["r", ""]:
                return ("tracking", try track(request, &state))
            case ["id"]:
                return ("identity", try sync(request, &state))
            case ["demoptout.jpg"]:
                return ("optOut", try optOut(request, &state))
            case let parts where parts.starts(with: ["rest", "head", "mobileAppV5"]) && parts.count == 6:
                guard parts[4] == "subscriptions" else { throw Refusal(404) }
                return ("profile", try post(request, app: parts[3], ecid: parts[5], &state, now))
            default: throw Refusal(404)
            }
        } catch {
            return (error.kind, WireResponse(error.status))
        }
    }

    // MARK: Tracking

    private func track(_ request: WireRequest, _ state: inout AdobeAccount) throws(Refusal) -> WireResponse {
        let isPostback = request.method == "POST"
        guard isPostback || request.method == "GET" else { throw Refusal(405, "tracking") }
        guard request.body == (isPostback ? Array("{}".utf8) : []) else { throw Refusal(400, "tracking") }
        if request[header: "Content-Type"] != "application/json" {
            state.violations.append("A tracking request without the content type application/json.")
        }
        let items = URLText.queryItems(of: request.url)
        guard items.count == 2, items[0].name == "id",
            items[1].name == "mcId" || isPostback && items[1].name == "mcid"
        else { throw Refusal(400, "tracking") }
        let parts = items[0].value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts.contains(""), ["1", "2", "7"].contains(parts[2]), isIdentity(items[1].value)
        else { throw Refusal(400, "tracking") }
        guard !settings.untracked.contains(parts[1]) else { throw Refusal(404, "tracking") }
        note(PushReport(broadlogID: parts[0], deliveryID: parts[1], action: parts[2], ecid: items[1].value), &state)
        return WireResponse(200)
    }

    private func note(_ report: PushReport, _ state: inout AdobeAccount) {
        func same(_ other: PushReport) -> Bool {
            (other.broadlogID, other.deliveryID, other.ecid) == (report.broadlogID, report.deliveryID, report.ecid)
        }
        if report.action == "1", !state.reports.contains(where: { same($0) && $0.action == "2" }) {
            state.violations.append("An open before its click.")
        }
        if let place = state.reports.firstIndex(where: { same($0) && $0.action == report.action }) {
            state.reports[place].count += 1
        } else {
            state.reports.append(report)
        }
    }

    // MARK: Mobile profiles

    private func post(
        _ request: WireRequest,
        app: Substring,
        ecid: Substring,
        _ state: inout AdobeAccount,
        _ now: Instant
    ) throws(Refusal) -> WireResponse {
        guard request.method == "POST" else { throw Refusal(405, "profile") }
        guard request[header: "Content-Type"] == "application/json" else { throw Refusal(415, "profile") }
        guard let pkey = URLText.decode(app), !pkey.isEmpty, settings.apps.isEmpty || settings.apps.contains(pkey)
        else { throw Refusal(404, "profile") }
        guard let body = request.json?.object, isIdentity(String(ecid)),
            body["marketingCloudId"]?.string == String(ecid), let platform = body["pushPlatform"]?.string,
            ["apns", "gcm"].contains(platform)
        else { throw Refusal(400, "profile") }
        var fields: [String: String] = [:]
        for member in body where !["marketingCloudId", "pushPlatform"].contains(member.name) {
            guard let text = member.value.string, settings.knowsField(member.name) else {
                throw Refusal(400, "profile")
            }
            fields[member.name] = text
        }
        update(pkey, String(ecid), platform, fields, &state, now)
        return WireResponse(200)
    }

    private func update(
        _ pkey: String,
        _ ecid: String,
        _ platform: String,
        _ fields: [String: String],
        _ state: inout AdobeAccount,
        _ now: Instant
    ) {
        let key = (pkey, ecid)
        let place = state.profiles.firstIndex { ($0.pkey, $0.ecid) >= key } ?? state.profiles.endIndex
        if place == state.profiles.endIndex || (state.profiles[place].pkey, state.profiles[place].ecid) != key {
            state.profiles.insert(MobileProfile(pkey: pkey, ecid: ecid, platform: platform, lastAt: now), at: place)
        }
        state.profiles[place].platform = platform
        (state.profiles[place].lastAt, state.newest) = (now, [pkey, ecid])
        if fields.isEmpty { state.profiles[place].registrations += 1 } else { state.profiles[place].updates += 1 }
        state.profiles[place].fields.merge(fields) { _, new in new }
    }

    // MARK: The identity service

    private func sync(_ request: WireRequest, _ state: inout AdobeAccount) throws(Refusal) -> WireResponse {
        guard request.method == "GET" else { throw Refusal(405, "identity") }
        let items = URLText.queryItems(of: request.url)
        guard items.map(\.name) == ["d_rtbd", "d_ver", "d_orgid", "d_mid", "d_cid"], items[0].value == "json",
            items[1].value == "2", isIdentity(items[3].value)
        else { throw Refusal(400, "identity") }
        guard settings.organizations.isEmpty || settings.organizations.contains(items[2].value) else {
            throw Refusal(404, "identity")
        }
        let parts = items[4].value.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ["20919", "20920"].contains(parts[0]) else { throw Refusal(400, "identity") }
        if parts[0] == "20920", parts[1].utf8.contains(where: { !(0x30...0x39 ~= $0 || 0x61...0x66 ~= $0) }) {
            state.violations.append("A token of APNs that is not lower-case hexadecimal.")
        }
        hold(KnownToken(ecid: items[3].value, source: parts[0], token: parts[1]), &state)
        return WireResponse(200, json: ["d_mid": .string(items[3].value), "dcs_region": 6, "id_sync_ttl": 604_800])
    }

    private func optOut(_ request: WireRequest, _ state: inout AdobeAccount) throws(Refusal) -> WireResponse {
        guard request.method == "GET" else { throw Refusal(405, "optOut") }
        let items = URLText.queryItems(of: request.url)
        guard items.map(\.name) == ["d_orgid", "d_mid"], isIdentity(items[1].value) else {
            throw Refusal(400, "optOut")
        }
        guard settings.organizations.isEmpty || settings.organizations.contains(items[0].value) else {
            throw Refusal(404, "optOut")
        }
        if !state.optOuts.contains(items[1].value) { state.optOuts.append(items[1].value) }
        return WireResponse(200)
    }

    private func hold(_ token: KnownToken, _ state: inout AdobeAccount) {
        let place = state.tokens.firstIndex { $0.ecid >= token.ecid } ?? state.tokens.endIndex
        guard place < state.tokens.endIndex, state.tokens[place].ecid == token.ecid else {
            return state.tokens.insert(token, at: place)
        }
        var token = token
        token.count = state.tokens[place].count + 1
        state.tokens[place] = token
    }

    private func isIdentity(_ text: String) -> Bool {
        text.utf8.count == 38 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }
}

/// The reason of a refusal.
struct Refusal: Error {
    let status: Int
    let kind: String

    init(_ status: Int, _ kind: String = "other") { (self.status, self.kind) = (status, kind) }
}
