import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

extension ConformanceCheck {
    /// Checks in which the process dies during an exchange, before or after the vendor processed the request.
    static let interruptions: [ConformanceCheck] = [
        ConformanceCheck("an interrupted exchange ends well", "A10") { subject in
            subject.representatives.flatMap { sample -> [Problem] in
                let whole = subject.drive(sample, before: .accepting)
                return (0..<min(whole.sent.count, 8)).flatMap { number in
                    [false, true].flatMap { cutSample(sample, whole, number, $0, subject) }
                }
            }
        },
        ConformanceCheck("a cut conversation ends as the whole one", "A10") { subject in
            Conversation.all(in: subject.goldens).flatMap { conversation -> [Problem] in
                do {
                    return try cutConversation(conversation, subject).map { Problem(conversation.name, $0) }
                } catch {
                    return [Problem(conversation.name, "it can't be played: \(error)")]
                }
            }
        },
        ConformanceCheck("a journaled endpoint is interrupted in some conversation", "A20") { subject in
            var open = subject.journaledEndpoints
            for conversation in Conversation.all(in: subject.goldens) where !open.isEmpty {
                let played = try? subject.play(conversation.scenario(in: subject.goldens), cutting: nil)
                open.subtract(played?.interruptedEndpoints ?? [])
            }
            return open.sorted().map {
                Problem($0, "no conversation kills the process while its request is in flight. Write one that does.")
            }
        },
    ]

    private static func cutSample(
        _ sample: Sample,
        _ whole: Drive,
        _ number: Int,
        _ vendorWorked: Bool,
        _ subject: any ConformanceSubject
    ) -> [Problem] {
        let spent = Once()
        let drive = subject.drive(sample) { script in
            script.isProcessed = { _ in vendorWorked }
            script.answer = { call in
                call.number == number && spent.take() ? .failed(TransportFailure(.interrupted, "processDied")) : nil
            }
        }
        let place = "cut \(vendorWorked ? "after" : "before") the vendor did request \(number + 1)"
        var texts = drive.breaches.map { "\(place): \($0.requirement): \($0.text)" }.sorted()
        if drive.end == .limit { texts.append("\(place), it never comes to an end.") }
        // A journaled request with an uncertain delivery may be given up: at most once instead of at least once.
        let isGivenUp = drive.outcomes.contains { !$0.value.isTaken && whole.outcomes[$0.key]?.isTaken == true }
        if isGivenUp, !subject.journaledEndpoints.contains(whole.sent[number].endpoint) {
            texts.append("\(place), an operation is given up, although its endpoint is not journaled.")
        }
        if drive.end == whole.end, !isGivenUp, drive.held != whole.held {
            texts.append("\(place), the vendor holds something else in the end.")
        }
        return texts.map { Problem(sample.name, $0) }
    }

    private static func isTaken(_ verdict: String) -> Bool {
        ["accepted", "unchanged", "superseded"].contains(verdict)
    }

    private static func cutConversation(_ conversation: Conversation, _ subject: any ConformanceSubject) throws
        -> [String]
    {
        let scenario = try conversation.scenario(in: subject.goldens)
        let whole = try subject.play(scenario, cutting: nil)
        let held = whole.states.compactMapValues(subject.held)
        return try (1...max(1, whole.requestCount)).flatMap { number in
            try [false, true].flatMap { vendorWorked -> [String] in
                let played = try subject.play(
                    scenario,
                    cutting: ScenarioRun.Cut(request: number, vendorWorked: vendorWorked)
                )
                let place = "cut \(vendorWorked ? "after" : "before") the vendor did request \(number)"
                var texts: [String] = []
                if played.pendingCount != whole.pendingCount { texts.append("\(place), something stays pending.") }
                if Set(played.outcomes.keys) != Set(whole.outcomes.keys) {
                    texts.append("\(place), other operations end.")
                }
                // An operation may have another outcome with a reason: it was given up as unknown, or the person opted
                // out meanwhile.
                let endsOtherwise = played.outcomes.contains {
                    $0.value.map(isTaken) != whole.outcomes[$0.key]?.map(isTaken)
                }
                if played.states.compactMapValues(subject.held) != held, !endsOtherwise {
                    texts.append("\(place), the vendor holds something else in the end.")
                }
                return texts
            }
        }
    }
}
