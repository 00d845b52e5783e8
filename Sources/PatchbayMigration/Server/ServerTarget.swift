public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
public import PatchbayRecords
import Synchronization

/// A vendor's server API as the target of a migration. It is a provider of a configuration.
public struct ServerTarget: Sendable {
    /// The provider, with its settings, credentials and rate limit.
    public let provider: Configuration.Provider
    let server: any ContactAPI
    let settings: ServerSettings
    /// Counts the mapped operations for a plan.
    let tally = ServerTally()

    /// Creates a target from a provider whose server API accepts contacts.
    ///
    /// - Parameters:
    ///   - provider: The provider.
    ///   - settings: The treatment of data for which the server API has no field.
    /// - Throws: `SettingsError` if the provider is not such a server API, or with every problem of the settings.
    public init(_ provider: Configuration.Provider, settings: JSONObject = [:]) throws(SettingsError) {
        try Self.check(type(of: provider.adapter))
        guard let server = provider.adapter as? any ContactAPI else {
            throw SettingsError([ServerFinding.noContacts.at("to", detail: provider.adapterID.rawValue)])
        }
        (self.provider, self.server) = (provider, server)
        self.settings = try ServerSettings.table.read(settings, over: ServerSettings(), at: "to")
    }

    /// Checks that contacts can be migrated through a server API.
    ///
    /// - Throws: `SettingsError` with the reason if they cannot.
    public static func check(_ server: any VendorAdapter.Type) throws(SettingsError) {
        let descriptor = server.descriptor
        guard descriptor.side == .server else {
            throw SettingsError([ServerFinding.device.at("to", detail: descriptor.id.rawValue)])
        }
        guard server is any ContactAPI.Type else {
            throw SettingsError([ServerFinding.noContacts.at("to", detail: descriptor.id.rawValue)])
        }
    }

    var descriptor: AdapterDescriptor { provider.descriptor }

    /// The maximum number of operations of a migration in progress. It is large enough to fill each request of the server
    /// API while further operations are prepared.
    var window: Int {
        min(40_000, max(1_000, 4 * descriptor.delivery.window * min(4, descriptor.delivery.concurrency)))
    }

    /// Whether the server API can be read.
    public var canRead: Bool { server.reading != nil }

    /// Whether the server API shows its contacts only page by page, not by key.
    var isPaged: Bool { if case .inPages? = server.reading { true } else { false } }

    /// Whether opt-outs at the target remain in force against opt-ins of the source.
    var keepsOptOuts: Bool { settings.targetOptOuts == .keep }

    /// Whether an opt-in might replace an opt-out at the target, because the API cannot be read and the settings do not
    /// permit that.
    var isBlind: Bool { keepsOptOuts && !canRead && takesWishes }

    private var takesWishes: Bool { descriptor.capabilities[.operation(.changeSubscription)].isAvailable }

    /// A sentence about the treatment of opt-outs at the target.
    var optOuts: String {
        switch (settings.targetOptOuts, server.reading) {
        case (.override, _):
            "Opt-ins of the source replace opt-outs at the target, because targetOptOuts is override."
        case (.keep, .byKeys):
            "Opt-outs at the target remain in force: the vendor is asked about each contact, by its key, before an opt-in is sent. An opt-out of another contact with the same address is not found this way."
        case (.keep, .inPages):
            "Opt-outs at the target remain in force: all contacts of the vendor are read before the first opt-in is sent, and an opt-out also applies to its address."
        case (.keep, nil) where !takesWishes: "The API accepts no subscriptions, so no opt-out can be lost."
        case (.keep, nil):
            "An opt-in of the source might replace an opt-out at the target, because the API cannot be read. The migration is refused unless the settings contain {\"to\": {\"targetOptOuts\": \"override\"}}."
        }
    }

