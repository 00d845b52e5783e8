public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel
import PatchbaySalesforce

/// The server API of Salesforce Marketing Cloud Engagement: its REST API, for back ends and migrations.
///
/// A subject is a contact. Changes to contacts become rows of a data extension, at once or in jobs, or attributes of
/// the contacts themselves. Events enter journeys. All lanes share one token and one retry time.
public struct SalesforceServer: ServerAPI {
    public typealias Settings = SalesforceServerSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Requests an access token, as a maintenance request.
        case token
        /// Writes rows synchronously.
        case rows
        /// Starts a job that writes rows.
        case asyncRows
        /// Queries the state of a job.
        case asyncStatus
        /// Queries the results of a job's rows, a page at a time.
        case asyncResults
        /// Creates a contact.
        case createContact
        /// Updates a contact.
        case updateContact
        /// Deletes contacts.
        case deleteContacts
        /// Sends an event that may start a journey. Journaled, because a repeat would start it twice.
        case event
        /// Queries a page of the data extension's rows.
        case readRows

        public var isJournaled: Bool { self == .event }
    }

    /// The progress of an operation.
    public struct Step: Codable, Sendable, Equatable {
        public var most: Int?
        /// The job with the operation's row.
        var job: String?
        /// The index of its row in the job, from 0, and the number of rows in the job.
        var row: Int?
        var rows: Int?
        /// Whether the job is complete, so that its results can be queried.
        var isDone: Bool?
        /// Whether the job ended with an error.
        var hasFailed: Bool?
        /// The number of jobs that the vendor no longer knew.
        var lostJobs: Int?
        /// The second of the two requests for a contact, if the first did not fit.
        var verb: SalesforceServerSettings.Verb?
    }

    let settings: SalesforceServerSettings

    /// An adapter for one business unit.
    ///
    /// - Throws: ``SettingsError`` if the route has no data extension, or names collide.
    public init(settings: SalesforceServerSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func problems(ofOptionsOf operation: EngagementOperation) -> [Finding] { ServerOptions(operation).findings }

    public func problems(ofContentOf operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags, .changeSubscription:
            let route = route(of: operation)
            guard route == .contacts || !settings.dataExtension.isEmpty else {
                return [ServerFinding.dataExtensionMissing.at("options.\(Self.descriptor.id.rawValue).route")]
            }
            return ServerCells(operation, route, settings).findings
        case .track(.custom(let name, let attributes)): return JourneyEvent.problems(name, attributes)
        case .track(.push): return [ServerFinding.push.at("action.event")]
        case .track: return [ServerFinding.eventKind.at("action.event")]
        case .readBack(let request): return RowsQuestion.problems(of: request, settings)
        case .unregister, .erase: return []
        default: return [ServerFinding.actionUnknown.at("action")]
        }
    }

    public func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        let key = operation.contactKey
        if key.isEmpty { return [ServerFinding.keyBlank.at("contact")] }
        guard key.utf16.count > ContactKeyRules.usualLimit else { return [] }
        return [ServerFinding.keyLong.at("contact", detail: "\(key.utf16.count) characters")]
    }

    public func place(_ operation: EngagementOperation) -> Place {
        Place(of: operation.subject, inPoolOf: settings.lanes)
    }
}

extension SalesforceServer.Step: ServerStep {
    public static var initial: Self { Self() }
}

/// The options of an operation that override settings.
struct ServerOptions: Sendable {
    /// The route of the operation's data.
    var route: SalesforceServerSettings.Route?
    /// The contact's addresses: values of attribute sets that the request needs in addition to the operation's.
    var address: [ServerCells.Cell] = []
    /// The findings about the options.
    var findings: [Finding] = []

    init(_ operation: EngagementOperation) {
        let id = SalesforceServer.descriptor.id
        guard let options = operation.options[id] else { return }
        for member in options {
            let path = "options.\(id.rawValue).\(member.name)"
            switch member.name {
            case "route":
                route = member.value.string.flatMap(SalesforceServerSettings.Route.init)
                if route == nil { findings.append(ServerFinding.optionRoute.at(path)) }
            case Self.address:
                let cells = member.value.object.map { $0.map(ContactAddress.cell) } ?? [nil]
                address = cells.compactMap(\.self)
                if address.count < cells.count { findings.append(ServerFinding.optionAddress.at(path)) }
            default: findings.append(ServerFinding.optionUnknown.at(path))
            }
        }
    }

    /// The name of the option with the contact's addresses.
    static let address = "address"
}

extension ReadRequest {
    /// The name of the query for a page of rows.
    static let rows = "rows"
}

/// A query for a page of the data extension's rows.
struct RowsQuestion: Sendable {
    /// The page, from 1.
    var page = 1
    /// The number of rows per page.
    var pageSize = RowsQuestion.mostRows

    /// The maximum number of rows per page.
    static let mostRows = 2500

    init?(_ request: ReadRequest) {
        guard request.what == ReadRequest.rows else { return nil }
        for member in request.arguments {
            guard let number = member.value.integer.flatMap(Int.init(exactly:)) else { return nil }
            switch member.name {
            case "page" where number > 0: page = number
            case "pageSize" where (1...Self.mostRows).contains(number): pageSize = number
            default: return nil
            }
        }
    }

    static func problems(of request: ReadRequest, _ settings: SalesforceServerSettings) -> [Finding] {
        guard !settings.dataExtension.isEmpty else { return [ServerFinding.dataExtensionMissing.at("action")] }
        return RowsQuestion(request) == nil ? [ServerFinding.question.at("action.request")] : []
    }
}
