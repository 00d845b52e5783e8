import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic
@testable import PatchbayAcousticFiles

@Suite("Acoustic map files") struct MapFileTests {
    private static let format = RecordFormat.acousticContacts

    private func settings(_ map: String, _ given: JSONObject = [:]) throws -> JSONObject {
        try #require(Self.format.sidecar).settings(Array(map.utf8), given)
    }

    private func read(_ bytes: [UInt8], _ settings: JSONObject) throws -> [SourceRecord] {
        guard var reader = try Self.format.makeReader?(settings) else { throw CancellationError() }
        var records: [SourceRecord] = []
        try reader.read(bytes) { records.append($0) }
        try reader.finish { records.append($0) }
        return records
    }

    private func problems(_ map: String, _ given: JSONObject = [:]) -> [String] {
        let error = #expect(throws: SettingsError.self) { try settings(map, given) }
        return (error?.findings ?? []).map { finding in
            let place = finding.reason.firstRange(of: "line ").map {
                finding.reason[$0.upperBound...].prefix { $0.isNumber }
            }
            return [finding.code, finding.path, place.map(String.init) ?? ""].joined(separator: " ")
        }
    }

    /// Returns a map file with these columns, one per line, starting at line 8.
    private func map(
        _ columns: [String],
        action: String = "ADD_ONLY",
        type: String = "2",
        info: String = "",
        more: String = ""
    ) -> String {
        """
        <?xml version="1.0"?>
        <LIST_IMPORT>
        <LIST_INFO>\(info)
          <ACTION>\(action)</ACTION>
          <FILE_TYPE>\(type)</FILE_TYPE>
        </LIST_INFO>
        <MAPPING>
        \(columns.map { "<COLUMN>\($0)</COLUMN>" }.joined(separator: "\n"))
        </MAPPING>
        \(more)</LIST_IMPORT>
        """
    }

    private func column(_ place: Int, _ name: String, _ more: String = "") -> String {
        "<INDEX>\(place)</INDEX><NAME>\(name)</NAME>\(more)"
    }

    // MARK: Reading written files

    private static let names = ["Läufer & <Co>", "Tier \"A\"", "Points", "Seen at", "Labels", "City 2", "Wünsche]]>"]

    /// Returns settings for writing a file; each number gives another combination.
    private static func settings(_ number: Int) -> JSONObject {
        var places: [(String, JSONValue)] = []
        for (place, name) in names.enumerated() where number >> place & 1 == 1 {
            places.append((name, .string("attribute:own_\((place + number) % 7)")))
        }
        if number % 3 == 0 { places.reverse() }
        var settings: JSONObject = [
            "listId": "771100", "withoutOptIn": "warn", "columns": .object(JSONObject(places)),
        ]
        settings["delimiter"] = [.string("bar"), .string("tab"), .string("comma")][number % 3]
        settings["quoted"] = .bool(number % 2 == 0)
        settings["encoding"] = number % 5 == 0 ? "iso-8859-1" : "utf-8"
        if number % 4 == 1 { settings["textToJoinProgramId"] = "5501" }
        if number % 4 == 2 { settings["syncFields"] = ["Email", "CustomerId"] }
        if number % 4 == 3 { settings["key"] = "email" }
        if number % 7 == 2 { settings["action"] = "OPT_OUT" }
        return settings
    }

    private func write(_ settings: JSONObject) throws -> [UInt8] {
        guard var writer = try Self.format.makeWriter?(settings) else { throw CancellationError() }
        var bytes = writer.header()
        for (_, contact) in Corpus.contacts { _ = writer.write(contact, to: &bytes) }
        return bytes
    }

