public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// What an app says to either product of this vendor.
private enum Talk {
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

/// Random runs of faults: half a minute between attempts, click before open, and in the end the fields that were taken.
public struct AdobeScene: VendorScene {
    public typealias Simulator = AdobeSimulator

    public static let settings: JSONObject = [
        "server": "shop.campaign.example", "pkey": "b7e2f0c4d91a", "organizationId": "ACME1234@AdobeOrg",
        "attributeFields": ["tier": "cusTier", "store": "cusStore"], "identifierFields": ["external": "cusNumber"],
        "tagFields": ["gold": "cusGold"],
    ]

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        Talk.say(number, &random, message: "h2f0a\(number)")
    }

    public static func problems(in story: SceneStory, at account: AdobeAccount) -> [String] {
        var problems: [String] = []
        for endpoint in ["tracking", "registration", "attributes", "pushToken"] {
            problems += story.early([endpoint], carryingTheSame: true) { request in
                // An operation whose click was answered goes on with its open at once.
                guard let outcome = request.outcome, outcome.failed(or: 408...408, 503...504) else { return nil }
                return request.endpoint == "tracking" && isOver(outcome) ? nil : .seconds(30)
            }
        }
        guard story.isWhole else { return problems }
        let profile = account.profiles.max { $0.lastAt < $1.lastAt }
        for (name, value) in story.attributes.sorted(by: { $0.key < $1.key }) {
            guard let text = value?.plainText, !hasChangedPerson(story) else { continue }
            let held = profile?.fields["cus" + name.rawValue.prefix(1).uppercased() + name.rawValue.dropFirst()]
            if held != text { problems.append("the vendor holds another \(name.rawValue) than it took") }
        }
        return problems
    }

    /// Whether the vendor's law gives a hit up after that outcome: no answer, unless the phone was offline.
    private static func isOver(_ outcome: Outcome) -> Bool {
        if case .failed(let failure) = outcome { failure.code != "offline" } else { false }
    }

    private static func hasChangedPerson(_ story: SceneStory) -> Bool {
        story.entries.contains { $0.operation.action.kind == .switchContact }
    }
}

/// Random runs of faults: nothing is ever sent again once anything was heard of it.
public struct AdobeClassicScene: VendorScene {
    public typealias Simulator = AdobeClassicSimulator

    public static let settings: JSONObject = [
        "marketingServer": "mkt.shop.example", "trackingServer": "trk.shop.example",
        "integrationKey": "0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3", "userKey": "external",
        "tagParameters": ["gold": "gold"],
    ]

    public static func say(_ number: Int, _ random: inout SeededGenerator) -> Action {
        Talk.say(number, &random, message: "98\(number)")
    }

    public static func problems(in story: SceneStory, at account: AdobeClassicAccount) -> [String] {
        var (problems, heard): ([String], Set<OperationID>) = ([], [])
        for request in story.requests {
            let again = request.operations.filter(heard.contains)
            if request.endpoint == "registration", !again.isEmpty {
                problems.append("request \(request.number) repeats what was answered")
            }
            if request.settledAt != nil { heard.formUnion(request.operations) }
        }
        guard story.isWhole else { return problems }
        if account.subscribers.isEmpty { problems.append("the vendor knows no device") }
        return problems
    }
}
