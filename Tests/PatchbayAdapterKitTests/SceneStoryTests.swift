import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@Suite("Invariants of test profiles") struct SceneStoryTests {
    private func story(_ requests: (endpoint: String, seconds: Int, reply: WireResponse)...) -> SceneStory {
        var story = SceneStory()
        story.requests = requests.enumerated().map { place, request in
            let now = Corpus.start + .seconds(request.seconds)
            return SceneStory.Request(
                number: place + 1,
                endpoint: request.endpoint,
                request: WireRequest("POST", "https://vendor.example"),
                operations: [],
                now: now,
                isProcessed: true,
                outcome: .replied(request.reply),
                settledAt: now,
                isFirstOfProcess: false
            )
        }
        return story
    }

    private let token = WireResponse(200, json: ["access_token": "t-1", "expires_in": 600])

    @Test func `reports a token request while another token is valid`() {
        let early = story(("token", 0, token), ("rows", 1, WireResponse(200)), ("token", 599, token))
        #expect(early.needlessTokens() == ["request 3 asks for a token while another is good"])
        // The token had expired, was refused, was not valid, or never arrived.
        #expect(story(("token", 0, token), ("token", 600, token)).needlessTokens().isEmpty)
        let refused = story(("token", 0, token), ("rows", 1, WireResponse(401)), ("token", 2, token))
        #expect(refused.needlessTokens().isEmpty)
        #expect(refused.needlessTokens(isRefusal: { $0.status == 418 }).count == 1)
        #expect(early.needlessTokens(isGood: { text, _ in text != "t-1" }).isEmpty)
        #expect(story(("token", 0, WireResponse(503)), ("token", 1, token)).needlessTokens().isEmpty)
    }
}
