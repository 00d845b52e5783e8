import PatchbayAdobe
import PatchbayTesting
import Testing

@Suite("Adobe conformance") struct ConformanceTests {
    static let harness = Result { try Fixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    @Test(arguments: Conversation.all())
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
}

@Suite("Adobe Classic conformance") struct ClassicConformanceTests {
    static let harness = Result { try ClassicFixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    @Test(arguments: Conversation.all(subfolder: "classic"))
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }
}
