import Foundation

/// Contacts of the neutral model, a JSON object a line, the same for everyone by a fixed seed: about 400 bytes each.
///
/// Most are plain. Some lack parts, a few hold what a mapping must look at: letters beyond ASCII, escapes, phone numbers
/// that are none, contacts without an e-mail address, which the target can't take, and lines that are no JSON.
struct MigrationData {
    private var state: UInt64
    private var line: [UInt8] = []

    init(seed: UInt64 = 20_310_309) { state = seed }

    private mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    private mutating func one(of words: [String]) -> String { words[next(words.count)] }

    /// Returns true with a probability in thousandths.
    private mutating func happens(_ permille: Int) -> Bool { next(1000) < permille }

    private static let given = [
        "Aino", "Eero", "Ilmari", "Kaisa", "Liisa", "Matti", "Noora", "Oskari", "Päivi", "Sami", "Tuula", "Ville",
        "Anna", "Björn", "Carla", "Dmitri", "Elena", "François",
    ]
    private static let family = [
        "Virtanen", "Korhonen", "Mäkinen", "Nieminen", "Laine", "Heikkinen", "Koskinen", "Järvinen", "Lehtonen",
        "Smith", "García", "Rossi", "Müller", "Novák", "Andersen",
    ]
    private static let city = ["Helsinki", "Tampere", "Turku", "Oulu", "Berlin", "Malmö", "Madrid", "Lyon", "Praha"]
    private static let country = ["FI", "DE", "SE", "ES", "FR", "CZ", "DK", "IT"]
    private static let tier = ["bronze", "silver", "gold", "platinum"]
    private static let tag = ["beta", "newsletter", "sports", "travel", "vip", "winter_sale"]
    private static let zone = ["Europe/Helsinki", "Europe/Berlin", "Europe/Madrid"]
    private static let state = ["subscribed", "unsubscribed", "suspended"]

    private mutating func add(_ text: String) { line.append(contentsOf: text.utf8) }

