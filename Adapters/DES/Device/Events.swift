import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An event of the vendor's own: type `internal`, a fixed name, text attributes.
struct InternalEvent {
    /// The name on the wire.
    let name: String
    /// The attributes that it always has.
    let attributes: [String]
    /// The attributes that it may have.
    let optional: [String]
    /// The operation that an app captures instead; nil if it captures a custom event of that name.
    let operation: String?

    private init(_ name: String, _ attributes: [String] = [], optional: [String] = [], capturedAs operation: String?) {
        (self.name, self.attributes, self.optional, self.operation) = (name, attributes, optional, operation)
    }

    /// All internal events.
    static let all = [
        InternalEvent("app:start", capturedAs: "sessionStarted with the option appStart"),
        InternalEvent("session:start", capturedAs: "sessionStarted"),
        InternalEvent("session:end", ["duration"], capturedAs: "sessionEnded"),
        InternalEvent("push:click", ["origin", "sid"], optional: ["button_id"], capturedAs: "push, tapped or opened"),
        InternalEvent("inapp:viewed", ["campaignId"], optional: ["sid", "url"], capturedAs: "messageViewed"),
        InternalEvent(
            "inapp:click",
            ["campaignId", "buttonId"],
            optional: ["sid", "url"],
            capturedAs: "messageClicked"
        ),
        InternalEvent("inbox:tag:add", ["messageId", "tag"], capturedAs: nil),
        InternalEvent("inbox:tag:remove", ["messageId", "tag"], capturedAs: nil),
    ]

    /// Returns the vendor's event with a name; nil if there is none.
    static func named(_ name: String) -> InternalEvent? { byName[name] }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}

/// A change of the tags of one inbox message.
struct InboxTag: Equatable {
    var message: String
    var tag: String
    var isAdded: Bool

    /// Reads the change from a custom event; nil if it is another event.
    init?(_ name: String, _ attributes: [AttributeName: AttributeValue]) {
        guard let event = InternalEvent.named(name), event.operation == nil,
            let message = attributes["messageId"]?.plainText, let tag = attributes["tag"]?.plainText
        else { return nil }
        (self.message, self.tag, isAdded) = (message, tag.lowercased(), name == "inbox:tag:add")
    }

    /// Reads the change from an operation; nil if it is another one.
    init?(of operation: EngagementOperation) {
        guard case .track(.custom(let name, let attributes)) = operation.action else { return nil }
        self.init(name, attributes)
    }

    /// The message and the tag, regardless of the direction of the change.
    var place: [String] { [message, tag] }

    /// The tags after the change.
    func applied(to tags: [String]) -> [String] {
        isAdded ? (tags.contains(tag) ? tags : tags + [tag]) : tags.filter { $0 != tag }
    }
}

/// An app's own event.
enum CustomEvent {
    private static let path = "action.event"

    /// Returns the findings about an event that do not depend on the time of its request.
    static func problems(_ name: String, _ attributes: [AttributeName: AttributeValue]) -> [Finding] {
        if name.trimmed.isEmpty { return [FindingRow.eventName.at(path.dot("name"))] }
        let bad = attributes.compactMap { attribute in problem(of: attribute.value).map { (attribute.key, $0) } }
        var findings = bad.sorted { $0.0 < $1.0 }.map { name, row in
            row.at(path.dot("attributes").dot(name.rawValue))
        }
        guard let own = InternalEvent.named(name) else { return findings }
        if let operation = own.operation {
            return [FindingRow.eventReserved.at(path.dot("name"), detail: "capture \(operation)")]
        }
        for name in own.attributes where (attributes[AttributeName(rawValue: name)]?.plainText ?? "").isEmpty {
            findings.append(FindingRow.attributeMissing.at(path.dot("attributes").dot(name)))
        }
        for name in attributes.keys.sorted() where !own.attributes.contains(name.rawValue) {
            findings.append(FindingRow.attributeUnknown.at(path.dot("attributes").dot(name.rawValue)))
        }
        return findings
    }

    private static func problem(of value: AttributeValue) -> FindingRow? {
        switch value {
        case .list, .object, .choices: .attributeNested
        case .timestamp(let time) where Timestamp(time.instant) != time: .attributeFraction
        default: nil
        }
    }

    /// A value as the text that is sent.
    static func text(_ value: AttributeValue) -> String? {
        if case .timestamp(let time) = value { return time.instant.text }
        return value.plainText
    }
}

/// Events of several operations in their order, and the session after them.
struct EventBatch {
    typealias Head = Pending<DESDevice>

    /// The events as they are written.
    private(set) var events: [EventCall] = []
    /// The verdicts of operations without an event.
    private(set) var settled: [OperationID: Verdict<DESDevice>] = [:]
    /// The session after the events.
    private(set) var session: Session?
    /// Messages and tags that one of the events changes.
    private var tagged: Set<[String]> = []

    private let planner: Planner
    private let writer: WireWriter

