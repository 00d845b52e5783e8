import PatchbayAdapterKit
import PatchbayJSON
import PatchbayTesting
import Testing
import ToyVendor
import ToyVendorSimulator

@Suite("Toy") struct ToyVendorTests {
    /// The harness of all checks. It caches results that several checks use.
    static let harness = Result {
        try AdapterHarness<ToyAdapter>(
            settings: ["address": "https://toy.example.com", "key": "toy-key-1"],
            vendor: .init(
                simulator: ToySimulator(settings: ["key": "toy-key-1"]),
                statusAlone: ["say": RuleID("toy", "1")]
            ),
            goldens: Goldens(at: "../../Goldens")
        )
    }

    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }

    @Test(arguments: Conversation.all(at: "../../Goldens"))
    func converses(_ conversation: Conversation) throws { try conversation.check(on: Self.harness.get()) }

    @Test(.shows("toy/1", "toy/2", "toy/3", "toy/4", "toy/5", "toy/6"))
    func `a saying has its fields`() throws {
        let harness = try AdapterHarness<ToyAdapter>(
            settings: ["address": "https://toy.example.com/", "key": "toy-key-1"],
            goldens: Self.harness.get().goldens
        )
        let sample = try #require(harness.samples.first { $0.name == "track-plain" })
        #expect(
            harness.text(of: sample) == """
                POST https://toy.example.com/say
                Authorization: ‹secret›
                Content-Type: application/json

                {"id":"0b5e4c1a-2d3f-4a6b-8c7d-000000114000","who":"c-1001","what":"event","text":"Wishlist Opened"}
                """
        )
    }

    @Test(
        .shows("toy/6", "toy/7", "toy/8"),
        arguments: [
            (status: 202, meaning: ReplyMeaning.accepted), (401, .suspend), (408, .retry), (404, .refused),
            (503, .retry),
        ]
    )
    func `a status decides`(_ row: (status: Int, meaning: ReplyMeaning)) {
        let decided = ToyAdapter.descriptor.tables.replies.row(for: .replied(WireResponse(row.status)))
        #expect(decided.meaning == row.meaning)
    }
}
