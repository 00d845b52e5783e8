import Patchbay
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbayJSON
import PatchbayModel

extension Command {
    static let erase = Command(
        "erase",
        "Erase a person here and at the vendors",
        task: .send,
        details: """
            Give either --contact or --subject. Deletes from the outbox everything about the subject, or about all subjects of
            the contact: pending operations, rejects and state. Then asks each vendor whose API supports it to delete the
            person, and prints the replies. If a vendor's API cannot delete a person, or refuses, prints the manual step to
            take. The output does not name the person. With - as the name, reads names from standard input, one a line, so that
            they are not in the list of processes; --json then prints a report a line.

            The command also delivers other pending operations of the outbox, as `patchbay send` does. A request that is still
            pending when --until-idle has passed stays in the outbox for the next delivery.
            """,
        required: [.config],
        optional: [.contact, .erased, .untilIdle, .json],
        findings: "a manual step remains, or a vendor has not replied",
        examples: [
            Example("Erase a contact", "patchbay erase --config altcraft.json --contact member-1"),
            Example(
                "Erase contacts without naming them to others",
                "patchbay erase --config altcraft.json --contact - < names.txt"
            ),
            Example("Erase an installation", "patchbay erase --config altcraft.json --subject phone-1"),
        ]
    ) { session in
        let configuration = try session.configuration()
        let (given, subject) = (session.invocation.text(.contact), session.invocation.text(.erased))
        guard (given == nil) != (subject == nil) else {
            throw UsageError("Give either --contact or --subject.")
        }
        let isContact = given != nil
        let names = try (given ?? subject) == "-" ? session.namesFromInput() : [given ?? subject ?? ""]
        let client = try await EngagementClient(
            configuration: configuration,
            subject: Subject(rawValue: isContact ? "command" : names.first ?? "command"),
            transport: HTTPTransport(configuration),
            host: try session.host()
        )
        let complaints = Complaints()
        complaints.tell(among: client.events(), session.console)
        do {
            var (reports, open) = ([ErasureReport](), 0)
            for name in names {
                var report =
                    isContact
                    ? try await client.erase(contact: name) : try await client.erase(subject: Subject(rawValue: name))
                open = try await session.vendorsAnswer(client, &report)
                reports.append(report)
            }
            let waits = open == 0 ? [] : try await client.accounts().filter { $0.pending > 0 }
            await client.close()
            for report in reports {
                if session.isJSON {
                    try session.console.data(report.json)
                } else {
                    if report.foundNothing {
                        session.console.say("No data found for this \(isContact ? "contact" : "subject").")
                    }
                    try session.console.data(lines: report.description)
                }
            }
            if open > 0 {
                for line in AccountsText.waits(of: waits) { session.console.say(line) }
                session.console.say(
                    "\(open.counted("request")) to delete a person \(open == 1 ? "is" : "are") still pending. Run `patchbay send` with this configuration to deliver \(open == 1 ? "it" : "them")."
                )
            }
            return reports.contains(where: \.needsPerson) || open > 0 ? .findings : .fine
        } catch {
            await client.close()
            throw error
        }
    }
}

extension Session {
    /// The lines of standard input that are not blank.
    fileprivate func namesFromInput() throws -> [String] {
        var source = try source("-")
        var lines = LineSplitter(maximumLength: 1 << 20)
        while let bytes = try source.next() { lines.append(bytes) }
        lines.finish()
        var names: [String] = []
        while let line = lines.next() {
            let name = String(decoding: try line.get().bytes.withoutByteOrderMark, as: UTF8.self).trimmed
            if !name.isEmpty { names.append(name) }
        }
        guard !names.isEmpty else { throw UsageError("Standard input contains no name. Write one name a line.") }
        return names
    }

    /// Waits for the vendors' answers to an erasure, at most for the time of `--until-idle`, and adds them to its report.
    ///
    /// - Returns: The number of requests that have no outcome yet.
    fileprivate func vendorsAnswer(_ client: EngagementClient, _ report: inout ErasureReport) async throws -> Int {
        let clock = ContinuousClock()
        var end = clock.now + .seconds(invocation.number(.untilIdle) ?? 30)
        var wasOpen = true
        try await client.flush()
        while true {
            let open = try await client.pendingErasures()
            report = report.answered()
            // If another process delivers, it stores the answer a moment after the last request has ended.
            if open == 0, wasOpen { (wasOpen, end) = (false, min(end, clock.now + .seconds(2))) }
            if open == 0 && report.isAnswered || interruption.signalNumber != nil || clock.now >= end { return open }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
