import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Reads a configuration from JSON and collects all errors instead of stopping at the first.
struct ConfigurationReader {
    private let environment: [String: String]
    private let apis: [AdapterID: any VendorAdapter.Type]
    private var side = AdapterDescriptor.Side.device
    private var findings: [Finding] = []

    static func read(
        _ bytes: [UInt8],
        path: String,
        environment: [String: String],
        apis: [any VendorAdapter.Type]
    ) throws(ConfigurationError) -> Configuration {
        let (map, json) = try parse(bytes, path: path)
        var reader = ConfigurationReader(environment: environment, apis: apis)
        let configuration = reader.configuration(json, file: path)
        let duplicates = map.duplicates.map { duplicate in
            // A contact's id is personal data, so the path ends before it.
            let contacts = duplicate.path.firstRange(of: ".credentials.contacts.")
            let path = contacts.map { duplicate.path[..<$0.upperBound].dropLast() } ?? duplicate.path[...]
            return (ConfigurationFinding.duplicate.at(String(path)), Optional(duplicate.position))
        }
        let placed = duplicates + reader.findings.map { ($0, map.position(of: $0.path)) }
        guard let configuration, !placed.contains(where: { $0.0.severity == .error }) else {
            let start = SourcePosition(line: 1, column: 1)
            let sorted = placed.sorted { ($0.1 ?? start) < ($1.1 ?? start) }
            throw ConfigurationError(file: path, findings: sorted.map(\.0), positions: sorted.map(\.1))
        }
        return configuration
    }

    private init(environment: [String: String], apis: [any VendorAdapter.Type]) {
        self.environment = environment
        self.apis = Dictionary(apis.map { ($0.descriptor.id, $0) }) { first, _ in first }
    }

    private static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> (SourceMap, JSONValue) {
        let bytes = Array(bytes.withoutByteOrderMark)
        do {
            return (try SourceMap(bytes), try JSONValue(parsing: bytes, duplicateNames: .keepLast))
        } catch {
            let position = SourcePosition(line: error.line, column: error.column)
            let finding = ConfigurationFinding.json.at(detail: error.description)
            throw ConfigurationError(file: path, findings: [finding], positions: [position])
        }
    }

    // MARK: The parts of the file

    /// Reads the configuration; nil only if there is no object to read. The result is not used if a finding is an error.
    private mutating func configuration(_ json: JSONValue, file: String) -> Configuration? {
        let known = [
            "side", "outbox", "transport", "providers", "routes", "onSwitch", "onLoss", "onUnacknowledged",
            "attributes",
            "consent",
        ]
        guard let root = object(json, at: "", known: known) else { return nil }
        side = root["side"].flatMap { word($0, as: Side.self, at: "side") }?.side ?? .device
        let catalogue = catalogue(root["attributes"])
        let providers = providers(root["providers"], catalogue: catalogue)
        let routes = routes(root["routes"], among: root["providers"]?.object?.names ?? [])
        findings += Configuration.shadowFindings(of: routes, providers)
        return Configuration(
            side: side,
            providers: providers,
            routes: routes.map(\.route),
            onSwitch: root["onSwitch"].flatMap { word($0, at: "onSwitch") } ?? .drain,
            onLoss: root["onLoss"].flatMap { word($0, at: "onLoss") } ?? .refuse,
            onUnacknowledged: root["onUnacknowledged"].flatMap { word($0, at: "onUnacknowledged") } ?? .keep,
            catalogue: catalogue,
            requiredConsent: requiredConsent(root["consent"]),
            outbox: outbox(root["outbox"], file: file),
            proxy: proxy(root["transport"]),
            findings: findings
        )
    }

    private mutating func outbox(_ json: JSONValue?, file: String) -> Configuration.Outbox {
        let members = json.flatMap { object($0, at: "outbox", known: ["path", "history", "limits"]) } ?? [:]
        let path = members["path"].flatMap { text($0, at: "outbox.path") } ?? "patchbay.sqlite"
        let history = members["history"].flatMap { integer($0, in: 0...100_000_000, at: "outbox.history") } ?? 100_000
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        return Configuration.Outbox(
            path: path.hasPrefix("/") ? path : folder + path,
            history: history,
            limits: limits(members["limits"])
        )
    }

