import PatchbayAdapterKit
import PatchbayJSON

/// The endpoints under `/sandbox/`, with which a test or a person inspects the sandbox and configures its faults.
extension Sandbox {
    /// A control endpoint: the requests it handles, and its handler for the rest of the path and the query.
    private struct Endpoint: Sendable {
        let method: String
        let path: String
        let act: @Sendable (Sandbox, HTTPRequest, RequestTarget) throws -> WireResponse
    }

    private static let endpoints = [
        Endpoint(method: "GET", path: "/health") { sandbox, _, _ in
            let vendors = sandbox.apis.keys.sorted().map(JSONValue.string)
            return .json(["status": "ok", "vendors": .array(vendors), "n": .integer(sandbox.log.lastNumber)])
        },
        Endpoint(method: "GET", path: "/state/") { sandbox, _, target in
            let vendor = String(target.path.dropFirst("/state/".count))
            guard let api = sandbox.apis[vendor] else { return sandbox.unknown(vendor) }
            return try .bytes(api.stateText(), type: "application/json")
        },
        Endpoint(method: "GET", path: "/log") { sandbox, _, target in
            let vendor = target.queryValue("vendor")
            if let vendor, sandbox.apis[vendor] == nil { return sandbox.unknown(vendor) }
            guard let after = Int(target.queryValue("after") ?? "0"), after >= 0 else {
                return .problem(
                    400,
                    at: "after",
                    "not a whole number from 0 up",
                    remedy: "Give the last n that you know; 0 for all."
                )
            }
            return try .bytes(sandbox.log.lines(vendor: vendor, after: after), type: "application/x-ndjson")
        },
        Endpoint(method: "PUT", path: "/faults") { sandbox, request, _ in
            let rules = try FaultRule.list(from: JSONValue(parsing: request.body))
            try sandbox.setFaults(rules)
            return .json(["rules": .integer(rules.count)])
        },
        Endpoint(method: "DELETE", path: "/faults") { sandbox, _, _ in
            try sandbox.setFaults([])
            return .json(["rules": 0])
        },
        Endpoint(method: "POST", path: "/reset") { sandbox, _, _ in
            sandbox.reset()
            return .json(["n": .integer(sandbox.log.lastNumber)])
        },
    ]

    /// Returns the response of a control endpoint; `target` is the part after `/sandbox`.
    func control(_ request: HTTPRequest, _ target: RequestTarget) -> WireResponse {
        if request.isTooLarge { return .tooLarge }
        let here = Sandbox.endpoints.filter {
            $0.path == target.path || $0.path.hasSuffix("/") && target.path.hasPrefix($0.path)
        }
        guard !here.isEmpty else {
            let known = Sandbox.endpoints.map { "\($0.method) /\(Sandbox.controlName)\($0.path)" }
            return .problem(
                404,
                at: target.path,
                "no such endpoint",
                remedy: "Known: \(known.joined(separator: ", "))."
            )
        }
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let endpoint = here.first(where: { $0.method == method }) else {
            let methods = here.map(\.method).joined(separator: ", ")
            return .problem(405, at: target.path, "\(request.method) has no meaning here", remedy: "Use \(methods).")
        }
        do {
            return try endpoint.act(self, request, target)
        } catch let error as SandboxError {
            return .problem(error.code == .badFaultRule ? 400 : 500, error)
        } catch let error as JSONError {
            return .problem(400, at: "body", "not JSON (\(error))", remedy: "Send one JSON array of rules.")
        } catch {
            return .problem(500, at: target.path, "the state can't be shown", remedy: "Correct the simulator's State.")
        }
    }

    private func unknown(_ vendor: String) -> WireResponse {
        .problem(400, at: vendor, "no vendor has that name", remedy: "Known: \(vendorNames).")
    }
}
