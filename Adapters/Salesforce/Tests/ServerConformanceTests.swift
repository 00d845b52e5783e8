import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@Suite("Salesforce server conformance") struct ServerConformanceTests {
    static let harness = Result { try ServerFixture.harness() }

    @Test(arguments: ConformanceCheck.all)
    func `the server API keeps the adapter contract`(_ check: ConformanceCheck) throws {
        try check.run(on: Self.harness.get())
    }

    @Test(arguments: Conversation.all(subfolder: "server"))
    func `a server API conversation matches its golden`(_ conversation: Conversation) throws {
        try conversation.check(on: Self.harness.get())
    }
}
