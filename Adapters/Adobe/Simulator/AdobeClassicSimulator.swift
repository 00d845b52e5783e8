public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// The state of a simulated instance of Campaign Classic.
public struct AdobeClassicAccount: Codable, Sendable, Equatable {
    /// The devices, by app and push token.
    public var subscribers: [ClassicSubscriber] = []
    /// The reported push interactions, in the order of their first reports.
    public var reports: [ClassicReport] = []
    /// Requests by kind and status: `registration 200`.
    public var counts: [String: Int] = [:]

    /// Creates an instance without requests.
    public init() {}
}

/// One app on one device.
public struct ClassicSubscriber: Codable, Sendable, Equatable {
    /// The app.
    public var integrationKey: String
    /// The push token.
    public var token: String
    /// The user key of the current person; may be empty.
    public var userKey: String
    /// The device's facts, by the form's names.
    public var facts: [String: String]
    /// The parameters of the last registration.
    public var parameters: [String: String]
    /// The number of registrations.
    public var count = 1
}

extension ClassicSubscriber {
    /// A digest of the last registration's push token, user key and parameters, like the one in the vendor's clients.
    var mark: String {
        let (root, end) = facts["deviceImei"] == nil ? ("additionalParams", " />") : ("additionalParameters", "/>")
        func escaped(_ text: String) -> String {
            AdobeClassicSimulator.entities.reversed().reduce(text) { $0.replacing($1.1, with: $1.0) }
        }
        let rows = parameters.inOrder
            .map { "<param name=\"\(escaped($0.key))\" value=\"\(escaped($0.value))\"\(end)" }
        let xml = "<\(root)>\(rows.joined())</\(root)>"
        return SHA256.digest(of: "\(token)\(userKey)\(URLText.encode(xml))".utf8).hexText
    }
}

/// A reported push interaction.
public struct ClassicReport: Codable, Sendable, Equatable {
    /// The message: hexadecimal digits or a UUID.
    public var message: String
    /// The delivery.
    public var delivery: String
    /// `1` or `2`.
    public var action: String
    /// The number of reports.
    public var count = 1
}

/// A simulator of the device API of one Campaign Classic instance, as a pure value. It parses forms and their XML strictly.
///
/// Of the replies, only 200 for success is documented. Otherwise the simulator returns 404 for an unknown path or app, 405
/// for another method, 415 for another content type, and 400 for a request that it can't read.
public struct AdobeClassicSimulator: VendorSimulator {
    struct Settings: AdapterSettings {
        var integrationKeys: [String] = []

        static let table = SettingsTable<Settings>([
            .list("integrationKeys", \.integrationKeys, "Keys of the mobile apps that exist; without a list any.")
        ])
    }

    public static let id: AdapterID = "adobe-classic"

