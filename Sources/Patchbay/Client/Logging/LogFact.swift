package import PatchbayAdapterKit
package import PatchbayModel

/// A piece of metadata of a log record. No case can hold a personal value.
package enum LogFact {
    case provider(String)
    case adapter(AdapterID)
    case operation(OperationID)
    case endpoint(String)
    case outcome(Outcome)
    case term(OperationOutcome.Term)
    case code(Finding?)
    case vendor(Finding?)
    case storage(CaptureError.Code)
    case mode(RoutingPlan.Mode?)
    case count(Int)
    case saved(Int)
    case lost(Int)
    case damagedRows(Int)
    case phase(String)
    case records(Int)
    case bytes(Int)

    /// The name and value; nil if the fact has no value.
    var member: (String, String)? {
        switch self {
        case .provider(let name): ("provider", name)
        case .adapter(let id): ("adapter", id.rawValue)
        case .operation(let id): ("operation", id.rawValue)
        case .endpoint(let name): ("endpoint", name)
        case .outcome(.replied(let response)): ("status", String(response.status))
        case .outcome(.failed(let failure)): ("failure", "\(failure.delivery.rawValue).\(failure.code)")
        case .term(let term): ("term", term.rawValue)
        case .code(let finding): finding.map { ("code", $0.code) }
        case .vendor(let finding): (finding?.vendor).map { ("vendor", $0.description) }
        case .storage(let code): ("storage", code.rawValue)
        case .mode(let mode): ("mode", mode?.rawValue ?? "none")
        case .count(let count): ("count", String(count))
        case .saved(let count): ("saved", String(count))
        case .lost(let count): ("lost", String(count))
        case .damagedRows(let count): ("damagedRows", String(count))
        case .phase(let name): ("phase", name)
        case .records(let count): ("records", String(count))
        case .bytes(let count): ("bytes", String(count))
        }
    }
}

/// The log of a module. Without a handler, a call costs one comparison.
package struct Log: Sendable {
    let handler: (any LogHandler)?
    private let source: String

    /// Creates the log of a module.
    package init(handler: (any LogHandler)?, source: String = "Patchbay") {
        (self.handler, self.source) = (handler, source)
    }

    package func callAsFunction(_ level: LogLevel, _ message: StaticString, _ facts: @autoclosure () -> [LogFact]) {
        guard let handler, handler.level <= level else { return }
        handler.log(event: LogEvent(level, message, facts(), source: source))
    }

    /// Logs the engine's events.
    func callAsFunction(_ events: [EngineEvent]) {
        guard handler != nil else { return }
        for event in events { self(event) }
    }

    private func callAsFunction(_ event: EngineEvent) {
        switch event {
        case .ended(let id, let provider, let outcome):
            let isRefusal = [.rejected, .quarantined].contains(outcome.term)
            self(isRefusal ? .notice : .debug, "operation ended", facts(id, provider, outcome))
        case .answered(let id, let provider, let outcome):
            self(.debug, "question answered", facts(id, provider, outcome))
        case .incoming(let provider, _): self(.debug, "content for the app", [.provider(provider)])
        case .suspended(let provider, let finding): self(.error, "provider stopped", facts(provider, finding))
        case .outage(let provider, let finding): self(.warning, "provider fails", facts(provider, finding))
        case .recovered(let provider, let finding): self(.notice, "provider is back", facts(provider, finding))
        case .noticed(let provider, let finding):
            self(finding.severity == .note ? .info : .warning, "noticed", facts(provider, finding))
        case .passedOver(let id, let provider, let finding):
            self(.debug, "operation passed over", [.operation(id)] + facts(provider, finding))
        case .setAside(let finding): self(.warning, "stored bytes set aside", [.code(finding)])
        case .storageFailed(let error): self(.error, "storage failed", [.storage(error.code)])
        case .switchRefused(let refusal): self(refusal)
        }
    }

    /// Logs the operations that a configuration would lose, and the remedy.
    private func callAsFunction(_ refusal: SwitchRefusal) {
        self(.error, "the configuration is refused, and nothing is delivered", [.count(refusal.count)])
        for operation in refusal.operations {
            let code = operation.refusals.min { $0.key < $1.key }?.value
            self(
                .error,
                "it would lose an operation; change onSwitch or onLoss",
                [.operation(operation.id), .provider(operation.provider), .code(code)]
            )
        }
    }

    private func facts(_ id: OperationID, _ provider: String, _ outcome: OperationOutcome) -> [LogFact] {
        [.operation(id), .provider(provider), .term(outcome.term), .code(outcome.finding), .vendor(outcome.finding)]
    }

    private func facts(_ provider: String, _ finding: Finding) -> [LogFact] {
        [.provider(provider), .code(finding), .vendor(finding)]
    }
}
