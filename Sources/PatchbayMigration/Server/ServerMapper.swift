import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// The operations of one contact for a server API.
struct ServerRow {
    /// The contact's key at the vendor.
    var key = ""
    /// The actions, in the order of sending.
    var actions: [Action] = []
    /// The path of each action in the contact, for findings.
    var paths: [String] = []
    /// The API's options for the actions.
    var options: JSONObject?
    /// The contact as the API would show it after the actions.
    var image = Contact()
    /// The findings about the contact. If one is an error, nothing is sent.
    var findings: [Finding] = []

    var isRejected: Bool { findings.contains { $0.severity == .error } }

    mutating func add(_ action: Action, _ path: String) {
        actions.append(action)
        paths.append(path)
    }
}

/// Maps a contact to operations: first its identifiers and attributes, then every opt-out, then every opt-in.
struct ServerMapper {
    let server: any ContactAPI
    let settings: ServerSettings
    private let capabilities: Capabilities

    init(_ server: any ContactAPI, _ settings: ServerSettings) {
        (self.server, self.settings) = (server, settings)
        capabilities = type(of: server).descriptor.capabilities
    }

    /// Returns the operations of a contact.
    func row(of contact: Contact) -> ServerRow {
        var row = ServerRow()
        guard let key = contact.identifiers.first(server.keyKind)?.trimmed, !key.isEmpty else {
            row.findings = [ServerFinding.key.at("identifiers", detail: "kind \(server.keyKind.rawValue)")]
            return row
        }
        row.key = server.key(of: key)
        let (attributes, homeless) = attributes(of: contact)
        var whole = contact
        whole.attributes = attributes
        row.options = server.options(for: whole)
        offer(.identify(contact.identifiers), "identifiers", to: &row)
        row.findings += homeless.map { ServerFinding.noPlace.at($0) }
        if !attributes.isEmpty {
            offer(.changeAttributes(attributes.mapValues(AttributeChange.set)), "attributes", to: &row)
        }
        let wishes = wishes(of: contact, &row)
        for (wish, path) in wishes where wish.state.isOptOut { offer(.changeSubscription(wish), path, to: &row) }
        consents(of: contact, besides: wishes.map(\.0), &row)
        if !contact.tags.isEmpty { offer(.changeTags(TagChange(add: contact.tags.sorted())), "tags", to: &row) }
        for (wish, path) in wishes where !wish.state.isOptOut { offer(.changeSubscription(wish), path, to: &row) }
        devices(of: contact, &row)
        guard !row.isRejected else { return row }
        row.image = image(of: row)
        let raised = ConsentWords(contact).raised(in: ConsentWords(writtenAs: [row.image]))
        if !raised.isEmpty {
            row.findings.append(ConsentEvidence.raised.at("subscriptions", detail: "\(raised.count) of them"))
        }
        return row
    }

    /// Whether the row has no actions beyond the contact's key. Every request contains the key, and no request is sent for
    /// it alone.
    func isSilent(_ row: ServerRow, _ contact: Contact) -> Bool {
        var isIdentified = false
        for action in row.actions {
            guard case .identify = action else { return false }
            isIdentified = true
        }
        let lost = row.findings.filter { $0.severity == .warning }.map(\.path)
        let others = contact.identifiers.enumerated().filter { place, identifier in
            identifier.kind != server.keyKind && !lost.contains { $0.hasPrefix("identifiers[\(place)]") }
        }
        return !isIdentified || others.isEmpty
    }

    /// The contact as the API would show it after the actions of a row.
    func image(of row: ServerRow) -> Contact { server.image(of: row.actions.map { operation($0, of: row) }) }

    /// The contact of a row for journals and comparisons: its image, with an empty text for each attribute that the row
    /// clears and the API does not show then. The journal thus keeps the earlier values of these attributes, too.
    func trace(of row: ServerRow) -> Contact {
        var trace = row.image
        let emptied = server.emptied(by: row.actions.map { operation($0, of: row) })
        for name in emptied { trace.attributes[name] = .string("") }
        return trace
    }

    /// The operation of an action as the API receives it, except for its id and time.
    func operation(_ action: Action, _ key: String, options: [AdapterID: JSONObject] = [:]) -> EngagementOperation {
        EngagementOperation(
            id: "row",
            subject: Subject(rawValue: key),
            contact: key,
            capturedAt: Instant(milliseconds: 0),
            options: options,
            action: action
        )
    }

