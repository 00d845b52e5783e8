import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbaySandbox
import Testing

@Suite("The sandbox's log") struct RequestLogTests {
    private static func lines(_ text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }

    @Test func `a log line contains the whole request and its result`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("POST", "/echo/v1/x?a=b", headers: ["X-One: 1"], body: Array(#"{"a":"é"}"#.utf8))
        let line = try connection.exchange("GET", "/sandbox/log").json
        #expect(
            line.object?.names == [
                "n", "at", "vendor", "method", "path", "query", "headers", "body", "fault", "status", "processed",
            ]
        )
        #expect(line["n"] == 1 && line["vendor"] == "echo" && line["method"] == "POST")
        #expect(line["at"] == "2026-09-21T14:13:20.000Z")
        #expect(line["path"] == "/v1/x" && line["query"] == "a=b")
        #expect(line["headers"] == ["Host": "127.0.0.1", "X-One": "1", "Content-Length": "10"])
        #expect(line["body"] == #"{"a":"é"}"#)
        #expect(line["fault"] == .null && line["status"] == 201 && line["processed"] == true)
    }

    @Test func `logs a body that is not UTF-8 as base64`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("POST", "/echo", body: [0xFF, 0x00, 0x41])
        #expect(try connection.exchange("GET", "/sandbox/log").json["body"] == ["base64": "/wBB"])
    }

    @Test(arguments: [
        ("Authorization: Bearer abcdef", "Bearer (6 bytes)"),
        ("authorization: Basic  YTpi", "Basic (5 bytes)"),
        ("Authorization: abcdef", "(6 bytes)"),
        ("X-Api-Key: abc def", "(7 bytes)"),
        ("Cookie: s=1", "(3 bytes)"),
        ("X-Subscriber-Token: abc", "(3 bytes)"),
        ("Client-Secret: abc", "(3 bytes)"),
    ])
    func `logs only scheme and length of a secret header, which the simulator receives whole`(
        _ header: String,
        _ shown: String
    ) throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        let name = String(header.prefix { $0 != ":" })
        let reply = try connection.exchange("GET", "/echo", headers: [header]).json
        #expect(reply["headers"]?[name]?.string == String(header.dropFirst(name.count + 2)))
        #expect(try connection.exchange("GET", "/sandbox/log").json["headers"]?[name]?.string == shown)
    }

    @Test(arguments: [
        ("client_id=a&client_secret=b%26c&grant_type=x", "client_id=a&client_secret=(5 bytes)&grant_type=x"),
        ("refresh_token=abc&grant_type=refresh_token", "refresh_token=(3 bytes)&grant_type=refresh_token"),
        ("{\"clientSecret\":\"abc\"}", "{\"clientSecret\":\"(3 bytes)\"}"),
        ("registrationToken=abc", "registrationToken=abc"),
    ])
    func `logs only the length of a secret in a form or JSON body`(_ body: String, _ shown: String) throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        _ = try connection.exchange("POST", "/echo", body: Array(body.utf8))
        let logged = try connection.exchange("GET", "/sandbox/log").json["body"]
        #expect((logged?.string ?? logged?.text) == shown)
    }

    @Test func `filters log lines by vendor and number`() throws {
        let server = try SandboxServer.echo()
        let connection = try Connection(port: server.port)
        for target in ["/echo/1", "/second/2", "/echo/3", "/second/4"] { _ = try connection.exchange("GET", target) }
        let text = try connection.exchange("GET", "/sandbox/log?vendor=second&after=2").text
        #expect(try Self.lines(text).map { $0["path"]?.string } == ["/4"])
        #expect(try connection.exchange("GET", "/sandbox/log?after=4").text == "")
    }

    @Test func `writes each line before its answer and continues the numbering in the next run`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID()).ndjson").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for run in 0..<2 {
            let server = try SandboxServer.echo(logPath: path)
            let connection = try Connection(port: server.port)
            for number in 1...3 {
                _ = try connection.exchange("GET", "/echo")
                let lines = try Self.lines(String(contentsOfFile: path, encoding: .utf8))
                #expect(lines.map { $0["n"]?.integer } == Array(1...Int64(run * 3 + number)))
            }
            let ofThisRun = try connection.exchange("GET", "/sandbox/log").text
            #expect(
                try Self.lines(ofThisRun).map { $0["n"]?.integer } == Array(Int64(run * 3 + 1)...Int64(run * 3 + 3))
            )
            server.stop()
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `refuses to start with a log file that cannot be opened`() {
        let error = #expect(throws: SandboxError.self) { _ = try SandboxServer.echo(logPath: "/nowhere/at/all") }
        #expect(error?.code == .logFailed)
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }
}
