import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayHTTP
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let send = Command(
        "send",
        "Capture operations and deliver them",
        task: .send,
        details: """
            Prints {"id": …, "durable": true} when an operation is stored on disk. Then delivers pending operations, prints the
            counts of each provider, and ends when nothing more can be delivered or --until-idle has passed. The next run
            delivers the operations that are still pending. Ctrl-C ends the command at once and loses nothing.

            The counts of this run come first, then the totals of the outbox. In the first table, "pending before" and
            "operations" add up to the outcomes and "pending" of each provider; `patchbay help outbox stats` explains the outcomes.
            If the configuration has other providers than the outbox, one line says so before anything is sent, and a switch that
            would lose operations is refused (status 78).

            Name the contact in each operation after a log-in: an operation without one belongs to the installation only. An
            operation may leave out id and capturedAt and, with --subject, its subject.

            Operations whose id the outbox knows are skipped, so the same file can be sent again after a crash. The outbox
            remembers the last 100,000 outcomes. If a file has more lines, set outbox.history to a larger number.
            """,
        arguments: [.optional("FILE", "File with one operation per line (default: standard input)")],
        required: [.config],
        optional: [.subject, .untilIdle, .replay, .logLevel, .json],
        findings: "this run rejected an operation, or one is still pending; rejects of earlier runs do not count",
        examples: [
            Example("Send a file of operations", "patchbay send --config salesforce.json operations.ndjson"),
            Example(
                "Send one event",
                "cat event.ndjson | patchbay send --config salesforce.json --subject phone-1"
            ),
            Example("Deliver what is pending", "patchbay send --config salesforce.json /dev/null"),
        ]
    ) { session in
        let log = try session.log()
        let configuration = try session.configuration()
        let host = try session.host()
        let before = session.accountsBeforeSending(under: configuration)
        let client = try await EngagementClient(
            configuration: configuration,
            subject: Subject(rawValue: session.invocation.text(.subject) ?? "command"),
            transport: HTTPTransport(configuration),
            host: host,
            log: log
        )
        let refusals = Refusals()
        let listener = refusals.listen(to: client.outcomes())
        let complaints = Complaints()
        complaints.tell(among: client.events(), session.console)
        do {
            var delivery = Delivery(
                session: session,
                client: client,
                host: host,
                complaints: complaints
            )
            try await delivery.capture(session.invocation.argument(0))
            try await delivery.deliver(atMost: .seconds(session.invocation.number(.untilIdle) ?? 30))
            let accounts = try await client.accounts()
            await client.close()
            await listener.value
            for line in refusals.lines { session.console.say(line) }
            try delivery.report(accounts, since: before)
            return delivery.status
        } catch {
            await client.close()
            throw error
        }
    }
}

/// Reports problems of the outbox and of the configuration while a client is open.
@MainActor final class Complaints {
    /// The reason why the client does not deliver, once it is known.
    private(set) var refusal: SwitchRefusal?
    private var printed: Set<String> = []

    /// Prints each problem once until the client is closed. A refusal is not printed but stored in ``refusal``.
    func tell(among events: AsyncStream<EngineEvent>, _ console: Console) {
        Task {
            for await event in events {
                switch event {
                case .storageFailed(let error): say("\(error)", .red, console)
                case .setAside(let finding): say(finding.sentence, .yellow, console)
                case .switchRefused(let refusal): self.refusal = refusal
                default: continue
                }
            }
        }
    }

    private func say(_ text: String, _ colour: Console.Colour, _ console: Console) {
        if printed.insert(text).inserted { console.say("patchbay: \(text)", colour) }
    }
}

extension Session {
    /// Reads the counts of the outbox before the client changes them, and prints which providers the configuration adds and
    /// removes.
    ///
    /// - Returns: The counts of each provider; empty for a new outbox, nil for one that cannot be read: the client reports
    ///   why.
    fileprivate func accountsBeforeSending(under configuration: Configuration) -> [ProviderAccounts]? {
        let path = configuration.outbox.path
        guard access(path, F_OK) == 0 else { return [] }
        guard let store = try? OutboxStore.open(.file(path), readOnly: true) else { return nil }
        if let change = try? ServedProviders(of: store, under: configuration), change.isSwitch {
            announce(change, under: configuration)
        }
        return try? ProviderAccounts.read(store) { _ in false }
    }

    private func announce(_ change: ServedProviders, under configuration: Configuration) {
        let removed = change.removed.map { "\($0.name) (\($0.pending) pending)" }.joined(separator: ", ")
        let added = change.added.joined(separator: ", ")
        let parts = [removed.isEmpty ? nil : "removed: \(removed)", added.isEmpty ? nil : "added: \(added)"]
        let work =
            switch configuration.onSwitch {
            case .drain: "pending operations stay with the old provider"
            case .retarget: "pending operations that have not begun are to move to the new providers"
            case .both: "pending operations are to be delivered to the old provider and to the new ones"
            }
        let policy =
            change.removed.contains { $0.pending > 0 } ? "; \(work) (onSwitch: \(configuration.onSwitch.rawValue))" : ""
        console.say(
            "The configuration switches providers: \(parts.compactMap { $0 }.joined(separator: "; "))\(policy)."
        )
    }

    /// A log on standard error that starts at the requested level; nil without `--log`.
    func log() throws(UsageError) -> LineLog? {
        guard let word = invocation.text(.logLevel) else { return nil }
        if let level = LogLevel(rawValue: word) { return LineLog(level) }
        let known = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(
            "--log: unknown level \"\(word)\". Levels: \(known).",
            command: invocation.command.name
        )
    }
}

