import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft

/// Two databases: visitors in 11, registered people in 12, as the vendor recommends.
@Suite("Altcraft log-in and log-out") struct LogInTests {
    private static let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    private func visitor() throws -> Phone {
        var phone = try Phone(account: ["databases": ["11", "12"]])
        phone.deliver(Phone.operation(RequestTests.subscribe, "visit"))
        phone.endpoints = []
        return phone
    }

    private func statuses(_ phone: Phone) -> [String] {
        [11, 12].flatMap { database in
            phone.state.profiles(in: database).flatMap(\.subscriptions).map { "\(database) \($0.status)" }
        }
    }

    @Test(
        .shows("altcraft/L1", "altcraft/L2", "altcraft/L5", "altcraft/L7", "altcraft/L9", of: AltcraftDevice.self)
    )
    func `a first log-in suspends the visitor and subscribes the person`() throws {
        var phone = try visitor()
        #expect(statuses(phone) == ["11 subscribed"])
        let verdict = phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))
        #expect(verdict?.answer.flatMap(AltcraftAnswer.init)?.profile?.subscription?.status == "subscribed")
        #expect(phone.endpoints == [.unsuspend, .subscribe])
        #expect(statuses(phone) == ["11 suspended", "12 subscribed"])
    }

    @Test(.shows("altcraft/L5", "altcraft/L6", "altcraft/L8", of: AltcraftDevice.self))
    func `a log-out gives the push token back to the visitor`() throws {
        var phone = try visitor()
        phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))
        phone.endpoints = []
        #expect(phone.deliver(Phone.operation(Self.logOut, "out"))?.isAccepted == true)
        #expect(phone.endpoints == [.unsuspend])
        #expect(statuses(phone) == ["11 subscribed", "12 suspended"])
        #expect(phone.deliver(Phone.operation(Self.logIn, "again", contact: "aino"))?.isAccepted == true)
        #expect(phone.endpoints == [.unsuspend, .unsuspend])
        #expect(statuses(phone) == ["11 suspended", "12 subscribed"])
        #expect(phone.state.profiles.flatMap(\.subscriptions).map(\.optOuts) == [0, 0])
        #expect(phone.state.duplicates.isEmpty)
    }

    @Test(.shows("altcraft/L3", "altcraft/R8", of: AltcraftDevice.self))
    func `without a clear answer nobody is subscribed`() throws {
        var phone = try visitor()
        phone.instead[.unsuspend] = .replied(WireResponse(500))
        let verdict = phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))
        #expect(verdict?.finding?.code == "altcraft.switch.askAgain")
        #expect(phone.endpoints == [.unsuspend])
        #expect(statuses(phone) == ["11 subscribed"])
        #expect(phone.deliver(Phone.operation(Self.logIn, "replayed", contact: "aino"))?.isAccepted == true)
        #expect(statuses(phone) == ["11 suspended", "12 subscribed"])
    }

    @Test func `a subscribe that follows a log-in is repeated like any other`() throws {
        var phone = try visitor()
        phone.instead[.subscribe] = .replied(WireResponse(503))
        #expect(phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))?.isAccepted == true)
        #expect(phone.endpoints == [.unsuspend, .subscribe, .subscribe])
        #expect(statuses(phone) == ["11 suspended", "12 subscribed"])
    }

    @Test(.shows("altcraft/L8", of: AltcraftDevice.self))
    func `whoever opted out is not subscribed by a log-in`() throws {
        var phone = try visitor()
        phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        phone.deliver(Phone.operation(optOut, "no", contact: "aino"))
        phone.deliver(Phone.operation(Self.logOut, "out"))
        #expect(phone.deliver(Phone.operation(Self.logIn, "again", contact: "aino"))?.isAccepted == true)
        #expect(statuses(phone) == ["11 suspended", "12 unsubscribed"])
    }

    @Test func `a rotated token is found again after a log-out`() throws {
        var phone = try visitor()
        phone.deliver(Phone.operation(Self.logIn, "in", contact: "aino"))
        phone.deliver(Phone.operation(.registerDevice(Fixture.renewedPhone), "new", contact: "aino"))
        phone.deliver(Phone.operation(Self.logOut, "out"))
        let held = phone.state.profiles.flatMap { profile in
            profile.subscriptions.map { "\(profile.database) \($0.token.prefix(4)) \($0.status)" }
        }
        #expect(held == ["11 7c1f suspended", "11 0aa1 subscribed", "12 0aa1 suspended"])
    }

    @Test(.shows("altcraft/S1", "altcraft/S5", "altcraft/S6", "altcraft/S7", of: AltcraftDevice.self))
    func `what the vendor was told can be asked back`() throws {
        var phone = try visitor()
        let answer = phone.deliver(Phone.operation(.readBack(ReadRequest("current")), "ask"))?.answer
        let subscription = answer.flatMap(AltcraftAnswer.init)?.profile?.subscription
        #expect(subscription?.provider == "ios-apns")
        #expect(subscription?.fields?["_os_ver"] == ["raw": "24.3", "ver": #"["24.0", "3.0"]"#])
        #expect(answer?["eventCode"] == 233)
        let stranger = phone.deliver(Phone.operation(.readBack(ReadRequest("latest")), "ask-2", contact: "aino"))?
            .answer
        #expect(stranger?["profile"] == .null)
    }
}
