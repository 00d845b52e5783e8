import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

private typealias Driver = AdapterTestDriver<AcousticDevice, AcousticSimulator>

/// Push reachability: push decisions of several people on one installation, and consent to messages.
@Suite("Acoustic push by person and consent") struct PushPersonTests {
    private func consent(_ state: Consent.State) -> Action {
        .setConsent(Consent(purpose: .messaging, state: state))
    }

    /// Returns a registration with the installation's own ids, or with a person's.
    private func device(of person: String? = nil) -> Action {
        var device = Corpus.phone
        let name = person ?? "shared"
        device.identities = ["acoustic.userId": "u-\(name)", "acoustic.channelId": "c-\(name)"]
        return .registerDevice(device)
    }

    private func driver(requiring scopes: Set<Consent.Scope> = [], _ settings: JSONObject = [:]) throws -> Driver {
        let driver = try Driver(
            settings: Fixture.settings(settings),
            account: ["appKey": "gcb4hVDsXq", "knowsEveryUser": true, "columns": .object(Fixture.columns)]
        )
        driver.requiredConsent = scopes
        driver.restart()
        return driver
    }

    /// Returns the users whose ids let the vendor reach the installation.
    private func reached(_ driver: Driver) -> [String] { driver.state.users.filter { $0.mayPush == true }.map(\.id) }

    @Test(.shows("acoustic/P9"), arguments: [true, false])
    func `applies each person's last push decision when the person logs in again`(isOnline: Bool) throws {
        let driver = try driver()
        driver.capture(device())
        driver.capture(.logIn("anna"))
        if !isOnline { driver.goOffline() }
        driver.capture(.push(.unsubscribed))
        driver.capture(.logIn("bert"))
        driver.capture(.push(.subscribed))
        if !isOnline { driver.goOnline() }
        driver.drain()
        #expect(reached(driver) == ["u-shared"])
        driver.capture(.logIn("anna"))
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(reached(driver) == ["u-shared"])
        driver.capture(.logIn("anna"))
        driver.capture(device())
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(.push(.subscribed))
        driver.drain()
        #expect(reached(driver) == ["u-shared"] && driver.pendingCount == 0)
    }

    @Test func `a log-in does not enable push under another person's ids`() throws {
        let driver = try driver()
        driver.capture(.logIn("bert"))
        driver.capture(device(of: "bert"))
        driver.capture(.push(.subscribed))
        driver.capture(.logIn("anna"))
        driver.capture(device(of: "anna"))
        driver.capture(.push(.unsubscribed))
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(device(of: "bert"))
        driver.drain()
        #expect(reached(driver) == ["u-bert"])
    }

    @Test(.shows("acoustic/P8"), arguments: [true, false], ["given", "requested"])
    func `push is enabled only while the person allows messages`(isRequired: Bool, registration: String) throws {
        let driver = try driver(requiring: isRequired ? [.messaging] : [], ["registration": .string(registration)])
        if !isRequired { driver.capture(consent(.denied)) }
        driver.capture(registration == "given" ? device() : .registerDevice(Corpus.phone))
        driver.capture(.logIn("anna"))
        driver.capture(.set("City", "Turku"))
        driver.drain()
        #expect(reached(driver).isEmpty && driver.pendingCount == 0)
        driver.capture(consent(.granted))
        driver.drain()
        #expect(reached(driver).count == 1)
        driver.capture(consent(.denied))
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(consent(.granted))
        driver.drain()
        #expect(reached(driver).count == 1 && driver.pendingCount == 0)
    }

    @Test(.shows("acoustic/P8")) func `push is off for the next person until that person consents`() throws {
        let driver = try driver(requiring: [.messaging])
        driver.capture(device())
        driver.capture(.logIn("anna"))
        driver.capture(consent(.granted))
        driver.drain()
        #expect(reached(driver) == ["u-shared"])
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(reached(driver).isEmpty)
        driver.capture(consent(.granted))
        driver.drain()
        #expect(reached(driver) == ["u-shared"])
    }

    @Test(.shows("acoustic/P8")) func `enables push for the person after a denial at the next registration`() throws {
        let driver = try driver()
        driver.capture(device())
        driver.capture(.logIn("anna"))
        driver.capture(consent(.denied))
        driver.drain()
        driver.capture(.logIn("bert"))
        driver.drain()
        #expect(reached(driver).isEmpty && driver.pendingCount == 0)
        driver.capture(device())
        driver.drain()
        #expect(driver.state.users.flatMap(\.events).map(\.name) == ["uiPushDisabled", "uiPushEnabled"])
        #expect(reached(driver) == ["u-shared"])
    }

    @Test(.shows("acoustic/P8"), arguments: [true, false])
    func `the next person's consent does not enable push under the ids of a person who denied it`(isConsent: Bool)
        throws
    {
        let driver = try driver()
        driver.goOffline()
        driver.capture(isConsent ? consent(.denied) : .push(.unsubscribed))
        driver.capture(.logIn("anna"))
        driver.capture(device(of: "anna"))
        driver.capture(.logIn("bert"))
        driver.capture(consent(.granted))
        driver.goOnline()
        driver.drain()
        let names = driver.state.users.flatMap(\.events).map(\.name)
        #expect(names.contains("uiPushDisabled") && !names.contains("uiPushEnabled") && reached(driver).isEmpty)
        driver.capture(device(of: "bert"))
        driver.drain()
        #expect(reached(driver) == ["u-bert"] && driver.pendingCount == 0)
    }

    @Test func `a grant does not undo an opt-out`() throws {
        let driver = try driver()
        driver.capture(device())
        driver.capture(.logIn("anna"))
        driver.capture(.push(.unsubscribed))
        driver.capture(consent(.denied))
        driver.capture(consent(.granted))
        driver.drain()
        #expect(reached(driver).isEmpty && driver.pendingCount == 0)
    }
}
