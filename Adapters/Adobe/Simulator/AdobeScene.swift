public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Random operations of an app, for both products of this vendor.
private enum RandomOperations {
    static func say(_ number: Int, _ random: inout SeededGenerator, message: String) -> Action {
        if number == 1 { return .registerDevice(ScenePhone.device()) }
        let payload: JSONObject = [
            "aps": ["alert": "Back in stock"], "_mId": .string(message), "_dId": "c81e4", "_acsDeliveryTracking": "on",
        ]
        switch random.below(8) {
        case 0: return .registerDevice(ScenePhone.device(token: random.pick(["0f1e2d3c4b5a6978", "1f1e2d3c4b5a6979"])))
        case 1, 2: return .track(.push(random.pick([.received, .tapped, .tapped]), payload: payload))
        case 3: return random.below(2) > 0 ? ScenePhone.logIn(&random) : .switchContact(ContactSwitch(.logOut))
        case 4: return .changeTags(TagChange(add: ["gold"]))
        case 5: return .changeTags(TagChange(remove: ["gold"]))
        default: return .changeAttributes([random.pick(["tier", "store"]): .set(.string("v\(random.below(4))"))])
        }
    }
}

/// The test profile of Campaign Standard for random faults. Retries are 30 s apart, a click comes before its open, and the
/// final profile has the accepted fields.
public struct AdobeScene: VendorScene {
    public typealias Simulator = AdobeSimulator

    public static let settings: JSONObject = [
        "server": "shop.campaign.example", "pkey": "b7e2f0c4d91a", "organizationId": "ACME1234@AdobeOrg",
        "attributeFields": ["tier": "cusTier", "store": "cusStore"], "identifierFields": ["external": "cusNumber"],
        "tagFields": ["gold": "cusGold"],
    ]

    // The account has no credential: every app contains pkey and organization, and the vendor issues no token.
    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        RandomOperations.say(number, &random, message: "h2f0a\(number)")
    }

    public static var changingSettings: [JSONObject] {
        var other = settings
        other["pkey"] = "c8f3a1d5e02b"
        return [settings, other]
    }

    /// Names of people and the identities that the app passes for them.
    private static func ecid(_ name: String) -> String {
        let digits = SHA256.digest(of: name.utf8).map { String(Int($0) % 100) }.joined()
        return String((digits + String(repeating: "7", count: 38)).prefix(38))
    }

    public static func identities(of contact: String?) -> [Device.IdentityName: String] {
        ["adobe.ecid": ecid(contact ?? "anonymous")]
    }

    /// One record per mobile profile, and one per push token of the identity service.
    public static func records(in account: AdobeAccount) -> [VendorRecord] {
        let names = ["anonymous"] + (0..<3).map { "c-\($0)" }
        let people = Dictionary(names.map { (ecid($0), $0) }) { first, _ in first }
        func person(_ ecid: String) -> VendorRecord.Person {
            people[ecid].map { VendorRecord.Person($0 == "anonymous" ? nil : $0) } ?? .installation
        }
        let fields = ["cusTier": "tier", "cusStore": "store"]
        return account.profiles.map { profile in
            VendorRecord(
                person(profile.ecid),
                attributes: Dictionary(
                    profile.fields.map { (AttributeName(rawValue: fields[$0.key] ?? $0.key), $0.value) }
                ) { $1 },
                texts: [profile.pkey]
            )
        } + account.tokens.map { VendorRecord(person($0.ecid), reaches: $0.token.isEmpty ? [] : [$0.ecid]) }
    }

    /// Compares the fields that the vendor accepted. The memory contains digests of the values.
    public static let expectedState = ExpectedState { memory in
        memory["identities"]?.array?.last?["known"].map { ["fields": $0] } ?? [:]
    } holds: { (account: AdobeAccount, memory) in
        let identity = memory["identities"]?.array?.last
        func digest(_ text: String) -> String { String(SHA256.digest(of: text.utf8).prefix(12).hexText) }
        let server = settings["server"]?.string ?? ""
        let app = account.profiles.last { memory["account"]?.string == digest("\(server)\n\($0.pkey)") }?.pkey
        let own = (identity?["usedAs"]?.string).flatMap { ecid in
            account.profiles.last { $0.ecid == ecid && $0.pkey == app ?? $0.pkey }
        }
        let fields = (own ?? account.newestProfile)?.fields ?? [:]
        let reports = Set(account.reports.map { "\($0.broadlogID) \($0.action)" }).sorted()
        return [
            "fields": .object(
                JSONObject(
                    fields.map { ($0.key, .string(digest($0.value))) }
                )
            ),
            "reports": .array(reports.map { .string($0) }),
        ]
    }

    public static func problems(in story: SceneStory, at account: AdobeAccount) -> [String] {
        var problems: [String] = []
        for endpoint in ["tracking", "registration", "attributes", "pushToken"] {
            problems += story.early([endpoint], carryingTheSame: true) { request in
                // After the reply to a click, the operation sends its open at once.
                guard let outcome = request.outcome, outcome.failed(or: 408...408, 503...504) else { return nil }
                return request.endpoint == "tracking" && isOver(outcome) ? nil : .seconds(30)
            }
        }
        guard story.isWhole else { return problems }
        let profile = account.newestProfile
        for (name, value) in story.attributes.inOrder {
            guard let text = value?.plainText, !hasChangedPerson(story) else { continue }
            let held = profile?.fields["cus" + name.rawValue.prefix(1).uppercased() + name.rawValue.dropFirst()]
            if held != text { problems.append("the vendor holds another \(name.rawValue) than it took") }
        }
        return problems
    }

    /// Whether the vendor's retry policy drops a hit after that outcome: no reply, unless the device was offline.
    private static func isOver(_ outcome: Outcome) -> Bool {
        if case .failed(let failure) = outcome { failure.code != "offline" } else { false }
    }

    private static func hasChangedPerson(_ story: SceneStory) -> Bool {
        story.entries.contains { $0.operation.action.kind == .switchContact }
    }
}

