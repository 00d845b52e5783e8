public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A configuration and a list of steps that run under the virtual clock.
///
/// `Schemas/scenario` specifies the JSON form.
public struct Scenario: Sendable {
    /// A step of a scenario.
    public enum Step: Sendable {
        /// The app captures operations.
        case capture([EngagementOperation.Draft])
        /// Time passes.
        case advance(Duration)
        /// Time passes until no operation is pending, at most for this duration.
        case drain(Duration)
        /// The next `count` requests get this reply.
        case reply(Reply, count: Int)
        /// From now on requests get this reply, unless a scripted reply is left.
        case defaultReply(Reply)
        /// The process ends immediately.
        case kill
        /// The process ends immediately before or after the next verdicts are stored.
        case killAtSettle(before: Bool)
        /// A process starts if none runs.
        case start
        /// The process ends and another starts.
        case restart
        /// The machine reboots, after a pause.
        case reboot(after: Duration)
        /// The wall clock jumps.
        case clockJump(Duration)
        /// The app requests a flush.
        case flush
        /// The network is back, or the app is in the foreground.
        case wake
        /// The network goes up or down.
        case network(isUp: Bool)
        /// The app changes its state.
        case appState(AppState)
        /// The app's credential for a contact changes. The contact nil is the anonymous person.
        case credential(contact: String?, Secret?)
        /// A process starts with another configuration.
        case reconfigure(JSONValue)
        /// A suspended provider is resumed.
        case resume(String)
        /// The app sends a query to a provider.
        case read(ReadRequest, provider: String)
        /// From now on the random generator returns this number from 0 to 1; nil makes it random again.
        case chance(Double?)
    }

    /// An adapter's memory at the start of the scenario.
    public struct Remembered: Sendable {
        /// The provider's name.
        public var provider: String
        /// The lane; empty for a memory that all lanes share.
        public var lane: String
        /// The state version of the stored form; nil for the adapter's current version.
        public var version: Int?
        /// The memory, as stored.
        public var memory: JSONValue
    }

    /// The outcome of a request.
    public struct Reply: Sendable {
        /// The reply that replaces the vendor's own.
        public var response: WireReply?
        /// The failure of the transport.
        public var failure: (delivery: String, code: String)?
        /// Whether the vendor processes the request although its reply is replaced.
        public var isProcessed: Bool
        /// The time from the request to its outcome.
        public var after: Duration
    }

    /// A vendor's reply in a scenario.
    public struct WireReply: Sendable {
        /// The status.
        public var status: Int
        /// The headers.
        public var headers: [(String, String)]
        /// The body.
        public var body: [UInt8]
    }

    /// The title.
    public var title: String
    /// The rules that must apply while the scenario runs.
    public var shows: [RuleID]
    /// The values of `${NAME}` in the configuration, with invented secrets, so that the scenario needs no environment.
    public var environment: [String: String]
    /// The simulator settings of each simulated vendor, by the vendor's id. Other vendors accept every request.
    public var vendors: [AdapterID: JSONObject]
    /// The configuration, in the form of `Schemas/configuration`.
    public var configuration: JSONValue
    /// The wall clock at the beginning.
    public var start: Instant
    /// The subject of operations that name no other subject.
    public var subject: Subject
    /// The adapters' memories at the start.
    public var memory: [Remembered]
    /// The subject snapshot at the start.
    public var snapshot: JSONValue?
    /// The steps before the scenario, which are not reported. Operations that they leave pending are pending at the start.
    public var before: [Step]
    /// The steps.
    public var steps: [Step]
}

extension EngagementOperation {
    /// An operation that may lack the values that its capture determines: id, subject, instant, app state.
    public struct Draft: Sendable {
        private let json: JSONObject
        private let path: String

        /// Reads an operation's object. Its members must be valid; missing members are added at capture.
        public init(json: JSONValue, at path: String) throws(ModelError) {
            self.json = try ObjectReader(json, at: path, known: nil).object
            self.path = path
            _ = try filled(
                id: "draft",
                subject: "draft",
                capturedAt: Instant(milliseconds: 0),
                appState: nil,
                contact: nil
            )
        }

