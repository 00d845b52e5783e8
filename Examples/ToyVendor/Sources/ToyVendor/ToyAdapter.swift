public import PatchbayAdapterKit
public import PatchbayModel
import PatchbayJSON

/// The Toy vendor's device API: one endpoint, one request per operation.
public struct ToyAdapter: VendorAdapter {
    /// The only kind of request.
    public enum Endpoint: String, AdapterEndpoint { case say }

    private let settings: ToySettings

    public init(settings: ToySettings) { self.settings = settings }

    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let missing = Capabilities.needs(of: operation).filter { !Self.descriptor.capabilities[$0].isAvailable }
        if case .track(.push) = operation.action { return [ToyFindings.foreignPush.at("action.event")] }
        if !missing.isEmpty {
            return [ToyFindings.unsupported.at("action", detail: missing.map(\.rawValue).joined(separator: ", "))]
        }
        guard let text = ToySaying(operation)?.text, text.utf8.count > 200 else { return [] }
        return [ToyFindings.tooLong.at("action", detail: "\(text.utf8.count) bytes")]
    }

    public func plan(
        _ pending: PendingOperations<ToyAdapter>,
        memory: NoMemory,
        at moment: Moment
    ) -> Plan<ToyAdapter> {
        let first = pending[pending.startIndex]
        guard let saying = ToySaying(first.operation) else {
            return .settle([first.id: .rejected(ToyFindings.unsupported.at("action"))])
        }
        let headers = [
            WireHeader("Content-Type", "application/json"),
            WireHeader("Authorization", "Toy \(settings.key.value)", isSecret: true),
        ]
        let body = JSONValue.object(ToySaying.fields.object(saying)).text
        let request = WireRequest("POST", "\(settings.address)/say", headers: headers, body: Array(body.utf8))
        return .send(Transmission(.say, request, carrying: [first]))
    }

    public func interpret(_ exchange: Exchange<ToyAdapter>, memory: inout NoMemory) -> Interpretation<ToyAdapter> {
        let row = Self.descriptor.tables.replies.row(for: exchange.outcome)
        let finding = (row.finding ?? ToyFindings.refused).at()
        let wait = exchange.retryAfter ?? .seconds(60)
        let again = exchange.moment.now + min(max(wait, .seconds(1)), .seconds(86_400))
        var meaning = Interpretation<ToyAdapter>(exchange.operations) { _ in
            switch row.meaning {
            case .accepted: .accepted()
            case .refused: .rejected(finding)
            case .retry, .suspend: .retry(.at(again))
            }
        }
        if row.meaning == .suspend { meaning.suspension = finding }
        return meaning
    }
}

/// The content of an operation in the Toy vendor's form.
struct ToySaying {
    let id: String
    let who: String?
    let what: String
    let text: String?

    init?(_ operation: EngagementOperation) {
        (id, who) = (operation.id.rawValue, operation.contact)
        switch operation.action {
        case .changeTags(let change): (what, text) = ("tags", change.json.text)
        case .track(.custom(let name, _)): (what, text) = ("event", name)
        default: return nil
        }
    }

    static let fields = FieldTable<ToySaying>(
        "Saying",
        [
            .required("id", \.id, .text, from: "operation.id", rule: .toy("1")),
            .optional("who", \.who, .text, from: "operation.contact", rule: .toy("2")),
            .required("what", \.what, .text, from: "operation.action.kind", rule: .toy("3")),
            .optional("text", \.text, .text, from: "operation.action", rule: .toy("4")),
        ]
    )
}
