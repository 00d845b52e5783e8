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

@Suite("Acoustic server contact lists") struct ServerListTests {
    private static func tags(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(add: tags)) }

    private func digest(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .email, topic: "digest", state: state))
    }

    @Test(.shows("acoustic/S55"))
    func `adds a contact to the lists of its tags one by one after writing its row`() throws {
        let driver = try ServerDriver(["lanes": 1])
        let operations = [
            driver.operation("c-1", Self.tags("reader", "sports", "beginner")),
            driver.operation("c-1", ServerDriver.set("city", "Turku")),
        ]
        try driver.world.capture(operations)
        try driver.advance(10)
        #expect(driver.endpoints == ["token", "addRecipient", "addToList", "addToList"])
        #expect(operations.map { driver.outcome($0.id)?.term } == [.accepted, .accepted])
        #expect(driver.columns("c-1") == ["City": "Turku", "IsSports": "Yes"])
        #expect(driver.account.lists == ["880022": ["c-1"], "880023": ["c-1"]])
        #expect(
            driver.body(driver.sent("addToList")[0])
                == "<Envelope><Body><AddContactToContactList><CONTACT_LIST_ID>880022</CONTACT_LIST_ID><COLUMN>"
                + "<NAME>MemberNo</NAME><VALUE>c-1</VALUE></COLUMN></AddContactToContactList></Body></Envelope>"
        )
        // The vendor's number takes precedence over columns, and existing membership stays.
        let numbered = try driver.say("c-1", digest(.subscribed), ["contactId": "881200001"])
        try driver.say("c-1", Self.tags("reader"))
        try driver.advance(10)
        #expect(driver.outcome(numbered)?.term == .accepted)
        #expect(
            driver.body(driver.sent("addToList")[2]).contains(
                "<CONTACT_LIST_ID>880024</CONTACT_LIST_ID><CONTACT_ID>881200001</CONTACT_ID></AddContact"
            )
        )
        driver.instead = [("addToList", .fault(1018))]
        let member = try driver.say("c-1", Self.tags("reader", "beginner"))
        try driver.advance(10)
        #expect(driver.outcome(member)?.term == .accepted)
        #expect(driver.sent("addToList").count == 6)
    }

    @Test(.shows("acoustic/S55"))
    func `adds an unknown contact before it joins a list, unless an option forbids it`() throws {
        let driver = try ServerDriver()
        let added = try driver.say("c-1", Self.tags("reader"))
        let strict = try driver.say("c-2", Self.tags("reader"), ["unknownContacts": "refuse"])
        try driver.advance(10)
        #expect(driver.outcome(added)?.term == .accepted)
        #expect(driver.columns("c-1") == [:])
        #expect(driver.account.lists == ["880023": ["c-1"]])
        #expect(driver.outcome(strict)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(driver.outcome(strict)?.finding?.vendor?.code == "128")
        #expect(driver.sent("addRecipient").count == 1)
        // A contact that an unknown number names is not added under its key.
        let wrong = try driver.say("c-3", Self.tags("reader"), ["contactId": "7"])
        try driver.advance(10)
        #expect(driver.outcome(wrong)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(driver.columns("c-3") == nil)
        // The operation is also rejected if the vendor does not find an existing contact.
        driver.instead = [("addToList", .fault(128)), ("addToList", .fault(128))]
        let lost = try driver.say("c-1", Self.tags("reader"))
        try driver.advance(60)
        #expect(driver.outcome(lost)?.finding?.code == "acoustic.server.contact.unknown")
    }

    @Test(.shows("acoustic/S55"))
    func `repeats a list membership after an unclear reply or a crash`() throws {
        let driver = try ServerDriver()
        driver.instead = [("addToList", .lost), ("addToList", .died), ("addToList", .fault(50))]
        let id = try driver.say("c-1", Self.tags("reader", "beginner", "sports"))
        try driver.advance(120)
        #expect(driver.outcome(id)?.term == .accepted)
        #expect(driver.sent("addRecipient").count == 1)
        #expect(driver.account.lists == ["880022": ["c-1"], "880023": ["c-1"]])
    }

    @Test(.shows("acoustic/S13", "acoustic/S55"))
    func `suspends the provider if the account does not know a list`() throws {
        let driver = try ServerDriver(vendor: ["lists": ["880022"]])
        let id = try driver.say("c-1", Self.tags("reader"))
        try driver.advance(10)
        #expect(try driver.suspended?.code == "acoustic.server.list.unknown")
        #expect(driver.outcome(id) == nil)
    }

    @Test(.shows("acoustic/S56"))
    func `rejects a removal from a list and warns if a replacement keeps members`() throws {
        let driver = try ServerDriver()
        #expect(driver.codes(.changeTags(TagChange(remove: ["reader"]))) == ["list.left"])
        #expect(driver.codes(.changeTags(TagChange(add: ["sports"], remove: ["reader"]))) == ["list.left"])
        #expect(driver.codes(digest(.unsubscribed)) == ["list.left"])
        #expect(driver.codes(digest(.suspended)) == ["list.left"])
        #expect(driver.codes(digest(.unknown)) == ["subscription.unknown"])
        #expect(driver.codes(.changeTags(TagChange(replace: ["reader"]))) == ["list.stays"])
        #expect(driver.codes(.changeTags(TagChange(replace: ["reader", "beginner"]))) == [])
        let id = try driver.say("c-1", .changeTags(TagChange(replace: ["sports", "reader"])))
        try driver.advance(10)
        #expect(driver.outcome(id)?.term == .accepted)
        #expect(driver.account.lists == ["880023": ["c-1"]])
        #expect(driver.columns("c-1")?["IsSports"] == "Yes" && driver.columns("c-1")?["IsGold"] == "No")
        let lenient = try ServerDriver(["onInvalid": "sendValid"])
        let rest = try lenient.say("c-1", .changeTags(TagChange(add: ["beginner"], remove: ["reader"])))
        try lenient.advance(10)
        #expect(lenient.outcome(rest)?.term == .accepted)
        #expect(lenient.account.lists == ["880022": ["c-1"]])
    }

    @Test(.shows("acoustic/S55"))
    func `reads list memberships as tags and topics`() throws {
        let driver = try ServerDriver()
        let operations = [
            driver.operation("c-1", Self.tags("reader", "sports")), driver.operation("c-1", digest(.subscribed)),
        ]
        try driver.world.capture(operations)
        try driver.advance(10)
        let answer = try #require(try driver.ask("c-1", ReadRequest("contact"), seconds: 5)?.answer)
        let contact = try #require(driver.adapter.contacts(in: answer, to: .keys(["c-1"])).contacts.first?.contact)
        #expect(contact.tags == ["reader", "sports"])
        #expect(contact.subscriptions == [Subscription(channel: .email, topic: "digest", state: .subscribed)])
        #expect(driver.adapter.image(of: operations) == contact)
    }

    @Test(.shows("acoustic/S57"))
    func `creates a list once, even if its delivery is uncertain`() throws {
        let driver = try ServerDriver()
        func make(_ more: JSONObject = [:]) -> ReadRequest {
            ReadRequest("createContactList", arguments: JSONObject([("name", "Readers & more")]).with(more))
        }
        let made = try driver.ask("c-1", make(["visibility": "shared", "folder": "Shared/Lists"]), seconds: 5)
        #expect(made?.answer == ["contactListId": "880101"])
        #expect(
            driver.body(driver.sent("createList")[0])
                == "<Envelope><Body><CreateContactList><DATABASE_ID>771100</DATABASE_ID><CONTACT_LIST_NAME>Readers &amp; "
                + "more</CONTACT_LIST_NAME><VISIBILITY>1</VISIBILITY><PARENT_FOLDER_PATH>Shared/Lists</PARENT_FOLDER_PATH>"
                + "</CreateContactList></Body></Envelope>"
        )
        #expect(try driver.ask("c-1", make(), seconds: 5)?.answer == ["contactListId": "880102"])
        #expect(driver.body(driver.sent("createList")[1]).contains("<VISIBILITY>0</VISIBILITY></CreateContactList>"))
        for uncertainty in [Outcome.lost, .replied(ServerFixture.success()), .replied(WireResponse(200))] {
            driver.instead = [("createList", uncertainty)]
            #expect(try driver.ask("c-1", make(), seconds: 60)?.finding?.code == "acoustic.server.list.uncertain")
        }
        #expect(driver.account.madeLists.count == 2)
        #expect(driver.codes(.readBack(make(["visibility": "secret"]))) == ["question"])
        #expect(driver.codes(.readBack(ReadRequest("createContactList"))) == ["question"])
    }

    @Test(.shows("acoustic/S55", "acoustic/S56"))
    func `reports all invalid list settings`() throws {
        let error = #expect(throws: SettingsError.self) {
            try ServerFixture.adapter([
                "tagLists": ["sports": "1", "vip": "x", "reader": "1"],
                "subscriptionLists": ["email": "2", "email.weekly_offers": "3", "sms.alerts": "4"],
            ])
        }
        #expect(
            error?.findings.map { "\($0.code.dropFirst("acoustic.server.".count)) \($0.path)" } == [
                "list.elsewhere settings.tagLists.sports", "list.twice settings.tagLists.sports",
                "list.number settings.tagLists.vip", "list.topic settings.subscriptionLists.email",
                "list.elsewhere settings.subscriptionLists.email.weekly_offers",
                "list.elsewhere settings.subscriptionLists.sms.alerts",
            ]
        )
    }
}