        /// Returns the operation with the missing values.
        public func filled(
            id: @autoclosure () -> OperationID,
            subject: Subject,
            capturedAt: Instant,
            appState: AppState?,
            contact: String?
        ) throws(ModelError) -> EngagementOperation {
            var json = json
            json["id"] = json["id"] ?? .string(id().rawValue)
            json["subject"] = json["subject"] ?? .string(subject.rawValue)
            json["capturedAt"] = json["capturedAt"] ?? .string(capturedAt.text)
            json["appState"] = json["appState"] ?? appState.map { .string($0.rawValue) }
            json["contact"] = json["contact"] ?? contact.map { .string($0) }
            return try EngagementOperation(json: .object(json), at: path)
        }
    }
}

extension Scenario {
    /// Reads a scenario.
    ///
    /// - Throws: ``ModelError`` with path, reason and remedy.
    public init(json: JSONValue) throws(ModelError) {
        let reader = try ObjectReader(
            json,
            at: "",
            known: [
                "$schema", "title", "shows", "environment", "vendors", "configuration", "start", "subject", "memory",
                "snapshot", "before", "steps",
            ]
        )
        title = try reader.optional("title") ?? ""
        shows = try Scenario.rules(reader.list("shows", of: String.self))
        environment = try Scenario.texts(reader.optional("environment", as: JSONObject.self) ?? [:], at: "environment")
        vendors = try reader.dictionary("vendors", of: JSONObject.self)
        configuration = try reader.required("configuration")
        start = try reader.optional("start") ?? Instant(milliseconds: 1_900_000_000_000)
        subject = try reader.optional("subject") ?? "installation-1"
        memory = []
        for (position, entry) in try reader.list("memory", of: JSONValue.self).enumerated() {
            memory.append(try Remembered(json: entry, at: "memory[\(position)]"))
        }
        snapshot = try reader.optional("snapshot", as: SubjectSnapshot.self)?.json
        before = try Scenario.steps(reader.list("before"), at: "before")
        steps = try Scenario.steps(reader.required("steps"), at: "steps")
    }

    private static func steps(_ list: [JSONValue], at path: String) throws(ModelError) -> [Step] {
        var steps: [Step] = []
        for (position, step) in list.enumerated() {
            steps.append(try Step(json: step, at: "\(path)[\(position)]"))
        }
        return steps
    }
}

extension Scenario.Remembered {
    init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["provider", "lane", "version", "memory"])
        provider = try reader.required("provider")
        lane = try reader.optional("lane") ?? ""
        version = try reader.optional("version")
        memory = try .object(reader.required("memory", as: JSONObject.self))
    }
}

extension Scenario {
    private static func texts(_ object: JSONObject, at path: String) throws(ModelError) -> [String: String] {
        var texts: [String: String] = [:]
        for member in object { texts[member.name] = try String(json: member.value, at: path.dot(member.name)) }
        return texts
    }

    private static func rules(_ texts: [String]) throws(ModelError) -> [RuleID] {
        var rules: [RuleID] = []
        for (position, text) in texts.enumerated() {
            guard let rule = RuleID(text: text) else {
                let remedy = "Write it as <adapter>/<number>."
                throw ModelError(path: "shows[\(position)]", reason: "names no rule", remedy: remedy)
            }
            rules.append(rule)
        }
        return rules
    }
}

extension Scenario.Step {
    /// The names of all steps.
    public static let words = [
        "capture", "advance", "drain", "reply", "defaultReply", "kill", "killAtSettle", "start", "restart", "reboot",
        "clockJump", "flush", "wake", "network", "appState", "credential", "reconfigure", "resume", "read",
        "chance",
    ]

    /// The names of the steps whose value is `true`.
    private static let bareWords = ["kill", "start", "restart", "flush", "wake"]

