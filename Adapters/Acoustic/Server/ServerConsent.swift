import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A channel for which the vendor stores individual consents (S50).
enum ConsentChannel: String, CaseIterable, Sendable {
    case push, sms

    init?(_ channel: Channel) { self.init(rawValue: channel.rawValue) }

    /// The default path of a consent on this channel. The path of push consents is confirmed. A public client uses the
    /// path of text messages, which leaves the contact's key out.
    var path: String {
        switch self {
        case .push: "/rest/databases/{databaseId}/consent/PUSH-{qualifier}/{key}/{destination}"
        case .sms: "/rest/databases/{databaseId}/consent/SMS-{qualifier}/{destination}"
        }
    }

    /// Whether an opt-out can only replace an existing consent (S52).
    var knowsNoFirstNo: Bool { self == .sms }

    private var qualifier: String {
        switch self {
        case .push: "the app key"
        case .sms: "the text-to-join programme's id, or its short code"
        }
    }

    private var destination: String {
        switch self {
        case .push: "`userId\\|channelId` of the device: options of the operation"
        case .sms: "digits with the country's code: the option `phone`, else the contact's own number"
        }
    }

    /// The channels as Markdown.
    static var markdown: String {
        let lines = allCases.map { "| `\($0.rawValue)` | `\($0.path)` | \($0.qualifier) | \($0.destination) |" }
        return (["| channel | path | qualifier | destination |", "|---|---|---|---|"] + lines)
            .joined(separator: "\n")
    }
}

/// Converts subscription states to and from the vendor's consent values.
enum ConsentStatus: Sendable {
    /// Returns the vendor's consent value. A suspended subscription is an opt-out.
    static func word(_ state: Subscription.State) -> String {
        state == .subscribed ? "OPTED-IN" : "OPTED-OUT"
    }

    /// Returns the state of a consent value. Any other text is unknown, and never an opt-in.
    static func state(_ text: String?) -> Subscription.State {
        guard let text, case .state(let state) = ConsentTable.acoustic.meaning(of: text, in: ConsentTable.consentStatus)
        else { return .unknown }
        return state
    }
}

/// The address of a consent: its channel, qualifier and destination.
struct ConsentPlace: Sendable {
    let channel: ConsentChannel
    let qualifier: String
    /// The device or phone number; nil until the database has been queried for it.
    var destination: String?

    /// Creates the address of the consent that an operation writes or queries; nil if it concerns no consent.
    init?(_ operation: EngagementOperation, phone: String? = nil, _ settings: AcousticServerSettings) {
        switch operation.action {
        case .changeSubscription(let subscription):
            guard let name = subscription.consentName(settings) else { return nil }
            let options = ServerOptions(operation)
            self.init(name, options.device, options.phone ?? phone, settings)
        case .readBack(let request):
            guard case .consent(let name, let device, let number)? = ServerQuestion(request) else { return nil }
            self.init(name, device, number ?? phone, settings)
        default: return nil
        }
    }

    private init?(_ name: AcousticSourceName, _ device: String?, _ phone: String?, _ settings: AcousticServerSettings) {
        guard let qualifier = settings.consentQualifiers[exactly: name], let channel = name.consentChannel else {
            return nil
        }
        (self.channel, self.qualifier) = (channel, qualifier)
        destination = channel == .push ? device : phone
    }

    /// Returns a finding if the consent's address is incomplete.
    func problem(_ settings: AcousticServerSettings) -> FindingRow? {
        guard destination == nil else { return nil }
        switch channel {
        case .push: return ServerFinding.consentDevice
        case .sms: return settings.identifierColumns[.phone] == nil ? ServerFinding.consentNumber : nil
        }
    }
}

extension AcousticSourceName {
    /// The channel before the point.
    var consentChannel: ConsentChannel? { ConsentChannel(rawValue: String(rawValue.prefix { $0 != "." })) }
}

extension Subscription {
    /// Returns the name of the subscription's consent in the settings; nil if it has none.
    func consentName(_ settings: AcousticServerSettings) -> AcousticSourceName? {
        let name = AcousticSourceName(rawValue: key.settingName)
        return settings.consentQualifiers[exactly: name] == nil || name.consentChannel == nil ? nil : name
    }

    /// The findings about the consent.
    func consentFindings(at path: String) -> [Finding] {
        evidence == nil && fields.isEmpty ? [] : [ServerFinding.consentDetails.at(path)]
    }
}

extension String {
    /// Whether the text can be a device's user id or channel id. The separator of the two ids can't be part of either.
    var isDeviceID: Bool { !isEmpty && utf8.count <= 200 && !contains("|") && XMLTree.canHold(self) }
}

/// A consent in the vendor's form.
struct ConsentRecord: Sendable {
    let status: String
    /// The date of the person's decision; nil if it is unknown.
    let date: String?
    let source: String?

    init(_ subscription: Subscription) {
        status = ConsentStatus.word(subscription.state)
        date = subscription.changedAt?.text(fractionDigits: 3)
        source = subscription.source
    }

