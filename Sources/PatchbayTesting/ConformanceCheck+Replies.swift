import PatchbayAdapterKit
import PatchbayJSON

extension ConformanceCheck {
    /// Checks with every possible status, each kind of body in each class of statuses, and each kind of missing reply.
    static let totality: [ConformanceCheck] = [
        ConformanceCheck("every reply gets a verdict, and no failure counts as accepted", "replies") { subject in
            let cases = AnswerCase.all(subject)
            return ReplyGoldens(subject).readings(cases.map(\.outcome)).flatMap { endpoint, readings -> [Problem] in
                guard readings.count == cases.count else {
                    return [
                        Problem(endpoint, "\(cases.count - readings.count) replies cannot be tested at this endpoint.")
                    ]
                }
                let mayBePage = subject.pages.contains(endpoint)
                return zip(cases, readings).compactMap { answer, reading in
                    answer.problem(with: reading, mayBePage: mayBePage).map { Problem(endpoint, $0) }
                }
            }
        },
        ConformanceCheck("an error in a successful reply is reported, unless the status alone decides", "replies") {
            subject in
            let statuses = [200, 201, 202, 204, 206, 299]
            let readings = ReplyGoldens(subject).readings(statuses.map(subject.hiddenError))
            let silent = readings.flatMap { endpoint, readings in
                zip(statuses, readings).filter(\.1.isTakenSilently).map { (endpoint: endpoint, status: $0.0) }
            }
            return silent.filter { subject.statusAlone[$0.endpoint] == nil }.map {
                Problem(
                    $0.endpoint,
                    "\($0.status) with an error in the body counts as a success, without a finding. "
                        + "Read the body, or name the rule that ignores it in statusAlone."
                )
            }
                + subject.statusAlone.keys.sorted().filter { name in !silent.contains { $0.endpoint == name } }.map {
                    Problem($0, "every error in a successful reply is reported there. Remove it from statusAlone.")
                }
        },
    ]
}

extension ConformanceSubject {
    /// A body that reports an error: the vendor's own body if its refusal has one.
    fileprivate var errorBody: [UInt8] {
        if let refusal, refusal.json?.object?.isEmpty == false { return refusal.body }
        return Array(#"{"error":{"code":"invalid","message":"A value is not valid."}}"#.utf8)
    }

    /// Returns a reply with a successful status and an error in its body.
    func hiddenError(_ status: Int) -> Outcome {
        .replied(
            WireResponse(status, headers: [WireHeader("Content-Type", "application/json")], body: errorBody)
        )
    }
}

/// A reply, or a missing reply, that any request may get.
private struct AnswerCase {
    enum Body: String, CaseIterable {
        case empty, object, error, page, half, nested, list, number, noText
    }

    let name: String
    let outcome: Outcome
    private let body: Body?

    private var status: Int { outcome.reply?.status ?? 0 }

    /// Returns the problem with an adapter's interpretation; nil if there is none.
    func problem(with reading: Reading, mayBePage: Bool) -> String? {
        if reading.mistakes > 0 { return "\(name): a verdict is missing, or one is for another operation." }
        guard (200...299).contains(status) else {
            return reading.isTakenSilently ? "\(name): it counts as accepted, without a finding." : nil
        }
        guard body == .page, !mayBePage else { return nil }
        return reading.isTaken ? "\(name): a web page counts as accepted." : nil
    }

    static func all(_ subject: any ConformanceSubject) -> [AnswerCase] {
        let bodies = Body.allCases.map { ($0, bytes($0, subject.errorBody)) }
        let replies = (100...599).flatMap { status in
            // Statuses at the limits of table rows get every body, the others one body in turn: all combinations would
            // take half a minute.
            let chosen = corners.contains(status) ? bodies : [bodies[status % bodies.count]]
            return chosen.map { body, bytes in
                AnswerCase(
                    name: "\(status) (\(body.rawValue))",
                    outcome: .replied(WireResponse(status, headers: headers(body), body: bytes)),
                    body: body
                )
            }
        }
        let words = ["timedOut", "hostNotFound", "offline", "badURL", "somethingNew"]
        let silences = TransportFailure.Delivery.allCases.flatMap { uncertainty in
            words.map { word in
                AnswerCase(
                    name: "no reply (\(uncertainty.rawValue), \(word))",
                    outcome: .failed(TransportFailure(uncertainty, word)),
                    body: nil
                )
            }
        }
        return replies + silences
    }

    private static let corners: Set<Int> = [100, 200, 201, 202, 204, 206, 299, 302, 400, 401, 404, 429, 500, 503]

    private static func headers(_ body: Body) -> [WireHeader] {
        switch body {
        case .empty: []
        case .page: [WireHeader("Content-Type", "text/html; charset=utf-8")]
        default: [WireHeader("Content-Type", "application/json")]
        }
    }

    private static func bytes(_ body: Body, _ error: [UInt8]) -> [UInt8] {
        switch body {
        case .empty: []
        case .object: Array("{}".utf8)
        case .error: error
        case .page: Array("<!DOCTYPE html><html><body>Sign in</body></html>".utf8)
        case .half: Array(#"{"results":[{"id":"#.utf8)
        case .nested: Array(repeating: UInt8(ascii: "["), count: 4_000)
        case .list: Array(#"[1,"two",null]"#.utf8)
        case .number: Array("17".utf8)
        case .noText: [0xFF, 0xFE, 0x00, 0xC3]
        }
    }
}