    /// Reads one step: an object with one member that names it.
    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: nil)
        guard reader.object.count == 1, let member = reader.object.first, Self.words.contains(member.name) else {
            throw ModelError(
                path: path,
                reason: "is not a known step",
                remedy: "Give an object with one of \(Self.words.joined(separator: ", "))."
            )
        }
        let place = path.dot(member.name)
        let value = member.value
        if Self.bareWords.contains(member.name), value != .bool(true) {
            throw ModelError(path: place, reason: "is not true", remedy: "Write {\"\(member.name)\": true}.")
        }
        switch member.name {
        case "capture":
            var drafts: [EngagementOperation.Draft] = []
            for (position, operation) in (value.array ?? [value]).enumerated() {
                drafts.append(try EngagementOperation.Draft(json: operation, at: "\(place)[\(position)]"))
            }
            self = .capture(drafts)
        case "advance": self = .advance(try Duration(seconds: value, at: place))
        case "drain": self = .drain(try Duration(seconds: value, at: place))
        case "reply":
            let reply = try Scenario.Reply(json: value, at: place)
            let count =
                try value["count"].map { count throws(ModelError) in try Int(json: count, at: place.dot("count")) } ?? 1
            guard (1...100_000).contains(count) else {
                throw ModelError(path: place.dot("count"), reason: "is out of range", remedy: "Give 1 to 100000.")
            }
            self = .reply(reply, count: count)
        case "defaultReply": self = .defaultReply(try Scenario.Reply(json: value, at: place))
        case "kill": self = .kill
        case "killAtSettle":
            guard let word = value.string, ["before", "after"].contains(word) else {
                throw ModelError(path: place, reason: "is not a known moment", remedy: "Give \"before\" or \"after\".")
            }
            self = .killAtSettle(before: word == "before")
        case "start": self = .start
        case "restart": self = .restart
        case "reboot": self = .reboot(after: try Duration(seconds: value, at: place))
        case "clockJump": self = .clockJump(try Duration(seconds: value, at: place))
        case "flush": self = .flush
        case "wake": self = .wake
        case "network":
            guard let word = value.string, ["up", "down"].contains(word) else {
                throw ModelError(path: place, reason: "is not a network state", remedy: "Give \"up\" or \"down\".")
            }
            self = .network(isUp: word == "up")
        case "appState": self = .appState(try AppState(json: value, at: place))
        case "credential":
            let reader = try ObjectReader(value, at: place, known: ["contact", "value"])
            self = .credential(
                contact: try reader.optional("contact"),
                try reader.optional("value", as: String.self).map { Secret($0) }
            )
        case "reconfigure": self = .reconfigure(value)
        case "chance":
            let chance = value.number?.double
            guard value.isNull || (chance.map { (0..<1).contains($0) } ?? false) else {
                let remedy = "Give a number from 0 up to 1, or null."
                throw ModelError(path: place, reason: "is not a probability", remedy: remedy)
            }
            self = .chance(chance)
        case "resume": self = .resume(try String(json: value, at: place))
        default:
            let reader = try ObjectReader(value, at: place, known: ["provider", "what", "arguments"])
            let request = ReadRequest(try reader.required("what"), arguments: try reader.optional("arguments") ?? [:])
            self = .read(request, provider: try reader.required("provider"))
        }
    }
}

extension Scenario.Reply {
    /// Reads `{"status": 200, "headers": {…}, "body": …}` or `{"failure": "lost", "code": "timedOut"}`, with `after` in
    /// seconds and `processed`. With `after` alone, the vendor's own reply takes that long.
    init(json: JSONValue, at path: String) throws(ModelError) {
        let known = ["status", "headers", "body", "failure", "code", "processed", "after", "count"]
        let reader = try ObjectReader(json, at: path, known: known)
        after =
            try json["after"].map { value throws(ModelError) in try Duration(seconds: value, at: path.dot("after")) }
            ?? .milliseconds(100)
        isProcessed = try reader.optional("processed") ?? false
        if Set(reader.object.names).isSubset(of: ["after", "count"]), json["after"] != nil {
            (response, failure, isProcessed) = (nil, nil, true)
            return
        }
        if let uncertainty = try reader.optional("failure", as: String.self) {
            guard ["notSent", "lost"].contains(uncertainty) else {
                throw ModelError(
                    path: path.dot("failure"),
                    reason: "is not a known failure",
                    remedy: "Give \"notSent\" or \"lost\"."
                )
            }
            failure = (uncertainty, try reader.optional("code") ?? (uncertainty == "lost" ? "timedOut" : "offline"))
            response = nil
        } else {
            let headers = try reader.optional("headers", as: JSONObject.self) ?? [:]
            let body = reader.object["body"]
            response = Scenario.WireReply(
                status: try reader.required("status"),
                headers: headers.map { ($0.name, $0.value.string ?? $0.value.text) },
                body: body.map { Array(($0.string ?? $0.text).utf8) } ?? []
            )
            failure = nil
        }
    }
}

extension Duration {
    /// Reads a number of seconds, with fractions down to the millisecond.
    init(seconds json: JSONValue, at path: String) throws(ModelError) {
        guard let seconds = json.number?.double, abs(seconds) < 1e12 else {
            throw ModelError(path: path, reason: "is not a number of seconds", remedy: "Give seconds: 60, or 0.5.")
        }
        self = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