    static let table = FieldTable<ConsentRecord>(
        "Consent",
        [
            .required("status", \.status, .text, from: "subscription.state", rule: .acoustic("S51")),
            .optional("consentDate", \.date, .text, from: "subscription.changedAt", rule: .acoustic("S51")),
            .optional("consentSource", \.source, .text, from: "subscription.source", rule: .acoustic("S51")),
        ]
    )
}

/// The answer to a query for a consent.
enum ConsentAnswer: Sendable {
    static func json(_ data: JSONValue?) -> JSONValue {
        let status = data?["status"]?.string
        var answer: JSONObject = ["state": .string(ConsentStatus.state(status).rawValue)]
        for name in ["status", "consentDate", "consentSource"] {
            if let text = data?[name]?.string { answer[name] = .string(text) }
        }
        return .object(answer)
    }
}

// MARK: Planning

extension AcousticServer {
    /// Returns the consent that an operation concerns, as far as its address is known; nil if it concerns none.
    func consent(of pending: Pending<Self>) -> ConsentPlace? {
        ConsentPlace(pending.operation, phone: pending.step?.phone, settings)
    }

    /// Returns the request for a consent. A query comes first if the phone number is unknown, or if an opt-out needs an
    /// existing consent.
    func consent(_ place: ConsentPlace, _ head: Pending<Self>, _ requests: ServerRequests) -> Transmission<Self> {
        let key = head.operation.contactKey
        guard let destination = place.destination else {
            return Transmission(.selectRecipient, requests.selection(of: key), carrying: [head])
        }
        let path = settings.path(of: place, key: key, destination)
        guard case .changeSubscription(let subscription) = head.operation.action else {
            return Transmission(.readConsent, requests.look(at: path), carrying: [head])
        }
        if place.channel.knowsNoFirstNo, subscription.state != .subscribed, head.step?.hasConsent != true {
            return Transmission(.readConsent, requests.look(at: path), carrying: [head])
        }
        return Transmission(
            .writeConsent,
            requests.consent(ConsentRecord(subscription), at: path),
            carrying: [head]
        )
    }
}

extension AcousticServerSettings {
    /// Returns the path of a consent at the vendor's host.
    fileprivate func path(of place: ConsentPlace, key: String, _ destination: String) -> String {
        let template = consentPaths[AcousticSourceName(rawValue: place.channel.rawValue)] ?? place.channel.path
        return URLText.path(template) { name in
            switch name {
            case "databaseId": databaseID
            case "qualifier": place.qualifier
            case "key": key
            case "destination": destination
            default: nil
            }
        }
    }

    /// The findings about the settings of consents.
    var consentProblems: [Finding] {
        var problems: [Finding] = []
        for name in consentQualifiers.keys.sorted() {
            let path = "settings.\("consentQualifiers".dot(name.rawValue))"
            if name.consentChannel == nil { problems.append(ServerFinding.consentChannel.at(path)) }
            if subscriptionColumns[name] != nil { problems.append(ServerFinding.consentTwice.at(path)) }
        }
        for (name, template) in consentPaths.inOrder {
            let path = "settings.\("consentPaths".dot(name.rawValue))"
            if ConsentChannel(rawValue: name.rawValue) == nil { problems.append(ServerFinding.consentChannel.at(path)) }
            if !Self.isConsentPath(template) { problems.append(ServerFinding.consentPath.at(path)) }
        }
        return problems
    }

    /// Whether a path template gives each consent its own path and has no unknown placeholder.
    private static func isConsentPath(_ template: String) -> Bool {
        let names = ["databaseId", "qualifier", "key", "destination"]
        let rest = URLText.path(template) { names.contains($0) ? "x" : nil }
        return template.hasPrefix("/rest/") && ["{qualifier}", "{destination}"].allSatisfy(template.contains)
            && rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && ![0x7B, 0x7D, 0x3F, 0x23].contains($0) }
            && !rest.contains("..")
    }
}

// MARK: Answers

extension AcousticServer {
    /// Handles the reply to a query for a consent: a caller gets the answer, and an opt-out continues if a consent
    /// exists.
    func interpretConsent(_ exchange: Exchange<Self>, _ data: JSONValue?) -> Interpretation<Self> {
        let data = data?.array?.first ?? data
        return Interpretation(exchange.operations) { pending in
            guard case .changeSubscription = pending.operation.action else {
                return .accepted(answer: ConsentAnswer.json(data))
            }
            guard data?.object?.isEmpty == false else { return .rejected(ServerFinding.consentNone.at("action")) }
            if ConsentStatus.state(data?["status"]?.string) == .unsubscribed {
                return .unchanged(ServerFinding.alreadyOut.at())
            }
            var step = pending.step ?? Step()
            step.hasConsent = true
            return .inProgress(step)
        }
    }

    /// Continues with the contact's phone number, which the database returned.
    func numbered(_ pending: Pending<Self>, _ result: XMLTree) -> Verdict<Self> {
        let column = settings.identifierColumns[.phone]
        let cell = result["COLUMNS"]?.all("COLUMN").first { ScalarString.equal($0["NAME"]?.text ?? "", column ?? "") }
        guard let phone = cell?["VALUE"]?.text.trimmed.consentNumber else {
            return .rejected(ServerFinding.consentNumber.at("contact"))
        }
        var step = pending.step ?? Step()
        step.phone = phone
        return .inProgress(step)
    }
}
