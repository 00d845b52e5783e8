import PatchbayAdapterKit
import PatchbayModel
import PatchbaySimulation

extension ConformanceCheck {
    /// Checks in which the process dies during an exchange, before or after the vendor processed the request.
    static let interruptions: [ConformanceCheck] = [
        ConformanceCheck("an interrupted sample has the same outcome as an uninterrupted one", "A10") { subject in
            subject.representatives.flatMap { sample -> [Problem] in
                let whole = subject.drive(sample, against: .accepting)
                return (0..<min(whole.sent.count, 8)).flatMap { number in
                    [false, true].flatMap { problemsOfInterruptedSample(sample, whole, number, $0, subject) }
                }
            }
        },
        ConformanceCheck("an interrupted conversation has the same outcome as an uninterrupted one", "A10") { subject in
            Conversation.all(in: subject.goldens).flatMap { conversation -> [Problem] in
                do {
                    return try problemsOfInterruptedConversation(conversation, subject).map {
                        Problem(conversation.name, $0)
                    }
                } catch {
                    return [Problem(conversation.name, "the scenario cannot be run: \(error)")]
                }
            }
        },
        ConformanceCheck("every journaled endpoint is interrupted in a conversation", "A20") { subject in
            var open = subject.journaledEndpoints
            for conversation in Conversation.all(in: subject.goldens) where !open.isEmpty {
                let played = try? subject.play(conversation.scenario(in: subject.goldens), interruptedBy: nil)
                open.subtract(played?.interruptedEndpoints ?? [])
            }
            return open.sorted().map {
                Problem($0, "no conversation kills the process while its request is in flight. Add one.")
            }
        },
    ]

    private static func problemsOfInterruptedSample(
        _ sample: Sample,
        _ whole: Drive,
        _ number: Int,
        _ isProcessed: Bool,
        _ subject: any ConformanceSubject
    ) -> [Problem] {
        let spent = Once()
        let drive = subject.drive(sample) { script in
            script.isProcessed = { _ in isProcessed }
            script.answer = { call in
                call.number == number && spent.take() ? .failed(TransportFailure(.interrupted, "processDied")) : nil
            }
        }
        let place = "interrupted \(isProcessed ? "after" : "before") the vendor processed request \(number + 1)"
        var texts = drive.breaches.map { "\(place): \($0.requirement): \($0.text)" }.sorted()
        if drive.end == .limit { texts.append("\(place): the exchange does not end within the request limit.") }
        // A journaled request with an uncertain delivery may be given up: at most once instead of at least once.
        let isGivenUp = drive.outcomes.contains { !$0.value.isTaken && whole.outcomes[$0.key]?.isTaken == true }
        if isGivenUp, !subject.journaledEndpoints.contains(whole.sent[number].endpoint) {
            texts.append("\(place): an operation is not accepted, although the endpoint is not journaled.")
        }
        if drive.end == whole.end, !isGivenUp, drive.vendorState != whole.vendorState {
            texts.append("\(place): the final vendor state differs.")
        }
        return texts.map { Problem(sample.name, $0) }
    }

    private static func isTaken(_ verdict: String) -> Bool {
        ["accepted", "unchanged", "superseded"].contains(verdict)
    }

    private static func problemsOfInterruptedConversation(
        _ conversation: Conversation,
        _ subject: any ConformanceSubject
    ) throws
        -> [String]
    {
        let scenario = try conversation.scenario(in: subject.goldens)
        let whole = try subject.play(scenario, interruptedBy: nil)
        let vendorStates = whole.states.compactMapValues(subject.vendorState)
        return try (1...max(1, whole.requestCount)).flatMap { number in
            try [false, true].flatMap { isProcessed -> [String] in
                let played = try subject.play(
                    scenario,
                    interruptedBy: ScenarioRun.Interruption(request: number, isProcessed: isProcessed)
                )
                let place = "interrupted \(isProcessed ? "after" : "before") the vendor processed request \(number)"
                var texts: [String] = []
                if played.pendingCount != whole.pendingCount {
                    texts.append("\(place): the number of pending operations differs.")
                }
                if Set(played.outcomes.keys) != Set(whole.outcomes.keys) {
                    texts.append("\(place): the completed operations differ.")
                }
                // An operation may have another outcome with a reason: it was given up as unknown, or the person opted
                // out meanwhile.
                let endsOtherwise = played.outcomes.contains {
                    $0.value.map(isTaken) != whole.outcomes[$0.key]?.map(isTaken)
                }
                if played.states.compactMapValues(subject.vendorState) != vendorStates, !endsOtherwise {
                    texts.append("\(place): the final vendor state differs.")
                }
                return texts
            }
        }
    }
}