    /// The operation of an action with the options of its row.
    private func operation(_ action: Action, of row: ServerRow) -> EngagementOperation {
        let options = row.options.map { [type(of: server).descriptor.id: $0] } ?? [:]
        return operation(action, row.key, options: options)
    }

    // MARK: Filtering by capabilities

    /// Errors that the API or its configuration causes, not the contact. The affected part is left out, and the rest is
    /// sent.
    private static let lossy: Set<ErrorCode> = [.unsupported, .misconfigured, .consent]

    /// Adds an action if the API accepts it.
    private func offer(_ action: Action, _ path: String, to row: inout ServerRow) {
        let found = server.examine(operation(action, of: row)).map { Self.moved($0, action, path) }
        let errors = found.filter { $0.severity == .error }
        guard !errors.isEmpty else {
            row.add(action, path)
            return row.findings += found
        }
        row.findings += found.filter { $0.severity != .error }
        if action.isNo, settings.lostOptOuts == .reject {
            return row.findings.append(ServerFinding.optOutLost.at(path, detail: errors[0].code))
        }
        let lossy = errors.allSatisfy { $0.error.map(Self.lossy.contains) ?? false }
        if lossy, let rest = rest(of: action, in: row) { row.add(rest, path) }
        row.findings += errors.map { error in
            var error = error
            if action.isNo || error.error.map(Self.lossy.contains) ?? false { error.severity = .warning }
            return error
        }
    }

    /// The parts of a rejected action that the API accepts; nil if it accepts none.
    private func rest(of action: Action, in row: ServerRow) -> Action? {
        let rest: Action
        switch action {
        case .identify(let all):
            let taken = all.filter { takes(.identify([$0]), in: row) }
            if taken.isEmpty { return nil }
            rest = .identify(taken)
        case .changeAttributes(let all):
            let taken = all.filter { takes(.changeAttributes([$0.key: $0.value]), in: row) }
            if taken.isEmpty { return nil }
            rest = .changeAttributes(taken)
        case .changeTags(let all):
            let taken = all.add.filter { takes(.changeTags(TagChange(add: [$0])), in: row) }
            if taken.isEmpty { return nil }
            rest = .changeTags(TagChange(add: taken))
        default: return nil
        }
        return takes(rest, in: row) ? rest : nil
    }

    private func takes(_ action: Action, in row: ServerRow) -> Bool {
        !server.examine(operation(action, of: row)).contains { $0.severity == .error }
    }

    /// A finding about an operation, with its path in the contact.
    static func moved(_ finding: Finding, _ action: Action, _ path: String) -> Finding {
        var finding = finding
        let names: [(String, String)] =
            switch action {
            case .identify: [("action.identifiers", "identifiers")]
            case .changeAttributes: [("action.changes", "attributes")]
            default: []
            }
        for (old, new) in names where finding.path.hasPrefix(old) {
            finding.path = new + finding.path.dropFirst(old.count)
            return finding
        }
        for old in ["action.subscription", "action.tags", "action.consent", "action.device"]
        where finding.path.hasPrefix(old) {
            finding.path = path + finding.path.dropFirst(old.count)
            return finding
        }
        if finding.path == "contact" { finding.path = "identifiers" }
        if finding.path.isEmpty || finding.path.hasPrefix("action") { finding.path = path }
        return finding
    }

    // MARK: Parts

    /// The attributes, including locale and time zone if the settings name attributes for them, and the paths of those
    /// without one.
    private func attributes(of contact: Contact) -> ([AttributeName: AttributeValue], homeless: [String]) {
        var (attributes, homeless) = (contact.attributes, [String]())
        for (text, name, path) in [
            (contact.locale, settings.locale, "locale"), (contact.timeZone, settings.timeZone, "timeZone"),
        ] {
            guard let text else { continue }
            if name.isEmpty {
                homeless.append(path)
            } else if attributes[AttributeName(rawValue: name)] == nil {
                attributes[AttributeName(rawValue: name)] = .string(text)
            }
        }
        return (attributes, homeless)
    }

    private func denies(_ contact: Contact, _ channel: Channel) -> Bool {
        contact.consents.contains {
            $0.purpose == .messaging && $0.state == .denied && ($0.channel == nil || $0.channel == channel)
        }
    }