extension AdobeAccount {
    /// The profile of the latest post.
    fileprivate var newestProfile: MobileProfile? { profiles.first { [$0.pkey, $0.ecid] == newest } }
}

/// The test profile of Campaign Classic for random faults. A request is never repeated after its reply.
public struct AdobeClassicScene: VendorScene {
    public typealias Simulator = AdobeClassicSimulator

    public static let settings: JSONObject = [
        "marketingServer": "mkt.shop.example", "trackingServer": "trk.shop.example",
        "integrationKey": "0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3", "userKey": "external",
        "tagParameters": ["gold": "gold"],
    ]

    // The account has no credential: every app contains the integration key, and the vendor issues no token.
    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        RandomOperations.say(number, &random, message: "98\(number)")
    }

    /// Returns one record per device. An unregistration, an opt-out and an erasure leave a registration without a user key and
    /// parameters: the vendor can't delete a device, and such a registration names no person.
    public static func records(in account: AdobeClassicAccount) -> [VendorRecord] {
        account.subscribers.map { device in
            VendorRecord(
                VendorRecord.Person(device.userKey.isEmpty ? nil : device.userKey),
                attributes: Dictionary(device.parameters.map { (AttributeName(rawValue: $0.key), $0.value) }) { $1 },
                reaches: device.userKey.isEmpty && device.parameters.isEmpty ? [] : [device.token],
                isOfInstallation: true
            )
        }
    }

    /// Compares the last registration that the vendor accepted under a push token. The memory contains its digest.
    public static let expectedState = ExpectedState { memory in
        memory["registeredHash"].map { ["registration": $0] } ?? [:]
    } holds: { (account: AdobeClassicAccount, memory) in
        let own = memory["token"]?.string.flatMap { token in account.subscribers.last { $0.token == token } }
        let subscriber = own ?? account.subscribers.last
        let reports = Set(account.reports.map { "\($0.message) \($0.action)" }).sorted()
        return [
            "registration": .string(subscriber?.mark ?? ""), "userKey": .string(subscriber?.userKey ?? ""),
            "parameters": .array((subscriber?.parameters.inOrder ?? []).map { .string($0.value) }),
            "reports": .array(reports.map { .string($0) }),
        ]
    }

    public static func problems(in story: SceneStory, at account: AdobeClassicAccount) -> [String] {
        let problems = repetitions(in: story)
        return story.isWhole && story.isInformed ? problems + differences(story, account) : problems
    }

    /// Describes each registration that is repeated after a success, without removing a person from the device, or too early.
    private static func repetitions(in story: SceneStory) -> [String] {
        var problems: [String] = []
        var settled: [(request: SceneStory.Request, mayRepeat: Bool)] = []
        // The people whom the vendor may hold, by device.
        var held: [String: Set<String>] = [:]
        for request in story.requests where request.endpoint == "registration" {
            let registration = SceneRegistration(request.request)
            let former = settled.last {
                $0.request.request == request.request
                    && !Set($0.request.operations).isDisjoint(with: request.operations)
            }
            if let former, !former.mayRepeat {
                // A registration without a person may be sent twice: to remove a person, and as the present state.
                if registration.person != nil {
                    problems.append("request \(request.number) repeats what was answered")
                }
            } else if let former, let settledAt = former.request.settledAt, request.now < settledAt + .seconds(30) {
                problems.append("request \(request.number) repeats request \(former.request.number) within 30 s")
            }
            let own = registration.person.map { [$0] } ?? []
            let takesAway = !held[registration.device, default: []].subtracting(own).isEmpty
            held[registration.device, default: []].formUnion(own)
            guard let outcome = request.outcome, request.settledAt != nil else { continue }
            let isDetour = outcome.reply?.isDetour ?? false
            if outcome.reply?.status == 200, !isDetour {
                held[registration.device] = Set(own)
                // A registration replaces earlier registrations of the same device.
                settled.removeAll {
                    SceneRegistration($0.request.request).device == registration.device
                        && $0.request.request != request.request
                }
            }
            let hasFailed = isDetour || outcome.failed(or: 408...408, 429...429, 500...599)
            settled.append((request, hasFailed && takesAway))
        }
        return problems
    }

    /// Compares the last registration with the person and the accepted values of the run.
    private static func differences(_ story: SceneStory, _ account: AdobeClassicAccount) -> [String] {
        guard !account.subscribers.isEmpty else { return ["the vendor knows no device"] }
        // A person counts from the first attempt. An operation that was not accepted may have been attempted or not.
        var candidates: Set<SceneState> = [SceneState()]
        var newest = SceneState()
        for entry in story.entries {
            let next = candidates.map { $0.after(entry.operation, isTaken: entry.isTaken) }
            newest = newest.after(entry.operation, isTaken: entry.isTaken)
            candidates = entry.isTaken ? Set(next) : candidates.union(next)
        }
        let registration: Set<Action.Kind> = [.registerDevice, .switchContact, .changeAttributes, .changeTags]
        guard story.lastTaken(registration) != nil else { return [] }
        guard let held = account.subscribers.first(where: { $0.token == newest.token }) else {
            return ["the vendor does not hold the push token that it took"]
        }
        if candidates.contains(where: { $0.userKey ?? "" == held.userKey && $0.parameters == held.parameters }) {
            return []
        }
        let names = Set(held.parameters.keys).union(newest.parameters.keys).sorted()
        return (held.userKey == newest.userKey ?? "" ? [] : ["the vendor holds another user key than it took"])
            + names.filter { held.parameters[$0] != newest.parameters[$0] }
            .map { "the vendor holds another \($0) than it took" }
    }
}

