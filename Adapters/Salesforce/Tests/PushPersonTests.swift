import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// Push reachability: statements of several people on one device, and consent to messages.
@Suite("Salesforce push by person and consent") struct PushPersonTests {
    private static func push(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, state: state))
    }

    private static func consent(_ state: Consent.State, _ purpose: Purpose = .messaging) -> Action {
        .setConsent(Consent(purpose: purpose, state: state))
    }

    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    /// Whether the vendor may send push messages to the device.
    private func isReached(_ phone: Phone) -> Bool { phone.registrations.last?["push_Enabled"]?.bool == true }

    /// An installation whose configuration requires consent to messages.
    private func phone(requiring scopes: Set<Consent.Scope>) throws -> Phone {
        var settings = Bench.configuration
        settings["contactChange"] = "clear"
        let phone = try Phone(settings: settings, account: [:])
        phone.requiredConsent = scopes
        phone.restart()
        return phone
    }

    @Test(.shows("salesforce/D10"), arguments: [Duration.seconds(0), .seconds(300)])
    func `each person's last statement about push counts when the person comes back`(_ pause: Duration) throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.advance(by: pause)
        let optOut = phone.capture(Self.push(.unsubscribed))
        phone.advance(by: pause)
        phone.capture(Self.logOut)
        phone.advance(by: pause)
        phone.capture(.logIn("bert"))
        phone.advance(by: pause)
        phone.capture(Self.push(.subscribed))
        phone.drain()
        #expect(isReached(phone) && phone.device?.contactKey == "bert")
        #expect(phone.outcome(of: optOut)?.isAccepted == true)
        phone.capture(Self.logOut)
        phone.advance(by: pause)
        phone.capture(.logIn("anna"))
        phone.drain()
        #expect(!isReached(phone) && phone.device?.contactKey == "anna")
        phone.capture(.logIn("bert"))
        phone.drain()
        #expect(isReached(phone))
        #expect(
            !phone.registrations.contains { $0["subscriberKey"] == "anna" && $0["push_Enabled"] == true }
                || pause > .zero
        )
        phone.capture(.logIn("anna"))
        phone.capture(Self.push(.subscribed))
        phone.drain()
        #expect(isReached(phone))
    }

    @Test(.shows("salesforce/D10")) func `an opt-out without a known person is the next person's`() throws {
        let phone = try Phone()
        phone.capture(Self.push(.unsubscribed))
        phone.capture(.logIn("anna"))
        phone.drain()
        phone.capture(.logIn("bert"))
        phone.capture(Self.push(.subscribed))
        phone.drain()
        #expect(isReached(phone))
        phone.capture(.logIn("anna"))
        phone.drain()
        #expect(!isReached(phone))
    }

    @Test(.shows("salesforce/D11"), arguments: [true, false])
    func `a registration has push disabled until the person allows messages`(_ isRequired: Bool) throws {
        let phone = try phone(requiring: isRequired ? [.messaging] : [])
        phone.capture(.registerDevice(.sample))
        phone.capture(.logIn("anna"))
        if !isRequired { phone.capture(Self.consent(.denied)) }
        phone.capture(.set("tier", "gold"))
        phone.drain()
        #expect(!isReached(phone) && phone.device?.attributes == ["tier": "gold"])
        let grant = phone.capture(Self.consent(.granted))
        phone.drain()
        #expect(isReached(phone) && phone.outcome(of: grant)?.isAccepted == true)
        let denial = phone.capture(Self.consent(.denied))
        phone.drain()
        #expect(!isReached(phone) && phone.outcome(of: denial)?.isAccepted == true)
        phone.capture(Self.consent(.granted))
        phone.drain()
        #expect(isReached(phone) && phone.pendingCount == 0)
    }

    @Test(.shows("salesforce/D11")) func `the next person is not reached before that person's answer`() throws {
        let phone = try phone(requiring: [.messaging, .profile])
        phone.capture(.registerDevice(.sample))
        phone.capture(together: Self.consent(.granted, .profile), Self.consent(.granted), .logIn("anna"))
        phone.drain()
        #expect(isReached(phone))
        phone.capture(.logIn("bert"))
        phone.capture(Self.consent(.granted, .profile))
        phone.drain()
        #expect(!isReached(phone) && phone.device?.contactKey == "bert")
        phone.capture(Self.consent(.granted))
        phone.drain()
        #expect(isReached(phone))
    }

    @Test(.shows("salesforce/D11"), arguments: [Duration.seconds(0), .seconds(300)])
    func `push stays off under the contact key of a person who denied messages and has left`(_ pause: Duration) throws {
        let phone = try Phone()
        phone.capture(.logIn("anna"))
        phone.advance(by: pause)
        phone.capture(Self.consent(.denied))
        phone.advance(by: pause)
        phone.capture(Self.logOut)
        phone.capture(.registerDevice(.sample))
        phone.capture(Self.consent(.granted))
        phone.drain()
        #expect(!isReached(phone) && phone.device?.contactKey == "anna")
        phone.capture(.logIn("bert"))
        phone.drain()
        #expect(isReached(phone) && phone.device?.contactKey == "bert")
        #expect(
            !phone.registrations.contains { $0["subscriberKey"] == "anna" && $0["push_Enabled"] == true }
                || pause > .zero
        )
    }

    @Test func `an opt-out does not wait for an unanswered consent`() throws {
        let phone = try phone(requiring: [.messaging, .profile])
        phone.capture(.registerDevice(.sample))
        phone.capture(together: .logIn("anna"), Self.consent(.granted, .profile), Self.consent(.granted))
        phone.drain()
        phone.capture(Self.consent(.unknown, .profile))
        phone.capture(Self.push(.unsubscribed))
        phone.advance(by: .seconds(120))
        #expect(!isReached(phone) && phone.pendingCount == 0)
        phone.capture(Self.consent(.denied, .profile))
        phone.capture(Self.consent(.denied))
        phone.capture(Self.consent(.granted))
        phone.drain()
        #expect(!isReached(phone) && phone.pendingCount == 0)
    }

    @Test(.shows("salesforce/D2")) func `an unregister after an erasure says that the erasure came before`() throws {
        let phone = try Phone()
        phone.drain()
        phone.capture(.erase)
        phone.drain()
        let unregister = phone.capture(.unregister)
        phone.drain()
        #expect(phone.outcome(of: unregister)?.summary == "unchanged salesforce.erasedBefore")
    }
}