    /// The numbers of requests for an amount of work, at the provider's rate, and the times to wait for jobs.
    func ways(of amount: ServerAmount) -> [(route: ImportRoute, requests: Int, wait: Duration?)] {
        let rate = provider.rate ?? descriptor.delivery.rate
        var amount = amount
        if settings.jobSeconds > 0 { amount.jobTime = .seconds(settings.jobSeconds) }
        var ways = server.work(for: amount).filter { $0.requests > 0 }
        // Operations that are in progress together wait together.
        let rounds = (amount.all + window - 1) / window
        for place in ways.indices {
            guard let wait = ways[place].wait else { continue }
            ways[place].wait = wait * rounds
            ways[place].note += "; at most \(window) requests are in flight at once"
        }
        switch server.reading {
        case .byKeys(let most):
            let note =
                "reads the present data, \(most) contacts in a request: of all contacts with --journal, otherwise of contacts with an opt-in; verification reads the same number"
            ways.append(ServerWork("reading", requests: server.requests(toRead: amount.contacts), note: note))
        case .inPages(let size):
            let isSaid = settings.heldContacts >= 0
            let held = isSaid ? settings.heldContacts : amount.contacts
            let source =
                isSaid
                ? "from the settings"
                : "assumed to equal the written contacts; set {\"to\": {\"heldContacts\": …}} to the actual number"
            let note =
                "with --journal, or before the first opt-in, all contacts of the vendor are read, \(size) contacts in a request: \(held) contacts, \(source); verification also reads the written contacts"
            ways.append(ServerWork("reading", requests: server.requests(toRead: held), note: note))
        case nil: break
        }
        return ways.map { (ImportRoute($0.name, rate: rate, note: $0.note), $0.requests, $0.wait) }
    }

    /// A sentence about the parts of the migration that can be undone.
    var undo: String {
        guard canRead else {
            return
                "The migration cannot be undone, because the API cannot be read. Export the vendor's contacts first."
        }
        let added =
            server.removal == nil
            ? "contacts that the migration created remain, without the written values where the API can remove them,"
            : "contacts that the migration created are deleted,"
        return
            "Undo with --journal and `patchbay migrate undo`: previous values are restored, \(added) and contacts that were changed since are left alone. Without --journal the migration cannot be undone."
    }

    /// The server API as an output format. Each record is the contact as the API would show it.
    public var format: RecordFormat {
        let (server, settings, tally) = (server, settings, tally)
        return RecordFormat(
            id: descriptor.id.rawValue,
            title: descriptor.title,
            fileExtension: "ndjson",
            makeReader: { _ throws(SettingsError) in NeutralContacts.Reader() },
            makeWriter: { _ throws(SettingsError) in
                ServerWriter(ServerMapper(server, settings), tally: tally)
            },
            deciding: [ServerFinding.optOutLost.code: "lostOptOuts"]
        )
    }

    /// The identity of the account and its settings, without secrets.
    var identity: JSONValue {
        ["name": .string(provider.name), "settings": .string(provider.settingsDigest)]
    }
}

/// The settings of a migration to a server API.
struct ServerSettings: Sendable {
    enum LostOptOut: String, NeutralWord {
        case reject, warn
    }

    enum TargetOptOuts: String, NeutralWord {
        case keep, override
    }

    var lostOptOuts = LostOptOut.reject
    var targetOptOuts = TargetOptOuts.keep
    /// The number of contacts at the vendor; negative if it is not set.
    var heldContacts = -1
    /// The duration of a job in seconds; 0 if it is not set.
    var jobSeconds = 0
    var locale = ""
    var timeZone = ""

