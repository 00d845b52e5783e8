import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Reads contacts from a server API, at the rate that the vendor allows.
struct ServerAsker: Sendable {
    let client: EngagementClient
    let provider: String
    let server: any ContactAPI

    /// The timeout of one query. During an outage of the vendor, the adapter's retry policy repeats the query meanwhile.
    private static let timeout = Duration.seconds(7 * 86_400)

    /// Returns the vendor's contacts with the given keys. Contacts that do not exist are missing from the result.
    ///
    /// - Throws: ``Migration/Failure`` if the vendor rejects a query; `CancellationError` if the task is cancelled.
    func contacts(of keys: [String]) async throws -> [ScalarString: Contact] {
        guard case .byKeys(let most)? = server.reading else { return [:] }
        var questions: [[String]] = []
        for key in keys {
            if let last = questions.last, last.count < most {
                questions[questions.count - 1].append(key)
            } else {
                questions.append([key])
            }
        }
        return try await withThrowingTaskGroup(of: [ScalarString: Contact].self) { group in
            var found: [ScalarString: Contact] = [:]
            var rest = questions[...]
            // Sends as many queries at once as the vendor allows.
            for question in rest.prefix(type(of: server).descriptor.delivery.concurrency) {
                group.addTask { try await ask(.keys(question), about: question.first) }
            }
            rest = rest.dropFirst(type(of: server).descriptor.delivery.concurrency)
            while let some = try await group.next() {
                found.merge(some) { first, _ in first }
                if let next = rest.popFirst() { group.addTask { try await ask(.keys(next), about: next.first) } }
            }
            return found
        }
    }

    /// Reads all contacts of the vendor, page by page.
    nonisolated(nonsending) func eachPage(
        _ surroundings: ServerSurroundings,
        _ take: ([(key: String, contact: Contact)]) throws -> Void
    ) async throws {
        var next: JSONValue?
        var known = 0
        repeat {
            let wanted = ContactQuestion.page(next)
            let partProgress = ServerProgress(part: .pages, records: known)
            let page = try await telling(partProgress, surroundings) { try await self.page(wanted, about: nil) }
            guard let page else { throw Migration.Failure([ServerFinding.unreadable.at()]) }
            try take(page.contacts)
            known += page.contacts.count
            next = page.next
        } while next != nil
    }

    /// Awaits a query, and reports meanwhile the progress of the run and the reason for a wait.
    nonisolated(nonsending) func telling<Value: Sendable>(
        _ progress: ServerProgress,
        _ surroundings: ServerSurroundings,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let clock = ContinuousClock()
        var (progress, asked) = (progress, clock.now)
        return try await withCancellationPolling(
            {
                if clock.now - asked >= .seconds(1) {
                    asked = clock.now
                    // If the client cannot report the reason, the query itself fails soon.
                    progress.waiting = try? await reasonToWait()
                }
                surroundings.progress(progress)
                return surroundings.isCancelled()
            },
            body
        )
    }

    /// The reason why no request is in progress; nil if one is.
    func reasonToWait() async throws -> Finding? {
        let waits = try await client.accounts().first { $0.provider == provider }?.waits ?? []
        return waits.contains(where: \.isInProgress) ? nil : waits.first?.reasons.first
    }

    /// Reads some contacts. Further pages of an answer hold more data of the same contacts. A contact that was deleted
    /// meanwhile is missing from the result.
    private func ask(_ wanted: ContactQuestion, about contact: String?) async throws -> [ScalarString: Contact] {
        var found: [ScalarString: Contact] = [:]
        var question: ContactQuestion? = wanted
        while let asked = question {
            guard let page = try await page(asked, about: contact) else { return [:] }
            let new = Dictionary(page.contacts.map { (ScalarString($0.key), $0.contact) }) { first, _ in first }
            found.merge(new) { $0.with($1) }
            question = page.next.map(ContactQuestion.page)
        }
        return found
    }

    /// Returns one page of an answer; nil if the vendor does not have the contact.
    private func page(_ wanted: ContactQuestion, about contact: String?) async throws -> ContactPage? {
        let outcome = try await client.read(
            server.question(for: wanted),
            from: provider,
            about: contact,
            timeout: Self.timeout
        )
        if let answer = outcome.answer, outcome.term == .accepted { return server.contacts(in: answer, to: wanted) }
        if outcome.finding?.error == .notFound, contact != nil { return nil }
        throw Migration.Failure([outcome.finding ?? ServerFinding.unreadable.at()])
    }
}