    private let settings: Settings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try Settings.table.read(settings, over: Settings(), at: "")
    }

    public var initialState: AdobeClassicAccount { AdobeClassicAccount() }

    public func respond(to request: WireRequest, state: inout AdobeClassicAccount, now: Instant) -> WireResponse {
        let (kind, status) = answer(request, &state)
        state.counts["\(kind) \(status)", default: 0] += 1
        return WireResponse(status)
    }

    private func answer(_ request: WireRequest, _ state: inout AdobeClassicAccount) -> (String, Int) {
        do throws(Refusal) {
            switch URLText.path(of: request.url) {
            case "/r/": try track(request, &state)
            case "/nms/mobile/1/registerIOS.jssp": try register(request, Self.apple, "additionalParams", " />", &state)
            case "/nms/mobile/1/registerAndroid.jssp":
                try register(request, Self.android, "additionalParameters", "/>", &state)
            default: throw Refusal(404)
            }
            return (URLText.path(of: request.url) == "/r/" ? "tracking" : "registration", 200)
        } catch {
            return (error.kind, error.status)
        }
    }

    // MARK: Tracking

    private func track(_ request: WireRequest, _ state: inout AdobeClassicAccount) throws(Refusal) {
        guard request.method == "GET" else { throw Refusal(405, "tracking") }
        let items = URLText.queryItems(of: request.url)
        let parts = items.first?.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        guard items.count == 1, items[0].name == "id", parts.count == 3, parts[0].hasPrefix("h"),
            Self.isMessage(parts[0].dropFirst()), !parts[1].isEmpty, ["1", "2"].contains(parts[2])
        else { throw Refusal(400, "tracking") }
        let report = ClassicReport(message: String(parts[0].dropFirst()), delivery: parts[1], action: parts[2])
        let place = state.reports.firstIndex {
            ($0.message, $0.delivery, $0.action) == (report.message, report.delivery, report.action)
        }
        if let place { state.reports[place].count += 1 } else { state.reports.append(report) }
    }

    /// Lower-case hexadecimal digits, or a UUID.
    private static func isMessage(_ text: Substring) -> Bool {
        let hex = text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        return !text.isEmpty && hex || text.split(separator: "-").map(\.utf8.count) == [8, 4, 4, 4, 12]
    }

    // MARK: Registrations

    private static let facts = [
        "deviceName", "deviceModel", "deviceBrand", "deviceManufacturer", "osName", "osVersion", "osLanguage",
    ]
    private static let apple = ["registrationToken", "mobileAppUuid", "userKey"] + facts + ["additionalParams"]
    private static let android =
        ["registrationToken", "mobileAppUuid", "userKey", "deviceImei"] + facts + ["additionalParams"]

    private func register(
        _ request: WireRequest,
        _ names: [String],
        _ root: String,
        _ end: String,
        _ state: inout AdobeClassicAccount
    ) throws(Refusal) {
        guard request.method == "POST" else { throw Refusal(405, "registration") }
        guard request[header: "Content-Type"] == "application/x-www-form-urlencoded;charset=UTF-8" else {
            throw Refusal(415, "registration")
        }
        let items = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        guard items.map(\.name) == names, let token = items.first?.value, !token.isEmpty, let xml = items.last?.value,
            let parameters = Self.parameters(xml, root, end)
        else { throw Refusal(400, "registration") }
        guard settings.integrationKeys.isEmpty || settings.integrationKeys.contains(items[1].value) else {
            throw Refusal(404, "registration")
        }
        let facts = items.dropFirst(3).dropLast().map { ($0.name, $0.value) }
        let subscriber = ClassicSubscriber(
            integrationKey: items[1].value,
            token: token,
            userKey: items[2].value,
            facts: Dictionary(facts) { first, _ in first },
            parameters: parameters
        )
        hold(subscriber, &state)
    }

    private func hold(_ subscriber: ClassicSubscriber, _ state: inout AdobeClassicAccount) {
        let key = (subscriber.integrationKey, subscriber.token)
        let place = state.subscribers.firstIndex { ($0.integrationKey, $0.token) >= key } ?? state.subscribers.endIndex
        guard place < state.subscribers.endIndex,
            (state.subscribers[place].integrationKey, state.subscribers[place].token) == key
        else { return state.subscribers.insert(subscriber, at: place) }
        var subscriber = subscriber
        subscriber.count = state.subscribers[place].count + 1
        state.subscribers[place] = subscriber
    }

    /// Returns the parameters of a text in exactly the form of the vendor's clients; nil for any other text.
    private static func parameters(_ xml: String, _ root: String, _ end: String) -> [String: String]? {
        guard xml.hasPrefix("<\(root)>"), xml.hasSuffix("</\(root)>") else { return nil }
        var rest = xml.dropFirst(root.count + 2).dropLast(root.count + 3)
        var parameters: [String: String] = [:]
        var last: String?
        while !rest.isEmpty {
            guard let name = take(&rest, after: "<param name=\""), let value = take(&rest, after: " value=\""),
                rest.hasPrefix(end), last.map({ $0 < name }) ?? true
            else { return nil }
            rest = rest.dropFirst(end.count)
            (parameters[name], last) = (value, name)
        }
        return parameters
    }

    /// Returns a text up to its quotation mark, with entities decoded; nil if it is missing or invalid in XML.
    private static func take(_ rest: inout Substring, after start: String) -> String? {
        guard rest.hasPrefix(start) else { return nil }
        let text = rest.dropFirst(start.count).prefix { $0 != "\"" }
        rest = rest.dropFirst(start.count + text.count + 1)
        guard !text.contains(where: { "<>'".contains($0) }),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" })
        else { return nil }
        return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }

    fileprivate static let entities = [
        ("&quot;", "\""), ("&#x27;", "'"), ("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&"),
    ]
}
