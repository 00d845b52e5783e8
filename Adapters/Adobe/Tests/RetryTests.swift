import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

@Suite("Adobe answers and repeats") struct RetryTests {
    private static let received = Action.track(.push(.received, payload: Fixture.payload))
    private static let attribute = Action.changeAttributes(["cusTier": .set("gold")])

    @Test(
        .shows("adobe/Q3", "adobe/Q4", "adobe/Q5", "adobe/G6", of: AdobeDevice.self),
        arguments: [
            (200, ReplyMeaning.accepted), (201, .refused), (204, .refused), (299, .refused), (302, .refused),
            (400, .refused), (404, .refused), (408, .retry), (429, .refused), (500, .refused), (502, .refused),
            (503, .retry), (504, .retry),
        ]
    )
    func `tracking and registrations take 200 alone`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryLaw.hits.row(for: .status(status)).meaning == meaning)
    }

    @Test(
        .shows("adobe/Q3", "adobe/Q5", "adobe/Q8", of: AdobeDevice.self),
        arguments: [
            (200, ReplyMeaning.accepted), (201, .accepted), (204, .accepted), (302, .refused), (404, .refused),
            (408, .retry), (429, .refused), (500, .refused), (503, .retry), (504, .retry),
        ]
    )
    func `attributes take every success`(_ status: Int, _ meaning: ReplyMeaning) {
        #expect(RetryLaw.postbacks.row(for: .status(status)).meaning == meaning)
    }

    @Test(.shows("adobe/I7", "adobe/Q3", of: AdobeDevice.self))
    func `the identity service takes 200 alone`() throws {
        let meanings = [200, 204, 408, 500, 503].map { RetryLaw.identity.row(for: .status($0)).meaning }
        #expect(meanings == [.accepted, .refused, .retry, .refused, .retry])
        var phone = StandardPhone(try Fixture.adapter(), try .init(settings: [:]))
        phone.instead = [.status(503), .status(500)]
        #expect(phone.deliver(.registerDevice(Corpus.phone))?.code == "adobe.reply.refused")
        #expect(phone.waits == [.seconds(30)])
        // A fault of theirs may have worked: a farewell takes the token back.
        #expect(phone.memory.hasToken)
        // The device itself is known all the same.
        #expect(phone.push(.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q3", of: AdobeDevice.self))
    func `the pause is 30 seconds, for ever, and the bytes are the same`() throws {
        var phone = try StandardPhone()
        phone.instead = [503, 408, 504, 503, 503, 503, 503, 503, 503, 503, 503, 503].map(Outcome.status)
        #expect(phone.deliver(Self.received)?.code == "accepted")
        #expect(phone.waits == Array(repeating: .seconds(30), count: 12))
        #expect(Set(phone.requests).count == 1)
        #expect(phone.requests.count == 13)
    }

    @Test func `a word of the server about time changes nothing`() throws {
        var phone = try StandardPhone()
        phone.instead = [.replied(WireResponse(503, headers: [WireHeader("Retry-After", "3600")]))]
        phone.deliver(Self.received)
        #expect(phone.waits == [.seconds(30)])
    }

    @Test(.shows("adobe/Q4", of: AdobeDevice.self))
    func `another success is a no, unless the settings say otherwise`() throws {
        var phone = try StandardPhone()
        phone.instead = [.status(204)]
        #expect(phone.deliver(Self.received)?.code == "adobe.reply.notOK")
        var lenient = try StandardPhone(["successStatuses": "any2xx"])
        lenient.instead = [.status(204)]
        #expect(lenient.deliver(Self.received)?.code == "accepted")
    }

    @Test(.shows("adobe/Q6", "adobe/Q7", of: AdobeDevice.self))
    func `without an answer it is repeated, or treated as on iOS`() throws {
        let cases: [(action: Action, outcome: Outcome, code: String)] = [
            (Self.received, Silence.offline, "accepted"), (Self.received, Silence.timedOut, "adobe.reply.lost"),
            (Self.received, Silence.unknownHost, "adobe.reply.unsent"),
            (Self.attribute, Silence.timedOut, "adobe.attributes.later"),
            (Self.attribute, Silence.offline, "adobe.attributes.later"),
            (Self.attribute, Silence.unknownHost, "adobe.reply.unsent"),
        ]
        for (action, outcome, code) in cases {
            var phone = try StandardPhone(["noAnswer": "iOS"])
            phone.instead = [outcome]
            #expect(phone.deliver(action)?.code == code)
            var patient = try StandardPhone()
            patient.instead = [outcome, outcome]
            #expect(patient.deliver(action)?.isAccepted == true)
            #expect(patient.waits == [.seconds(30), .seconds(30)])
        }
    }

    // MARK: Two words about one tap

    @Test(.shows("adobe/A6", of: AdobeDevice.self))
    func `between click and open only the open is repeated`() throws {
        var phone = try StandardPhone()
        phone.instead = [.status(200), .status(503), .status(200)]
        #expect(phone.deliver(.track(.push(.tapped, payload: Fixture.payload)))?.code == "accepted")
        #expect(phone.requests.map { $0.url.contains(",2&") } == [true, false, false])
        // A process that died after the click goes on with the open.
        let operation = phone.operation(.track(.push(.tapped, payload: Fixture.payload)))
        guard case .send(let transmission) = phone.plan(phone.pending(operation, step: AdobeDevice.Step(.open))) else {
            Issue.record("Nothing is sent.")
            return
        }
        #expect(transmission.request.url.contains("h2f0aa1,c81e4,1&"))
    }

    @Test(.shows("adobe/A6", of: AdobeDevice.self))
    func `the open follows a refused click, and the verdict tells of both`() throws {
        var phone = try StandardPhone()
        phone.instead = [.status(500), .status(200)]
        let verdict = phone.deliver(.track(.push(.tapped, payload: Fixture.payload)))
        #expect(verdict?.code == "adobe.reply.clickRefused")
        #expect(verdict?.finding?.reason.contains("HTTP 500") == true)
        #expect(phone.requests.count == 2)
    }

    // MARK: Queues

    @Test(.shows("adobe/Q1", "adobe/Q2", of: AdobeDevice.self))
    func `tracking and registrations share a queue, the rest goes beside it`() throws {
        let phone = try StandardPhone()
        let queues: [(Action, String)] = [
            (Self.received, "hits"), (.track(.sessionStarted), "hits"), (Self.attribute, "postbacks"),
            (.changeTags(TagChange(add: ["gold"])), "postbacks"), (.identify(Corpus.aino), "postbacks"),
            (.registerDevice(Corpus.phone), "identity"), (.farewell, "identity"),
            (.setConsent(Consent(purpose: .tracking, state: .granted)), "local"), (.erase, "local"),
        ]
        for (action, queue) in queues { #expect(phone.adapter.place(phone.operation(action)).queue == queue) }
    }
}
