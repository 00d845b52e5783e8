import PatchbayAdapterKit
import Testing

@Suite("Requests that must not be sent") struct WireFaultTests {
    struct Row: CustomTestStringConvertible {
        let request: WireRequest
        let fault: WireFault?
        var testDescription: String { "\(request.method.debugDescription) \(request.url.debugDescription)" }

        init(_ url: String, _ fault: WireFault?, method: String = "POST", header: WireHeader? = nil) {
            request = WireRequest(method, url, headers: [header].compactMap { $0 })
            self.fault = fault
        }
    }

    static let addresses = [
        Row("https://vendor.example", nil), Row("HTTPS://Vendor.Example:8443/a?b=c#d", nil),
        Row("https://vendor.example/a/..b/.../%2e%2ec?x=/../", nil), Row("http://localhost:1/x", nil),
        Row("http://LOCALHOST/x", nil), Row("http://127.0.0.1/x", nil), Row("http://127.255.0.9:8731", nil),
        Row("http://[::1]:9/x", nil), Row("https://[2001:db8::1]/x", nil),
        Row("http://vendor.example/x", .insecureURL), Row("http://10.0.0.1/", .insecureURL),
        Row("http://localhost.example/", .insecureURL), Row("http://127.0.0.1.example/", .insecureURL),
        Row("http://127.1/", .insecureURL), Row("http://127.0.0.01/", .insecureURL),
        Row("http://2130706433/", .insecureURL), Row("http://0.0.0.0/", .insecureURL),
        Row("http://128.0.0.1/", .insecureURL), Row("http://127.0.0.256/", .insecureURL),
        Row("http://[::ffff:127.0.0.1]/", .insecureURL), Row("http://[::]/", .insecureURL),
        Row("ftp://vendor.example/x", .unsupportedURL), Row("file://localhost/etc/hosts", .unsupportedURL),
        Row("", .badURL), Row("nonsense", .badURL), Row("https://", .badURL), Row("https:///x", .badURL),
        Row("//vendor.example/x", .badURL), Row("https://a@vendor.example/", .badURL),
        Row("https://vendor.example@evil.example/", .badURL), Row("https://vendor.example\\@evil.example/", .badURL),
        Row("http://localhost\\.evil.example/", .badURL), Row("http://localhost:80@evil.example/", .badURL),
        Row("https://vendor.example:0/", .badURL), Row("https://vendor.example:70000/", .badURL),
        Row("https://vendor.example:+80/", .badURL), Row("https://[::1/", .badURL), Row("https://[::1]x/", .badURL),
        Row("https://vendor.example/a b", .badURL), Row("https://vendor.example/a\r\nHost: evil", .badURL),
        Row("https://vendor.example/\0", .badURL), Row("https://vendor.example/é", .badURL),
        Row("https://vendör.example/", .badURL), Row("https://vendor.example%2eevil/", .badURL),
        Row("https://vendor.example/v1/../admin", .climbingURL), Row("https://vendor.example/v1/..", .climbingURL),
        Row("https://vendor.example/./x", .climbingURL), Row("https://vendor.example/a/%2E%2e/b", .climbingURL),
        Row("https://vendor.example/a/.%2e/b", .climbingURL), Row("http://localhost/%2e/b", .climbingURL),
    ]

    static let others = [
        Row("https://v.example", .badMethod, method: ""), Row("https://v.example", .badMethod, method: "GET /"),
        Row("https://v.example", .badMethod, method: "POST\r\n"), Row("https://v.example", .badMethod, method: "get"),
        Row("https://v.example", nil, header: WireHeader("X-Name", "Zoë, \"quoted\"\tand tabbed; a=b")),
        Row("https://v.example", nil, header: WireHeader("X-Empty", "")),
        Row("https://v.example", .badHeader, header: WireHeader("", "x")),
        Row("https://v.example", .badHeader, header: WireHeader("X Name", "x")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name:", "x")),
        Row("https://v.example", .badHeader, header: WireHeader("X\r\nEvil", "x")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Nämé", "x")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name", "x\r\nEvil: y")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name", "x\nEvil: y")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name", "x\r")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name", "x\0")),
        Row("https://v.example", .badHeader, header: WireHeader("X-Name", "x\u{7F}")),
    ]

    @Test(arguments: addresses + others) func `reports a fault for an ambiguous or unencrypted request`(_ row: Row) {
        #expect(row.request.fault == row.fault)
    }

    @Test(arguments: WireFault.allCases) func `a fault is a failure with a remedy`(_ fault: WireFault) {
        let failure = TransportFailure(fault)
        #expect(failure.delivery == .notSent)
        #expect(failure.description == "\(fault.rawValue): \(fault.remedy)")
        #expect(fault.remedy.count > 20)
    }

    @Test(arguments: WireFault.allCases) func `a transport code that equals a fault is not a fault`(_ fault: WireFault)
    {
        let failure = TransportFailure(.notSent, fault.rawValue)
        #expect(failure.fault == nil && failure.remedy == nil)
        #expect(failure != TransportFailure(fault))
    }
}
