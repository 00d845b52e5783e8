import Patchbay
import PatchbayModel

extension Command {
    static let erase = Command(
        "erase",
        "forgets a person: here at once, at the vendors as far as they can be told",
        details: """
            Everything of the subject, or of every subject that belongs to the contact, goes from the outbox: what is
            pending, what was refused, its state. The vendors are asked to delete where a door can ask; where none can, the
            step that a person has to take is printed, and the status is 1. Nothing printed names the person.
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
            outbox: .file(configuration.outbox.path),
            subject: Subject(rawValue: subject ?? "command"),
            plan: configuration.plan,
            transport: try session.linkedNetwork().makeTransport(),
            historyLimit: configuration.outbox.history,
            limits: configuration.outbox.limits,
            credentials: { configuration.credential(of: $0, for: $1) },
            host: try session.host()
        )
        let complaints = Complaints()
        complaints.tell(among: client.events(), session.console)
        do {
            let report: ErasureReport
            if let contact {
                report = try await client.erase(contact: contact)
            } else {
                report = try await client.erase(subject: Subject(rawValue: subject ?? ""))
            }
            let open = try await session.vendorsAnswer(client)
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
    /// Waits for the vendors' answers to an erasure, at most as long as `--until-idle` says.
    ///
    /// - Returns: how many requests have not ended.
    fileprivate func vendorsAnswer(_ client: EngagementClient) async throws -> Int {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(invocation.number(.untilIdle) ?? 30)
        try await client.flush()
        while true {
            let open = try await client.pendingErasures()
            if open == 0 || interruption.signalNumber != nil || clock.now >= end { return open }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
