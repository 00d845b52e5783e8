import Patchbay
import PatchbayModel

extension Command {
    static let erase = Command(
        "erase",
        "forgets a person: here at once, at the vendors as far as they can be told",
        details: """
            Everything of the subject, or of every subject that belongs to the contact, goes from the outbox: what is
            pending, what was refused, its state. The vendors are asked to delete where a door can ask, and how that ended is
            printed. Where none can ask, or the vendor refuses, the step that a person has to take is printed, and the
            status is 1. Nothing printed names the person.
            """,
        required: [.config],
        optional: [.contact, .whose, .untilIdle, .json],
        usesNetwork: { _ in true }
    ) { session in
        let configuration = try session.configuration()
        let (contact, subject) = (session.invocation.text(.contact), session.invocation.text(.whose))
        guard (contact == nil) != (subject == nil) else {
            throw UsageError("erase: give either --contact or --subject.")
        }
        let client = try await EngagementClient(
            configuration: configuration,
            subject: Subject(rawValue: subject ?? "command"),
            transport: try session.linkedNetwork().makeTransport(),
            host: try session.host()
        )
        let complaints = Complaints()
        complaints.tell(among: client.events(), session.console)
        do {
            var report: ErasureReport
            if let contact {
                report = try await client.erase(contact: contact)
            } else {
                report = try await client.erase(subject: Subject(rawValue: subject ?? ""))
            }
            let open = try await session.vendorsAnswer(client, &report)
            await client.close()
            if session.isJSON {
                try session.console.data(report.json)
            } else {
                try session.console.data(report.description)
            }
            if open > 0 { session.console.say("\(open) vendors have not answered yet; the next run goes on.") }
            return report.needsPerson || open > 0 ? .findings : .fine
        } catch {
            await client.close()
            throw error
        }
    }
}

extension Session {
    /// Waits for the vendors' answers to an erasure, at most as long as `--until-idle` says, and puts them into its report.
    ///
    /// - Returns: how many requests have not ended.
    fileprivate func vendorsAnswer(_ client: EngagementClient, _ report: inout ErasureReport) async throws -> Int {
        let clock = ContinuousClock()
        var end = clock.now + .seconds(invocation.number(.untilIdle) ?? 30)
        var wasOpen = true
        try await client.flush()
        while true {
            let open = try await client.pendingErasures()
            report = report.answered()
            // Where another process delivers, its word comes a moment after the last request has ended.
            if open == 0, wasOpen { (wasOpen, end) = (false, min(end, clock.now + .seconds(2))) }
            if open == 0 && report.isAnswered || interruption.signalNumber != nil || clock.now >= end { return open }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
