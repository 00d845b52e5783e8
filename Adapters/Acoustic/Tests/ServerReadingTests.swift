import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic server reading") struct ServerReadingTests {
    @Test(.shows("acoustic/S54", of: AcousticServer.self))
    func `the contact of a device is read by its channel`() throws {
        let desk = try ServerDesk()
        let device: JSONObject = ["channel": "push.device", "userId": "mu-7", "channelId": "ch-9"]
        let request = ReadRequest("channelContact", arguments: device)
        try desk.say("c-1", .changeAttributes(["city": .set("Turku")]))
        try desk.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        try desk.advance(5)
        // Nobody has that device yet, and that stops nothing.
        #expect(try desk.ask("c-1", request, seconds: 5)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(try desk.parked == nil)
        try desk.say(
            "c-1",
            .changeSubscription(Subscription(channel: .push, topic: "device", state: .subscribed)),
            ["userId": "mu-7", "channelId": "ch-9"]
        )
        try desk.advance(5)
        let answer = try desk.ask("another", request, seconds: 5)?.answer
        #expect(
            answer == [
                "email": "a@example.com", "emailType": "HTML", "columns": ["City": "Turku", "EMAIL": "a@example.com"],
            ]
        )
        #expect(
            desk.sent("channelContact")[0].request.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/databases/771100/contactbychannel/PUSH-gcb4hVDsXq/mu-7%7Cch-9"
        )
        desk.instead = [("channelContact", .json(200, ["data": []])), ("channelContact", .status(503))]
        #expect(try desk.ask("c-1", request, seconds: 60)?.answer == answer)
        let bad: [(JSONObject, String)] = [
            (["channel": "sms.alerts"], "consent.unnamed"), (["channel": "push"], "consent.unnamed"),
            (["userId": "mu|7"], "question"), (["userId": ""], "question"), (["phone": "358401234567"], "question"),
        ]
        for (change, code) in bad {
            let codes = desk.codes(.readBack(ReadRequest("channelContact", arguments: device.with(change))))
            #expect(codes == [code])
        }
    }
}