    private func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The line of that number, with its line feed.
    mutating func record(_ number: Int) -> [UInt8] {
        line.removeAll(keepingCapacity: true)
        if happens(1) {
            add("{\"identifiers\":[{\"kind\":\"external\",\"value\":\"member-\(number)\"}\n")
            return line
        }
        let (given, family) = (one(of: Self.given), one(of: Self.family))
        add("{\"identifiers\":[{\"kind\":\"external\",\"value\":\"member-\(digits(number, 8))\"}")
        if !happens(3) { add(",{\"kind\":\"email\",\"value\":\"contact.\(digits(number, 8))@mail.example.com\"}") }
        if happens(800) { add(",{\"kind\":\"phone\",\"value\":\"\(phone(number))\"}") }
        add("],\"attributes\":{")
        if happens(900) {
            add(
                "\"birth_date\":{\"date\":\"\(1940 + next(65))-\(digits(1 + next(12), 2))-\(digits(1 + next(28), 2))\"},"
            )
        }
        if happens(950) { add("\"city\":\"\(one(of: Self.city))\",") }
        add("\"country\":{\"country\":\"\(one(of: Self.country))\"},\"family_name\":\"\(family)\",")
        if happens(700) { add("\"gender\":\"\(next(2) == 0 ? "female" : "male")\",") }
        add("\"given_name\":\"\(given)\",")
        if happens(600) { add("\"loyalty_tier\":\"\(one(of: Self.tier))\",") }
        if happens(5) { add("\"remark\":\"says \\\"hello\\\" and\\nleaves\",") }
        if happens(500) { add("\"total\":\(next(5000)).\(digits(next(100), 2)),") }
        add("\"visits\":\(next(2000))}")
        let tags = Self.tag.filter { _ in happens(250) }
        if !tags.isEmpty { add(",\"tags\":[\(tags.map { "\"\($0)\"" }.joined(separator: ","))]") }
        add(",\"subscriptions\":[{\"channel\":\"email\",\"state\":\"\(one(of: Self.state))\"}")
        if happens(500) { add(",{\"channel\":\"sms\",\"state\":\"\(one(of: Self.state))\"}") }
        add("],\"locale\":\"fi_FI\",\"timeZone\":\"\(one(of: Self.zone))\"}\n")
        return line
    }

    /// The header of an export of the same people as delimited text.
    static let header =
        "Contact Key,Email Address,Mobile Number,First Name,Last Name,City,Country,Loyalty Tier,Visits,Remark\r\n"

    /// The row of that number, with its line end.
    mutating func row(_ number: Int) -> [UInt8] {
        line.removeAll(keepingCapacity: true)
        add("member-\(digits(number, 8)),")
        add(happens(3) ? "," : "contact.\(digits(number, 8))@mail.example.com,")
        add(happens(800) ? "\(happens(2) ? "unknown" : "+3584\(digits(number, 8))")," : ",")
        add(
            "\(one(of: Self.given)),\(one(of: Self.family)),\(happens(100) ? "\"Helsinki, Uusimaa\"" : one(of: Self.city)),"
        )
        add("\(one(of: Self.country)),\(happens(600) ? one(of: Self.tier) : ""),\(next(2000)),")
        add(happens(20) ? "\"says \"\"hello\"\"\nand leaves\"\r\n" : "\r\n")
        return line
    }

    /// The header of the same people's export from Adobe Campaign.
    static let exportHeader =
        "externalId;email;mobilePhone;firstName;lastName;birthDate;gender;"
        + "blackListEmail;blackListPushnotification;blackList;ccpaOptOut\n"

    /// The row of that number, with its line end: with a day of birth in the vendor's form, and with flags about consent.
    mutating func export(_ number: Int) -> [UInt8] {
        line.removeAll(keepingCapacity: true)
        add("member-\(digits(number, 8));contact.\(digits(number, 8))@mail.example.com;")
        add(happens(800) ? "+3584\(digits(number, 8));" : ";")
        add("\(one(of: Self.given));\(one(of: Self.family));")
        add(happens(900) ? "\(1940 + next(65))/\(digits(1 + next(12), 2))/\(digits(1 + next(28), 2));" : ";")
        let gender = happens(700) ? next(2) == 0 ? "female" : "male" : ""
        add("\(gender);\(happens(300));false;false;\(happens(20))\n")
        return line
    }

    /// Each person has a number of their own: a no at one is a no of all who have it.
    private mutating func phone(_ person: Int) -> String {
        if happens(5) { return "unknown" }
        let number = digits(person, 8)
        return happens(100)
            ? "+358 4\(number.prefix(1)) \(number.dropFirst().prefix(3))-\(number.suffix(4))" : "+3584\(number)"
    }

    /// What a file holds.
    enum Form {
        /// Contacts of the neutral model.
        case lines
        /// Rows of Salesforce's export, or of Adobe's.
        case rows, export

        init(path: String) { self = path.hasSuffix(".csv") ? .rows : path.hasSuffix(".txt") ? .export : .lines }

        fileprivate var header: String {
            switch self {
            case .lines: ""
            case .rows: MigrationData.header
            case .export: MigrationData.exportHeader
            }
        }
    }

    /// Writes a file of that many lines, or of rows behind a header, in the form that its name says.
    static func write(_ count: Int, to path: String) throws {
        let form = Form(path: path)
        var (data, buffer) = (MigrationData(), Array(form.header.utf8))
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw WrongResult("\(path) can't be written.") }
        for number in 1...count {
            switch form {
            case .lines: buffer += data.record(number)
            case .rows: buffer += data.row(number)
            case .export: buffer += data.export(number)
            }
            guard buffer.count > 1 << 20 || number == count else { continue }
            try file.write(contentsOf: buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        try file.close()
    }

    /// Rules of a mapping: each kind that looks at texts, and one that moves them.
    static let mapping = """
        [{"rename":"attributes.loyalty_tier","to":"attributes.tier"},{"set":"attributes.origin","value":"import"},\
        {"map":"attributes.tier","values":{"bronze":"B","silver":"S","gold":"G"}},\
        {"split":"attributes.city","by":" ","to":["attributes.town","attributes.rest"]},\
        {"join":["attributes.given_name","attributes.family_name"],"with":" ","to":"attributes.name"}]
        """

    /// The target's settings, as the peers have them too.
    static let settings = """
        {"dbId":7,"matching":"email","identifierFields":{"external":"customer_number","email":"email","phone":"phones"},\
        "resourceId":31,"tagsField":"labels"}
        """
}
