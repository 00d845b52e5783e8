import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer

/// An installation connected to the simulated device service.
private typealias Driver = AdapterTestDriver<AcousticDevice, AcousticSimulator>

extension AdapterTestDriver<AcousticDevice, AcousticSimulator> {
    /// Creates an installation with the fixture's columns, whose account knows the ids that the app passes.
    fileprivate static func make(_ settings: JSONObject = [:]) throws -> Driver {
        try Driver(
            settings: Fixture.settings(settings),
            account: ["appKey": "gcb4hVDsXq", "knowsEveryUser": true, "columns": .object(Fixture.columns)]
        )
    }

    /// The users whose ids let the vendor reach this installation.
    fileprivate var reached: [String] { state.users.filter { $0.mayPush == true }.map(\.id) }

    /// The requests under the ids of a user.
    fileprivate func requests(of user: String) -> [Sent] { sent.filter { $0.request.url.contains("/users/\(user)/") } }
}

@Suite("Acoustic with several people") struct PeopleTests {
    /// A device with the ids of a person.
    private func device(of person: String, allowsPush: Bool = true) -> Action {
        var device = Corpus.phone
        device.identities = ["acoustic.userId": "u-\(person)", "acoustic.channelId": "c-\(person)"]
        device.allowsPush = allowsPush
        return .registerDevice(device)
    }

    /// Logs a person in and passes that person's ids.
    private func logInWithIDs(_ person: String, _ driver: Driver) {
        driver.capture(.logIn(person))
        driver.capture(device(of: person))
    }

    /// The summaries of outcomes without the vendor's prefix.
    private func summaries(_ driver: Driver, _ ids: [OperationID]) -> [String?] {
        ids.map { driver.outcome(of: $0)?.summary.replacing("acoustic.", with: "") }
    }

    // MARK: Person isolation

    @Test(.shows("acoustic/I10")) func `sends pending operations under the ids of the person who captured them`()
        throws
    {
        let driver = try Driver.make()
        driver.capture(device(of: "shared"))
        driver.capture(.logIn("anna"))
        driver.goOffline()
        let hers = [driver.capture(.set("City", "Anna's town")), driver.capture(.event("Anna's event"))]
        driver.advance(by: .seconds(5))
        logInWithIDs("bert", driver)
        let his = [driver.capture(.set("City", "Bert's town")), driver.capture(.event("Bert's event"))]
        driver.goOnline()
        driver.drain()
        #expect((hers + his).allSatisfy { driver.outcome(of: $0)?.isAccepted == true })
        for sent in driver.requests(of: "u-bert") { #expect(!sent.body.text.contains("Anna")) }
        for sent in driver.requests(of: "u-shared") { #expect(!sent.body.text.contains("Bert")) }
        #expect(driver.reached == ["u-bert"])
    }

    @Test(.shows("acoustic/I9")) func `rejects operations captured without ids when another person's ids arrive`()
        throws
    {
        let driver = try Driver.make()
        driver.capture(.logIn("anna"))
        let hers = driver.capture(.set("City", "Anna's town"))
        let optOut = driver.capture(.push(.unsubscribed))
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(summaries(driver, [hers, optOut]) == ["rejected ids.person", "rejected optOut.kept"])
        #expect(driver.sent.allSatisfy { !$0.body.text.contains("Anna") })
        // The opt-out applies when the person returns with her ids.
        logInWithIDs("anna", driver)
        driver.drain()
        #expect(driver.reached.isEmpty)
    }

    @Test(.shows("acoustic/I9")) func `holds back operations while only another person's ids are known`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(.logIn("bert"))
        let his = driver.capture(.set("City", "Bert's town"))
        driver.drain(atMost: .seconds(86_400))
        #expect(driver.outcome(of: his) == nil && driver.waitReason?.code == "acoustic.ids.person")
        driver.capture(device(of: "bert"))
        driver.drain()
        #expect(driver.outcome(of: his)?.isAccepted == true)
        #expect(driver.requests(of: "u-anna").allSatisfy { !$0.body.text.contains("Bert") })
    }

    @Test func `the engine does not register the next person with the ids of a person who denied the profile`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(.setConsent(Consent(purpose: .profile, state: .denied)))
        driver.capture(.logIn("bert"))
        let town = driver.capture(.set("City", "Bert's town"))
        driver.drain()
        #expect(!driver.sent.contains { $0.body.text.contains("Bert") })
        #expect(driver.outcome(of: town) == nil && driver.waitReasons.contains { $0.code == "acoustic.ids.person" })
        driver.capture(device(of: "bert"))
        driver.drain()
        #expect(driver.outcome(of: town)?.isAccepted == true)
        for sent in driver.requests(of: "u-anna") { #expect(!sent.body.text.contains("Bert")) }
    }

    @Test func `does not send operations after a log-out under the former person's ids`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(.switchContact(ContactSwitch(.logOut)))
        let late = [
            driver.capture(.set("City", "Another person's town")), driver.capture(.event("Another person's event")),
        ]
        driver.drain()
        #expect(!driver.sent.contains { $0.body.text.contains("Another person") })
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(late.allSatisfy { driver.outcome(of: $0)?.isAccepted == true })
        for sent in driver.requests(of: "u-anna") { #expect(!sent.body.text.contains("Another person")) }
    }

    @Test(.shows("acoustic/I9")) func `rejects operations of a person who logs out before the ids arrive`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(.logIn("bert"))
        let his = driver.capture(.event("Bert's event"))
        logInWithIDs("anna", driver)
        driver.drain()
        #expect(summaries(driver, [his]) == ["rejected ids.person"])
        #expect(driver.pendingCount == 0)
    }

