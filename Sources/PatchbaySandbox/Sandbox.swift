import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Synchronization

/// The sandbox without the network: vendors, faults, log, and control endpoints.
final class Sandbox: Sendable {
    /// The first path segment of the control endpoints.
    static let controlName = "sandbox"
    /// The header that a browser's request to a control endpoint needs.
    static let tokenHeader = "X-Sandbox-Token"

    /// The value of ``tokenHeader``, different for each sandbox.
    let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()

    let apis: [String: any SandboxAPI]
    let log: RequestLog
    private let faults: Mutex<FaultPlan>
    private let startFaults: [FaultRule]
    private let clock: @Sendable () -> Instant

    init(
        _ simulators: [any VendorSimulator],
        faults: [FaultRule],
        log: RequestLog,
        clock: @escaping @Sendable () -> Instant
    ) throws(SandboxError) {
        var apis: [String: any SandboxAPI] = [:]
        for simulator in simulators {
            let api = Sandbox.api(simulator)
            guard apis.updateValue(api, forKey: api.id) == nil else {
                throw SandboxError(.badVendor, at: api.id, "two simulators have this id", remedy: "Start it once.")
            }
        }
        for id in apis.keys where id == Sandbox.controlName || !Sandbox.isPathPart(id) {
            throw SandboxError(
                .badVendor,
                at: id,
                "this id can't be the first part of a path here",
                remedy: "Use small letters, digits and hyphens, and not the name \(Sandbox.controlName)."
            )
        }
        self.apis = apis
        self.log = log
        self.faults = Mutex(FaultPlan(faults))
        self.clock = clock
        startFaults = faults
        try refuseUnknownNames(in: faults)
    }

    /// Activates rules with new counters.
    func setFaults(_ rules: [FaultRule]) throws(SandboxError) {
        try refuseUnknownNames(in: rules)
        faults.withLock { $0 = FaultPlan(rules) }
    }

    /// Returns the answer to a request for a vendor or a control endpoint.
    func answer(to request: HTTPRequest) -> HTTPAnswer {
        if let refusal = refusal(of: request) { return .reply(refusal) }
        let (first, rest) = request.target.splitFirstPart()
        if first == Sandbox.controlName { return .reply(control(request, rest)) }
        guard let api = apis[first] else {
            return .reply(.problem(404, at: "/\(first)", "no vendor has that name", remedy: "Known: \(vendorNames)."))
        }
        return answer(to: request, at: rest, through: api)
    }

    /// Returns the reason for refusing a request that may come from another website in a browser on this machine.
    private func refusal(of request: HTTPRequest) -> WireResponse? {
        let port = request.origin.split(separator: ":").last ?? ""
        let hosts = ["127.0.0.1", "localhost", "[::1]"].flatMap { [$0, "\($0):\(port)"] }
        guard let host = request.header("Host"), hosts.contains(host.lowercased()) else {
            return .problem(403, at: "Host", "not this machine", remedy: "Use \(request.origin).")
        }
        let origin = request.header("Origin")
        guard origin == nil || hosts.contains(where: { "http://\($0)" == origin?.lowercased() }) else {
            return .problem(403, at: "Origin", "another site", remedy: "Send requests from \(request.origin) alone.")
        }
        let isFromBrowser = origin != nil || request.header("Sec-Fetch-Site") != nil
        guard isFromBrowser, request.target.splitFirstPart().0 == Sandbox.controlName,
            request.header(Sandbox.tokenHeader) != token
        else { return nil }
        return .problem(
            403,
            at: Sandbox.tokenHeader,
            "not the token of this sandbox",
            remedy: "Send the token that the sandbox printed when it started."
        )
    }

    /// Resets the vendors and the faults to their initial states. The log continues.
    func reset() {
        for api in apis.values { api.reset() }
        faults.withLock { $0 = FaultPlan(startFaults) }
    }

    /// The vendors' names for display.
    var vendorNames: String { apis.keys.sorted().joined(separator: ", ") }

    private func answer(to request: HTTPRequest, at target: RequestTarget, through api: any SandboxAPI) -> HTTPAnswer {
        let inner = WireRequest(
            request.method,
            request.origin + target.text,
            headers: request.headers,
            body: request.body
        )
        let entry = LogEntry(vendor: api.id, request: inner, path: target.path, query: target.query)
        if request.isTooLarge {
            return api.exclusively { _ in
                logged(entry, Course(answer: .reply(.tooLarge), fault: nil, processed: false), at: clock())
            }
        }
        return api.exclusively { respond in
            let now = clock()
            let fault = faults.withLock { $0.effect(vendor: api.id, method: inner.method, path: target.path) }
            return logged(entry, course(under: fault) { respond(inner, now) }, at: now)
        }
    }

    /// The processing of one request.
    private struct Course {
        let answer: HTTPAnswer
        let fault: FaultRule.Effect?
        let processed: Bool
    }

    private func course(under fault: FaultRule.Effect?, respond: () -> WireResponse) -> Course {
        switch fault {
        case nil: return Course(answer: .reply(respond()), fault: fault, processed: true)
        case .answer(let response, let processed):
            if processed { _ = respond() }
            return Course(answer: .reply(response), fault: fault, processed: processed)
        case .delay(let milliseconds):
            return Course(answer: .reply(respond(), delayMilliseconds: milliseconds), fault: fault, processed: true)
        case .drop:
            _ = respond()
            return Course(answer: .close, fault: fault, processed: true)
        case .reset: return Course(answer: .reset, fault: fault, processed: false)
        case .hang: return Course(answer: .hang, fault: fault, processed: false)
        }
    }

    /// Writes the log line and returns the answer; if the line cannot be written, returns an error instead.
    private func logged(_ entry: LogEntry, _ course: Course, at now: Instant) -> HTTPAnswer {
        do throws(SandboxError) {
            try log.append(vendor: entry.vendor) { number in
                entry.line(
                    number: number,
                    at: now,
                    fault: course.fault?.description,
                    status: course.answer.status,
                    processed: course.processed
                )
            }
            return course.answer
        } catch {
            return .reply(.problem(500, error))
        }
    }

    /// Rejects rules for an unknown vendor, which would never apply without any indication.
    private func refuseUnknownNames(in rules: [FaultRule]) throws(SandboxError) {
        let problems = rules.enumerated().compactMap { index, rule -> SandboxError.Problem? in
            guard let vendor = rule.vendor, apis[vendor] == nil else { return nil }
            return SandboxError.Problem("/\(index)/vendor", "no vendor has that name", remedy: "Known: \(vendorNames).")
        }
        if !problems.isEmpty { throw SandboxError(.badFaultRule, problems) }
    }

    private static func api(_ simulator: some VendorSimulator) -> any SandboxAPI { SimulatorAPI(simulator) }

    private static func isPathPart(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
