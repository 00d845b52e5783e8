import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The server API of Acoustic Campaign: its XML and REST interfaces, for back ends and migrations.
///
/// A subject is a contact. Calls that add or change the contact's row write its data. Events become behaviours of the
/// contact. Erasures and imports are jobs whose state is queried later. All lanes share one token and one retry time.
public struct AcousticServer: ServerAPI {
    public typealias Settings = AcousticServerSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Requests an access token, as a maintenance request.
        case token
        /// Adds a contact, or updates it if it exists.
        case addRecipient
        /// Updates an existing contact.
        case updateRecipient
        /// Queries a contact in the database.
        case selectRecipient
        /// Opts a contact out of all e-mail.
        case optOutRecipient
        /// Removes a contact from the database.
        case removeRecipient
        /// Sends events of contacts. Journaled, because a repeated event would count twice.
        case events
        /// Starts a job that erases contacts.
        case gdprErasure
        /// Starts a job that exports the vendor's data of a contact.
        case gdprAccess
        /// Queries the state of a job that erases or exports data of contacts.
        case gdprStatus
        /// Starts a job that imports a file from the account's upload directory.
        case importList
        /// Starts a job that exports contacts to a file in the account's download directory.
        case exportList
        /// Queries the state of a job.
        case jobStatus
        /// Queries a consent.
        case readConsent
        /// Writes a person's consent on a channel.
        case writeConsent
        /// Queries the contact of a device.
        case channelContact
        /// Adds a contact to a contact list.
        case addToList
        /// Creates a contact list.
        case createList
        /// Queries the database's columns.
        case listMetaData
        /// Queries events that the vendor accepted and rejected later.
        case eventErrors

        public var isJournaled: Bool { self == .events }
    }

    /// The progress of an operation.
    public struct Step: Codable, Sendable, Equatable {
        /// The call that writes a contact.
        enum Verb: String, Codable, Sendable {
            case add, update
        }

        public var most: Int?
        /// The second of the two calls for a contact, if the first did not fit.
        var verb: Verb?
        /// The vendor's number of the contact.
        var contactID: String?
        /// Whether the database has the contact, and its address there.
        var isFound: Bool?
        var email: String?
        /// The contact's number for text messages, and whether the vendor has a consent of it.
        var phone: String?
        var hasConsent: Bool?
        /// Whether the database lacks the contact that joins a list; whether its row is written; the number of lists
        /// joined.
        var isMissing: Bool?
        var isWritten: Bool?
        var lists: Int?
        /// The job for which the operation waits.
        var job: String?
        /// The file that the job writes.
        var file: String?
        /// The number of jobs that the vendor no longer knew.
        var lostJobs: Int?
        /// The time at which the database is queried again for the contact of an opt-out that waits because the database does
        /// not have the contact or its address yet; nil for other operations.
        var nextLookUp: Instant?
    }

    let settings: AcousticServerSettings

    /// An adapter for one database.
    ///
    /// - Throws: ``SettingsError`` if columns collide or are not in the database.
    public init(settings: AcousticServerSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func problems(ofOptionsOf operation: EngagementOperation) -> [Finding] { ServerOptions(operation).findings }

    public func problems(ofContentOf operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags, .changeSubscription:
            return ServerCells(operation, settings).findings
        case .track: return ServerEvent(operation, settings).findings
        case .readBack(let request): return problems(of: request, operation)
        case .unregister, .erase: return []
        default: return [ServerFinding.actionUnknown.at("action")]
        }
    }

    private func problems(of request: ReadRequest, _ operation: EngagementOperation) -> [Finding] {
        let path = "action.request"
        guard let question = ServerQuestion(request) else { return [ServerFinding.question.at(path)] }
        switch question {
        case .consent:
            guard let place = ConsentPlace(operation, settings) else { return [ServerFinding.consentUnnamed.at(path)] }
            return place.problem(settings).map { [$0.at(path)] } ?? []
        case .channelContact(let name, let device):
            let isNamed = ChannelContact(name, device, settings) != nil
            return isNamed ? [] : [ServerFinding.consentUnnamed.at(path)]
        case .contact, .access, .columns, .eventErrors, .export, .job, .files, .newList: return []
        }
    }

    public func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        let key = operation.contactKey
        if key.isEmpty { return [ServerFinding.keyBlank.at("contact")] }
        return XMLTree.canHold(key) ? [] : [ServerFinding.keyControl.at("contact")]
    }

    /// Routes by contact, so that an opt-out that waits for its contact is in the lane that writes the contact for any
    /// subject.
    public func place(_ operation: EngagementOperation) -> Place {
        let lane = Place(of: Subject(rawValue: operation.contactKey), inPoolOf: settings.lanes).lane
        return Place(lane: lane, queue: operation.subject.rawValue)
    }
}

