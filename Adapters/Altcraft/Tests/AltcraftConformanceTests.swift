import PatchbayAltcraft
import PatchbayTesting
import Testing

@Suite("Altcraft conformance") struct AltcraftConformanceTests {
    /// The harness of all checks. It caches results that several checks use.
    private static let harness = Result { try Fixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    @Test(arguments: Conversation.all())
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
}