    @Test(.shows("acoustic/I9")) func `rejects an opt-in that another person's log-in overtakes`()
        throws
    {
        let driver = try Driver.make()
        driver.capture(device(of: "shared", allowsPush: false))
        driver.goOffline()
        let logIn = driver.capture(.logIn("anna"))
        driver.capture(.set("City", "Anna's town"))
        let optIn = driver.capture(.push(.subscribed))
        let second = driver.capture(.logIn("bert"))
        driver.goOnline()
        driver.drain()
        // The first log-in completed at once, because it needs no request.
        #expect(
            summaries(driver, [logIn, optIn, second]) == [
                "unchanged logIn.backEnd", "rejected person.left", "unchanged logIn.backEnd",
            ]
        )
        #expect(driver.reached.isEmpty)
    }

    @Test func `ids registered without a person are used for every person`() throws {
        let driver = try Driver.make()
        driver.capture(device(of: "shared"))
        for person in ["anna", "bert"] {
            driver.capture(.logIn(person))
            #expect(driver.deliver(.set("City", .string(person)))?.isAccepted == true)
        }
        #expect(driver.state.users.map(\.id) == ["u-shared"])
    }

    @Test func `does not write one person's tags for another person without a log-in`() throws {
        let driver = try Driver.make(["tagsColumn": "Tags"])
        driver.capture(device(of: "shared"))
        driver.contact = "anna"
        #expect(driver.deliver(.add("music"))?.isAccepted == true)
        driver.contact = "bert"
        #expect(driver.deliver(.add("sports"))?.isAccepted == true)
        #expect(driver.last?.body.text.contains("music") == false)
    }

    // MARK: Opt-outs

    @Test(.shows("acoustic/P7")) func `sends an opt-out at once and supersedes an earlier opt-in`() throws {
        let driver = try Driver.make()
        driver.capture(device(of: "shared"))
        driver.capture(.event("calm"))
        driver.capture(.set("City", "Turku"))
        let (optIn, optOut) = (driver.capture(.push(.subscribed)), driver.capture(.push(.unsubscribed)))
        #expect(driver.sent.map(\.request.words) == ["POST events application/uiPushDisabled"])
        #expect(summaries(driver, [optIn, optOut]) == ["superseded", "accepted event.taken"])
    }

    @Test func `an opt-out does not wait for a log-in that cannot proceed`() throws {
        let driver = try Driver(
            settings: Fixture.settings(["registration": "requested"]),
            account: ["columns": .object(Fixture.columns)]
        )
        driver.capture(.registerDevice(Corpus.phone))
        driver.respond = { $0.endpoint == .phoneHome ? .replied(WireResponse(503)) : nil }
        let logIn = driver.capture(.logIn("bert"))
        driver.advance(by: .seconds(2))
        let optOut = driver.capture(.push(.unsubscribed))
        driver.advance(by: .seconds(2))
        #expect(driver.outcome(of: logIn) == nil && driver.outcome(of: optOut)?.isAccepted == true)
        #expect(driver.reached.isEmpty)
    }

    @Test(.shows("acoustic/P7")) func `retries a failed opt-out before it uses the next person's ids`()
        throws
    {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.drain()
        driver.nextOutcomes = [.replied(WireResponse(500))]
        let optOut = driver.capture(.push(.unsubscribed))
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(driver.outcome(of: optOut)?.isAccepted == true && driver.reached == ["u-bert"])
    }

    @Test(.shows("acoustic/P8"), arguments: [true, false])
    func `reports push as disabled until the person consents, in any order of operations`(isDeviceFirst: Bool) throws {
        let driver = try Driver.make()
        driver.requiredConsent = [.messaging]
        driver.restart()
        if isDeviceFirst { driver.capture(.registerDevice(Corpus.phone)) }
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(driver.state.users.first?.mayPush == false && driver.pendingCount == 0)
    }

    @Test func `keeps an opt-out across other persons' log-ins and registrations`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(.push(.unsubscribed))
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(driver.reached == ["u-bert"])
        logInWithIDs("anna", driver)
        driver.drain()
        #expect(driver.reached.isEmpty)
        driver.deliver(.push(.subscribed))
        #expect(driver.reached == ["u-anna"])
    }

    @Test func `a registration does not report push as enabled while an opt-out is pending`() throws {
        let driver = try Driver(
            settings: Fixture.settings(["registration": "requested"]),
            account: ["columns": .object(Fixture.columns)]
        )
        driver.goOffline()
        driver.capture(.push(.unsubscribed))
        driver.capture(.registerDevice(Corpus.phone))
        driver.goOnline()
        driver.drain()
        #expect(driver.sent.compactMap { $0.body["pushEnabled"]?.bool }.contains(true) == false)
        #expect(driver.reached.isEmpty)
    }

    @Test(.shows("acoustic/L4")) func `an erasure reports push as disabled before the ids are forgotten`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.capture(device(of: "anna", allowsPush: false))
        driver.capture(device(of: "anna"))
        driver.drain()
        #expect(driver.reached == ["u-anna"])
        let erasure = driver.capture(.erase)
        driver.drain()
        #expect(summaries(driver, [erasure]) == ["accepted erase.backEnd"])
        #expect(driver.reached.isEmpty && driver.memory.ids == nil && driver.memory.person.isEmpty)
        logInWithIDs("anna", driver)
        driver.drain()
        #expect(driver.reached == ["u-anna"])
    }

    // MARK: Unregistration

    @Test(.shows("acoustic/L3")) func `unregisters with the last request, under the ids that the vendor knows`() throws
    {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.goOffline()
        driver.capture(.set("City", "Anna's town"))
        driver.capture(.logIn("bert"))
        let his = driver.capture(.set("City", "Bert's town"))
        let unregister = driver.capture(.unregister)
        driver.goOnline()
        driver.drain()
        #expect(driver.outcome(of: unregister)?.isAccepted == true)
        #expect(summaries(driver, [his]) == ["rejected ids.person"])
        #expect(driver.last?.request.words == "POST events application/uiPushDisabled")
        #expect(driver.last?.request.url.contains("/users/u-anna/") == true)
        #expect(driver.reached.isEmpty && driver.pendingCount == 0)
    }

    @Test(.shows("acoustic/L3")) func `repeats an unacknowledged registration without push before it unregisters`()
        throws
    {
        let driver = try Driver(
            settings: Fixture.settings(["registration": "requested"]),
            account: ["columns": .object(Fixture.columns)]
        )
        driver.processesReplacedRequests = true
        driver.nextOutcomes = [.failed(TransportFailure(.lost, "timedOut"))]
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.reached == ["user-1"])
        let unregister = driver.capture(.unregister)
        driver.drain()
        #expect(driver.reached.isEmpty)
        #expect(driver.outcome(of: unregister)?.isAccepted == true && driver.pendingCount == 0)
    }

    @Test(.shows("acoustic/I10")) func `replaces ids that the vendor no longer knows`() throws {
        let driver = try Driver.make()
        logInWithIDs("anna", driver)
        driver.respond = { $0.request.url.contains("/users/u-anna/") ? .replied(WireResponse(404)) : nil }
        logInWithIDs("bert", driver)
        driver.drain()
        #expect(driver.suspension == nil && driver.memory.ids == .init(user: "u-bert", channel: "c-bert"))
    }

    // MARK: Registration

    @Test(.shows("acoustic/I2"), arguments: ["not hex!", " ", "7c1", "7c1f 3ad0", "7c1f\u{E9}"])
    func `rejects a malformed push token at capture and keeps the former one`(_ token: String) throws {
        let driver = try Driver(
            settings: Fixture.settings(["registration": "requested"]),
            account: ["columns": .object(Fixture.columns)]
        )
        driver.capture(.registerDevice(Corpus.phone))
        let count = driver.sent.count
        var device = Corpus.phone
        device.pushToken = PushToken(token)
        #expect(driver.examine(.registerDevice(device)).map(\.code) == ["acoustic.device.token"])
        let id = driver.capture(.registerDevice(device))
        driver.drain()
        #expect(summaries(driver, [id]) == ["rejected device.token"] && driver.sent.count == count)
    }

    @Test func `accepts non-hexadecimal tokens of other services and upper-case hexadecimal`() throws {
        let driver = try Driver.make()
        for token in [PushToken("fcm:APA91bH-x_y", service: .fcm), PushToken("7C1F3AD09BE24C55")] {
            var device = Fixture.adopted
            device.pushToken = token
            #expect(driver.examine(.registerDevice(device)).isEmpty)
        }
    }

    // MARK: Denials

    @Test func `a denial clears only the data of its purpose, in any order`() throws {
        let driver = try Driver.make(["tagsColumn": "Tags"])
        logInWithIDs("anna", driver)
        driver.deliver(.set("City", "Turku"))
        driver.deliver(.add("music"))
        let memory = driver.memory
        for scope in [Consent.Scope.tracking, .messaging, Consent.Scope(.profile, channel: .email)] {
            #expect(memory.afterDenial(of: scope) == memory)
        }
        let denied = memory.afterDenial(of: .profile)
        #expect(denied.known.isEmpty && denied.tags.isEmpty && denied.ids == memory.ids)
        #expect(denied.reportedPush == memory.reportedPush)
        #expect(
            memory.afterDenial(of: .tracking).afterDenial(of: .profile)
                == memory.afterDenial(of: .profile).afterDenial(of: .tracking)
        )
    }

    // MARK: Changed settings

    @Test(.shows("acoustic/C1")) func `pending values that no longer fit the settings are rejected and kept`() throws {
        let driver = try Driver.make()
        driver.capture(device(of: "shared"))
        driver.goOffline()
        let both = driver.capture(.changeAttributes(["City": .set("Turku"), "IsVIP": .set(true)]))
        driver.advance(by: .seconds(5))
        var columns = Fixture.columns
        columns["IsVIP"] = nil
        try driver.restart(settings: Fixture.settings(["columns": .object(columns)]))
        driver.forgetHistory()
        driver.goOnline()
        let later = driver.capture(.set("City", "Oulu"))
        driver.drain()
        #expect(driver.sent.allSatisfy { !$0.body.text.contains("Turku") })
        #expect(driver.outcome(of: both)?.isAccepted != true && driver.outcome(of: later)?.isAccepted == true)
    }

    @Test func `sends all values if settings change between two requests of an operation`() throws {
        let driver = try Driver.make()
        driver.capture(device(of: "shared"))
        driver.nextOutcomes = [nil, .replied(WireResponse(503))]
        let id = driver.capture(.changeAttributes(["City": .set("Turku"), "IsVIP": .unset]), group: "screen")
        #expect(driver.outcome(of: id) == nil)
        // The attribute of the accepted part now belongs to another column.
        try driver.restart(settings: Fixture.settings(["attributeNames": ["City": "FavouriteColour"]]))
        driver.drain()
        #expect(driver.outcome(of: id)?.isAccepted == true)
        #expect(driver.state.users.first?.finalRow["FavouriteColour"] == "Turku")
    }

    @Test(.shows("acoustic/G2")) func `the outcome names the values that sendValid omitted`() throws {
        let driver = try Driver.make(["onInvalid": "sendValid"])
        driver.capture(device(of: "shared"))
        let outcome = driver.deliver(.changeAttributes(["City": .set("Turku"), "IsVIP": .set("perhaps")]))
        #expect(outcome?.summary == "accepted acoustic.update.incomplete")
        #expect(outcome?.finding?.reason.contains("IsVIP") == true)
    }
}

