import PatchbayJSON

/// Random lines from a seed: contacts, almost valid contacts, and invalid text that a fast reader may misread.
struct RandomContacts {
    private var state: UInt64
    /// The percentage of lines in which some bytes are changed.
    private let mutated: Int

    init(seed: UInt64, mutated: Int) { (state, self.mutated) = (seed, mutated) }

    private mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    private mutating func happens(_ percent: Int) -> Bool { next(100) < percent }

    private mutating func one<Value>(of values: [Value]) -> Value { values[next(values.count)] }

    /// Returns a file with this number of lines. Some end with CR LF, and some are empty.
    mutating func file(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = happens(20) ? [0xEF, 0xBB, 0xBF] : []
        for number in 0..<count {
            if happens(3) { bytes += happens(50) ? [0x0A] : [0x0D, 0x0A] }
            bytes += line()
            let isLast = number == count - 1
            bytes += isLast && happens(50) ? [] : happens(5) ? [0x0D, 0x0A] : [0x0A]
        }
        return bytes
    }

    mutating func line() -> [UInt8] {
        var bytes = Array(contact().utf8)
        guard happens(mutated) else { return bytes }
        for _ in 0...next(3) where !bytes.isEmpty {
            let place = next(bytes.count)
            switch next(5) {
            case 0: bytes[place] = UInt8(next(256))
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(one(of: Array("\"\\{}[]:,0-ex \t\r\u{1}".utf8) + [0x80, 0xC3, 0xFF, 0x00]), at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(20)))
            default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + next(30))], at: place)
            }
        }
        return bytes.filter { $0 != 0x0A }
    }

    // MARK: Parts

    private var isSpaced = false

    private mutating func contact() -> String {
        isSpaced = happens(10)
        var parts = ["\"identifiers\":\(identifiers())"]
        if happens(90) { parts.append("\"attributes\":\(attributes())") }
        if happens(60) { parts.append("\"tags\":\(list { $0.tag() })") }
        if happens(70) { parts.append("\"subscriptions\":\(list { $0.subscription() })") }
        if happens(30) { parts.append("\"consents\":\(list { $0.consent() })") }
        if happens(30) { parts.append("\"devices\":\(list { $0.device() })") }
        if happens(50) { parts.append("\"locale\":\(text(["fi_FI", "en", ""]))") }
        if happens(50) { parts.append("\"timeZone\":\(text(["Europe/Helsinki", "UTC"]))") }
        return object(parts)
    }

    private mutating func object(_ parts: [String]) -> String {
        var parts = parts
        if happens(10) {
            for index in parts.indices { parts.swapAt(index, next(parts.count)) }
        }
        if happens(1) { parts.append(one(of: ["\"unknownName\":1", "\"tags\":null", "\"\":\"\""])) }
        if happens(1), let first = parts.first { parts.append(first) }
        let gap = isSpaced ? one(of: [" ", "  ", "\t"]) : ""
        return "{\(gap)\(parts.joined(separator: "\(gap),\(gap)"))\(gap)}"
    }

    private mutating func list(_ element: (inout RandomContacts) -> String) -> String {
        let count = happens(2) ? 40 : next(4)
        let elements = (0..<count).map { _ in element(&self) }
        return "[\(elements.joined(separator: isSpaced ? " , " : ","))]"
    }

    private mutating func text(_ usual: [String]) -> String {
        let text = happens(90) ? one(of: usual) : one(of: Self.unusualTexts)
        return "\"\(text)\""
    }

    private static let unusualTexts = [
        "", " ", "Päivi", "\u{65}\u{301}", "\\u0041", "\\u00e4", "\\ud83d\\ude00", "\\ud83d", "a\\\"b", "a\\\\b",
        "a\\nb",
        "a\\/b", "a\\u0000b", "\\u001f", "\u{1F44B}\u{1F3FD}", "\u{37E}", "\u{212A}", "\u{202E}x", "\u{7F}", "a\tb",
        String(repeating: "long ", count: 60), "=1+1", "null", "\\b\\f\\r\\t", "\\x", "\u{FEFF}",
    ]

    private mutating func identifiers() -> String {
        var identifiers: [String] = []
        if happens(95) { identifiers.append(identifier("external", ["c-1", "member-480013", ""])) }
        if happens(85) {
            identifiers.append(
                identifier(
                    "email",
                    [
                        "aino@example.com", "a@b", "aino.virtanen+list@mail.example.com", "no address", "@x", "x@",
                        "a@b@c",
                        "a b@c", "päivi@example.com",
                    ]
                )
            )
        }
        if happens(70) {
            identifiers.append(
                identifier(
                    "phone",
                    [
                        "+358401234567", "+358 40 123-4567", "(040) 1234.567", "12345", "1234", "1234567890123456",
                        "12+345",
                        "++12345", "call me", "+",
                    ]
                )
            )
        }
        if happens(10) {
            identifiers.append(identifier(one(of: ["card", "external", "email", "phone", "Kort"]), ["6004"]))
        }
        if happens(2) { identifiers.append(identifier(one(of: Self.unusualTexts), ["x"])) }
        return "[\(identifiers.joined(separator: ","))]"
    }

    private mutating func identifier(_ kind: String, _ values: [String]) -> String {
        object(["\"kind\":\"\(kind)\"", "\"value\":\(text(values))"])
    }

    private mutating func attributes() -> String {
        var members: [String] = []
        for (name, value) in usualAttributes() where happens(70) {
            members.append("\"\(name)\":\(happens(90) ? value : self.value())")
        }
        if happens(20) {
            members.append("\(text(["own_\(next(20))", "email", "_tz", "labels", "subscriptions"])):\(value())")
        }
        return object(members)
    }

    private mutating func usualAttributes() -> [(String, String)] {
        [
            (
                "birth_date",
                "{\"date\":\"\(one(of: ["1990-04-01", "2028-02-29", "2027-02-29", "0000-01-31", "1990-04-31"]))\"}"
            ),
            ("city", text(["Helsinki", "Turku"])),
            (
                "country",
                one(of: ["{\"country\":\"FI\"}", "\"FI\"", "\"fi\"", "{\"country\":\"se\"}", "{\"country\":\"XX\"}"])
            ),
            ("delivery_hour", one(of: ["{\"time\":\"08:30\"}", "{\"time\":\"24:00\"}"])),
            ("family_name", text(["Virtanen"])), ("gender", text(["female", "male", "other"])),
            ("given_name", text(["Aino", "Päivi"])),
            (
                "interests",
                one(of: ["{\"choices\":[\"a\",\"b\"]}", "[\"a\", \"b\"]", "{\"choices\":[]}", "[]", "[1,\"a\"]"])
            ),
            ("last_visit", "{\"timestamp\":\"\(one(of: Self.instants))\"}"),
            ("postal_code", one(of: ["\"00100\"", "\"33100\"", "33100", "-1", "\"0\""])),
            ("total", one(of: ["49.90", "1e3", "0.0", "-0.5", "{\"decimal\":\"49\"}", "49"])),
            (
                "visits",
                one(of: ["42", "-0", "-7", "007", "123456789012345678901", "999999999999999999", "true", "false"])
            ),
        ]
    }

    private static let instants = [
        "2031-03-08T22:15:00Z", "2031-03-08T22:15:00.25Z", "2031-03-08T22:15:00.250Z", "2031-03-08T22:15:00+02:00",
        "2031-03-08 22:15:00Z", "2031-03-08T22:15:60Z", "2031-03-08T22:15:00.1234567890Z", "2031-03-08T22:15:00",
        "soon",
    ]

    private mutating func value() -> String {
        switch next(12) {
        case 0: text(["plain"])
        case 1:
            one(of: ["0", "1", "-1", "1.5", "1.50", "-0.0", "1e5", "1E-2", "9223372036854775808", "1.", ".5", "+1"])
        case 2: one(of: ["true", "false", "null", "tru"])
        case 3: "{\"date\":\(text(["2030-12-31", "2030-13-01"]))}"
        case 4: "{\"timestamp\":\"\(one(of: Self.instants))\"}"
        case 5: "{\"choices\":\(list { $0.text(["a", "b c"]) })}"
        case 6: list { $0.text(["a", "b"]) }
        case 7: list { $0.value() }
        case 8: "{\"object\":{\"a\":\(text(["b"]))}}"
        case 9: "{\"action\":\"set\"}"
        case 10: "{\"boolean\":true}"
        default: "{\"country\":\(text(["FI", "DE"]))}"
        }
    }

    private mutating func tag() -> String { text(["beta", "vip", "sports", "Beta"]) }

    private mutating func subscription() -> String {
        var parts = [
            "\"channel\":\(text(["email", "sms", "push", "in_app", "fax"]))",
            "\"state\":\(text(["subscribed", "unsubscribed", "suspended", "unknown", "maybe"]))",
        ]
        if happens(30) { parts.insert("\"topic\":\(text(["weekly_offers", "news", ""]))", at: 1) }
        if happens(20) { parts.append("\"changedAt\":\"\(one(of: Self.instants))\"") }
        if happens(10) { parts.append("\"source\":\(text(["form"]))") }
        if happens(10) { parts.append("\"evidence\":\(text(["r-1"]))") }
        if happens(3) { parts.append("\"fields\":\(one(of: ["{}", "{\"hour\":8}", "{\"days\":[1]}"]))") }
        return object(parts)
    }

    private mutating func consent() -> String {
        var parts = [
            "\"purpose\":\(text(["messaging", "tracking", "profile", "other"]))",
            "\"state\":\(text(["granted", "denied", "unknown"]))",
        ]
        if happens(40) { parts.append("\"channel\":\(text(["email", "sms", "push", "fax"]))") }
        if happens(20) { parts.append("\"changedAt\":\"\(one(of: Self.instants))\"") }
        return object(parts)
    }

    private mutating func device() -> String {
        var parts: [String] = []
        if happens(80) {
            var token = ["\"value\":\(text(["a1B2c3", "0123456789abcdef", " x"]))"]
            if happens(70) { token.append("\"service\":\(text(["apns", "fcm", "hms", "rustore", "wns"]))") }
            if happens(20) { token.append("\"environment\":\(text(["production", "sandbox"]))") }
            if happens(20) { token.append("\"appID\":\(text(["fi.example.app"]))") }
            parts.append("\"pushToken\":\(object(token))")
        }
        if happens(50) {
            var facts = [
                "\"platform\":\(text(["iOS", "Android", "iPadOS", "ios", "macOS", "aNdroid", "Symbian"]))",
                "\"platformVersion\":\(text(["18.1"]))", "\"model\":\(text(["iPhone17,3"]))",
                "\"locale\":\(text(["fi_FI"]))", "\"appVersion\":\(text(["1.0"]))",
            ]
            if happens(30) { facts.append("\"utcOffsetSeconds\":\(one(of: ["7200", "0.5", "-3600"]))") }
            if happens(30) { facts.append("\"isDaylightSaving\":\(one(of: ["true", "1"]))") }
            if happens(3) { facts.removeFirst() }
            parts.append("\"facts\":\(object(facts))")
        }
        for name in ["allowsPush", "allowsLocation"] where happens(50) { parts.append("\"\(name)\":true") }
        if happens(3) { parts.append("\"identities\":{\"vendor.id\":\"1\"}") }
        return object(parts)
    }
}

extension JSONValue {
    /// The report, or the plan with its report, without the members that depend on the path.
    var withoutPath: JSONValue {
        guard var object else { return self }
        object["leftBulkPath"] = nil
        // The bulk path counts some reasons for all columns together.
        object["reasons"] = nil
        if let losses = object["losses"]?.array {
            object["losses"] = .array(losses.map { $0.withoutPlaces })
        }
        if let report = object["report"] { object["report"] = report.withoutPath }
        return .object(object)
    }
}

extension JSONValue {
    fileprivate var withoutPlaces: JSONValue {
        guard var object else { return self }
        (object["places"], object["remedy"]) = (nil, nil)
        return .object(object)
    }
}