    /// The subscriptions of a contact: one for each channel and topic, in the most protective of the stated states.
    private func wishes(of contact: Contact, _ row: inout ServerRow) -> [(Subscription, String)] {
        var states = contact.subscriptions.mostProtectiveStates
        var wishes: [(Subscription, String)] = []
        for (place, subscription) in contact.subscriptions.enumerated() {
            guard let state = states.removeValue(forKey: subscription.key) else { continue }
            let path = "subscriptions[\(place)]"
            var wish = subscription
            wish.state = state
            if wish.state != .unsubscribed, denies(contact, wish.channel) {
                row.findings.append(ServerFinding.denied.at("\(path).state"))
                wish.state = .unsubscribed
            }
            if wish.state == .unknown {
                row.findings.append(ServerFinding.stateUnknown.at("\(path).state"))
            } else {
                wishes.append((wish, path))
            }
        }
        return wishes
    }

    /// The channels of an opt-out from all channels: email, SMS and push, and those on which the vendor treats a missing
    /// status as an opt-in.
    private var everyChannel: [Channel] {
        let usual: [Channel] = [.email, .sms, .push]
        return usual
            + server.vendorSubscriptions.filter { $0.topic == nil && !usual.contains($0.channel) }.map(\.channel)
    }

    /// Adds consents as such if the server API stores them. Otherwise a denied messaging consent becomes an opt-out.
    private func consents(of contact: Contact, besides wishes: [Subscription], _ row: inout ServerRow) {
        let hasRecord = capabilities[.operation(.setConsent)].isAvailable
        for (place, consent) in contact.consents.enumerated() where consent.state != .unknown {
            let path = "consents[\(place)]"
            if hasRecord {
                offer(.setConsent(consent), path, to: &row)
                continue
            }
            row.findings.append(ServerFinding.consent.at(path))
            guard consent.state == .denied, consent.purpose == .messaging else { continue }
            let channels = consent.channel.map { [$0] } ?? everyChannel
            let missing = channels.filter { channel in
                !wishes.contains { $0.channel == channel && $0.topic == nil }
            }
            let optOuts = missing.map { Action.changeSubscription(Subscription(channel: $0, state: .unsubscribed)) }
            // An opt-out from all channels is sent to every channel that accepts it. It need not be accepted by all of
            // them.
            let taken = optOuts.filter { takes($0, in: row) }
            let isSaid = !taken.isEmpty || missing.count < channels.count
            for no in isSaid ? taken : optOuts where !row.actions.contains(no) { offer(no, path, to: &row) }
        }
    }

    private func devices(of contact: Contact, _ row: inout ServerRow) {
        let takes = capabilities[.operation(.registerDevice)].isAvailable
        for (place, device) in contact.devices.enumerated() {
            if takes {
                offer(.registerDevice(device), "devices[\(place)]", to: &row)
            } else {
                row.findings.append(ServerFinding.deviceLost.at("devices[\(place)]"))
            }
        }
    }
}

extension Action {
    /// Whether the action is an opt-out.
    var isNo: Bool { if case .changeSubscription(let wish) = self { wish.state.isOptOut } else { false } }
    /// Whether the action is an opt-in.
    var isYes: Bool { if case .changeSubscription(let wish) = self { wish.state == .subscribed } else { false } }
}

/// Writes the expected contact at the API for each contact, including cleared attributes, one JSON object a line. Plans and
/// comparisons read these lines.
final class ServerWriter: ContactWriter {
    let mapper: ServerMapper
    private let tally: ServerTally?
    /// The row of the last contact.
    private(set) var row = ServerRow()
    /// Whether a contact without data beyond its key is rejected; false for probes that examine the parts of a server API.
    var refusesSilence = true
    private var json = JSONWriter()

    init(_ mapper: ServerMapper, tally: ServerTally? = nil) { (self.mapper, self.tally) = (mapper, tally) }

    var keyKind: IdentifierKind? { mapper.server.keyKind }

    func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
        row = mapper.row(of: contact)
        if refusesSilence, !row.isRejected, mapper.isSilent(row, contact) {
            row.findings.append(ServerFinding.keyAlone.at("identifiers"))
        }
        guard !row.isRejected else { return row.findings }
        tally?.add(row)
        json.reset()
        mapper.trace(of: row).write(to: &json)
        json.endLine()
        bytes += json.bytes
        return row.findings
    }
}