/// Exact comparison of values and names, as the vendor compares them.
@Suite("Acoustic exact values") struct ExactValueTests {
    private func codes(_ value: AttributeValue, in column: JSONValue) throws -> [String] {
        let adapter = try Driver.adapter(
            Fixture.settings(["columns": ["Column": column], "attributeNames": [:]])
        )
        let operation = try TestDriver().operation(.changeAttributes(["Column": .set(value)]))
        return adapter.examine(operation).map { String($0.code.dropFirst("acoustic.".count)) }
    }

    @Test(.shows("acoustic/C1", "acoustic/C8", "acoustic/C7")) func `names and values are compared by Unicode scalars`()
        throws
    {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        let values: JSONValue = ["type": "selection", "values": [.string(composed)]]
        #expect(try codes(.string(composed), in: values) == [])
        #expect(try codes(.string(decomposed), in: values) == ["selection.value"])
        let several: JSONValue = ["type": "multiSelection", "values": [.string(composed)]]
        #expect(try codes(.choices([decomposed]), in: several) == ["choices.value"])
        let driver = try TestDriver(["columns": [composed: ["type": "text"]], "attributeNames": [:]])
        #expect(driver.words(.set(AttributeName(rawValue: composed), "x")) == [])
        #expect(driver.words(.set(AttributeName(rawValue: decomposed), "x")) == ["error column.spelling"])
    }

