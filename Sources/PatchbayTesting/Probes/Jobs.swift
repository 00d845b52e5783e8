import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

/// An adapter that submits rows as jobs and polls their results. A later row of the same person waits for the result.
struct Jobs: VendorAdapter {
    enum Endpoint: String, AdapterEndpoint { case handIn, poll }
    struct Step: Codable, Sendable, Equatable { var job: String }
    static var descriptor: AdapterDescriptor { .probe(.provider) }
    private static let interval = Duration.seconds(5)

    init(settings: ProbeSettings = ProbeSettings()) {}

    func place(_ operation: EngagementOperation) -> Place { Place(lane: "pool", queue: operation.subject.rawValue) }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        if let job = pending.first(where: { $0.step != nil })?.step?.job {
            return .send(.poll, job, for: pending.filter { $0.step?.job == job })
        }
        let rows = pending.batch(100, oncePerQueue: true) { _ in true }
        return .send(.handIn, rows.map(\.word).joined(separator: ","), for: rows)
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        let (reply, next) = (exchange.outcome.reply, When.at(exchange.moment.now + Self.interval))
        return Interpretation(exchange.operations) { pending in
            switch (exchange.endpoint, exchange.status) {
            case (.handIn, 202): return .inProgress(Step(job: reply?.text ?? ""), next)
            case (.poll, 202): return .inProgress(pending.step, next)
            case (.poll, 200):
                let refused = reply?.text.split(separator: ",").map(String.init) ?? []
                return refused.contains(pending.word) ? .rejected(ProbeFinding.refused.at()) : .accepted()
            default: return .retry(exchange.soon)
            }
        }
    }

    static func vendor(_ request: WireRequest, _ ledger: inout VendorLedger) -> WireResponse {
        if request.endpoint == "handIn" {
            let job = "job-\(ledger.count("jobs"))"
            for row in request.words { ledger.note(row) }
            ledger.held[job] = request.text
            return WireResponse(202, body: Array(job.utf8))
        }
        let polled = ledger.held["polled \(request.text)"].flatMap { Int64($0) }
        let isHurried = polled.map { ledger.now.milliseconds - $0 < 5000 } ?? false
        ledger.held["polled \(request.text)"] = String(ledger.now.milliseconds)
        if isHurried { ledger.held["hurried"] = request.text }
        guard ledger.count("polls of \(request.text)") > 2 else { return WireResponse(202) }
        let rows = (ledger.held[request.text] ?? "").split(separator: ",")
        ledger.held["done", default: ""] += rows.joined() + " "
        return .ok(rows.filter { $0 == "wrong" }.joined(separator: ","))
    }
}

extension BehaviourProbe {
    static let jobs = BehaviourProbe(
        "jobs",
        "Rows are submitted as jobs that are polled; each row gets a verdict, and later rows of its person wait.",
        neededBy: "back-end APIs with asynchronous imports",
        brokenBy: [.losesStep, .believes, .hurries],
        adapter: Jobs(),
        vendor: Jobs.vendor,
        script: [
            .track("a", subject: "s-1"), .track("wrong", subject: "s-2"), .pass(.seconds(1)),
            .track("a again", subject: "s-1"), .track("c", subject: "s-3"), .pass(.seconds(300)),
        ]
    ) { trial in
        let texts = trial.ledger.texts
        trial.expect(Set(texts) == ["a", "wrong", "a again", "c"], "the vendor received \(texts)")
        let repeats = trial.disturbance.leavesUncertainDelivery ? 1 : 0
        trial.expect(texts.count <= 4 + repeats, "rows were submitted again: \(texts)")
        try trial.expect(trial.outcome(of: "wrong")?.term == .rejected, "the invalid row was not rejected")
        let first = trial.ledger.effects.first { $0.text == "a" }?.at ?? Instant(milliseconds: 0)
        let second = trial.ledger.effects.first { $0.text == "a again" }?.at ?? first
        trial.expect(second - first >= .seconds(10), "a row did not wait for the earlier row of its person")
        guard !trial.disturbance.leavesUncertainDelivery else { return }
        trial.expect(trial.ledger.held["hurried"] == nil, "a job was polled too soon")
    }
}