    private var adapter: DESDevice { planner.adapter }
    private var memory: DESMemory { planner.memory }

    init(_ operations: [Head], _ planner: Planner) {
        self.planner = planner
        writer = planner.writer
        session = planner.memory.session
        events.reserveCapacity(operations.count)
        for pending in operations { add(pending) }
    }

    private mutating func add(_ pending: Head) {
        let operation = pending.operation
        if let changedAt = pending.step?.changedAt { return restart(pending, at: changedAt) }
        guard case .track(let event) = operation.action else { return }
        switch event {
        case .sessionStarted: start(pending)
        case .sessionEnded:
            guard session != nil else {
                settled[pending.id] = .unchanged(FindingRow.noSession.at("action.event"))
                return
            }
            end(at: operation.capturedAt)
            session = .running(session, after: pending)
        case .push(let interaction, let payload, let button): click(interaction, payload, button, operation)
        case .messageViewed(let campaign):
            internalEvent("inapp:viewed", operation.capturedAt, [("campaignId", campaign)] + extras(operation))
        case .messageClicked(let campaign, let button):
            let own = [("campaignId", campaign), ("buttonId", button ?? "")]
            internalEvent("inapp:click", operation.capturedAt, own + extras(operation))
        case .custom(let name, let attributes): custom(name, attributes, pending)
        }
    }

    // MARK: Sessions

    private mutating func start(_ pending: Head) {
        let operation = pending.operation
        if adapter.options(operation)["appStart"]?.bool == true {
            if memory.contactToken != nil { internalEvent("app:start", operation.capturedAt, []) }
        }
        session = .running(session, after: pending)
        internalEvent("session:start", operation.capturedAt, [])
    }

    private mutating func end(at time: Instant) {
        guard let running = session else { return }
        let duration = max(0, time.milliseconds - running.startedAt.milliseconds)
        internalEvent("session:end", time, [("duration", String(duration))])
    }

    /// Ends the session and starts another one after a change of contact.
    private mutating func restart(_ pending: Head, at time: Instant) {
        guard session != nil else { return }
        end(at: time)
        session = .running(session, after: pending)
        internalEvent("session:start", time, [])
    }

    // MARK: Other events

    private mutating func click(
        _ interaction: PushInteraction,
        _ payload: JSONObject,
        _ button: String?,
        _ operation: EngagementOperation
    ) {
        guard let origin = PushPayload.origin(interaction), let message = PushPayload.messageID(payload) else { return }
        let place = button.map { [("origin", "button"), ("button_id", $0)] } ?? [("origin", origin)]
        internalEvent("push:click", operation.capturedAt, place + [("sid", message)])
    }

    private mutating func custom(_ name: String, _ attributes: [AttributeName: AttributeValue], _ pending: Head) {
        if let change = InboxTag(name, attributes) {
            if let idle = idle(change) {
                settled[pending.id] = idle
                return
            }
            tagged.insert(change.place)
            let own = [("messageId", change.message), ("tag", change.tag)]
            return internalEvent(name, pending.operation.capturedAt, own)
        }
        var texts: [EventCall.Attribute] = []
        texts.reserveCapacity(attributes.count)
        for (name, value) in attributes.inOrder {
            guard let text = CustomEvent.text(value) else { continue }
            texts.append(EventCall.Attribute(name: name.rawValue, text: text))
        }
        append("custom", name, pending.operation.capturedAt, texts)
    }

    /// Returns the verdict of a tag change that need not be sent; nil if it must be. It is nil if the inbox was never fetched.
    ///
    /// After an earlier pending change of the same tag every change is sent, because the vendor's state is then unknown.
    private func idle(_ change: InboxTag) -> Verdict<DESDevice>? {
        guard let inbox = memory.inbox else { return nil }
        guard let tags = inbox[change.message] else {
            return .rejected(FindingRow.inboxUnknown.at("action.event.attributes.messageId"))
        }
        let isUncertain = tagged.contains(change.place) || memory.uncertainTags?.contains(change.place) == true
        guard !isUncertain, change.applied(to: tags) == tags else { return nil }
        return .unchanged(FindingRow.inboxUnchanged.at("action.event"))
    }

    private func extras(_ operation: EngagementOperation) -> [(String, String)] {
        let options = adapter.options(operation)
        return ["sid", "url"].compactMap { name in options[name]?.string.map { (name, $0) } }
    }

    private mutating func internalEvent(_ name: String, _ time: Instant, _ attributes: [(String, String)]) {
        append("internal", name, time, attributes.map { EventCall.Attribute(name: $0.0, text: $0.1) })
    }

    private mutating func append(_ type: String, _ name: String, _ time: Instant, _ attributes: [EventCall.Attribute]) {
        events.append(
            EventCall(
                type: type,
                name: name,
                timestamp: writer.text(time),
                attributes: attributes.isEmpty ? nil : attributes,
                sessionID: session?.id
            )
        )
    }
}
