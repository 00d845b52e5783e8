public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the device host of one MobilePush account, as a pure value.
///
/// Like the vendor, it answers every readable registration with 201. Invalid content shows later, in `refusedLater` and
/// in `violations`. Valid content is visible in the account 15 minutes later.
///
/// Where the vendor's replies are not documented, the simulator returns:
///
/// - 401 for a wrong or missing token.
/// - 404 for another application, and for an unknown path or device.
/// - 405 for another method, and 415 for another content type.
/// - 400 for a missing `X-SDK-Version` and for a body that is no JSON object.
/// - 413 for too many events, and 201 for accepted events.
public struct SalesforceSimulator: VendorSimulator {
    public static let id: AdapterID = "salesforce"

    private let settings: SalesforceSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try SalesforceSimulatorSettings.table.read(
            settings,
            over: SalesforceSimulatorSettings(),
            at: ""
        )
    }

    public var initialState: SalesforceAccount { SalesforceAccount() }

    public func respond(to request: WireRequest, state: inout SalesforceAccount, now: Instant) -> WireResponse {
        let path = URLText.path(of: request.url)
        let response = refusal(of: request) ?? answer(path, request, &state, now)
        state.counts["\(path) \(response.status)", default: 0] += 1
        return response
    }

    private func answer(
        _ path: String,
        _ request: WireRequest,
        _ state: inout SalesforceAccount,
        _ now: Instant
    ) -> WireResponse {
        guard let body = request.json?.object else { return error(400, "The body is no JSON object.") }
        return switch path {
        case "/device/v1/registration": register(body, &state, now)
        case "/devicestatistics/v1/event": track(body, request, &state, now)
        default: error(404, "No such path.")
        }
    }

    // MARK: Every request

    private func refusal(of request: WireRequest) -> WireResponse? {
        let scheme = "Bearer "
        let authorization = request[header: "Authorization"] ?? ""
        let token = String(authorization.dropFirst(scheme.count))
        let isTokenGood = settings.accessToken.map { $0.value == token } ?? (token.utf8.count == 24)
        guard authorization.hasPrefix(scheme), isTokenGood else { return error(401, "The access token is wrong.") }
        guard request.method == "POST" else { return error(405, "Only POST.") }
        let type = request[header: "Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased()
        guard type == "application/json" else { return error(415, "The content type is not application/json.") }
        guard request[header: "X-SDK-Version"]?.trimmed.isEmpty == false else {
            return error(400, "X-SDK-Version is missing.")
        }
        return nil
    }

    private func error(_ status: Int, _ message: String) -> WireResponse {
        WireResponse(status, json: ["message": .string(message)])
    }

    /// The token that a device's events must carry, handed out at that time.
    private func subscriberToken(_ device: String, _ issued: Instant) -> String {
        "subscriber-\(device.lowercased())-\(issued.milliseconds)"
    }

    private func isGood(_ token: String?, _ device: String, _ now: Instant) -> Bool {
        guard let token, let issued = token.split(separator: "-").last.flatMap({ Int64($0) }),
            token == subscriberToken(device, Instant(milliseconds: issued))
        else { return false }
        return settings.tokenLifetime == 0 || now.milliseconds < issued + Int64(settings.tokenLifetime)
    }

    // MARK: Registrations

    private static let registration: [(name: String, shape: Shape, isRequired: Bool)] = [
        ("etAppId", .uuid, true), ("deviceID", .uuid, true), ("registrationId", .uuid, false), ("uuid", .uuid, false),
        ("registrationDateUtc", .utcDate, false), ("subscriberKey", .trimmedText, false),
        ("device_Token", .pushToken, false), ("signedString", .text, false), ("push_Enabled", .flag, true),
        ("quietPushEnabled", .flag, true), ("location_Enabled", .flag, true), ("proximity_Enabled", .flag, true),
        ("platform", .platform, true), ("platform_Version", .text, true), ("hwid", .text, true),
        ("app_Version", .text, true), ("sdk_Version", .text, true), ("locale", .locale, true),
        ("language", .locale, true), ("timeZone", .seconds, true), ("dST", .flag, true),
        ("attributes", .attributes, true), ("tags", .tags, true),
    ]

    private func register(_ body: JSONObject, _ state: inout SalesforceAccount, _ now: Instant) -> WireResponse {
        guard let id = body["deviceID"]?.string, Shape.uuid.matches(.string(id)) else {
            state.violations.append(Violation(at: now, device: nil, what: "deviceID is not a UUID."))
            return error(400, "deviceID is no UUID.")
        }
        if let application = settings.applicationID, body["etAppId"]?.string != application {
            return error(404, "No such application.")
        }
        let device = state.device(id)
        if let last = device?.lastReceived, now - last < .milliseconds(settings.minimumSpacing) {
            let gap = (now - last).wholeMilliseconds
            state.violations.append(Violation(at: now, device: id, what: "A registration after \(gap) ms."))
        }
        let reasons = problems(of: body)
        state.violations += reasons.map { Violation(at: now, device: id, what: $0) }
        let unknown = undefinedAttributes(of: body)
        let owner = body["subscriberKey"]?.string ?? state.owner(of: body["device_Token"])
        state.update(id) { device in
            device.received += 1
            device.lastReceived = now
            guard reasons.isEmpty, unknown.isEmpty else {
                device.refusedLater.append(.init(at: now, reasons: reasons + unknown))
                if !reasons.isEmpty { device.isActive = false }
                return
            }
            process(body, &device, owner, now)
        }
        if let contact = state.device(id)?.contactKey { state.note(contact) }
        return WireResponse(201, headers: [WireHeader("X-Subscriber-Token", subscriberToken(id, now), isSecret: true)])
    }

    private func process(_ body: JSONObject, _ device: inout SimulatedDevice, _ owner: String?, _ now: Instant) {
        device.visible = device.visible(at: now)
        device.spreading.removeAll { $0.visibleAt <= now }
        device.spreading.append(
            .init(visibleAt: now + .milliseconds(settings.propagation), registration: .object(body))
        )
        for pair in body["attributes"]?.array ?? [] {
            device.attributes[pair["key"]?.string ?? ""] = pair["value"]?.string
        }
        let isOn = body["push_Enabled"]?.bool
        if isOn != device.registration?["push_Enabled"]?.bool {
            if isOn == true { device.optedInAt = now } else { device.optedOutAt = now }
        }
        let old = device.registration?.object ?? [:]
        let keys = body.names.filter { body[$0] != old[$0] } + old.names.filter { body[$0] == nil }
        device.changes.append(.init(at: now, keys: keys))
        device.registration = .object(body)
        device.isActive = true
        let named = body["subscriberKey"]?.string
        device.contactKey = named ?? device.contactKey ?? owner ?? "invented-\(device.id.lowercased())"
    }

    private func problems(of body: JSONObject) -> [String] {
        let wrong = Self.registration.compactMap { name, shape, isRequired -> String? in
            guard let value = body[name] else { return isRequired ? "\(name) is missing." : nil }
            return shape.matches(value) ? nil : "\(name) is not \(shape.name)."
        }
        return wrong.isEmpty ? contradictions(of: body) : wrong
    }

    /// Returns the contradictions between keys that are each valid.
    private func contradictions(of body: JSONObject) -> [String] {
        var problems: [String] = []
        let automatic = body["platform"] == "Android" ? "Android" : "IOS"
        if let tags = body["tags"]?.array, !tags.contains(.string(automatic)) {
            problems.append("tags is without the platform's own tag \(automatic).")
        }
        let token = body["device_Token"]?.string ?? ""
        if automatic == "IOS", !token.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            problems.append("device_Token is not hexadecimal.")
        }
        if body["registrationId"] != nil, body["uuid"] != nil { problems.append("uuid is a second id.") }
        return problems
    }

    private func undefinedAttributes(of body: JSONObject) -> [String] {
        guard !settings.accountAttributes.isEmpty else { return [] }
        let keys = body["attributes"]?.array?.compactMap { $0["key"]?.string } ?? []
        return keys.filter { !settings.accountAttributes.contains($0) }.map { "attribute \($0) is not defined." }
    }

    // MARK: Events

    private func track(
        _ body: JSONObject,
        _ request: WireRequest,
        _ state: inout SalesforceAccount,
        _ now: Instant
    ) -> WireResponse {
        if let application = settings.applicationID, body["applicationId"]?.string != application {
            return error(404, "No such application.")
        }
        guard let id = body["deviceId"]?.string, state.device(id) != nil else { return error(404, "No such device.") }
        guard isGood(request[header: "X-Subscriber-Token"], id, now) else {
            return error(401, "The subscriber token is wrong.")
        }
        guard let node = body["nodes"]?[0], node["name"]?.string == "event", node["version"]?.integer == 1,
            let items = node["items"]?.array, !items.isEmpty
        else { return error(400, "The envelope is wrong.") }
        guard items.count <= settings.eventLimit else { return error(413, "Too many events.") }
        for item in items {
            switch event(item) {
            case .success(var event):
                event.contactKey = state.device(id)?.contactKey
                let isDefined = isDefined(event.name)
                state.update(id) { [event] device in
                    if !isDefined {
                        device.undefinedEvents += 1
                    } else if device.events.contains(where: { $0.id == event.id }) {
                        device.repeatedEvents += 1
                    } else {
                        device.events.append(event)
                    }
                }
            case .failure(let problem): state.violations.append(Violation(at: now, device: id, what: problem.what))
            }
        }
        return WireResponse(201)
    }

    /// Whether the account has an event of that name, ignoring case.
    private func isDefined(_ name: String) -> Bool {
        settings.accountEvents.isEmpty || settings.accountEvents.contains { $0.lowercased() == name.lowercased() }
    }

    private struct Problem: Error { var what: String }

    private func event(_ item: JSONValue) -> Result<SimulatedEvent, Problem> {
        guard item["eventType"]?.integer == 105, let event = item["event"] else {
            return .failure(Problem(what: "An item is no custom event."))
        }
        guard let id = event["eventId"], Shape.uuid.matches(id), let date = event["eventDateUtc"],
            Shape.utcDate.matches(date)
        else { return .failure(Problem(what: "An event has no id or date.")) }
        guard let name = event["eventName"]?.string, Shape.trimmedText.matches(.string(name)),
            name.utf8.allSatisfy(Self.isNameByte)
        else { return .failure(Problem(what: "An event's name is wrong.")) }
        guard let attributes = event["attributes"]?.object, attributes.allSatisfy(Self.isAttribute),
            Set(attributes.names.map { $0.lowercased() }).count == attributes.count
        else {
            return .failure(Problem(what: "An event's attribute is wrong."))
        }
        return .success(
            SimulatedEvent(
                id: id.string ?? "",
                name: name,
                date: date.string ?? "",
                attributes: .object(attributes)
            )
        )
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x20: true
        default: false
        }
    }

    private static func isAttribute(_ member: JSONObject.Member) -> Bool {
        let isKeyGood =
            !member.name.trimmed.isEmpty && !member.name.hasPrefix("$") && !member.name.contains(".")
            && !member.name.contains(where: \.isNewline)
        return switch member.value {
        case .string, .number, .bool: isKeyGood
        case .null, .array, .object: false
        }
    }
}

