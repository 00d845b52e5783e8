import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce conversations") struct ConversationTests {
    /// A talk with the vendor, second by second.
    private struct Talk {
        var bench: Bench
        var lines: [String] = []

        mutating func capture(_ words: String, _ action: Action, at second: Int) {
            bench.capture(action, at: second)
            lines.append("\(second) s: the app says \(words)")
        }

        /// Waits until something is due, sends it and gives that answer.
        mutating func exchange(after second: Int, _ words: String, _ outcome: Outcome) throws {
            let due = try #require(bench.due(at: second), "nothing is due")
            if due > second { lines.append("\(second) s: \(bench.reason(at: second) ?? "") until \(due) s") }
            let carried = try bench.transmission(at: due).operations.count
            let request = try bench.exchange(at: due, outcome)
            let key = request.json?["subscriberKey"]?.string ?? "none"
            lines.append(
                "\(due) s: \(request.method) \(URLText.path(of: request.url)) for \(carried), key \(key), tags "
                    + "\(request.json?.tags.joined(separator: " ") ?? ""), push \(request.json?["push_Enabled"]?.text ?? "–")"
            )
            lines.append("\(due) s: \(words); \(bench.pending.count) still pending")
        }
    }

    @Test(.shows("salesforce/S1", "salesforce/S2", "salesforce/S4", "salesforce/S8", "salesforce/S9", "salesforce/S11"))
    func `an installation's first hour`() throws {
        let token = [WireHeader("X-Subscriber-Token", "jwt-1")]
        var talk = Talk(bench: try Bench())
        talk.capture("what device it is", .registerDevice(.sample), at: 0)
        try talk.exchange(after: 0, "HTTP 201", .replied(WireResponse(201, headers: token)))
        talk.capture("who is there", .identify("member-1"), at: 10)
        talk.capture("a tag", .add("sports"), at: 45)
        try talk.exchange(after: 45, "HTTP 503", .replied(WireResponse(503)))
        try talk.exchange(after: 70, "no answer", lost)
        try talk.exchange(
            after: 130,
            "HTTP 429, Retry-After 600",
            .replied(WireResponse(429, headers: [WireHeader("Retry-After", "600")]))
        )
        talk.capture("another tag", .add("music"), at: 300)
        try talk.exchange(after: 300, "HTTP 201", .replied(WireResponse(201)))
        talk.capture("that push is unwanted", .push(.unsubscribed), at: 2000)
        try talk.exchange(after: 2000, "HTTP 201", .replied(WireResponse(201)))
        Goldens().check(talk.lines.joined(separator: "\n"), .conversations, "first-hour")
    }

    @Test(.shows("salesforce/S3", "salesforce/S7", "salesforce/S10"))
    func `a registration that the process did not survive`() throws {
        var talk = Talk(bench: try Bench.registered([:], .add("sports")))
        talk.capture("a tag is gone", .remove("sports"), at: 100)
        try talk.exchange(after: 100, "the process dies, and the next one is told", interrupted)
        talk.capture("the tag is back", .add("sports"), at: 170)
        try talk.exchange(after: 170, "HTTP 201", .replied(WireResponse(201)))
        Goldens().check(talk.lines.joined(separator: "\n"), .conversations, "interrupted")
    }
}