/// The device and the person that a registration names.
private struct SceneRegistration {
    /// The server, the app and the push token.
    var device: String
    /// The user key; nil without a user key and parameters.
    var person: String?

    init(_ request: WireRequest) {
        let items = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        func item(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
        device = "\(request.url) \(item("mobileAppUuid")) \(item("registrationToken"))"
        let isEmpty = item("userKey").isEmpty && !item("additionalParams").contains("<param ")
        person = isEmpty ? nil : item("userKey")
    }
}

/// The expected registration after a number of operations.
private struct SceneState: Hashable {
    var token: String?
    var userKey: String?
    /// The current person, known from a log-in or from the contact of an operation.
    private var person: String?
    var parameters: [String: String] = [:]

    func after(_ operation: EngagementOperation, isTaken: Bool) -> SceneState {
        var next = self
        if case .switchContact(let change) = operation.action {
            let key = change.identifiers.first?.value
            if next.person != nil, next.person != key { next.parameters = [:] }
            (next.userKey, next.person) = (key, key)
            return next
        }
        if let contact = operation.contact {
            if let person = next.person, person != contact { (next.userKey, next.parameters) = (nil, [:]) }
            next.person = contact
        }
        guard isTaken else { return next }
        switch operation.action {
        case .registerDevice(let device): next.token = device.pushToken?.value
        case .changeAttributes(let changes):
            for (name, change) in changes {
                if case .set(let value) = change { next.parameters[name.rawValue] = value.plainText }
            }
        case .changeTags(let change): next.parameters["gold"] = change.add.isEmpty ? "false" : "true"
        default: break
        }
        return next
    }
}
