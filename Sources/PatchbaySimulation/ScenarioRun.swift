public import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// Plays a scenario and tells what happened, a JSON object at a time.
public struct ScenarioRun {
    private let scenario: Scenario
    private let world: VirtualWorld
    private let configure: (JSONValue) throws -> Configuration
    private let tell: (JSONValue) throws -> Void
    private var configuration: Configuration
    private var appState = AppState.active
    private var contact: String?
    private var toldRequests = 0
    private var toldEvents = 0
    private let script = Script()

    /// What the network and the app do at the moment; the world's closures look here.
    private final class Script {
        var replies: [Scenario.Reply] = []
        var standing: Scenario.Reply?
        var isUp = true
        var credentials: [String?: Secret?] = [:]
        /// The process was told to die inside a transaction; whatever error comes out is that.
        var isDying = false
    }

    private struct Death: Error {}

    /// A run that has not begun.
    ///
    /// - Parameters:
    ///   - scenario: the story.
    ///   - configure: reads a configuration.
    ///   - tell: takes each thing that happened, in order.
    /// - Throws: what `configure` throws.
    public init(
        _ scenario: Scenario,
        configure: @escaping (JSONValue) throws -> Configuration,
        tell: @escaping (JSONValue) throws -> Void
    ) throws {
        (self.scenario, self.configure, self.tell) = (scenario, configure, tell)
        configuration = try configure(scenario.configuration)
        world = try VirtualWorld(start: scenario.start)
    }

    /// Plays the scenario to its end, then tells the accounts, memory and mirror.
    public mutating func play() throws {
        let script = script
        world.network = { _ in
            guard script.isUp else { return .outcome(.failed(TransportFailure(.notSent, "offline"))) }
            let reply = script.replies.isEmpty ? script.standing : script.replies.removeFirst()
            return reply?.fate ?? .outcome(.replied(WireResponse(200, json: [:])))
        }
        connect()
        try world.start(configuration.plan)
        try report()
        for step in scenario.steps {
            do {
                try play(step)
            } catch  where script.isDying {
                script.isDying = false
                world.onStorage(nil)
                world.kill()
                try tell(["at": .string(world.host.date().text), "died": true])
            }
            try report()
        }
        try conclude()
    }

    private func connect() {
        let (script, configuration) = (script, configuration)
        world.credentials = { provider, contact in
            if let given = script.credentials[contact] ?? script.credentials[nil] { return given }
            return configuration.credential(of: provider, for: contact)
        }
    }

    private mutating func play(_ step: Scenario.Step) throws {
        switch step {
        case .capture(let drafts): try capture(drafts)
        case .advance(let duration): try world.advance(by: duration)
        case .drain(let duration): try world.drain(atMost: duration)
        case .reply(let reply, let count): script.replies += Array(repeating: reply, count: count)
        case .defaultReply(let reply): script.standing = reply
        case .kill: world.kill()
        case .killAtSettle(let before):
            world.onStorage { [script] point in
                guard point == (before ? .beforeCommit(.normal) : .afterCommit(.normal)) else { return }
                script.isDying = true
                throw Death()
            }
        case .start: if !world.isAlive { try world.start(configuration.plan) }
        case .restart: try world.restart(configuration.plan)
        case .reboot(let pause): try world.reboot(after: pause)
        case .clockJump(let duration): world.host.jump(by: duration)
        case .flush: try world.flush()
        case .wake: try world.wake()
        case .network(let isUp):
            script.isUp = isUp
            if isUp { try world.wake() }
        case .appState(let state):
            appState = state
            if state == .active { try world.wake() }
        case .credential(let contact, let secret): script.credentials[contact] = secret
        case .reconfigure(let json):
            configuration = try configure(json)
            connect()
            try world.restart(configuration.plan)
        case .resume(let provider): try world.resume(provider)
        case .read(let request, let provider):
            let operation = EngagementOperation(
                id: world.host.makeID(),
                subject: scenario.subject,
                contact: contact,
                capturedAt: world.host.date(),
                appState: appState,
                action: .readBack(request)
            )
            try world.read(operation, from: provider)
        }
    }