    static let table = SettingsTable<ServerSettings>([
        .choice(
            "lostOptOuts",
            \.lostOptOuts,
            default: .reject,
            "Handling of a contact whose opt-out has no field at the vendor: `reject` does not migrate it, "
                + "`warn` migrates it with a warning."
        ),
        .choice(
            "targetOptOuts",
            \.targetOptOuts,
            default: .keep,
            "Handling of an opt-in if the person opted out at the target: `keep` leaves it out, `override` sends it."
        ),
        .integer(
            "heldContacts",
            \.heldContacts,
            in: -1...1_000_000_000,
            default: -1,
            "For the plan: the number of contacts that the vendor already has; -1: as many as are written."
        ),
        .integer(
            "jobSeconds",
            \.jobSeconds,
            in: 0...86_400,
            default: 0,
            "For the plan: the duration of a job of the vendor in seconds; 0: the documented or assumed duration."
        ),
        .text("locale", \.locale, "The attribute that receives a contact's locale; without one it is left out."),
        .text("timeZone", \.timeZone, "The attribute that receives a contact's time zone; without one it is left out."),
    ])
}

/// Counts the operations that a migration would send through a server API.
final class ServerTally: Sendable {
    private let counted = Mutex(ServerAmount())

    var amount: ServerAmount { counted.withLock { $0 } }

    func reset() { counted.withLock { $0 = ServerAmount() } }

    func add(_ row: ServerRow) {
        counted.withLock { amount in
            amount.contacts += 1
            for action in row.actions {
                amount.operations[action.kind, default: 0] += 1
                guard case .changeSubscription(let wish) = action else { continue }
                if wish.state.isOptOut { amount.optOuts += 1 }
                if wish.topic != nil { amount.topics += 1 }
            }
        }
    }
}

extension Migration {
    /// The findings about contacts that are sent to a server API, for reports that contain codes only.
    package static var findings: [FindingRow] {
        ServerFinding.ofContacts + [
            EarlierOptOuts.heeded, EarlierOptOuts.heededAddress, EarlierOptOuts.later, EarlierOptOuts.rejected,
            consentUnnamed,
        ]
    }
}

