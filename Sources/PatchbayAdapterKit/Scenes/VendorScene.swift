public import PatchbayJSON
public import PatchbayModel

/// A test profile of one vendor's API for randomized fault-injection runs: the account, the app's operations, and checks of the
/// vendor's own policies.
///
/// It complements the vendor's simulator. Rules that hold for every vendor (accounts, order, consent, no repeat of known
/// values) are checked without it.
public protocol VendorScene: Sendable {
    /// The simulator of the vendor.
    associatedtype Simulator: VendorSimulator

    /// The adapter's settings.
    static var settings: JSONObject { get }
    /// The simulator's settings.
    static var account: JSONObject { get }
    /// Returns the credential that the app provides; nil if the vendor requires none from an app.
    static func credential(of contact: String?) -> Secret?
    /// The members and headers of the vendor's replies that contain tokens issued to one installation; empty if there are none.
    static var handedOut: Set<String> { get }
    /// Returns the app's next action, which the vendor must support; `number` counts from 1.
    static func say(_ number: Int, _ random: inout SeededGenerator) -> Action
    /// The app's action after all faults have been repaired, which releases everything that waits for the app.
    static var closing: Action { get }
    /// A query for this vendor. A vendor without queries receives it too.
    static var question: ReadRequest { get }
    /// Two actions that undo each other, if the adapter stores the expected vendor state; otherwise empty.
    static var opposites: [Action] { get }
    /// The state that the adapter's memory expects of the vendor, and the state that the vendor has.
    static var expectedState: ExpectedState { get }
    /// The finding codes of waits that a run does not release, because each requires an operation of the app. A device API may
    /// wait only for a log-in.
    static var waitsForApp: Set<String> { get }
    /// Returns the violations of this vendor's policies in a run: pacing, retries, and the vendor's final state.
    static func problems(in story: SceneStory, at vendor: Simulator.State) -> [String]

    // MARK: Runs with changes of people and configurations

    /// The adapter's settings in these runs: the first at the beginning, the others after a configuration change.
    static var changingSettings: [JSONObject] { get }
    /// The simulator's settings in these runs.
    static var changingAccount: JSONObject { get }
    /// Returns the next action of such a run; `number` counts from 1.
    static func action(_ number: Int, _ random: inout SeededGenerator) -> Action
    /// Returns the identities that the app passes with a registration while this contact is logged in; nil is the anonymous
    /// person.
    static func identities(of contact: String?) -> [Device.IdentityName: String]
    /// Returns an expired credential of the contact; nil if the vendor's credentials do not expire.
    static func expiredCredential(of contact: String?) -> Secret?
    /// Returns the records that the vendor has.
    static func records(in vendor: Simulator.State) -> [VendorRecord]
    /// Returns the number of times that the vendor counted each view and click of a message, by `view <id>` and `click <id>`;
    /// nil if it does not count them.
    static func interactionCounts(in vendor: Simulator.State) -> [String: Int]?
    /// Whether the vendor's policy permits a retry at every wake, so that intervals may become shorter.
    static var retriesWhenWoken: Bool { get }
}

extension VendorScene {
    public static var account: JSONObject { [:] }
    public static func credential(of contact: String?) -> Secret? { nil }
    public static var handedOut: Set<String> { [] }
    public static var closing: Action { .registerDevice(ScenePhone.device()) }
    public static var opposites: [Action] { [] }
    public static var question: ReadRequest { ReadRequest("state") }
    /// Empty by default: operations do not wait for an operation of the app.
    public static var waitsForApp: Set<String> { [] }
    public static var changingSettings: [JSONObject] { [settings] }
    public static var changingAccount: JSONObject { account }
    public static func action(_ number: Int, _ random: inout SeededGenerator) -> Action { say(number, &random) }
    public static func identities(of contact: String?) -> [Device.IdentityName: String] { [:] }
    public static func expiredCredential(of contact: String?) -> Secret? { nil }
    public static func interactionCounts(in vendor: Simulator.State) -> [String: Int]? { nil }
    public static var retriesWhenWoken: Bool { false }
}

/// Test devices that every vendor's adapter can register.
public enum ScenePhone: Sendable {
    /// Returns a device with a locale and a push token.
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

    /// Logs in one of a few people, so that people return during a run.
    public static func logIn(_ random: inout SeededGenerator) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, "c-\(random.below(3))")]))
    }
}