    @Test(.shows("acoustic/F11"))
    func `reads a written map file back, and its data file like one with a header`() throws {
        var rows = 0
        for step in 0..<24 {
            let number = step * 11 % 128
            var written = Self.settings(number)
            let columns = try ContactFileSettings.read(written).contactFile.writtenColumns.map(\.name)
            let plain = try write(written)
            let map = try #require(Self.format.makeSidecars?(written).first?.bytes)
            // Settings that a map file does not contain.
            var given = written
            for name in ["delimiter", "textToJoinProgramId", "action"] { given[name] = nil }
            if number % 4 == 3 { given["key"] = nil }
            let loaded = try #require(Self.format.sidecar).settings(map, given)
            #expect(loaded["header"] == .array(columns.map(JSONValue.string)))
            #expect(loaded["skipHeader"] == true)
            for name in ["delimiter", "textToJoinProgramId", "encoding"] { #expect(loaded[name] == written[name]) }
            #expect(ContactFileSettings.Action.optOut.rawValue == "OPT_OUT" && loaded["action"] == written["action"])
            let expected = try read(plain, written)
            let mapped = try read(plain, loaded)
            #expect(mapped.map(\.contact) == expected.map(\.contact))
            #expect(mapped.map(\.findings).count == expected.map(\.findings).count)

            written["header"] = .array(columns.map(JSONValue.string))
            let bare = try write(written)
            let bareMap = try #require(Self.format.makeSidecars?(written).first?.bytes)
            let second = try #require(Self.format.sidecar).settings(bareMap, given)
            #expect(second["skipHeader"] == false && plain.suffix(bare.count) == bare[...] && plain.count > bare.count)
            let headless = try read(bare, second)
            #expect(headless.map(\.contact) == expected.map(\.contact))
            rows += headless.count
        }
        #expect(rows > 100)
    }

    // MARK: Map files of other tools

    @Test(.shows("acoustic/F3", "acoustic/F11"))
    func `names columns by their index, regardless of the header line`() throws {
        let map = map(
            [
                column(2, "MemberNo"), column(1, " City "), column(3, "Notes", "<INCLUDE>false</INCLUDE>"),
                "<INDEX>4</INDEX><INCLUDE>FALSE</INCLUDE>",
            ],
            type: "1",
            info: "<HASHEADERS>TRUE</HASHEADERS>",
            more: "<SYNC_FIELDS><SYNC_FIELD><NAME>memberno</NAME></SYNC_FIELD></SYNC_FIELDS>"
        )
        let settings = try settings(map)
        #expect(settings["header"] == ["City", "MemberNo", "Notes", "column 4"])
        let records = try read(Array("MemberNo\tCity\tx\ty\nOulu\tc-1\tn\tz\n".utf8), settings)
        #expect(
            records.map(\.contact) == [
                Contact(identifiers: [Identifier(.external, "c-1")], attributes: [.city: "Oulu"])
            ]
        )
        #expect(records[0].findings.filter { $0.severity == .warning }.map(\.code) == ["acoustic.file.headerOther"])
        let narrow = #expect(throws: SettingsError.self) {
            try read(Array("MemberNo\tCity\nOulu\tc-1\n".utf8), settings)
        }
        #expect(narrow?.findings.map(\.code) == ["acoustic.file.headerWidth"])
    }

    @Test(
        .shows("acoustic/F8", "acoustic/F9"),
        arguments: [
            ("OPT_OUT", ""), ("CREATE", "<LIST_TYPE>13</LIST_TYPE>"),
        ]
    )
    func `reads each row of a file of opt-outs or suppressed people as an opt-out`(
        _ action: String,
        _ info: String
    ) throws {
        let columns = [column(1, "CustomerId"), column(2, "Opted Out", "<INCLUDE>false</INCLUDE>")]
        let settings = try settings(map(columns, action: action, info: info))
        let records = try read(Array("c-1|F\nc-2|\nc-3|T\nc-4|U\n".utf8), settings)
        #expect(records.map { $0.contact?.subscriptions.map(\.state) } == Array(repeating: [.unsubscribed], count: 4))
        guard case .columns(let layout)? = try Self.format.makeSourceLayout?(settings) else {
            throw CancellationError()
        }
        #expect(layout.everyRow.map(\.state) == [.unsubscribed])
    }

    @Test(.shows("acoustic/F8", "acoustic/F10"))
    func `reads consent columns even if the import excludes them`() throws {
        let columns = [
            column(1, "CustomerId"), column(2, "Opted Out", "<INCLUDE>false</INCLUDE>"),
            column(3, "CONSENT_STATUS_CODE", "<IS_CONSENT>true</IS_CONSENT>"),
        ]
        let consent = "<CONSENT><CHANNEL>SMS</CHANNEL><TEXT_TO_JOIN_PROGRAM_ID>5501</TEXT_TO_JOIN_PROGRAM_ID></CONSENT>"
        let records = try read(Array("c-1|T|OPTED-OUT\n".utf8), settings(map(columns, more: consent)))
        #expect(records[0].contact?.subscriptions.map(\.state) == [.unsubscribed, .unsubscribed])
        #expect(problems(map(columns)) == ["acoustic.map.consent CONSENT 10"])
        #expect(try settings(map(columns), ["textToJoinProgramId": "1"])["header"] != nil)
    }

    @Test(.shows("acoustic/F11"))
    func `explicit settings override the map file, which supplies the types of new columns`() throws {
        let made = """
            <COLUMNS><COLUMN><NAME>Member</NAME><TYPE>0</TYPE><KEY_COLUMN>true</KEY_COLUMN></COLUMN>\
            <COLUMN><NAME>Points</NAME><TYPE>2</TYPE></COLUMN><COLUMN><NAME>Seen</NAME><TYPE>3</TYPE></COLUMN></COLUMNS>
            """
        let columns = [column(1, "Member"), column(2, "Points"), column(3, "Seen"), column(4, "Email")]
        let given: JSONObject = [
            "types": ["points": "integer"], "columns": ["Seen": "attribute:last_seen"], "delimiter": "comma",
        ]
        let settings = try settings(map(columns, action: "CREATE", type: "9", more: made), given)
        let record = try #require(read(Array("m-1,7,04/01/1990,a@b.example\n".utf8), settings).first)
        #expect(
            record.contact
                == Contact(
                    identifiers: [Identifier(.external, "m-1"), Identifier(.email, "a@b.example")],
                    attributes: ["points": 7, "last_seen": .date(try #require(CalendarDate(text: "1990-04-01")))]
                )
        )
        #expect(try self.settings(map(columns, type: "9"), ["delimiter": "tab", "header": ["X"]])["header"] == ["X"])
        // A column that is left out, under another spelling of its name.
        let leftOut = map([column(1, "CustomerId"), column(2, "SEEN", "<INCLUDE>false</INCLUDE>")])
        #expect(try self.settings(leftOut, given)["columns"] == given["columns"])
    }

    @Test(.shows("acoustic/F2"))
    func `reads a map file in ISO-8859-1 if it declares the encoding`() throws {
        let text =
            "<?xml version='1.0' encoding='ISO-8859-1'?>"
            + map([column(1, "CustomerId"), column(2, "Größe")])
            .drop { $0 != "\n" }
        let latin = text.unicodeScalars.map { UInt8($0.value) }
        #expect(try #require(Self.format.sidecar).settings(latin, [:])["header"] == ["CustomerId", "Größe"])
        #expect(problems(text.replacing("ISO-8859-1", with: "UTF-16")) == ["acoustic.map.encoding  1"])
        let undeclared = #expect(throws: SettingsError.self) {
            try #require(Self.format.sidecar).settings(latin.map { $0 == UInt8(ascii: "?") ? 0x20 : $0 }, [:])
        }
        #expect(undeclared?.findings.map(\.code) == ["acoustic.map.form"])
    }

    // MARK: Errors

    @Test(.shows("acoustic/F11"))
    func `finds contacts by RECIPIENT_ID only if the settings map it`() throws {
        let columns = [column(1, "RECIPIENT_ID"), column(2, "Email")]
        let flag = "<USE_RECIPIENT_ID>true</USE_RECIPIENT_ID>"
        #expect(
            problems(map(columns, info: flag)) == ["acoustic.map.vendorNumber LIST_INFO.USE_RECIPIENT_ID 3"]
        )
        #expect(problems(map(columns, more: flag)).map { $0.split(separator: " ")[1] } == ["USE_RECIPIENT_ID"])
        #expect(try settings(map(columns, info: flag.replacing("true", with: "false")))["key"] == nil)
        let given: JSONObject = ["key": "external", "columns": ["RECIPIENT_ID": "identifier:external"]]
        let records = try read(Array("90017|a@b.example\n".utf8), settings(map(columns, info: flag), given))
        #expect(records[0].contact?.identifiers.first == Identifier(.external, "90017"))
    }

    private static let deep = String(repeating: "<A>", count: 100) + String(repeating: "</A>", count: 100)

    @Test(
        .shows("acoustic/F11"),
        arguments: [
            ("", "acoustic.map.form  1"), ("CustomerId|Email\n", "acoustic.map.form  1"),
            ("<LIST_IMPORT>\n<MAPPING>\n", "acoustic.map.form  3"), ("<html/>", "acoustic.map.root html 1"),
            (
                "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>\n<LIST_IMPORT>&b;</LIST_IMPORT>",
                "acoustic.map.form  1"
            ),
            (deep, "acoustic.map.form  1"), (String(repeating: " ", count: 1 << 21), "acoustic.map.form  1"),
        ]
    )
    func `rejects a file that is not a map file and reports the position`(_ text: String, _ problem: String) {
        #expect(problems(text) == [problem])
    }

    @Test(.shows("acoustic/F11"))
    func `reports all problems of a map file at once, each with its line and a remedy`() {
        let columns = [
            column(0, "CustomerId"), column(2, "City"), column(2, "Town"), "<INDEX>x</INDEX><NAME>city</NAME>",
            "<NAME>Other</NAME><INCLUDE>perhaps</INCLUDE>", "<INDEX>6</INDEX>",
        ]
        let sync = "<SYNC_FIELDS><SYNC_FIELD><NAME>None</NAME></SYNC_FIELD></SYNC_FIELDS>"
        let wrong = map(
            columns,
            action: "MERGE",
            type: "3",
            info: "<HASHEADERS>maybe</HASHEADERS><LIST_TYPE>15</LIST_TYPE>",
            more: sync
        )
        #expect(
            problems(wrong) == [
                "acoustic.map.word LIST_INFO.ACTION 4", "acoustic.map.word LIST_INFO.LIST_TYPE 3",
                "acoustic.map.word LIST_INFO.FILE_TYPE 5", "acoustic.map.place MAPPING.COLUMN[0].INDEX 8",
                "acoustic.map.placeTwice MAPPING.COLUMN[2].INDEX 10", "acoustic.map.place MAPPING.COLUMN[3].INDEX 11",
                "acoustic.map.nameTwice MAPPING.COLUMN[3].NAME 11", "acoustic.map.word MAPPING.COLUMN[4].INCLUDE 12",
                "acoustic.map.place MAPPING.COLUMN[4].INDEX 12", "acoustic.map.name MAPPING.COLUMN[5].NAME 13",
                "acoustic.map.word LIST_INFO.HASHEADERS 3", "acoustic.map.syncField SYNC_FIELDS.SYNC_FIELD[0].NAME 15",
            ]
        )
        #expect(problems(map([column(1, "CustomerId"), column(3, "City")])) == ["acoustic.map.placeMissing MAPPING 9"])
        #expect(problems("<LIST_IMPORT/>").map { $0.split(separator: " ")[0] }.contains("acoustic.map.columns"))
    }
}
