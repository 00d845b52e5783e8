import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

/// Push reachability: push decisions of several people on one device, and consent to messages.
@Suite("Salesforce push by person and consent") struct PushPersonTests {
    private static func push(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, state: state))
    }

    private static func consent(_ state: Consent.State, _ purpose: Purpose = .messaging) -> Action {
        .setConsent(Consent(purpose: purpose, state: state))
    }

    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    /// Whether the vendor may send push messages to the device.
    private func isReached(_ driver: DeviceDriver) -> Bool { driver.registrations.last?["push_Enabled"]?.bool == true }

    /// Returns an installation whose configuration requires consent.
    private func driver(requiring scopes: Set<Consent.Scope>) throws -> DeviceDriver {
        var settings = TestDriver.configuration
        settings["contactChange"] = "clear"
        let driver = try DeviceDriver(settings: settings, account: [:])
        driver.requiredConsent = scopes
        driver.restart()
        return driver
    }

    @Test(.shows("salesforce/D10"), arguments: [Duration.seconds(0), .seconds(300)])
    func `applies each person's last push decision when the person logs in again`(_ pause: Duration) throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.advance(by: pause)
        let optOut = driver.capture(Self.push(.unsubscribed))
        driver.advance(by: pause)
        driver.capture(Self.logOut)
        driver.advance(by: pause)
        driver.capture(.logIn("bert"))
        driver.advance(by: pause)
        driver.capture(Self.push(.subscribed))
        driver.drain()
        #expect(isReached(driver) && driver.device?.contactKey == "bert")
        #expect(driver.outcome(of: optOut)?.isAccepted == true)
        driver.capture(Self.logOut)
        driver.advance(by: pause)
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(!isReached(driver) && driver.device?.contactKey == "anna")
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(isReached(driver))
        #expect(
            !driver.registrations.contains { $0["subscriberKey"] == "anna" && $0["push_Enabled"] == true }
                || pause > .zero
        )
        driver.capture(.logIn("anna"))
        driver.capture(Self.push(.subscribed))
        driver.drain()
        #expect(isReached(driver))
    }

    @Test(.shows("salesforce/D10")) func `assigns an opt-out of an anonymous person to the next person`() throws {
        let driver = try DeviceDriver()
        driver.capture(Self.push(.unsubscribed))
        driver.capture(.logIn("anna"))
        driver.drain()
        driver.capture(.logIn("bert"))
        driver.capture(Self.push(.subscribed))
        driver.drain()
        #expect(isReached(driver))
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(!isReached(driver))
    }

    @Test(.shows("salesforce/D11"), arguments: [true, false])
    func `a registration has push disabled until the person allows messages`(_ isRequired: Bool) throws {
        let driver = try driver(requiring: isRequired ? [.messaging] : [])
        driver.capture(.registerDevice(.sample))
        driver.capture(.logIn("anna"))
        if !isRequired { driver.capture(Self.consent(.denied)) }
        driver.capture(.set("tier", "gold"))
        driver.drain()
        #expect(!isReached(driver) && driver.device?.attributes == ["tier": "gold"])
        let grant = driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(isReached(driver) && driver.outcome(of: grant)?.isAccepted == true)
        let denial = driver.capture(Self.consent(.denied))
        driver.drain()
        #expect(!isReached(driver) && driver.outcome(of: denial)?.isAccepted == true)
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(isReached(driver) && driver.pendingCount == 0)
    }

    @Test(.shows("salesforce/D11")) func `push is off for the next person until that person consents`() throws {
        let driver = try driver(requiring: [.messaging, .profile])
        driver.capture(.registerDevice(.sample))
        driver.capture(together: Self.consent(.granted, .profile), Self.consent(.granted), .logIn("anna"))
        driver.drain()
        #expect(isReached(driver))
        driver.capture(.logIn("bert"))
        driver.capture(Self.consent(.granted, .profile))
        driver.drain()
        #expect(!isReached(driver) && driver.device?.contactKey == "bert")
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(isReached(driver))
    }

    @Test(.shows("salesforce/D11"), arguments: [Duration.seconds(0), .seconds(300)])
    func `keeps push off under the contact key of a former person who denied messages`(_ pause: Duration) throws {
        let driver = try DeviceDriver()
        driver.capture(.logIn("anna"))
        driver.advance(by: pause)
        driver.capture(Self.consent(.denied))
        driver.advance(by: pause)
        driver.capture(Self.logOut)
        driver.capture(.registerDevice(.sample))
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(!isReached(driver) && driver.device?.contactKey == "anna")
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(isReached(driver) && driver.device?.contactKey == "bert")
        #expect(
            !driver.registrations.contains { $0["subscriberKey"] == "anna" && $0["push_Enabled"] == true }
                || pause > .zero
        )
    }

    @Test func `an opt-out does not wait for an unanswered consent`() throws {
        let driver = try driver(requiring: [.messaging, .profile])
        driver.capture(.registerDevice(.sample))
        driver.capture(together: .logIn("anna"), Self.consent(.granted, .profile), Self.consent(.granted))
        driver.drain()
        driver.capture(Self.consent(.unknown, .profile))
        driver.capture(Self.push(.unsubscribed))
        driver.advance(by: .seconds(120))
        #expect(!isReached(driver) && driver.pendingCount == 0)
        driver.capture(Self.consent(.denied, .profile))
        driver.capture(Self.consent(.denied))
        driver.capture(Self.consent(.granted))
        driver.drain()
        #expect(!isReached(driver) && driver.pendingCount == 0)
    }

    @Test(.shows("salesforce/D2")) func `reports an earlier erasure when an unregistration follows it`() throws {
        let driver = try DeviceDriver()
        driver.drain()
        driver.capture(.erase)
        driver.drain()
        let unregister = driver.capture(.unregister)
        driver.drain()
        #expect(driver.outcome(of: unregister)?.summary == "unchanged salesforce.erasedBefore")
    }
}
