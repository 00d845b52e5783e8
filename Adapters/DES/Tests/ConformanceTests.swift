import PatchbayDES
import PatchbayTesting
import Testing

@Suite("DES conformance") struct DESConformanceTests {
    let harness: AdapterHarness<DESDevice>

    init() throws { harness = try Fixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: harness) }

    @Test(arguments: Conversation.all())
    func converses(_ conversation: Conversation) throws { try conversation.check(on: harness) }
}