extension AcousticServer.Step: ServerStep {
    public static var initial: Self { Self() }
}

/// The options of an operation that override settings.
struct ServerOptions: Sendable {
    /// The vendor's number of the contact, if the back end knows it.
    var contactID: String?
    /// The method of erasure.
    var erasure: AcousticServerSettings.Erasure?
    /// The event's code.
    var eventCode: String?
    /// The treatment of changes to a contact that the database does not have.
    var unknownContacts: AcousticServerSettings.Unknown?
    /// Whether an opt-out waits for a contact that the database does not have yet. In a migration it does not.
    var optOutWaits = true
    /// The two ids of the device to which a consent applies.
    var userID: String?
    var channelID: String?
    /// The phone number to which a consent applies.
    var phone: String?
    /// The findings about the options.
    var findings: [Finding] = []

    /// The device in the form of consents; nil if an id is missing.
    var device: String? { userID.flatMap { user in channelID.map { "\(user)|\($0)" } } }

    init(_ operation: EngagementOperation) {
        let id = AcousticServer.descriptor.id
        guard let options = operation.options[id] else { return }
        for member in options {
            let path = "options.\(id.rawValue)".dot(member.name)
            let number = member.value.string.flatMap { $0.isVendorNumber ? $0 : nil }
            switch member.name {
            case "contactId":
                contactID = number
                if number == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "eventCode":
                eventCode = number
                if number == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "erasure":
                erasure = member.value.string.flatMap(AcousticServerSettings.Erasure.init)
                if erasure == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "unknownContacts":
                unknownContacts = member.value.string.flatMap(AcousticServerSettings.Unknown.init)
                if unknownContacts == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "optOutWaits":
                optOutWaits = member.value.bool ?? true
                if member.value.bool == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "userId":
                userID = member.value.string.flatMap { $0.isDeviceID ? $0 : nil }
                if userID == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "channelId":
                channelID = member.value.string.flatMap { $0.isDeviceID ? $0 : nil }
                if channelID == nil { findings.append(ServerFinding.optionValue.at(path)) }
            case "phone":
                phone = member.value.string?.trimmed.consentNumber
                if phone == nil { findings.append(ServerFinding.optionValue.at(path)) }
            default: findings.append(ServerFinding.optionUnknown.at(path))
            }
        }
    }
}

/// A query for the account's data.
enum ServerQuestion: Sendable {
    /// The contact's row in the database.
    case contact
    /// The state of a job.
    case job(String)
    /// The import of a file in the upload directory; the answer is the job's result.
    case files(ImportRecord)
    /// A consent: its name in the settings, and the device or phone number if the query names it.
    case consent(AcousticSourceName, device: String?, phone: String?)
    /// The contact of a device.
    case channelContact(AcousticSourceName, device: String)
    /// All data that the vendor stores about the contact. With a job's number, the result of that earlier job.
    case access(job: String?)
    /// The database's columns.
    case columns
    /// Events that the vendor accepted and rejected later, narrowed by a filter in the vendor's syntax.
    case eventErrors(filter: String?)
    /// An export of contacts to a file in the download directory; the answer names the file.
    case export(ExportRecord)
    /// The creation of a contact list; the answer is its number.
    case newList(NewList)

