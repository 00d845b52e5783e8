import PatchbayDES
import PatchbayTesting
import Testing

@Suite("DES conformance") struct DESConformanceTests {
    /// One harness for all checks: it remembers what several of them look at.
    private static let harness = Result { try Fixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    @Test(arguments: Conversation.all())
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
}
