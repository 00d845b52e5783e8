import PatchbayTesting
import Testing

@Suite("Altcraft server conformance") struct ServerConformanceTests {
    private static let harness = Result { try ServerFixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func `the server API satisfies the adapter contract`(_ check: ConformanceCheck) throws {
        try check.run(on: Self.harness.get())
    }

    @Test(arguments: Conversation.all(subfolder: "server"))
    func `the server API reproduces each recorded conversation`(_ conversation: Conversation) throws {
        try conversation.check(on: Self.harness.get())
    }
}