    init?(_ request: ReadRequest) {
        let texts = Dictionary(request.arguments.map { ($0.name, $0.value.string ?? "") }) { $1 }
        func has(_ needed: [String], _ others: [String] = []) -> Bool {
            needed.allSatisfy { texts[$0].map { !$0.isEmpty && XMLTree.canHold($0) } ?? false }
                && texts.keys.allSatisfy((needed + others).contains)
        }
        let ids = [texts["userId"], texts["channelId"]].compactMap(\.self)
        switch request.what {
        case "contact" where texts.isEmpty: self = .contact
        case "access" where has([], ["job"]):
            guard texts["job"]?.isVendorNumber ?? true else { return nil }
            self = .access(job: texts["job"])
        case "export" where has([], ["type", "format", "encoding", "start", "end", "columns"]):
            guard let export = ExportRecord(texts, columns: request.arguments["columns"]) else { return nil }
            self = .export(export)
        case "eventErrors" where has([], ["filter"]): self = .eventErrors(filter: texts["filter"])
        case "columns" where texts.isEmpty: self = .columns
        case "job" where has(["id"]):
            guard let id = texts["id"], id.isVendorNumber else { return nil }
            self = .job(id)
        case "import" where has(["mapFile", "sourceFile"], ["encoding"]):
            let encoding = texts["encoding"]
            guard encoding.map(["UTF-8", "ISO-8859-1"].contains) ?? true else { return nil }
            self = .files(
                ImportRecord(mapFile: texts["mapFile"] ?? "", sourceFile: texts["sourceFile"] ?? "", encoding: encoding)
            )
        case "createContactList" where has(["name"], ["visibility", "folder"]):
            guard let list = NewList(texts) else { return nil }
            self = .newList(list)
        case "channelContact" where has(["channel", "userId", "channelId"]) && ids.allSatisfy(\.isDeviceID):
            self = .channelContact(
                AcousticSourceName(rawValue: texts["channel"] ?? ""),
                device: ids.joined(separator: "|")
            )
        case "consent" where has(["channel"], ["userId", "channelId", "phone"]):
            let number = texts["phone"].map(\.consentNumber)
            guard ids.isEmpty || ids.count == 2 && ids.allSatisfy(\.isDeviceID), number.map({ $0 != nil }) ?? true
            else { return nil }
            let device = ids.isEmpty ? nil : ids.joined(separator: "|")
            self = .consent(
                AcousticSourceName(rawValue: texts["channel"] ?? ""),
                device: device,
                phone: number ?? nil
            )
        default: return nil
        }
    }
}

/// An event in the vendor's form, without its contact.
struct ServerEvent: Sendable {
    /// The event's code and members; nil if the vendor has no counterpart.
    private(set) var content: (code: String, attributes: [ServerCells.Cell])?
    /// The findings about the event.
    private(set) var findings: [Finding] = []

    /// The vendor's codes for its predefined event types (S37).
    static let codes: [(name: String, code: String, what: String)] = [
        ("sessionStarted", "13", "a session started"), ("sessionEnded", "14", "a session ended"),
        ("namedEvent", "17", "an event of the app's own"), ("pushReceived", "48", "a push message came"),
        ("pushOpened", "49", "a push message was opened"),
    ]

    init(_ operation: EngagementOperation, _ settings: AcousticServerSettings) {
        guard case .track(let event) = operation.action else { return }
        let path = "action.event"
        let own = ServerOptions(operation).eventCode
        switch event {
        case .custom(let name, let attributes):
            guard !name.trimmed.isEmpty else {
                findings = [ServerFinding.eventBlank.at("\(path).name")]
                return
            }
            var members: [ServerCells.Cell] = []
            for (name, value) in attributes.inOrder {
                if let text = value.plainText {
                    members.append(ServerCells.Cell(column: name.rawValue, value: text))
                } else {
                    findings.append(ServerFinding.eventNested.at("\(path).attributes".dot(name.rawValue)))
                }
            }
            let code = own ?? settings.eventCodes[exactly: AcousticSourceName(rawValue: name)]
            set(code ?? Self.code("namedEvent"), name, members)
        case .sessionStarted: set(own ?? Self.code("sessionStarted"), "sessionStarted", [])
        case .sessionEnded: set(own ?? Self.code("sessionEnded"), "sessionEnded", [])
        case .push(let interaction, let payload, _):
            guard payload["mce"] != nil else {
                findings = [ServerFinding.eventForeign.at("\(path).payload")]
                return
            }
            switch interaction {
            case .received: set(own ?? Self.code("pushReceived"), "pushReceived", [])
            case .tapped, .opened: set(own ?? Self.code("pushOpened"), "pushOpened", [])
            default: findings.append(ServerFinding.eventKind.at("\(path).interaction"))
            }
        default: findings.append(ServerFinding.eventKind.at(path))
        }
    }

    private static func code(_ name: String) -> String { codes.first { $0.name == name }?.code ?? "17" }

    /// Sets the content. Every event has its name as a member, because the vendor refuses an event without members.
    private mutating func set(_ code: String, _ name: String, _ members: [ServerCells.Cell]) {
        let rest = members.filter { !ScalarString.equal($0.column, "Event Name") }
        content = (code, [ServerCells.Cell(column: "Event Name", value: name)] + rest)
    }

    /// The codes as Markdown.
    static var markdown: String {
        (["| code | what |", "|---|---|"] + codes.map { "| \($0.code) | \($0.what) |" }).joined(separator: "\n")
    }
}
