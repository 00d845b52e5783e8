import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe answers and repeats") struct RetryTests {
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
    func `tracking and registrations take 200 alone`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryPolicy.hits.row(for: .status(status)).meaning == meaning)
        #expect(RetryPolicy.registrations.row(for: .status(status)).meaning == meaning)
    }

    @Test(.shows("adobe/Q11", "adobe/Q12"))
    func `a sign-in page is no registration, and a redirect of the tracking server is a success`() throws {
        let page = Outcome.replied(
            WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<html></html>".utf8))
        )
        func redirect(_ location: String) -> Outcome {
            .replied(WireResponse(302, headers: [WireHeader("Location", location)]))
        }
        let phone = try StandardPhone()
        phone.nextOutcomes = [page]
        #expect(phone.deliver(.track(.sessionStarted))?.code == "accepted")
        #expect(phone.state.profiles.map(\.registrations) == [1])
        phone.forgetHistory()
        for location in ["https://shop.campaign.example/r/done", "/r/done"] {
            phone.nextOutcomes = [redirect(location)]
            #expect(phone.deliver(Self.received)?.code == "accepted")
        }
        #expect(phone.requests.count == 2)
        phone.nextOutcomes = [redirect("https://hotel.example/sign-in"), redirect("//hotel.example/")]
        #expect(phone.deliver(Self.received)?.code == "accepted")
        #expect(phone.requests.count == 5)
    }

    @Test(
        .shows("adobe/Q3", "adobe/Q5", "adobe/Q8"),
        arguments: [
            (200, ReplyMeaning.accepted), (201, .accepted), (204, .accepted), (302, .refused), (404, .refused),
            (408, .retry), (429, .refused), (500, .refused), (503, .retry), (504, .retry),
        ]
    )
    func `attributes take every success`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryPolicy.postbacks.row(for: .status(status)).meaning == meaning)
    }

    @Test(.shows("adobe/I7", "adobe/Q3"))
    func `the identity service takes 200 alone`() throws {
        let meanings = [200, 204, 408, 500, 503].map { RetryPolicy.identity.row(for: .status($0)).meaning }
        #expect(meanings == [.accepted, .refused, .retry, .refused, .retry])
        let phone = try StandardPhone(device: nil)
        phone.nextOutcomes = [.status(503), .status(500)]
        #expect(phone.deliver(.registerDevice(Corpus.phone))?.code == "adobe.reply.refused")
        #expect(phone.intervals == [.seconds(30)])
        // The vendor may have processed a request with a server error: an unregistration takes the token back.
        #expect(phone.memory.identities.last?.tokenOrganization != nil)
        // The device itself is known all the same.
        #expect(phone.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q3"))
    func `the pause is 30 seconds, for ever, and the bytes are the same`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = [503, 408, 504, 503, 503, 503, 503, 503, 503, 503, 503, 503].map(Outcome.status)
        #expect(phone.deliver(Self.received)?.code == "accepted")
        #expect(phone.intervals == Array(repeating: .seconds(30), count: 12))
        #expect(Set(phone.requests).count == 1)
        #expect(phone.requests.count == 13)
    }

    @Test(.shows("adobe/Q3"))
    func `of the pause and Retry-After the longer one counts`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = ["5", "600"].map {
            .replied(WireResponse(503, headers: [WireHeader("Retry-After", $0)]))
        }
        phone.deliver(Self.received)
        #expect(phone.intervals == [.seconds(30), .seconds(600)])
    }

    @Test(.shows("adobe/Q4"))
    func `another success is a no, unless the settings say otherwise`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = [.status(204)]
        #expect(phone.deliver(Self.received)?.code == "adobe.reply.notOK")
        let lenient = try StandardPhone(["successStatuses": "any2xx"])
        lenient.nextOutcomes = [.status(204)]
        #expect(lenient.deliver(Self.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q6", "adobe/Q7"))
    func `without an answer it is repeated, or treated as on iOS`() throws {
        let cases: [(action: Action, outcome: Outcome, code: String)] = [
            (Self.received, Silence.offline, "accepted"), (Self.received, Silence.timedOut, "adobe.reply.lost"),
            (Self.received, Silence.unknownHost, "adobe.reply.unsent"),
            (Self.attribute, Silence.timedOut, "adobe.attributes.later"),
            (Self.attribute, Silence.offline, "adobe.attributes.later"),
            (Self.attribute, Silence.unknownHost, "adobe.reply.unsent"),
        ]
        for (action, outcome, code) in cases {
            let phone = try StandardPhone(["noAnswer": "iOS"])
            phone.nextOutcomes = [outcome]
            #expect(phone.deliver(action)?.code == code)
            let patient = try StandardPhone()
            patient.nextOutcomes = [outcome, outcome]
            #expect(patient.deliver(action)?.isAccepted == true)
            #expect(patient.intervals == [.seconds(30), .seconds(30)])
        }
    }

    // MARK: Two reports of one tap

    @Test(.shows("adobe/A6"))
    func `between click and open only the open is repeated`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = [.status(200), .status(503), .status(200)]
        #expect(phone.deliver(.track(.push(.tapped, payload: Fixture.payload)))?.code == "accepted")
        #expect(phone.requests.map { $0.url.contains(",2&") } == [true, false, false])
        // A process that died after the click resumes with the open.
        phone.forgetHistory()
        phone.nextOutcomes = [.status(200), .failed(TransportFailure(.interrupted, "processEnded"))]
        #expect(phone.deliver(.track(.push(.tapped, payload: Fixture.payload)))?.code == "accepted")
        #expect(phone.requests.map { $0.url.contains(",2&") } == [true, false, false])
    }

    @Test(.shows("adobe/A6"))
    func `the open follows a refused click, and the verdict tells of both`() throws {
        let phone = try StandardPhone()
        phone.nextOutcomes = [.status(500), .status(200)]
        let verdict = phone.deliver(.track(.push(.tapped, payload: Fixture.payload)))
        #expect(verdict?.code == "adobe.reply.clickRefused")
        #expect(verdict?.finding?.reason.contains("HTTP 500") == true)
        #expect(phone.requests.count == 2)
    }

    // MARK: Queues

    @Test(.shows("adobe/Q1", "adobe/Q2"))
    func `tracking and registrations share a queue, the rest goes beside it`() throws {
        let phone = try StandardPhone()
        let queues: [(Action, String)] = [
            (Self.received, "hits"), (.track(.sessionStarted), "hits"), (Self.attribute, "postbacks"),
            (.changeTags(TagChange(add: ["gold"])), "postbacks"), (.unregister, "identity"), (.erase, "local"),
        ]
        for (action, queue) in queues { #expect(phone.adapter.place(phone.operation(action)).queue == queue) }
        for action in [
            Action.registerDevice(Corpus.phone), .identify(Corpus.aino), .logOut, .consent(.tracking, .granted),
        ] {
            let operation = phone.operation(action)
            let own = "\(action.kind.rawValue)/\(operation.id.rawValue)"
            #expect(phone.adapter.place(operation).queue == own)
        }
    }
}
