import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Testing

/// The meaning of each reply at each endpoint, as in the goldens under `Replies`.
struct ReplyGoldens {
    /// A reply of the vendor or of a machine on the way.
    struct Case: Sendable {
        let name: String
        let outcome: Outcome
    }

    /// An occasion on which a request to an endpoint leaves: a sample, the vendor's behavior, and the number of the
    /// request.
    private struct Occasion {
        let sample: Sample
        let behavior: VendorBehavior
        let isPrepared: Bool
        let number: Int
    }

    private let subject: any ConformanceSubject
    private let occasions: [String: Occasion]

    init(_ subject: any ConformanceSubject) {
        self.subject = subject
        var occasions: [String: Occasion] = [:]
        let behaviors =
            [VendorBehavior.accepting] + VendorBehavior.unauthenticated + VendorBehavior.failing + [.refusing]
        search: for behavior in behaviors {
            for sample in subject.samples {
                for isPrepared in Set([!sample.startsAfresh, false]).sorted(by: { $0 && !$1 }) {
                    guard occasions.count < subject.endpoints.count else { break search }
                    let sent = subject.drive(sample, against: behavior, isPrepared: isPrepared).sent
                    for (number, request) in sent.enumerated() where occasions[request.endpoint] == nil {
                        occasions[request.endpoint] = Occasion(
                            sample: sample,
                            behavior: behavior,
                            isPrepared: isPrepared,
                            number: number
                        )
                    }
                }
            }
        }
        self.occasions = occasions
    }

    /// Statuses of vendors and of proxies before them, then missing replies, then invalid replies.
    private static let common: [Case] = {
        let statuses =
            [100, 200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422]
            + [425, 429, 451, 500, 501, 502, 503, 504, 599]
        let timeout = [WireHeader("Retry-After", "120")]
        return statuses.map { Case(name: "\($0)", outcome: .replied(WireResponse($0))) }
            + [429, 503].map {
                Case(name: "\($0) with Retry-After", outcome: .replied(WireResponse($0, headers: timeout)))
            }
            + TransportFailure.Delivery.allCases.map {
                Case(name: "no answer (\($0.rawValue))", outcome: .failed(TransportFailure($0, "timedOut")))
            }
            + VendorBehavior.invalidReplies.compactMap { behavior in
                behavior.name.contains("without a body")
                    ? nil : behavior.outcome.map { Case(name: behavior.name, outcome: $0) }
            }
    }()

    private func cases(of endpoint: String) -> [Case] {
        Self.common + [Case(name: "200 with an error inside", outcome: subject.hiddenError(200))]
            + subject.replies.filter { $0.endpoints?.contains(endpoint) ?? true }.map {
                Case(name: "\($0.response.status): \($0.name)", outcome: .replied($0.response))
            }
    }

    /// Returns the adapter's interpretation of each outcome, at every endpoint that a sample reaches.
    func readings(_ outcomes: [Outcome]) -> [(endpoint: String, readings: [Reading])] {
        occasions.inOrder.map { endpoint, occasion in
            var script = Script(isPrepared: occasion.isPrepared)
            occasion.behavior.set(&script, subject.refusal)
            let before = script.answer
            script.answer = { $0.number == occasion.number ? .replied(WireResponse(200)) : before($0) }
            script.limit = occasion.number + 1
            return (
                endpoint,
                subject.read(outcomes, as: occasion.number, of: occasion.sample.operations, script)
            )
        }
    }

    /// The rows of the reply table that no reply reaches. No golden shows their meaning.
    var unreached: [ReplyRow] {
        let cases = subject.endpoints.flatMap(cases)
        let reached = Set(cases.compactMap { subject.descriptor.tables.replies.index(for: $0.outcome) })
        return subject.descriptor.tables.replies.rows.enumerated().filter { !reached.contains($0.offset) }.map(
            \.element
        )
    }

    /// Returns the golden of an endpoint; nil if no sample makes the adapter use it.
    func text(of endpoint: String) -> String? {
        guard let occasion = occasions[endpoint] else { return nil }
        var lines: [(meaning: String, names: [String])] = []
        for reply in cases(of: endpoint) {
            let meaning = meaning(of: reply, at: endpoint, on: occasion)
            if let place = lines.firstIndex(where: { $0.meaning == meaning }) {
                lines[place].names.append(reply.name)
            } else {
                lines.append((meaning, [reply.name]))
            }
        }
        let start = occasion.isPrepared ? "" : ", nothing known before"
        let head = "\(endpoint), shown by the sample \(occasion.sample.name)\(start)"
        return ([head] + lines.map { "\n\($0.names.joined(separator: ", "))\n    \($0.meaning)" })
            .joined(separator: "\n")
    }

    /// The violated obligations after a reply, by endpoint.
    var breaches: [(endpoint: String, texts: [String])] {
        occasions.inOrder.map { endpoint, occasion in
            let texts = cases(of: endpoint).flatMap { reply in
                drive(reply, at: endpoint, on: occasion).breaches.filter { $0.requirement != "A9" }.map {
                    "\($0.requirement) after \(reply.name): \($0.text)"
                }
            }
            return (endpoint, texts.sorted())
        }
    }

    private func drive(_ reply: Case, at endpoint: String, on occasion: Occasion) -> Drive {
        subject.cache.value("reply \(endpoint) \(reply.name)") {
            subject.drive(occasion.sample) { script in
                occasion.behavior.set(&script, subject.refusal)
                script.isPrepared = occasion.isPrepared
                let before = script.answer
                script.answer = { $0.number == occasion.number ? reply.outcome : before($0) }
                script.isProcessed = { _ in false }
                script.limit = occasion.number + 2
            }
        }
    }

    private func meaning(of reply: Case, at endpoint: String, on occasion: Occasion) -> String {
        let drive = drive(reply, at: endpoint, on: occasion)
        guard drive.sent.count > occasion.number, drive.sent[occasion.number].endpoint == endpoint else {
            return "not reached"
        }
        let sent = drive.sent[occasion.number]
        let isPlannedAgain = drive.sent.count > occasion.number + 1
        let meaning = sent.meaning?.text ?? "forgotten with the process" + (isPlannedAgain ? "; planned again" : "")
        guard isPlannedAgain else { return meaning }
        let next = drive.sent[occasion.number + 1]
        return "\(meaning); next \(next.endpoint) after \((next.at - sent.at).inSeconds) s"
    }
}

extension VendorBehavior {
    /// A vendor that requests a new credential.
    static let unauthenticated: [VendorBehavior] = [VendorBehavior("401", .replied(WireResponse(401)))]
}

extension ConformanceCheck {
    /// Checks of the goldens of replies.
    static let replyGoldens: [ConformanceCheck] = [
        ConformanceCheck("every endpoint has a golden with the meaning of each reply", "replies") { subject in
            let goldens = ReplyGoldens(subject)
            var problems: [Problem] = []
            var names: Set<String> = []
            for endpoint in subject.endpoints {
                guard let text = goldens.text(of: endpoint) else { continue }
                names.insert(endpoint)
                subject.goldens.check(text, .replies, endpoint)
                if text.contains("not reached") {
                    problems.append(Problem(endpoint, "the test of some replies does not reach this endpoint."))
                }
            }
            subject.goldens.checkNoOrphans(.replies, expected: names)
            return problems
        },
        ConformanceCheck("every row of the reply table applies to a reply", "replies") { subject in
            ReplyGoldens(subject).unreached.map {
                Problem($0.when, "no reply matches this row first. Add one to replies, or remove the row.")
            }
        },
    ]
}
