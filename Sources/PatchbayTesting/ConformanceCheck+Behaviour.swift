import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension ConformanceCheck {
    /// The obligations for every plan and every interpretation, observed while all samples are driven.
    static let promises: [ConformanceCheck] = [
        unbroken("plan and interpret return equal results for equal arguments", "A1"),
        ConformanceCheck("examine depends only on the operation and the settings", "A1") { subject in
            subject.samples.flatMap { sample -> [Problem] in
                let examinations = (1...2).map { _ in sample.operations.map(subject.examine) }
                if examinations[0] != examinations[1] {
                    return [Problem(sample.name, "examine returns different findings for the same operation.")]
                }
                return subject.examineByAnotherAdapter(sample.operations) == examinations[0]
                    ? [] : [Problem(sample.name, "another adapter with the same settings returns different findings.")]
            }
        },
        unbroken("a plan names only operations in its window", "A2"),
        unbroken("every operation of a request gets a verdict, and no other operation does", "A3"),
        unbroken("waits end in the future and within a day", "A6"),
        unbroken("memory claims only state that the vendor holds", "A9"),
        unbroken("no operation overtakes an earlier one of its kind in a queue", "A11"),
        unbroken("lane and queue depend only on the operation and the settings", "A12"),
        unbroken("a step is small and survives storage unchanged", "A13"),
        unbroken("memory survives storage unchanged", "A14"),
        unbroken("an operation that examine accepts is rejected later only for reasons of state", "A17"),
        unbroken("every finding has a table row and a remedy", "A20"),
        ConformanceCheck("every reply gets a verdict, including an invalid one", "A3") { subject in
            let replies = ReplyGoldens(subject).breaches.flatMap { endpoint, texts in
                texts.map { Problem(endpoint, $0) }
            }
            return replies
                + subject.representatives.flatMap { sample in
                    VendorBehavior.invalidReplies.flatMap { behavior -> [Problem] in
                        let drive = subject.drive(sample, against: behavior)
                        let stuck =
                            drive.end == .limit
                            ? ["after \(behavior.name), the exchange does not end within the request limit."] : []
                        // An adapter may trust a success that the vendor did not carry out: that is no fault of the
                        // adapter.
                        let broken = drive.breaches.filter { $0.requirement != "A9" }.map {
                            "\($0.requirement) after \(behavior.name): \($0.text)"
                        }
                        return (broken.sorted() + stuck).map { Problem(sample.name, $0) }
                    }
                }
        },
    ]

    /// The obligations that concern time: behavior after a failure, an uncertain delivery, or a change of the clock.
    static let behaviour: [ConformanceCheck] = [
        ConformanceCheck("a failed request is not repeated at once", "A4") { subject in
            subject.representatives.flatMap { sample in
                VendorBehavior.failing.flatMap { behavior in
                    let sent = subject.drive(sample, against: behavior).sent
                    return zip(sent, sent.dropFirst()).compactMap { first, second -> Problem? in
                        guard first.isFailure, first.isInterpreted, second.at - first.at < .milliseconds(10),
                            second.endpoint == first.endpoint,
                            !Set(first.operations).isDisjoint(with: second.operations)
                        else { return nil }
                        return Problem(sample.name, "\(first.endpoint) is sent again at once after \(behavior.name).")
                    }
                }
            }
        },
        ConformanceCheck("a failed maintenance request is not repeated at once", "A4") { subject in
            subject.representatives.prefix(4).flatMap { sample in
                VendorBehavior.failing.compactMap { behavior -> Problem? in
                    guard let outcome = behavior.outcome else { return nil }
                    let spent = Once()
                    let sent = subject.drive(sample) { script in
                        script.isPrepared = false
                        script.answer = { $0.isMaintenanceRequest && spent.take() ? outcome : nil }
                    }.sent
                    let again = zip(sent, sent.dropFirst()).contains { first, second in
                        first.operations.isEmpty && second.operations.isEmpty && first.isFailure && first.isInterpreted
                            && first.endpoint == second.endpoint && second.at - first.at < .milliseconds(10)
                    }
                    return again
                        ? Problem(sample.name, "a maintenance request is sent again at once after \(behavior.name).")
                        : nil
                }
            }
        },
        ConformanceCheck("a sample sends the same bytes in every run", "A1") { subject in
            subject.representatives.compactMap { sample in
                let drives = [subject.drive(sample, against: .accepting), subject.drive(sample)]
                let texts = drives.map { $0.requestText(hiding: []) }
                return texts[0] == texts[1] ? nil : Problem(sample.name, "a second run sends different bytes.")
            }
        },
        ConformanceCheck("the harness defines the vendor state that memory claims", "A9") { subject in
            guard subject.remembersSomething, subject.hasSimulator else { return [] }
            guard let expectedState = subject.expectedState else {
                return [
                    Problem(
                        "expectedState",
                        "memory contains claims, but the harness defines no expected state. Set memory.expected."
                    )
                ]
            }
            let neverClaims = expectedState.isBelieving && !subject.usualDrives.contains(where: \.drive.hasClaimed)
            return neverClaims
                ? [Problem("expectedState", "no stored memory contains a claim. Read its members by their names.")] : []
        },
        ConformanceCheck("a value is sent again after an uncertain delivery", "A7") { subject in
            afterUncertainty(subject)
        },
        ConformanceCheck("a value that was changed and set back is sent again", "A7") { subject in setBack(subject) },
        ConformanceCheck("the wall clock affects the content of requests, never their timing", "A8") { subject in
            subject.representatives.flatMap { sample -> [Problem] in
                let behaviors = [VendorBehavior.accepting, VendorBehavior.failing[0], VendorBehavior.failing[4]]
                return behaviors.compactMap { behavior in
                    let shifted = [Duration.seconds(400 * 86_400), .seconds(-3 * 86_400)].map { shift in
                        subject.drive(sample) {
                            behavior.set(&$0, nil)
                            $0.dateShift = shift
                        }.timing
                    }
                    let timing = subject.drive(sample, against: behavior).timing
                    return shifted.contains { $0 != timing }
                        ? Problem(
                            sample.name,
                            "its requests are sent at other times if the wall clock differs (\(behavior.name))."
                        )
                        : nil
                }
            }
        },
        ConformanceCheck("a flush never shortens the vendor's pacing", "A18") { subject in
            let throttled = WireResponse(429, headers: [WireHeader("Retry-After", "3600")])
            return subject.representatives.compactMap { sample in
                let gaps = [false, true].map { flush -> Duration? in
                    let spent = Once()
                    let sent = subject.drive(sample) { script in
                        script.flush = flush
                        script.answer = { !$0.isMaintenanceRequest && spent.take() ? .replied(throttled) : nil }
                    }.sent
                    guard let first = sent.firstIndex(where: { $0.outcome.reply?.status == 429 }) else { return nil }
                    let next = sent[(first + 1)...].first { $0.endpoint == sent[first].endpoint }
                    return next.map { $0.at - sent[first].at }
                }
                guard let calm = gaps[0], let flushed = gaps[1], flushed < calm else { return nil }
                return Problem(
                    sample.name,
                    "after a 429, the next request leaves earlier with a flush than without one."
                )
            }
        },
        ConformanceCheck("the number of queues and lanes is limited", "A12") { subject in
            let operations = subject.samples.flatMap(\.operations)
            let queues = Set(operations.filter { $0.action.kind != .track }.map { subject.place($0).queue })
            guard subject.descriptor.side == .server else {
                let lanes = Set(operations.map { subject.place($0).lane })
                return
                    (queues.count > 16
                    ? [Problem("queues", "the operations use \(queues.count) queues; the maximum is 16.")] : [])
                    + (lanes.count > 1
                        ? [Problem("lanes", "one installation has \(lanes.count) lanes; the maximum is 1.")]
                        : [])
            }
            var lanes: Set<String> = []
            for number in 1...1000 {
                var operation = operations[0]
                operation.subject = Subject(rawValue: "c-\(number)")
                lanes.insert(subject.place(operation).lane)
            }
            return lanes.count > 16
                ? [Problem("lanes", "1000 subjects use \(lanes.count) lanes; the maximum is 16.")] : []
        },
    ]

    /// Sets a value, then another value and the first one together. The adapter must send the first value again, unless
    /// its endpoint is journaled.
    private static func setBack(_ subject: any ConformanceSubject) -> [Problem] {
        let values = ["back-a", "back-b", "back-a"]
        let operations = values.enumerated().map { position, value in
            subject.corpus.operation(
                401,
                position * 600,
                .changeAttributes(["favourite_colour": .set(.string(value))])
            )
        }
        guard subject.claims(operations[0]) else { return [] }
        let turns = [Turn(operations: [operations[0]]), Turn(operations: Array(operations[1...]))]
        let sent = subject.drive(turns: turns, Script()).sent
        let carrying = sent.filter { !Set($0.operations).isDisjoint(with: operations.map(\.id)) }
        guard let first = carrying.first, !subject.journaledEndpoints.contains(first.endpoint) else { return [] }
        let later = carrying.filter { !$0.operations.contains(operations[0].id) }
        return later.contains { $0.request.searchText.contains("back-a") }
            ? [] : [Problem("favourite_colour", "a value that was changed and set back is not sent again.")]
    }

    /// Sets a value, then another one whose reply is lost, then the first one. The adapter must send the first value again.
    private static func afterUncertainty(_ subject: any ConformanceSubject) -> [Problem] {
        let operations = ["uncertainty-a", "uncertainty-b", "uncertainty-a"].enumerated().map { position, value in
            var operation = subject.corpus.operation(
                400,
                position,
                .changeAttributes(["favourite_colour": .set(.string(value))])
            )
            // Hours apart, so that no pacing joins them.
            operation.capturedAt = operation.capturedAt + .seconds(position * 36_000)
            return operation
        }
        guard subject.claims(operations[0]) else { return [] }
        return [Outcome.failed(TransportFailure(.lost, "timedOut")), .replied(WireResponse(500))].compactMap {
            uncertainty in
            let spent = Once()
            var script = Script()
            script.answer = { call in
                call.request.searchText.contains("uncertainty-b") && spent.take() ? uncertainty : nil
            }
            // The third is captured while the delivery of the second is uncertain.
            let turns = zip(operations, [nil, 1, nil]).map { Turn(operations: [$0], requests: $1) }
            let drive = subject.drive(turns: turns, script)
            let texts = drive.sent.map(\.request.searchText)
            guard let uncertain = texts.lastIndex(where: { $0.contains("uncertainty-b") }) else {
                return Problem(uncertainty.name, "the second of three values was never sent.")
            }
            return texts[(uncertain + 1)...].contains { $0.contains("uncertainty-a") }
                ? nil
                : Problem(
                    uncertainty.name,
                    "a value is not sent again after an uncertain delivery."
                )
        }
    }
}

extension ConformanceSubject {
    /// Returns whether the API's capabilities include everything that an operation needs.
    func claims(_ operation: EngagementOperation) -> Bool {
        Capabilities.needs(of: operation).allSatisfy { descriptor.capabilities[$0].isAvailable }
    }
}

extension WireRequest {
    /// The URL and the body as text, for a search for markers.
    var searchText: String { url + "\n" + String(decoding: body, as: UTF8.self) }
}

extension Drive.Sent {
    /// Whether a repeat may work but must wait.
    var isFailure: Bool {
        switch outcome {
        case .replied(let response): response.status == 429 || response.status >= 500
        case .failed: true
        }
    }
}

extension Drive {
    /// The times and endpoints of the requests, without bytes.
    var timing: [String] {
        sent.map { "\($0.at.milliseconds) \($0.endpoint) \($0.operations.map(\.rawValue).joined(separator: ","))" }
            + waits.map { "wait \($0.milliseconds)" }
            + outcomes.map { "\($0.key.rawValue) \($0.value.word)" }.sorted()
    }
}
