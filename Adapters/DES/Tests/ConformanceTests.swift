import PatchbayDES
import PatchbayJSON
import PatchbayTesting
import Testing

@Suite("DES conformance") struct DESConformanceTests {
    /// The harness of all checks. It caches results that several checks use.
    private static let harness = Result { try Fixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    /// A harness whose requests carry the app's ID token.
    private static let byToken = Result { try Fixture.harness(["contactProof": "openIdToken"]) }

    @Test(arguments: ConformanceCheck.all.filter { $0.name.contains("secret") })
    func `hides secrets if the ID token is sent`(_ check: ConformanceCheck) throws {
        try check.run(on: Self.byToken.get())
    }

    @Test(arguments: Conversation.all())
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
}