/// Findings of migrations through a server API.
enum ServerFinding {
    /// The findings about single contacts.
    static let ofContacts = [
        key, keyAlone, optOutLost, denied, stateUnknown, consent, deviceLost, noPlace, targetNo, targetUnreadable,
    ]
    static let device = FindingRow(
        .error("migration.api.device", .unsupported),
        reason: "This is a device API, which serves one installation and accepts no contacts",
        remedy: "Name a server API of the vendor; `patchbay adapters` lists them."
    )
    static let noContacts = FindingRow(
        .error("migration.api.contacts", .unsupported),
        reason: "Contacts cannot be migrated to this adapter",
        remedy: "Write a file in one of the vendor's formats instead; `patchbay adapters` lists them."
    )
    static let unreadable = FindingRow(
        .error("migration.api.unreadable", .unsupported),
        reason: "The API cannot be read, so there is nothing to compare with",
        remedy: "Export the contacts at the vendor and verify the export: --to FORMAT --target FILE."
    )
    static let noJournal = FindingRow(
        .error("migration.api.noJournal", .unsupported),
        reason: "The API cannot be read, so the migration cannot be undone",
        remedy: "Leave --journal out, and export the vendor's contacts first."
    )
    static let key = FindingRow(
        .error("migration.api.key", .missing),
        reason: "The contact has no identifier of the kind that the vendor uses as the key",
        remedy: "Add one, or map another kind to it."
    )
    static let keyAlone = FindingRow(
        .error("migration.api.keyAlone", .missing),
        reason: "Only the key of the contact is left, and a key alone makes no contact",
        remedy:
            "Add an attribute, for example with a mapping rule: {\"set\": \"attributes.origin\", \"value\": \"old\"}."
    )
    static let optOutLost = FindingRow(
        .error("migration.api.optOutLost", .consent),
        reason: "The person opted out, and the provider's settings name no field for it",
        remedy: "Name a column or a resource in the provider's settings, or set lostOptOuts to warn."
    )
    static let denied = FindingRow(
        .warning("migration.api.denied", .consent),
        reason: "The person denied messages on this channel, so the subscription is sent as unsubscribed",
        remedy: "Ask the person which one applies."
    )
    static let stateUnknown = FindingRow(
        .warning("migration.api.stateUnknown", .consent),
        reason: "The person's decision is unknown, so no subscription is sent",
        remedy: "Ask the person."
    )
    static let consent = FindingRow(
        .warning("migration.api.consent", .unsupported),
        reason: "The vendor's API stores no consents",
        remedy:
            "Keep the consents in your own system; a denial is sent as an opt-out where the vendor has a field for it."
    )
    static let deviceLost = FindingRow(
        .warning("migration.api.deviceLost", .unsupported),
        reason: "Devices register themselves at this vendor, so the device and its push token are left out",
        remedy: "Let the app register each device at the new vendor."
    )
    static let noPlace = FindingRow(
        .warning("migration.api.noPlace", .unsupported),
        reason: "The API has no field for this value, so it is not migrated",
        remedy: "Name an attribute in the settings, under \"to\"."
    )
    static let targetNo = FindingRow(
        .warning("migration.api.targetOptOut", .consent),
        reason: "The person opted out at the target, and the opt-in of the source does not change that",
        remedy: "Ask the person which one applies."
    )
    static let targetUnreadable = FindingRow(
        .warning("migration.api.targetUnreadable", .consent),
        reason:
            "The target shows a consent status that is not known, so the contact stays opted out and the opt-in is not sent",
        remedy: "Check the status at the target; the README of the adapter lists the known values. Then ask the person."
    )
    /// The findings about opt-ins that are left out because of the status at the target.
    static let ofTargetOptOuts = [targetNo, targetUnreadable]
    static let optOutsUnseen = FindingRow(
        .error("migration.api.optOutsUnseen", .consent),
        reason: "The API cannot be read, so an opt-in of the source might replace an opt-out at the target",
        remedy:
            "Configure the provider so that its contacts can be read, if its API supports it. Otherwise, "
            + "make sure that no contact opted out there, or remove the opt-ins from the source, and set "
            + "{\"to\": {\"targetOptOuts\": \"override\"}}. Opt-outs are sent in any case."
    )
    static let changedSince = FindingRow(
        .error("migration.undo.changed", .conflict),
        reason: "The contact was changed at the vendor after the migration, so it is not restored",
        remedy: "Check the contact at the vendor and correct it manually."
    )
    static let remains = FindingRow(
        .warning("migration.undo.remains", .unsupported),
        reason: "The migration created it, and the API cannot delete it",
        remedy: "Delete it at the vendor if it must not stay there."
    )
    static let noResults = FindingRow(
        .error("migration.verify.results", .invalid),
        reason: "The file does not hold the results of a migration to a server API",
        remedy: "Name the file that `patchbay migrate apply --out` wrote, or leave --target out."
    )
    static let otherServer = FindingRow(
        .error("migration.journal.server", .conflict),
        reason: "The journal belongs to another provider, or not to a migration to a server API",
        remedy: "Give the configuration and the --provider of the migration."
    )
    static let ended = FindingRow(
        .error("migration.api.ended", .outcomeUnknown),
        reason: "The operation ended without a reply of the vendor",
        remedy: "Migrate the row again."
    )
    static let outboxLost = FindingRow(
        .error("migration.api.outbox", .notFound),
        reason: "The outbox of an interrupted run is missing, so it is unknown what the vendor has received",
        remedy: "Restore the file, or start over with --restart; sending the same data twice does no harm."
    )
    static let journalGone = FindingRow(
        .error("migration.journal.gone", .notFound),
        reason: "The journal of the interrupted run is missing or undone, so its changes may be gone",
        remedy: "Restore the file, or start over with --restart; sending the same data twice does no harm."
    )
    static let journalLost = FindingRow(
        .error("migration.journal.other", .conflict),
        reason: "A file with the name of the journal exists, and does not belong to an interrupted run",
        remedy: "Undo that migration, move the file away, or name another journal."
    )
}