/// The settings of a simulated account.
struct SalesforceSimulatorSettings: AdapterSettings {
    var applicationID: String? { applicationText.isEmpty ? nil : applicationText }
    var applicationText = ""
    var accessToken: Secret?
    var accountAttributes: [String] = []
    var accountEvents: [String] = []
    var minimumSpacing = 60_000
    var propagation = 900_000
    var tokenLifetime = 0
    var eventLimit = 1000

    static let table = SettingsTable<SalesforceSimulatorSettings>([
        .text("applicationId", \.applicationText, "The only application of the account; any if not given."),
        .secret(
            "accessToken",
            \.accessToken,
            isRequired: false,
            "The application's access token; any of 24 characters if not given."
        ),
        .list(
            "accountAttributes",
            \.accountAttributes,
            default: "[]",
            "The attributes that the account defines. If given, a registration with another one is answered with 201 "
                + "and refused later."
        ),
        .list(
            "accountEvents",
            \.accountEvents,
            default: "[]",
            "The events that the account defines. If given, others are taken and have no effect."
        ),
        .integer(
            "propagation",
            \.propagation,
            in: 0...86_400_000,
            default: 900_000,
            "Milliseconds from a registration to its effect in the account."
        ),
        .integer(
            "tokenLifetime",
            \.tokenLifetime,
            in: 0...86_400_000,
            default: 0,
            "The lifetime of a subscriber token in milliseconds; 0 for no limit. Each registration issues a new one."
        ),
        .integer(
            "minimumSpacing",
            \.minimumSpacing,
            in: 0...86_400_000,
            default: 60_000,
            "Milliseconds between two registrations of a device; a shorter gap is a violation."
        ),
        .integer("eventLimit", \.eventLimit, in: 1...1000, default: 1000, "The most events of one request."),
    ])
}
