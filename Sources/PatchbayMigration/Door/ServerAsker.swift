import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Asks a server API what the vendor holds, as often as the vendor lets it.
struct ServerAsker: Sendable {
    let client: EngagementClient
    let provider: String
    let server: any ContactAPI

    /// So long one answer may take; a vendor that is away is asked again by its adapter's law meanwhile.
    private static let timeout = Duration.seconds(7 * 86_400)

    /// What the vendor holds of contacts, by key; who is missing is not there.
    ///
    /// - Throws: ``Migration/Failure`` if the vendor refuses to tell; `CancellationError` when the task is cancelled.
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
            // As many at once as the vendor answers at once.
            for question in rest.prefix(type(of: server).descriptor.concurrency) {
                group.addTask { try await ask(.keys(question), about: question.first) }
            }
            rest = rest.dropFirst(type(of: server).descriptor.concurrency)
            while let some = try await group.next() {
                found.merge(some) { first, _ in first }
                if let next = rest.popFirst() { group.addTask { try await ask(.keys(next), about: next.first) } }
            }
            return found
        }
    }

    /// Everything that the vendor holds, page by page.
    nonisolated(nonsending) func eachPage(
        _ surroundings: ServerSurroundings,
        _ take: ([(key: String, contact: Contact)]) throws -> Void
    ) async throws {
        var next: JSONValue?
        var known = 0
        repeat {
            let wanted = ContactQuestion.page(next)
            let told = ServerProgress(part: .pages, records: known)
            let page = try await telling(told, surroundings) { try await self.page(wanted, about: nil) }
            guard let page else { throw Migration.Failure([ServerFinding.unreadable.at()]) }
            try take(page.contacts)
            known += page.contacts.count
            next = page.next
        } while next != nil
    }

    /// Awaits what the vendor tells, and tells meanwhile how far the run is and why it waits.
    nonisolated(nonsending) func telling<Value: Sendable>(
        _ progress: ServerProgress,
        _ surroundings: ServerSurroundings,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let clock = ContinuousClock()
        var (progress, asked) = (progress, clock.now)
        return try await patiently(
            {
                if clock.now - asked >= .seconds(1) {
                    asked = clock.now
                    // Whoever can't be asked why has an error of its own soon.
                    progress.waiting = try? await reasonToWait()
                }
                surroundings.progress(progress)
                return surroundings.isCancelled()
            },
            body
        )
    }

    /// Why no request is in progress, if none is.
    func reasonToWait() async throws -> Finding? {
        let waits = try await client.accounts().first { $0.provider == provider }?.waits ?? []
        return waits.contains(where: \.isInProgress) ? nil : waits.first?.reasons.first
    }

    /// What the vendor holds of some contacts. What leads on from an answer holds more of the same contacts; one that is gone
    /// meanwhile is not there.
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

    /// An answer; nil where the vendor holds nothing like it.
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
