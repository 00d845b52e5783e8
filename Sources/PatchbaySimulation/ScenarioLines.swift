import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension VirtualWorld.Sent {
    /// The request in readable form: without secrets, and with a JSON body as JSON.
    public var json: JSONValue {
        let request = request.redacted
        let headers = request.headers.map { ($0.name, JSONValue.string($0.value)) }
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

extension VirtualWorld.Fate {
    /// The reply and its delay in seconds, with secret headers hidden.
    var json: JSONValue {
        guard case .outcome(let outcome, let delay) = self else { return ["failure": "interrupted"] }
        var json: JSONObject = [:]
        switch outcome {
        case .replied(let response):
            json["status"] = .integer(Int64(response.status))
            if !response.headers.isEmpty {
                let headers = response.headers.map { ($0.name, JSONValue.string($0.isSecret ? "•••" : $0.value)) }
                json["headers"] = .object(JSONObject(headers))
            }
            if !response.body.isEmpty {
                json["body"] = response.json ?? .string(String(decoding: response.body, as: UTF8.self))
            }
        case .failed(let failure):
            json["failure"] = .string(failure.delivery.rawValue)
            json["code"] = .string(failure.code)
        }
        json["after"] = delay.seconds
        return .object(json)
    }
}

extension Duration {
    /// The duration in seconds, with up to three decimals.
    fileprivate var seconds: JSONValue {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let digits = String(1000 + milliseconds % 1000).dropFirst().reversed().drop { $0 == "0" }.reversed()
        let text = "\(milliseconds / 1000)" + (digits.isEmpty ? "" : ".\(String(digits))")
        return JSONNumber(text: text).map { .number($0) } ?? .null
    }
}

extension OutboxStore {
    /// Returns the pending operations of a provider, in order of capture.
    func pendingLines(of provider: String) throws -> [JSONValue] {
        var lines: [JSONValue] = []
        try queues.forEachRow(provider: provider, subject: nil) { row in
            let operation = try EngagementOperation(jsonBytes: row.operation.body)
            var line: JSONObject = [
                "provider": .string(provider), "operation": .string(operation.id.rawValue),
                "kind": .string(operation.action.kind.rawValue),
            ]
            line["step"] = try row.step.map { try JSONValue(parsing: $0) }
            line["held"] = row.hold.map { .string($0) }
            if row.failures > 0 { line["failures"] = .integer(Int64(row.failures)) }
            lines.append(.object(line))
        }
        return lines
    }
}

extension VirtualWorld.ReportedEvent {
    /// The event as JSON.
    public var json: JSONValue {
        func line(_ provider: String, _ members: JSONObject) -> JSONValue {
            var json: JSONObject = ["at": .string(date.text), "provider": .string(provider)]
            for member in members { json[member.name] = member.value }
            return .object(json)
        }
        func outcomeLine(_ id: OperationID, _ outcome: OperationOutcome) -> JSONObject {
            var json: JSONObject = ["operation": .string(id.rawValue), "verdict": .string(outcome.term.rawValue)]
            json["finding"] = outcome.finding?.json
            json["answer"] = outcome.answer
            return json
        }
        switch event {
        case .ended(let id, let provider, let outcome): return line(provider, outcomeLine(id, outcome))
        case .answered(let id, let provider, let outcome):
            var json = outcomeLine(id, outcome)
            json["read"] = true
            return line(provider, json)
        case .incoming(let provider, let content): return line(provider, ["incoming": content])
        case .suspended(let provider, let finding): return line(provider, ["stopped": finding.json])
        case .outage(let provider, let finding): return line(provider, ["outage": finding.json])
        case .recovered(let provider, let finding): return line(provider, ["recovered": finding.json])
        case .noticed(let provider, let finding): return line(provider, ["finding": finding.json])
        case .passedOver(let id, let provider, let finding):
            return line(provider, ["operation": .string(id.rawValue), "passedOver": finding.json])
        case .setAside(let finding): return ["at": .string(date.text), "setAside": finding.json]
        case .storageFailed(let error):
            return ["at": .string(date.text), "storage": .string(error.description)]
        case .switchRefused(let refusal):
            return ["at": .string(date.text), "refused": .string(refusal.description)]
        }
    }
}