    @Test(.shows("acoustic/K1")) func `stores expected values by the exact column name`() throws {
        let driver = try AdapterTestDriver<AcousticDevice, AcousticSimulator>(
            settings: Fixture.settings(["columns": [:], "attributeNames": [:]]),
            account: ["knowsEveryUser": true]
        )
        driver.capture(.registerDevice(Fixture.adopted))
        for name in ["Caf\u{E9}", "Cafe\u{301}"] {
            #expect(driver.deliver(.set(AttributeName(rawValue: name), "x"))?.isAccepted == true)
        }
        #expect(driver.deliver(.set("Cafe\u{301}", "x"))?.isUnchanged == true)
    }

    @Test(
        .shows("acoustic/C3"),
        arguments: ["\u{DF}", "\u{131}t", "DEU", "d", "\u{FF24}\u{FF25}", "\u{FB01}", "xx", "d3"]
    )
    func `accepts only two-letter ASCII country codes`(_ text: String) throws {
        #expect(try codes(.string(text), in: ["type": "country"]) == ["value.country"])
    }

    @Test(.shows("acoustic/C9"), arguments: [("40.0", "40"), ("-0.0", "0"), ("1e2", "100"), ("40.50", "40.50")])
    func `writes whole numbers without a decimal point`(_ text: String, _ written: String) throws {
        let decimal = try #require(ExactDecimal(text: text))
        let encoded = try Form.number(.decimal(decimal), Column(type: .numeric)).get()
        #expect(encoded.value.value.text == written)
        let outcome = ServerForm.text(.decimal(decimal), Column(type: .numeric), AcousticServerSettings())
        #expect(try outcome.get() == written)
    }

    @Test(
        arguments: [
            "10:30:+5", "10:30:-1", "10:30: 5", "10:30:60", "10:30:5", "1:30:05", "10:30:\u{661}\u{662}", "10:30:05:",
        ]
    )
    func `rejects malformed times`(_ text: String) throws {
        #expect(try codes(.string(text), in: ["type": "time"]) == ["value.type"])
    }

    @Test(.shows("acoustic/C16"), arguments: ["0401234567", "00358401234567", "+0401234567", "358", "35840 1234567"])
    func `both APIs require a country code in SMS numbers`(_ text: String) throws {
        #expect(try codes(.string(text), in: ["type": "smsPhoneNumber"]) == ["value.phone"])
        let outcome = ServerForm.text(.string(text), Column(type: .smsPhoneNumber), AcousticServerSettings())
        let problem = #expect(throws: ServerProblem.self) { try outcome.get() }
        #expect(problem?.row == ServerFinding.valuePhone)
    }

    @Test func `the server API removes the plus sign from an SMS number`() throws {
        let outcome = ServerForm.text(.string("+358401234567"), Column(type: .smsPhoneNumber), AcousticServerSettings())
        #expect(try outcome.get() == "358401234567")
    }
}