    /// Reads the member `transport.proxy`: an address of a scheme and a host only.
    private mutating func proxy(_ json: JSONValue?) -> String? {
        let path = "transport.proxy"
        guard let given = json.flatMap({ object($0, at: "transport", known: ["proxy"]) })?["proxy"],
            let proxy = text(given, at: path)
        else { return nil }
        guard let address = WebAddress(proxy), ["http", "https"].contains(address.scheme), address.isOrigin else {
            findings.append(ConfigurationFinding.proxy.at(path))
            return nil
        }
        return proxy
    }

    private mutating func limits(_ json: JSONValue?) -> OutboxLimits {
        var limits = OutboxLimits()
        let known = ["operations", "bytes", "days", "rejects"]
        guard let members = json.flatMap({ object($0, at: "outbox.limits", known: known) }) else { return limits }
        func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
            members[name].flatMap { integer($0, in: range, at: "outbox.limits.\(name)") }
        }
        limits.operations = number("operations", 1...100_000_000) ?? limits.operations
        limits.bytes = number("bytes", 65_536...(1 << 40)) ?? limits.bytes
        limits.age = number("days", 1...3_650).map { .seconds($0 * 86_400) }
        limits.rejects = number("rejects", 0...100_000_000) ?? limits.rejects
        return limits
    }

    private mutating func requiredConsent(_ json: JSONValue?) -> Set<Consent.Scope> {
        guard let members = json.flatMap({ object($0, at: "consent", known: ["required"]) }),
            let elements = members["required"].flatMap({ list($0, at: "consent.required") })
        else { return [] }
        var scopes: Set<Consent.Scope> = []
        for (place, element) in elements.enumerated() {
            let path = "consent.required[\(place)]"
            guard let scope = consentScope(element, at: path) else { continue }
            if !scopes.insert(scope).inserted { findings.append(ConfigurationFinding.repeatedConsent.at(path)) }
        }
        for (place, element) in elements.enumerated() {
            // The consent for all channels covers the one for a single channel.
            let path = "consent.required[\(place)]"
            guard let purpose = element["purpose"]?.string, element["channel"]?.string != nil,
                scopes.contains(Consent.Scope(Purpose(rawValue: purpose)))
            else { continue }
            findings.append(ConfigurationFinding.coveredConsent.at(path))
        }
        return scopes
    }

    /// Reads a purpose as text, or a purpose and a channel.
    private mutating func consentScope(_ json: JSONValue, at path: String) -> Consent.Scope? {
        guard json.object != nil else {
            let purpose = typed(json, json.string, "text or an object", at: path) == nil ? nil : text(json, at: path)
            return purpose.map { Consent.Scope(Purpose(rawValue: $0)) }
        }
        guard let members = object(json, at: path, known: ["purpose", "channel"]),
            let purpose = required(members["purpose"], at: path.dot("purpose"))
                .flatMap({ text($0, at: path.dot("purpose")) })
        else { return nil }
        guard let channel = members["channel"] else { return Consent.Scope(Purpose(rawValue: purpose)) }
        return text(channel, at: path.dot("channel")).map {
            Consent.Scope(Purpose(rawValue: purpose), channel: Channel(rawValue: $0))
        }
    }

    private mutating func routes(_ json: JSONValue?, among providers: [String])
        -> [(place: Int, route: Configuration.Route)]
    {
        guard let elements = required(json, at: "routes").flatMap({ list($0, at: "routes") }) else { return [] }
        var routes: [(place: Int, route: Configuration.Route)] = []
        var taken = 0
        for (place, element) in elements.enumerated() {
            let path = "routes[\(place)]"
            guard let members = object(element, at: path, known: ["provider", "mode", "percent", "send"]) else {
                continue
            }
            let mode = required(members["mode"], at: path.dot("mode"))
                .flatMap { word($0, as: Configuration.Route.Mode.self, at: path.dot("mode")) }
            let share = share(members, mode, after: &taken, at: path)
            if members["send"] != nil, mode != .shadow {
                findings.append(ConfigurationFinding.sendUnused.at(path.dot("send")))
            }
            let sends = members["send"].flatMap { typed($0, $0.bool, "true or false", at: path.dot("send")) } ?? false
            let name = required(members["provider"], at: path.dot("provider"))
                .flatMap { text($0, at: path.dot("provider")) }
            guard let name else { continue }
            // An unreadable mode was reported already. Treating it as live avoids a second finding.
            routes.append((place, Configuration.Route(to: name, mode: mode ?? .live, share: share, sends: sends)))
        }
        findings += Configuration.findings(of: routes, among: providers)
        findings += Configuration.findings(of: Set(routes.map(\.route.mode)), taken: taken)
        return routes
    }

    /// Returns the part of the contacts that a percentage route takes, behind the parts of the routes before it.
    private mutating func share(
        _ members: JSONObject,
        _ mode: Configuration.Route.Mode?,
        after taken: inout Int,
        at path: String
    ) -> Share {
        let place = path.dot("percent")
        guard mode == .percentage else {
            if members["percent"] != nil { findings.append(ConfigurationFinding.percentUnused.at(place)) }
            return .all
        }
        guard let json = required(members["percent"], at: place),
            let percent = typed(json, json.number?.double, "a number", at: place)
        else { return .none }
        let places = (percent * 100).rounded()
        guard percent > 0, percent <= 100, abs(percent * 100 - places) < 1e-6 else {
            findings.append(ConfigurationFinding.percentRange.at(place))
            return .none
        }
        defer { taken += Int(places) }
        return Share(taken..<taken + Int(places))
    }

    private mutating func catalogue(_ json: JSONValue?) -> AttributeCatalogue {
        guard let members = json.flatMap({ object($0, at: "attributes", known: nil) }) else {
            return AttributeCatalogue()
        }
        var entries: [AttributeName: AttributeCatalogue.Entry] = [:]
        var taken: [AdapterID: Set<String>] = [:]
        for member in members {
            let path = "attributes".dot(member.name)
            if member.name.isEmpty { findings.append(ConfigurationFinding.empty.at("attributes")) }
            guard let fields = object(member.value, at: path, known: ["type", "owner", "names"]) else { continue }
            var entry = AttributeCatalogue.Entry()
            entry.type = fields["type"].flatMap { word($0, at: path.dot("type")) }
            entry.owner = fields["owner"].flatMap { word($0, as: Side.self, at: path.dot("owner")) }?.side
            for name in fields["names"].flatMap({ object($0, at: path.dot("names"), known: nil) }) ?? [:] {
                let place = path.dot("names").dot(name.name)
                guard let adapter = adapterID(name.name, at: place), let text = text(name.value, at: place) else {
                    continue
                }
                if !taken[adapter, default: []].insert(text).inserted {
                    findings.append(ConfigurationFinding.takenName.at(place))
                }
                entry.names[adapter] = text
            }
            entries[AttributeName(rawValue: member.name)] = entry
        }
        return AttributeCatalogue(entries)
    }

    /// The side of a configuration or attribute, as written in the file.
    private enum Side: String, NeutralWord {
        case device, server

        var side: AdapterDescriptor.Side { self == .device ? .device : .server }
    }

    // MARK: Providers

    private mutating func providers(_ json: JSONValue?, catalogue: AttributeCatalogue) -> [Configuration.Provider] {
        guard let members = required(json, at: "providers").flatMap({ object($0, at: "providers", known: nil) }) else {
            return []
        }
        if members.isEmpty { findings.append(ConfigurationFinding.noProvider.at("providers")) }
        return members.sorted.compactMap { provider($0.name, $0.value, catalogue: catalogue) }
    }

    private mutating func provider(
        _ name: String,
        _ json: JSONValue,
        catalogue: AttributeCatalogue
    ) -> Configuration.Provider? {
        let path = "providers".dot(name)
        if !Self.isProviderName(name) { findings.append(ConfigurationFinding.providerName.at(path)) }
        guard let members = object(json, at: path, known: ["adapter", "settings", "credentials", "rate"]) else {
            return nil
        }
        let id = required(members["adapter"], at: path.dot("adapter"))
            .flatMap { text($0, at: path.dot("adapter")) }
            .flatMap { adapterID($0, at: path.dot("adapter")) }
        let given = members["settings"].flatMap { object($0, at: path.dot("settings"), known: nil) } ?? [:]
        var unfilled: [String] = []
        var settings = fill(.object(given), at: path.dot("settings"), &unfilled)?.object ?? [:]
        let maker = id.flatMap { apis[$0] }.map(AdapterMaker.init)
        if let api = id.flatMap({ apis[$0] })?.descriptor.side, api != side {
            findings += Configuration.sideFinding(of: api, in: side, at: path.dot("adapter"))
        }
        let (credentials, secrets) = credentials(
            members["credentials"],
            at: path.dot("credentials"),
            areUsed: maker?.usesCredentials
        )
        let rate = rate(members["rate"], at: path.dot("rate"))
        guard let id, let maker else { return nil }
        for secret in maker.secretNames { warnIfClear(given[secret], at: path.dot("settings").dot(secret)) }
        merge(catalogue.names(for: id), into: &settings, setting: maker.nameSetting, adapter: id, at: path)
        guard let adapter = adapter(maker, settings, at: path.dot("settings"), unfilled: unfilled) else { return nil }
        for secret in maker.secretNames { settings[secret] = nil }
        for (path, secret) in secrets where !secret.value.trimmed.isEmpty {
            guard var finding = adapter.examine(secret) else { continue }
            finding.path = path
            findings.append(finding)
        }
        return Configuration.Provider(
            name: name,
            adapter: adapter,
            settingsDigest: settings.digest,
            credentials: credentials,
            rate: rate
        )
    }

    /// Reads a rate: the maximum number of requests in a number of seconds.
    private mutating func rate(_ json: JSONValue?, at path: String) -> Rate? {
        guard let members = json.flatMap({ object($0, at: path, known: ["requests", "per", "burst"]) }) else {
            return nil
        }
        let requests = required(members["requests"], at: path.dot("requests"))
            .flatMap { integer($0, in: 1...1_000_000, at: path.dot("requests")) }
        let per = required(members["per"], at: path.dot("per"))
            .flatMap { integer($0, in: 1...86_400, at: path.dot("per")) }
        let burst = members["burst"].flatMap { integer($0, in: 1...10_000, at: path.dot("burst")) } ?? 1
        guard let requests, let per else { return nil }
        return Rate(requests, per: .seconds(per), burst: burst)
    }

    /// Creates the adapter; nil after a finding. A setting whose environment variable is missing was reported already, and is
    /// not reported as missing again.
    private mutating func adapter(
        _ maker: AdapterMaker,
        _ settings: JSONObject,
        at path: String,
        unfilled: [String]
    ) -> (any VendorAdapter)? {
        do {
            return try maker.make(settings, path, !unfilled.isEmpty)
        } catch {
            findings += error.findings.filter { finding in
                !unfilled.contains { $0 == finding.path || $0.hasPrefix(finding.path + ".") }
            }
            return nil
        }
    }

    private mutating func credentials(
        _ json: JSONValue?,
        at path: String,
        areUsed: Bool?
    ) -> (Configuration.Credentials, secrets: [(path: String, secret: Secret)]) {
        guard let members = json.flatMap({ object($0, at: path, known: ["default", "contacts"]) }) else {
            return (Configuration.Credentials(), [])
        }
        if areUsed == false { findings.append(ConfigurationFinding.unusedCredentials.at(path)) }
        let fallback = members["default"].flatMap { secret($0, at: path.dot("default")) }
        var contacts: [(contact: String, secret: Secret)] = []
        var secrets = fallback.map { [(path: path.dot("default"), secret: $0)] } ?? []
        for (place, member) in (members["contacts"].flatMap { object($0, at: path.dot("contacts"), known: nil) } ?? [:])
            .enumerated()
        {
            // A contact's id is personal data, so the finding names its index.
            if let secret = secret(member.value, at: path.dot("contacts[\(place)]")) {
                contacts.append((member.name, secret))
                secrets.append((path.dot("contacts[\(place)]"), secret))
            }
        }
        return (Configuration.Credentials(fallback: fallback, contacts: contacts), secrets)
    }

    private mutating func secret(_ json: JSONValue, at path: String) -> Secret? {
        guard let source = text(json, at: path) else { return nil }
        warnIfClear(json, at: path)
        var unfilled: [String] = []
        guard let value = fill(.string(source), at: path, &unfilled)?.string else { return nil }
        if value.trimmed.isEmpty { findings.append(ConfigurationFinding.empty.at(path)) }
        return Secret(value)
    }

    private mutating func warnIfClear(_ json: JSONValue?, at path: String) {
        guard let text = json?.string, !EnvironmentText(text, environment: [:], at: path).namesVariable else { return }
        findings.append(ConfigurationFinding.clearSecret.at(path))
    }

    /// Adds the catalogue's attribute names to the adapter's own setting. The two must not conflict.
    private mutating func merge(
        _ names: [(attribute: AttributeName, name: String)],
        into settings: inout JSONObject,
        setting: String?,
        adapter: AdapterID,
        at path: String
    ) {
        for (attribute, name) in names {
            let place = "attributes".dot(attribute.rawValue).dot("names").dot(adapter.rawValue)
            guard let setting else {
                findings.append(ConfigurationFinding.unusedName.at(place))
                continue
            }
            guard var entries = (settings[setting] ?? [:]).object else { return }
            if let given = entries[attribute.rawValue], given != .string(name) {
                let other = path.dot("settings").dot(setting).dot(attribute.rawValue)
                findings.append(ConfigurationFinding.conflictingName.at(place, detail: "see \(other)"))
            }
            entries[attribute.rawValue] = .string(name)
            settings[setting] = .object(entries)
        }
    }

    /// Returns the value with environment variables filled in. Values that cannot be filled are left out and their paths
    /// added to `unfilled`.
    private mutating func fill(_ json: JSONValue, at path: String, _ unfilled: inout [String]) -> JSONValue? {
        switch json {
        case .string(let source):
            let filled = EnvironmentText(source, environment: environment, at: path)
            findings += filled.problems
            if filled.text == nil { unfilled.append(path) }
            return filled.text.map(JSONValue.string)
        case .array(let elements):
            return .array(
                elements.enumerated().compactMap { place, element in fill(element, at: "\(path)[\(place)]", &unfilled) }
            )
        case .object(let members):
            return .object(
                JSONObject(
                    members.compactMap { member in
                        fill(member.value, at: path.dot(member.name), &unfilled).map { (member.name, $0) }
                    }
                )
            )
        default: return json
        }
    }

    static func isProviderName(_ name: String) -> Bool {
        let isFit = { (letter: Character) in letter.isASCII && (letter.isLetter || letter.isNumber) }
        return (1...64).contains(name.count) && name.first.map(isFit) == true
            && name.allSatisfy { isFit($0) || $0 == "-" || $0 == "_" }
    }

    // MARK: Values

    private mutating func required(_ json: JSONValue?, at path: String) -> JSONValue? {
        if json == nil { findings.append(ConfigurationFinding.missingMember.at(path)) }
        return json
    }

    private mutating func object(_ json: JSONValue, at path: String, known: [String]?) -> JSONObject? {
        guard let object = typed(json, json.object, "an object", at: path) else { return nil }
        for name in object.names where known?.contains(name) == false {
            report(ConfigurationFinding.unknownMember, at: path.dot(name), known: known ?? [], meant: name)
        }
        return object
    }

    private mutating func list(_ json: JSONValue, at path: String) -> [JSONValue]? {
        typed(json, json.array, "a list", at: path)
    }

    private mutating func text(_ json: JSONValue, at path: String) -> String? {
        guard let text = typed(json, json.string, "text", at: path) else { return nil }
        guard text.isEmpty else { return text }
        findings.append(ConfigurationFinding.empty.at(path))
        return nil
    }

    private mutating func integer(_ json: JSONValue, in range: ClosedRange<Int>, at path: String) -> Int? {
        guard let number = typed(json, json.integer, "a whole number", at: path) else { return nil }
        if let value = Int(exactly: number), range.contains(value) { return value }
        findings.append(ConfigurationFinding.range.at(path, detail: "\(range.lowerBound) to \(range.upperBound)"))
        return nil
    }

    private mutating func word<Word: NeutralWord>(_ json: JSONValue, as type: Word.Type = Word.self, at path: String)
        -> Word?
    {
        guard let text = typed(json, json.string, "text", at: path) else { return nil }
        if let word = Word(rawValue: text) { return word }
        report(ConfigurationFinding.word, at: path, known: Word.allCases.map(\.rawValue), meant: text)
        return nil
    }

    private mutating func adapterID(_ text: String, at path: String) -> AdapterID? {
        let id = AdapterID(rawValue: text)
        if apis[id] != nil { return id }
        report(ConfigurationFinding.unknownAdapter, at: path, known: apis.keys.map(\.rawValue), meant: text)
        return nil
    }

    private mutating func typed<Value>(_ json: JSONValue, _ value: Value?, _ wanted: String, at path: String) -> Value?
    {
        if value == nil {
            findings.append(ConfigurationFinding.type.at(path, detail: "expected \(wanted), found \(json.typePhrase)"))
        }
        return value
    }

    private mutating func report(_ row: FindingRow, at path: String, known: [String], meant: String) {
        findings.append(row.at(path, known: known, meant: meant))
    }
}
