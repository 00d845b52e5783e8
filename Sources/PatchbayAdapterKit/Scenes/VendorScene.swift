public import PatchbayJSON
public import PatchbayModel

/// One vendor's API in random runs of faults: the account, what an app says to it, and the vendor's own laws.
///
/// It stands beside the vendor's simulator. What must hold of every vendor (accounts, order, consent, no repeat of what is
/// known) is checked without it; a scene says what is this vendor's alone.
public protocol VendorScene: Sendable {
    /// The vendor's other side.
    associatedtype Simulator: VendorSimulator

    /// The adapter's settings.
    static var settings: JSONObject { get }
    /// The simulator's settings.
    static var account: JSONObject { get }
    /// What the app gives as credential; nil where the vendor wants none of an app.
    static func credential(of contact: String?) -> Secret?
    /// Members and headers of the vendor's replies whose texts are tokens that it hands out to one installation; empty where
    /// it hands out none.
    static var handedOut: Set<String> { get }
    /// The next thing that an app says, of what this vendor has a place for; `number` counts from 1.
    static func say(_ number: Int, _ random: inout SeededGenerator) -> Action
    /// What an app says when everything is well again, so that nothing waits for it.
    static var closing: Action { get }
    /// What somebody asks this vendor; one that answers nothing is asked all the same.
    static var question: ReadRequest { get }
    /// Two words of which each takes the other back, where the adapter remembers what the vendor holds; else nothing.
    static var opposites: [Action] { get }
    /// What the adapter's memory claims of the vendor, and what the vendor holds.
    static var expectedState: ExpectedState { get }
    /// The codes of waits that a run does not release: each names an operation of the app that releases it. A device API may
    /// wait for a log-in alone.
    static var waitsForApp: Set<String> { get }
    /// Which of this vendor's laws a run broke: pacing and retry, and what the vendor holds in the end.
    static func problems(in story: SceneStory, at vendor: Simulator.State) -> [String]

    // MARK: Runs in which people and configurations change

    /// The adapter's settings in such runs: the first at the beginning, the others after a change of the configuration.
    static var changingSettings: [JSONObject] { get }
    /// The simulator's settings in such runs.
    static var changingAccount: JSONObject { get }
    /// The next action of such a run; `number` counts from 1.
    static func action(_ number: Int, _ random: inout SeededGenerator) -> Action
    /// The identities that the app passes with a registration while this contact is logged in; nil is the anonymous person.
    static func identities(of contact: String?) -> [Device.IdentityName: String]
    /// A credential of the contact that has expired; nil if the vendor's credentials do not expire.
    static func expiredCredential(of contact: String?) -> Secret?
    /// The records that the vendor holds.
    static func records(in vendor: Simulator.State) -> [VendorRecord]
    /// How often the vendor counted each view and each click of a message, by `view <id>` and `click <id>`; nil if it does not
    /// count them.
    static func interactionCounts(in vendor: Simulator.State) -> [String: Int]?
    /// Whether the vendor's policy retries whenever something happens, so that its intervals may shrink.
    static var retriesWhenWoken: Bool { get }
}

extension VendorScene {
    public static var account: JSONObject { [:] }
    public static func credential(of contact: String?) -> Secret? { nil }
    public static var handedOut: Set<String> { [] }
    public static var closing: Action { .registerDevice(ScenePhone.device()) }
    public static var opposites: [Action] { [] }
    public static var question: ReadRequest { ReadRequest("state") }
    /// A vendor's operations wait for no operation of the app unless its scene says so.
    public static var waitsForApp: Set<String> { [] }
    public static var changingSettings: [JSONObject] { [settings] }
    public static var changingAccount: JSONObject { account }
    public static func action(_ number: Int, _ random: inout SeededGenerator) -> Action { say(number, &random) }
    public static func identities(of contact: String?) -> [Device.IdentityName: String] { [:] }
    public static func expiredCredential(of contact: String?) -> Secret? { nil }
    public static func interactionCounts(in vendor: Simulator.State) -> [String: Int]? { nil }
    public static var retriesWhenWoken: Bool { false }
}

/// A phone that every vendor knows how to register.
public enum ScenePhone: Sendable {
    /// The phone with that locale and push token.
    public static func device(locale: String = "fi_FI", token: String = "0f1e2d3c4b5a6978") -> Device {
        Device(
            pushToken: PushToken(token),
            facts: DeviceFacts(
                platform: "iOS",
                platformVersion: "19.2",
                model: "iPhone17,3",
                locale: locale,
                utcOffsetSeconds: 7200,
                appVersion: "4.11.0"
            )
        )
    }

    /// A person logs in: of a few, so that somebody comes back.
    public static func logIn(_ random: inout SeededGenerator) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-\(random.below(3))")]))
    }
}