    private mutating func capture(_ drafts: [EngagementOperation.Draft]) throws {
        var operations: [EngagementOperation] = []
        for draft in drafts {
            let (host, subject, appState) = (world.host, scenario.subject, appState)
            var made: OperationID?
            func filled(_ contact: String?) throws -> EngagementOperation {
                let operation = try draft.filled(
                    id: made ?? host.makeID(),
                    subject: subject,
                    capturedAt: host.date(),
                    appState: appState,
                    contact: contact
                )
                made = operation.id
                return operation
            }
            var drafted = try filled(contact)
            if case .switchContact(let change) = drafted.action {
                // As in an app, the one who comes signs the switch already.
                contact = change.identifiers.first?.value
                drafted = try filled(contact)
            }
            let (operation, findings) = configuration.catalogue.coerce(drafted)
            try tell(
                [
                    "at": .string(world.host.date().text), "captured": .string(operation.id.rawValue),
                    "kind": .string(operation.action.kind.rawValue), "findings": .array(findings.map(\.json)),
                ]
            )
            if !findings.contains(where: { $0.severity == .error }) { operations.append(operation) }
        }
        try world.capture(operations)
    }

    /// Tells what left and what ended since the last look.
    private mutating func report() throws {
        var lines: [(Instant, Int, JSONValue)] = []
        for sent in world.sent[toldRequests...] { lines.append((sent.date, lines.count, sent.json)) }
        for told in world.told[toldEvents...] { lines.append((told.date, lines.count, told.json)) }
        (toldRequests, toldEvents) = (world.sent.count, world.told.count)
        for (_, _, line) in lines.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) { try tell(line) }
    }

    private func conclude() throws {
        let memory = try configuration.providers.flatMap { provider in
            try world.memory(of: provider.name).sorted { $0.key < $1.key }.map { lane, text -> JSONValue in
                ["provider": .string(provider.name), "lane": .string(lane), "memory": try JSONValue(parsing: text)]
            }
        }
        try tell(
            [
                "end": .string(world.host.date().text),
                "accounts": .array(try world.accounts().map(\.json)),
                "mirror": try world.mirror(of: scenario.subject)?.json ?? [:],
                "memory": .array(memory),
            ]
        )
    }
}

@available(*, unavailable)
extension ScenarioRun: Sendable {}

extension Scenario.Reply {
    var fate: VirtualWorld.Fate {
        if let response {
            let headers = response.headers.map { WireHeader($0.0, $0.1) }
            return .outcome(
                .replied(WireResponse(response.status, headers: headers, body: response.body)),
                after: after
            )
        }
        let doubt = failure.flatMap { TransportFailure.Doubt(rawValue: $0.doubt) } ?? .lost
        return .outcome(.failed(TransportFailure(doubt, failure?.code ?? "timedOut")), after: after)
    }
}

extension VirtualWorld.Sent {
    /// The request as a person reads it: without secrets, with its body as JSON where it is JSON.
    public var json: JSONValue {
        let headers = request.redacted.headers.map { ($0.name, JSONValue.string($0.value)) }
        var json: JSONObject = [
            "at": .string(date.text), "provider": .string(provider), "method": .string(request.method),
            "url": .string(request.url), "headers": .object(JSONObject(headers)),
        ]
        if !request.body.isEmpty {
            json["body"] = request.json ?? .string(String(decoding: request.body, as: UTF8.self))
        }
        return .object(json)
    }
}

extension VirtualWorld.Told {
    /// The event as JSON.
    public var json: JSONValue {
        func line(_ provider: String, _ members: JSONObject) -> JSONValue {
            var json: JSONObject = ["at": .string(date.text), "provider": .string(provider)]
            for member in members { json[member.name] = member.value }
            return .object(json)
        }
        func ending(_ id: OperationID, _ outcome: OperationOutcome) -> JSONObject {
            var json: JSONObject = ["operation": .string(id.rawValue), "verdict": .string(outcome.term.rawValue)]
            json["finding"] = outcome.finding?.json
            json["answer"] = outcome.answer
            return json
        }
        switch event {
        case .ended(let id, let provider, let outcome): return line(provider, ending(id, outcome))
        case .answered(let id, let provider, let outcome):
            var json = ending(id, outcome)
            json["read"] = true
            return line(provider, json)
        case .incoming(let provider, let content): return line(provider, ["incoming": content])
        case .parked(let provider, let finding): return line(provider, ["stopped": finding.json])
        case .noticed(let provider, let finding): return line(provider, ["finding": finding.json])
        case .passedOver(let id, let provider, let finding):
            return line(provider, ["operation": .string(id.rawValue), "passedOver": finding.json])
        case .setAside(let finding): return ["at": .string(date.text), "setAside": finding.json]
        case .storageFailed(let error):
            return ["at": .string(date.text), "storage": .string(error.description)]
        }
    }
}