/// Counts the vendors' reasons for rejected operations.
@MainActor private final class Refusals {
    private var counts: [String: Int] = [:]

    /// Counts outcomes until the client is closed.
    func listen(to outcomes: Outcomes) -> Task<Void, Never> {
        Task {
            for await ended in outcomes where ended.outcome.term == .rejected {
                guard let finding = ended.outcome.finding, let vendor = finding.vendor else { continue }
                counts["\(ended.provider): rejected by the vendor: \(finding.code) [\(vendor)]", default: 0] += 1
            }
        }
    }

    /// One line for each reason, the most frequent first; at most ten.
    var lines: [String] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let more = sorted.count > 10 ? ["  and \(sorted.count - 10) more; run `patchbay outbox rejects list`"] : []
        return sorted.prefix(10).map { $0.value == 1 ? "  \($0.key)" : "  \($0.value) × \($0.key)" } + more
    }
}

/// One run of `send`.
@MainActor private struct Delivery {
    let session: Session
    let client: EngagementClient
    let host: any EngineHost
    let complaints: Complaints
    var status = ExitStatus.fine

    init(
        session: Session,
        client: EngagementClient,
        host: any EngineHost,
        complaints: Complaints
    ) {
        (self.session, self.client, self.host) = (session, client, host)
        self.complaints = complaints
    }

    /// Captures the operations of a file, chunk by chunk, and prints a receipt for each stored operation.
    mutating func capture(_ path: String?) async throws {
        let host = host
        let subject = session.invocation.text(.subject)
        let isReplay = session.invocation.has(.replay)
        let client = client
        let defaults = { (_: Int) -> JSONObject in
            var members: JSONObject = ["id": .string(host.makeID().rawValue), "capturedAt": .string(host.date().text)]
            members["subject"] = subject.map(JSONValue.string)
            return members
        }
        let file = session.name(ofInput: path)
        var status = status
        var knownCount = 0
        try await session.readOperations(path, defaults: defaults) { lines in
            var receipts: [(line: Int, receipt: Receipt)] = []
            // Looks up all ids at once, so that the operations are captured together.
            let known = try await client.known(among: lines.compactMap { try? $0.operation.get().id })
            for line in lines {
                switch line.operation {
                case .success(let operation) where known.contains(operation.id): knownCount += 1
                case .success(let operation):
                    if isReplay {
                        try await print(&receipts, of: file, status: &status)
                        guard try await reach(operation.capturedAt) else { return }
                    }
                    do {
                        receipts.append((line.number, try client.capture(operation)))
                    } catch let error as CaptureError where !error.findings.isEmpty {
                        for finding in error.findings { session.console.say(finding, at: "\(file):\(line.number)") }
                        status = .findings
                    }
                case .failure(let fault):
                    session.console.say(fault.finding, at: "\(file):\(line.number)")
                    status = .findings
                }
            }
            try await print(&receipts, of: file, status: &status)
        }
        if knownCount > 0 {
            session.console.say("\(file): skipped \(knownCount.counted("operation")) that the outbox knows already")
        }
        self.status = status
    }

    /// Prints each receipt once its operation is safe.
    private func print(
        _ receipts: inout [(line: Int, receipt: Receipt)],
        of file: String,
        status: inout ExitStatus
    ) async throws {
        for (line, receipt) in receipts {
            do {
                try await receipt.durable()
                try session.console.data(["id": .string(receipt.id.rawValue), "durable": true])
            } catch let error as CaptureError where error.code != .storage {
                session.console.say("\(file):\(line): \(error)", .red)
                status = .findings
            }
        }
        receipts = []
        try session.console.flush()
    }

    /// Waits until the clock reaches an instant; false if a person interrupts the run before.
    private func reach(_ instant: Instant) async throws -> Bool {
        while session.interruption.signalNumber == nil {
            let pause = host.realTime(instant - host.date())
            guard pause > .zero else { return true }
            try await Task.sleep(for: min(pause, .milliseconds(100)))
        }
        return false
    }

    /// Waits until no pending operation can be delivered any more, the timeout ends, or a person interrupts the run.
    ///
    /// - Throws: ``SwitchRefusal`` if the configuration would lose pending operations.
    func deliver(atMost timeout: Duration) async throws {
        let clock = ContinuousClock()
        let end = clock.now + timeout
        try await client.flush()
        while session.interruption.signalNumber == nil, clock.now < end {
            let accounts = try await client.accounts(explainingWaits: false)
            // This configuration delivers nothing; captured operations are stored.
            if let refusal = complaints.refusal { throw refusal }
            if accounts.allSatisfy(\.isStill) { return }
            session.console.show(progress: "\(accounts.reduce(0) { $0 + $1.pending }.counted("operation")) pending")
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Prints the counts of each provider.
    mutating func report(_ accounts: [ProviderAccounts], since before: [ProviderAccounts]?) throws {
        if session.isJSON {
            try session.console.data(["accounts": .array(accounts.map(\.json))])
        } else {
            for line in AccountsText(accounts, since: before).lines { session.console.say(line) }
        }
        let earlier = Dictionary((before ?? []).map { ($0.provider, $0.total("rejected")) }) { first, _ in first }
        let isUnsettled = accounts.contains { account in
            account.pending > 0 || account.total("rejected") > earlier[account.provider] ?? 0
        }
        if isUnsettled { status = .findings }
    }
}

extension ProviderAccounts {
    /// Whether waiting longer delivers nothing: no operation is pending, or all pending ones wait for a person.
    fileprivate var isStill: Bool {
        pending == 0 || suspended != nil || isUnnamed || held.values.reduce(0, +) == pending
    }
}
