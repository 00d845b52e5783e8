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

@Suite("Acoustic server reading") struct ServerReadingTests {
    @Test(.shows("acoustic/S54"))
    func `reads the contact of a device by its channel`() throws {
        let driver = try ServerDriver()
        let device: JSONObject = ["channel": "push.device", "userId": "mu-7", "channelId": "ch-9"]
        let request = ReadRequest("channelContact", arguments: device)
        try driver.say("c-1", .changeAttributes(["city": .set("Turku")]))
        try driver.say("c-1", .identify([Identifier(.email, "a@example.com")]))
        try driver.advance(5)
        // No contact has that device yet. Other operations continue.
        #expect(try driver.ask("c-1", request, seconds: 5)?.finding?.code == "acoustic.server.contact.unknown")
        #expect(try driver.suspended == nil)
        try driver.say(
            "c-1",
            .changeSubscription(Subscription(channel: .push, topic: "device", state: .subscribed)),
            ["userId": "mu-7", "channelId": "ch-9"]
        )
        try driver.advance(5)
        let answer = try driver.ask("another", request, seconds: 5)?.answer
        #expect(
            answer == [
                "email": "a@example.com", "emailType": "HTML", "columns": ["City": "Turku", "EMAIL": "a@example.com"],
            ]
        )
        #expect(
            driver.sent("channelContact")[0].request.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/databases/771100/contactbychannel/PUSH-gcb4hVDsXq/mu-7%7Cch-9"
        )
        driver.instead = [("channelContact", .json(200, ["data": []])), ("channelContact", .status(503))]
        #expect(try driver.ask("c-1", request, seconds: 60)?.answer == answer)
        let bad: [(JSONObject, String)] = [
            (["channel": "sms.alerts"], "consent.unnamed"), (["channel": "push"], "consent.unnamed"),
            (["userId": "mu|7"], "question"), (["userId": ""], "question"), (["phone": "358401234567"], "question"),
        ]
        for (change, code) in bad {
            let codes = driver.codes(.readBack(ReadRequest("channelContact", arguments: device.with(change))))
            #expect(codes == [code])
        }
    }

    @Test(.shows("acoustic/S58"))
    func `reads the database columns and compares them with the settings`() throws {
        let settings: JSONObject = [
            "columns": [
                "MemberNo": ["type": "text"], "City": ["type": "text"], "Visits": ["type": "text"],
                "Tier": ["type": "selection", "values": ["silver", "gold", "iron"]], "Email": ["type": "email"],
            ],
            "attributeNames": [:], "identifierColumns": [:], "tagColumns": [:], "subscriptionColumns": [:],
        ]
        let driver = try ServerDriver(settings)
        func column(_ name: String, _ code: String, _ more: String = "") -> String {
            "<COLUMN><NAME>\(name)</NAME><TYPE>\(code)</TYPE>\(more)</COLUMN>"
        }
        let listed = ServerFixture.success(
            "<NAME>Customers</NAME><COLUMNS>" + column("MemberNo", "0") + column("EMAIL", "7") + column("City", "0")
                + column("Visits", "2") + column("Odd", "12")
                + column("Tier", "6", "<SELECTION_VALUES><VALUE>silver</VALUE><VALUE>gold</VALUE></SELECTION_VALUES>")
                + column("Email", "7") + "</COLUMNS><KEY_COLUMNS><COLUMN><NAME>MemberNo</NAME></COLUMN></KEY_COLUMNS>"
        )
        driver.instead = [("listMetaData", .replied(listed))]
        let read = try driver.ask("c-1", ReadRequest("columns"), seconds: 5)
        #expect(read?.finding?.code == "acoustic.server.columns.differ")
        #expect(read?.answer?["columns"]?["MemberNo"] == ["type": "text", "code": "0", "isKey": true])
        #expect(read?.answer?["columns"]?["Tier"] == ["type": "selection", "code": "6", "values": ["silver", "gold"]])
        #expect(read?.answer?["columns"]?["Odd"] == ["code": "12"])
        #expect(
            read?.answer?["differences"] == [
                ["column": "Tier", "what": "values"], ["column": "Visits", "what": "type"],
            ]
        )
        #expect(
            driver.body(driver.sent("listMetaData")[0])
                == "<Envelope><Body><GetListMetaData><LIST_ID>771100</LIST_ID></GetListMetaData></Body></Envelope>"
        )
        // The simulated account lists the columns of its settings.
        let plain = try ServerDriver(
            settings.with(["columns": [:], "emailColumn": "EMAIL"]),
            vendor: ["columns": ["City", "EMAIL"]]
        )
        let fits = try plain.ask("c-1", ReadRequest("columns"), seconds: 5)
        #expect(fits?.finding?.code == "acoustic.server.columns.fit")
        #expect(fits?.answer?["differences"] == [])
        let named = try ServerDriver(
            settings.with(["columns": [:], "attributeNames": ["city": "city"]]),
            vendor: ["columns": ["City", "EMAIL"]]
        )
        #expect(
            try named.ask("c-1", ReadRequest("columns"), seconds: 5)?.answer?["differences"]
                == [["column": "city", "what": "missing"]]
        )
        driver.instead = [("listMetaData", .replied(ServerFixture.success("<COLUMNS/>"))), ("listMetaData", .lost)]
        #expect(try driver.ask("c-1", ReadRequest("columns"), seconds: 60)?.answer != nil)
        #expect(driver.codes(.readBack(ReadRequest("columns", arguments: ["list": "7"]))) == ["question"])
    }

    @Test(.shows("acoustic/S59"))
    func `queries all data of a person with a job`() throws {
        let driver = try ServerDriver(["pollSeconds": 5])
        try driver.say("c,1", ServerDriver.set("city", "Turku"))
        try driver.advance(5)
        let answer = try driver.ask("c,1", ReadRequest("access"), seconds: 30)
        #expect(answer?.term == .accepted)
        #expect(answer?.answer?["databaseId"] == 771_100)
        #expect(answer?.answer?["contacts"]?[0]?["contactFound"] == true)
        #expect(
            answer?.answer?["contacts"]?[0]?["data"]?["attributes"] == [["name": "City", "value": "Turku"]]
        )
        let sent = driver.sent("gdprAccess")[0].request
        #expect(sent.url == "https://api-campaign-eu-1.goacoustic.com/rest/databases/771100/gdpr_access")
        #expect(sent[header: "Content-Type"] == "text/csv")
        #expect(String(decoding: sent.body, as: UTF8.self) == "MemberNo,\"c,1\"\n")
        #expect(driver.sent("gdprStatus").count == 4)
        #expect(driver.account.contacts.count == 1, "nothing is erased")
        let unknown = try driver.ask("c-2", ReadRequest("access"), seconds: 30)
        #expect(unknown?.answer?["contacts"]?[0]?["contactFound"] == false)
        driver.instead = [("gdprAccess", .lost), ("gdprStatus", .status(404)), ("gdprStatus", .status(503))]
        #expect(try driver.ask("c,1", ReadRequest("access"), seconds: 120)?.term == .accepted)
        driver.instead = [("gdprStatus", .json(200, ["data": ["status": "ERROR"]]))]
        let refused = try driver.ask("c,1", ReadRequest("access"), seconds: 30)
        #expect(refused?.finding?.code == "acoustic.server.job.refused")
        driver.instead = (1...3).map { _ in ("gdprStatus", .status(404)) }
        let lost = try driver.ask("c,1", ReadRequest("access"), seconds: 300)
        #expect(lost?.finding?.code == "acoustic.server.job.lost")
        #expect(driver.codes(.readBack(ReadRequest("access", arguments: ["email": "a@example.com"]))) == ["question"])
    }

    @Test(.shows("acoustic/S63"), arguments: ["export", "access", "import"])
    func `returns the job number if a job exceeds the default timeout`(_ name: String) throws {
        let arguments: JSONObject = name == "import" ? ["mapFile": "m.xml", "sourceFile": "s.csv"] : [:]
        for (jobTime, state) in [(20_000, nil), (40_000, "RUNNING")] as [(Int, JSONValue?)] {
            let driver = try ServerDriver(vendor: ["jobTime": .integer(jobTime)])
            let query = driver.operation("c-1", .readBack(ReadRequest(name, arguments: arguments)))
            try driver.world.read(query, from: "vendor", timeout: .seconds(30))
            try driver.advance(30)
            let outcome = try #require(driver.outcome(query.id))
            #expect(outcome.term == .accepted)
            guard let state else {
                #expect(outcome.finding?.code != "acoustic.server.job.running")
                continue
            }
            let job = try #require(outcome.answer?["id"]?.string)
            #expect(outcome.answer?["state"] == state)
            #expect(outcome.finding?.code == "acoustic.server.job.running")
            #expect(outcome.finding?.reason.contains("job \(job)") == true)
            // A query with the job number returns the result.
            let later = ReadRequest(
                name == "access" ? "access" : "job",
                arguments: [name == "access" ? "job" : "id": .string(job)]
            )
            try driver.advance(20)
            #expect(try driver.ask("c-1", later, seconds: 5)?.finding?.code != "acoustic.server.job.running")
        }
    }

    @Test(.shows("acoustic/S63"), arguments: ["export", "access", "import"])
    func `returns the job number if the queries for its state fail`(_ name: String) throws {
        let arguments: JSONObject = name == "import" ? ["mapFile": "m.xml", "sourceFile": "s.csv"] : [:]
        let status = name == "access" ? "gdprStatus" : "jobStatus"
        let failures: [Outcome] = [
            .status(503), .status(429, WireHeader("Retry-After", "300")), .lost, .fault(50),
            .replied(WireResponse(200)),
        ]
        for failure in failures {
            let driver = try ServerDriver()
            driver.instead = (1...20).map { _ in (status, failure) }
            let query = driver.operation("c-1", .readBack(ReadRequest(name, arguments: arguments)))
            try driver.world.read(query, from: "vendor", timeout: .seconds(30))
            try driver.advance(29)
            let outcome = try #require(driver.outcome(query.id))
            #expect(outcome.term == .accepted)
            #expect(outcome.finding?.code == "acoustic.server.job.running")
            #expect(outcome.answer?["id"] == "4471")
            #expect(outcome.answer?["state"] == "RUNNING")
        }
        // The query continues after one failure.
        let driver = try ServerDriver(vendor: ["jobTime": 5000])
        driver.instead = [(status, .status(503))]
        let query = driver.operation("c-1", .readBack(ReadRequest(name, arguments: arguments)))
        try driver.world.read(query, from: "vendor", timeout: .seconds(30))
        try driver.advance(29)
        let outcome = try #require(driver.outcome(query.id))
        #expect(outcome.term == .accepted && outcome.finding?.code != "acoustic.server.job.running")
    }

    @Test(.shows("acoustic/S60"))
    func `exports contacts to a file with a job and queries it until it ends`() throws {
        let driver = try ServerDriver(["pollSeconds": 5])
        let request = ReadRequest(
            "export",
            arguments: [
                "type": "optIn", "format": "tab", "encoding": "ISO-8859-1", "start": "2031-03-01T00:00:00Z",
                "end": "2031-03-09T02:00:00+02:00", "columns": ["MemberNo", "City & more"],
            ]
        )
        let whole = try driver.ask("c-1", request, seconds: 30)
        #expect(whole?.term == .accepted)
        #expect(whole?.finding?.code == "acoustic.server.export.complete")
        #expect(whole?.answer?["file"] == "/download/export-4471.TAB")
        #expect(whole?.answer?["state"] == "COMPLETE")
        #expect(driver.sent("jobStatus").count == 4)
        #expect(
            driver.body(driver.sent("exportList")[0])
                == "<Envelope><Body><ExportList><LIST_ID>771100</LIST_ID><EXPORT_TYPE>OPT_IN</EXPORT_TYPE>"
                + "<EXPORT_FORMAT>TAB</EXPORT_FORMAT><FILE_ENCODING>iso-8859-1</FILE_ENCODING>"
                + "<DATE_START>03/01/2031 00:00:00</DATE_START><DATE_END>03/09/2031 00:00:00</DATE_END>"
                + "<LIST_DATE_FORMAT>MM/dd/yyyy</LIST_DATE_FORMAT><EXPORT_COLUMNS><COLUMN>MemberNo</COLUMN>"
                + "<COLUMN>City &amp; more</COLUMN></EXPORT_COLUMNS></ExportList></Body></Envelope>"
        )
        let plain = try driver.ask("c-1", ReadRequest("export"), seconds: 30)
        #expect(plain?.answer?["file"] == "/download/export-4472.CSV")
        #expect(
            driver.body(driver.sent("exportList")[1]).contains(
                "<EXPORT_TYPE>ALL</EXPORT_TYPE><EXPORT_FORMAT>CSV</EXPORT_FORMAT><FILE_ENCODING>utf-8</FILE_ENCODING><LIST"
            )
        )
        // A second export file does no harm, so a lost export is requested again.
        driver.instead = [("exportList", .lost)]
        #expect(try driver.ask("c-1", ReadRequest("export"), seconds: 60)?.term == .accepted)
        driver.instead = [("exportList", .replied(ServerFixture.success()))]
        let unnamed = try driver.ask("c-1", ReadRequest("export"), seconds: 30)
        #expect(unnamed?.finding?.code == "acoustic.server.export.unnamed")
        let failed = ServerFixture.success("<JOB_ID>4471</JOB_ID><JOB_STATUS>CANCELED</JOB_STATUS>")
        driver.instead = [("jobStatus", .replied(failed))]
        let cancelled = try driver.ask("c-1", ReadRequest("export"), seconds: 30)
        #expect(cancelled?.finding?.code == "acoustic.server.job.refused")
        let bad: [JSONObject] = [
            ["type": "some"], ["format": "xlsx"], ["encoding": "EBCDIC"], ["start": "yesterday"], ["columns": "City"],
            ["columns": []], ["columns": [7]], ["columns": ["a\u{0}"]], ["list": "7"],
        ]
        for arguments in bad {
            #expect(driver.codes(.readBack(ReadRequest("export", arguments: arguments))) == ["question"])
        }
    }

    @Test(.shows("acoustic/S61"))
    func `lists events that the vendor accepted and then rejected`() throws {
        let driver = try ServerDriver(vendor: ["lateRefusals": ["late"]])
        try driver.say("c-1", ServerDriver.set("city", "Turku"))
        try driver.say("c-1", ServerDriver.event("late"))
        try driver.say("c-1", ServerDriver.event("good"))
        try driver.advance(10)
        let answer = try driver.ask("c-1", ReadRequest("eventErrors"), seconds: 5)?.answer
        #expect(answer?.array?.count == 1)
        #expect(answer?[0]?["attributes"]?[0]?["value"] == "late")
        #expect(
            driver.sent("eventErrors")[0].request.url == "https://api-campaign-eu-1.goacoustic.com/rest/events/errors"
        )
        let filtered = ReadRequest("eventErrors", arguments: ["filter": "eventTypeCode eq 17 & more"])
        #expect(try driver.ask("c-1", filtered, seconds: 5)?.answer?.array?.count == 1)
        #expect(
            driver.sent("eventErrors")[1].request.url
                == "https://api-campaign-eu-1.goacoustic.com/rest/events/errors?filter=eventTypeCode%20eq%2017%20%26%20more"
        )
        // A reply of another shape is returned unchanged. A missing path blocks no other operation.
        driver.instead = [("eventErrors", .json(200, ["errors": [1]]))]
        #expect(try driver.ask("c-1", ReadRequest("eventErrors"), seconds: 5)?.answer == ["errors": [1]])
        driver.instead = [("eventErrors", .status(404))]
        let nowhere = try driver.ask("c-1", ReadRequest("eventErrors"), seconds: 5)
        #expect(nowhere?.finding?.code == "acoustic.server.events.nowhere")
        #expect(try driver.suspended == nil)
        let elsewhere = try ServerDriver(["eventErrorsPath": "/rest/v2/errors"])
        #expect(try elsewhere.ask("c-1", ReadRequest("eventErrors"), seconds: 5)?.finding != nil)
        #expect(elsewhere.sent("eventErrors")[0].request.url.hasSuffix("goacoustic.com/rest/v2/errors"))
        #expect(throws: SettingsError.self) { try ServerFixture.adapter(["eventErrorsPath": "https://x.example/"]) }
        #expect(driver.codes(.readBack(ReadRequest("eventErrors", arguments: ["page": "2"]))) == ["question"])
    }
}
