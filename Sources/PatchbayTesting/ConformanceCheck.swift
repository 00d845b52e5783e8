public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
public import Testing

/// A check of one requirement of the adapter contract, for use in an adapter's tests.
///
/// An adapter's tests run all checks on one harness, which caches the drives that several checks share:
///
/// ```swift
/// static let harness = Result { try AdapterHarness<…>(settings: …, simulator: …, goldens: Goldens()) }
///
/// @Test(arguments: ConformanceCheck.all)
/// func conforms(_ check: ConformanceCheck) throws { try check.run(on: Self.harness.get()) }
/// ```
public struct ConformanceCheck: Sendable, CustomTestStringConvertible {
    /// The check's name, as exemptions use it: `memory survives storage unchanged`.
    public let name: String
    /// The checked obligation of the adapter contract, `A1` to `A20`, or the name of a further requirement.
    public let requirement: String
    private let problems: @Sendable (any ConformanceSubject) -> [Problem]

    /// A problem with its place: the name of the sample, or of the row or case that the check examined.
    struct Problem: Hashable, Sendable {
        let sample: String
        let text: String

        init(_ sample: String, _ text: String) { (self.sample, self.text) = (sample, text) }
    }

    init(
        _ name: String,
        _ requirement: String,
        problems: @escaping @Sendable (any ConformanceSubject) -> [Problem]
    ) {
        (self.name, self.requirement, self.problems) = (name, requirement, problems)
    }

    /// The requirement and the name.
    public var testDescription: String { "\(requirement): \(name)" }

    /// All checks.
    public static let all: [ConformanceCheck] =
        promises + behaviour + interruptions + endurance + claims + texts + security + opaques + tables + goldens
        + replyGoldens + totality

    /// Runs the check and records an issue for each problem and for each unused exemption.
    ///
    /// - Throws: Nothing at present. A check that needs a resource may throw an error if the resource is unavailable.
    public func run(
        on harness: AdapterHarness<some VendorAdapter>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let problems = problems(harness)
        let exempt = Set(harness.exemptions.filter { $0.check == name }.map(\.sample))
        let open = problems.filter { !exempt.contains($0.sample) }
        // Many samples may show the same problem; it is reported once.
        for (text, alike) in Dictionary(grouping: open, by: \.text).inOrder.prefix(20) {
            let samples = Set(alike.map(\.sample)).sorted().joined(separator: ", ")
            Issue.record("\(requirement) (\(name)), \(samples): \(text)", sourceLocation: sourceLocation)
        }
        for sample in exempt.subtracting(problems.map(\.sample)).sorted() {
            Issue.record(
                "\(requirement) (\(name)), \(sample): the sample is exempt, but the check passes. Remove the exemption.",
                sourceLocation: sourceLocation
            )
        }
    }
}

extension ConformanceCheck {
    /// Returns a check that no drive violates one obligation. It stops at the first drive that does, unless samples are
    /// exempt.
    static func unbroken(_ name: String, _ requirement: String) -> ConformanceCheck {
        ConformanceCheck(name, requirement) { subject in
            subject.makeUsualDrives()
            let hasExemptions = subject.exemptions.contains { $0.check == name }
            var problems: [Problem] = []
            for (sample, drive) in subject.usualDrives {
                let texts = drive.breaches.filter { $0.requirement == requirement }.map(\.text).sorted()
                problems += texts.map { Problem(sample.name, $0) }
                if !problems.isEmpty, !hasExemptions { break }
            }
            return problems
        }
    }
}

/// The vendor's behavior towards the first request that carries an operation.
struct VendorBehavior: Sendable {
    let name: String
    let outcome: Outcome?
    let isPermanent: Bool
    /// Whether the vendor processes the request although its reply does not arrive.
    let isProcessed: Bool
    private let usesRefusal: Bool

    init(
        _ name: String,
        _ outcome: Outcome?,
        isPermanent: Bool = false,
        isProcessed: Bool = false,
        usesRefusal: Bool = false
    ) {
        (self.name, self.outcome, self.isPermanent, self.usesRefusal) = (name, outcome, isPermanent, usesRefusal)
        self.isProcessed = isProcessed
    }

    /// The vendor accepts everything.
    static let accepting = VendorBehavior("accepting", nil)
    /// The vendor permanently refuses everything except maintenance requests.
    static let refusing = VendorBehavior("refusing", nil, isPermanent: true, usesRefusal: true)

    /// One temporary failure of each kind.
    static let failing: [VendorBehavior] = [
        VendorBehavior("timed out", .failed(TransportFailure(.lost, "timedOut"))),
        VendorBehavior("not sent", .failed(TransportFailure(.notSent, "hostNotFound"))),
        VendorBehavior("interrupted", .failed(TransportFailure(.interrupted, "processDied"))),
        VendorBehavior("429", .replied(WireResponse(429))),
        VendorBehavior(
            "429 with Retry-After",
            .replied(WireResponse(429, headers: [WireHeader("Retry-After", "120")]))
        ),
        VendorBehavior("500", .replied(WireResponse(500))),
        VendorBehavior("503", .replied(WireResponse(503, headers: [WireHeader("Retry-After", "30")]))),
        VendorBehavior("timed out, but processed", .failed(TransportFailure(.lost, "timedOut")), isProcessed: true),
        VendorBehavior("500, but processed", .replied(WireResponse(500)), isProcessed: true),
    ]

    /// The behaviors against which every representative is driven.
    static let usual = [accepting, refusing] + failing
    private static let usualNames = Set(usual.map(\.name))

    /// Whether every representative is driven against this behavior.
    var isUsual: Bool { VendorBehavior.usualNames.contains(name) }

    /// Replies of every class, and invalid replies.
    static let invalidReplies: [VendorBehavior] = {
        let bodies: [(String, WireResponse)] = [
            ("200 without a body", WireResponse(200)),
            ("200 with HTML", WireResponse(200, headers: html, body: Array("<html><body>Hello</body></html>".utf8))),
            ("200 with half of a JSON text", WireResponse(200, body: Array(#"{"results":[{"id":"#.utf8))),
            ("200 with a list", WireResponse(200, json: [1, "two", nil])),
            ("200 with null", WireResponse(200, json: nil)),
            ("200 with bytes that are no text", WireResponse(200, body: [0xFF, 0xFE, 0x00, 0xC3])),
            ("200 with other members", WireResponse(200, json: ["unexpected": ["deeply": [["nested": 1]]]])),
        ]
        // Every other status is tried at every endpoint, where the goldens of replies are made.
        let statuses = [100, 206, 304, 418, 599, 999]
        return bodies.map { VendorBehavior($0.0, .replied($0.1)) }
            + statuses.map { VendorBehavior("\($0) without a body", .replied(WireResponse($0))) }
            + [400, 404, 500].map {
                VendorBehavior("\($0) with HTML", .replied(WireResponse($0, headers: html, body: Array("<p>".utf8))))
            }
    }()

    private static let html = [WireHeader("Content-Type", "text/html")]

    /// Configures a script with this behavior.
    func set(_ script: inout Script, _ refusal: WireResponse?) {
        let outcome = usesRefusal ? refusal.map(Outcome.replied) : outcome
        let isPermanent = isPermanent
        guard let outcome else { return }
        let (spent, isProcessed) = (Once(), isProcessed)
        script.isProcessed = { _ in isProcessed }
        script.answer = { call in
            guard !call.isMaintenanceRequest, isPermanent || spent.take() else { return nil }
            return outcome
        }
    }
}
