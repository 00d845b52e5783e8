import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe replies and retries") struct RetryTests {
    private static let received = Action.track(.push(.received, payload: Fixture.payload))
    private static let attribute = Action.changeAttributes(["cusTier": .set("gold")])

    @Test(
        .shows("adobe/Q3", "adobe/Q4", "adobe/Q5", "adobe/G6"),
        arguments: [
            (200, ReplyMeaning.accepted), (201, .refused), (204, .refused), (299, .refused), (302, .refused),
            (400, .refused), (404, .refused), (408, .retry), (429, .refused), (500, .refused), (502, .refused),
            (503, .retry), (504, .retry),
        ]
    )
    func `accepts only status 200 for tracking and registrations`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryPolicy.hits.row(for: .status(status)).meaning == meaning)
        #expect(RetryPolicy.registrations.row(for: .status(status)).meaning == meaning)
    }

    @Test(.shows("adobe/Q11", "adobe/Q12"))
    func `rejects a sign-in page and accepts a redirect of the tracking server`() throws {
        let page = Outcome.replied(
            WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<html></html>".utf8))
        )
        func redirect(_ location: String) -> Outcome {
            .replied(WireResponse(302, headers: [WireHeader("Location", location)]))
        }
        let driver = try StandardDriver()
        driver.nextOutcomes = [page]
        #expect(driver.deliver(.track(.sessionStarted))?.code == "accepted")
        #expect(driver.state.profiles.map(\.registrations) == [1])
        driver.forgetHistory()
        for location in ["https://shop.campaign.example/r/done", "/r/done"] {
            driver.nextOutcomes = [redirect(location)]
            #expect(driver.deliver(Self.received)?.code == "accepted")
        }
        #expect(driver.requests.count == 2)
        driver.nextOutcomes = [redirect("https://hotel.example/sign-in"), redirect("//hotel.example/")]
        #expect(driver.deliver(Self.received)?.code == "accepted")
        #expect(driver.requests.count == 5)
    }

    @Test(
        .shows("adobe/Q3", "adobe/Q5", "adobe/Q8"),
        arguments: [
            (200, ReplyMeaning.accepted), (201, .accepted), (204, .accepted), (302, .refused), (404, .refused),
            (408, .retry), (429, .refused), (500, .refused), (503, .retry), (504, .retry),
        ]
    )
    func `accepts every success status for attributes`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryPolicy.postbacks.row(for: .status(status)).meaning == meaning)
    }

    @Test(.shows("adobe/I7", "adobe/Q3"))
    func `accepts only status 200 from the identity service`() throws {
        let meanings = [200, 204, 408, 500, 503].map { RetryPolicy.identity.row(for: .status($0)).meaning }
        #expect(meanings == [.accepted, .refused, .retry, .refused, .retry])
        let driver = try StandardDriver(device: nil)
        driver.nextOutcomes = [.status(503), .status(500)]
        #expect(driver.deliver(.registerDevice(Corpus.phone))?.code == "adobe.reply.refused")
        #expect(driver.intervals == [.seconds(30)])
        // The vendor may have processed a request with a server error: an unregister removes the token.
        #expect(driver.memory.identities.last?.tokenOrganization != nil)
        // The device itself is registered nevertheless.
        #expect(driver.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q3"))
    func `retries the same bytes every 30 seconds without a limit`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = [503, 408, 504, 503, 503, 503, 503, 503, 503, 503, 503, 503].map(Outcome.status)
        #expect(driver.deliver(Self.received)?.code == "accepted")
        #expect(driver.intervals == Array(repeating: .seconds(30), count: 12))
        #expect(Set(driver.requests).count == 1)
        #expect(driver.requests.count == 13)
    }

    @Test(.shows("adobe/Q3"))
    func `waits for the longer of 30 seconds and Retry-After`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = ["5", "600"].map {
            .replied(WireResponse(503, headers: [WireHeader("Retry-After", $0)]))
        }
        driver.deliver(Self.received)
        #expect(driver.intervals == [.seconds(30), .seconds(600)])
    }

    @Test(.shows("adobe/Q4"))
    func `rejects another success status unless the settings accept it`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = [.status(204)]
        #expect(driver.deliver(Self.received)?.code == "adobe.reply.notOK")
        let lenient = try StandardDriver(["successStatuses": "any2xx"])
        lenient.nextOutcomes = [.status(204)]
        #expect(lenient.deliver(Self.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q6", "adobe/Q7"))
    func `retries without an answer, or rejects as the iOS SDK does`() throws {
        let cases: [(action: Action, outcome: Outcome, code: String)] = [
            (Self.received, NoReply.offline, "accepted"), (Self.received, NoReply.timedOut, "adobe.reply.lost"),
            (Self.received, NoReply.unknownHost, "adobe.reply.unsent"),
            (Self.attribute, NoReply.timedOut, "adobe.attributes.later"),
            (Self.attribute, NoReply.offline, "adobe.attributes.later"),
            (Self.attribute, NoReply.unknownHost, "adobe.reply.unsent"),
        ]
        for (action, outcome, code) in cases {
            let driver = try StandardDriver(["noAnswer": "iOS"])
            driver.nextOutcomes = [outcome]
            #expect(driver.deliver(action)?.code == code)
            let patient = try StandardDriver()
            patient.nextOutcomes = [outcome, outcome]
            #expect(patient.deliver(action)?.isAccepted == true)
            #expect(patient.intervals == [.seconds(30), .seconds(30)])
        }
    }

    // MARK: Click and open of one tap

    @Test(.shows("adobe/A6"))
    func `retries only the open after an accepted click`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = [.status(200), .status(503), .status(200)]
        #expect(driver.deliver(.track(.push(.tapped, payload: Fixture.payload)))?.code == "accepted")
        #expect(driver.requests.map { $0.url.contains(",2&") } == [true, false, false])
        // After a crash, the operation resumes with the open.
        driver.forgetHistory()
        driver.nextOutcomes = [.status(200), .failed(TransportFailure(.interrupted, "processEnded"))]
        #expect(driver.deliver(.track(.push(.tapped, payload: Fixture.payload)))?.code == "accepted")
        #expect(driver.requests.map { $0.url.contains(",2&") } == [true, false, false])
    }

    @Test(.shows("adobe/A6"))
    func `reports the open after a refused click with one outcome for both`() throws {
        let driver = try StandardDriver()
        driver.nextOutcomes = [.status(500), .status(200)]
        let verdict = driver.deliver(.track(.push(.tapped, payload: Fixture.payload)))
        #expect(verdict?.code == "adobe.reply.clickRefused")
        #expect(verdict?.finding?.reason.contains("HTTP 500") == true)
        #expect(driver.requests.count == 2)
    }

    // MARK: Queues

    @Test(.shows("adobe/Q1", "adobe/Q2"))
    func `queues tracking and registrations together and other requests separately`() throws {
        let driver = try StandardDriver()
        let queues: [(Action, String)] = [
            (Self.received, "hits"), (.track(.sessionStarted), "hits"), (Self.attribute, "postbacks"),
            (.changeTags(TagChange(add: ["gold"])), "postbacks"), (.unregister, "identity"), (.erase, "local"),
        ]
        for (action, queue) in queues { #expect(driver.adapter.place(driver.operation(action)).queue == queue) }
        for action in [
            Action.registerDevice(Corpus.phone), .identify(Corpus.aino), .logOut, .consent(.tracking, .granted),
        ] {
            let operation = driver.operation(action)
            let own = "\(action.kind.rawValue)/\(operation.id.rawValue)"
            #expect(driver.adapter.place(operation).queue == own)
        }
    }
}
