import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// What the commands of a migration share: two formats, their settings, the types of attributes.
@MainActor struct MigrationSetup {
    let migration: Migration
    let source: RecordFormat
    let target: RecordFormat
    /// Everything that decides what is written.
    let identity: JSONValue
    private let targetSettings: JSONObject

    init(_ session: Session) throws {
        let settings = try session.object(.settings)
        let strangers = settings.names.filter { !["from", "to", "mapping"].contains($0) }
        guard strangers.isEmpty else { throw SettingsError(strangers.map { Self.unknownMember.at($0) }) }
        (source, target) = (try session.format(.from), try session.format(.to))
        targetSettings = settings["to"]?.object ?? [:]
        let catalogue = session.invocation.has(.config) ? try session.configuration().catalogue : AttributeCatalogue()
        let configuration = try session.invocation.text(.config).map { try FileSource.contents(of: $0) } ?? []
        identity = [
            "version": .string(Command.version), "from": .string(source.id), "to": .string(target.id),
            "settings": .object(settings), "configuration": .string(String(decoding: configuration, as: UTF8.self)),
        ]
        do {
            migration = try Migration(
                from: source,
                to: target,
                sourceSettings: settings["from"]?.object ?? [:],
                targetSettings: targetSettings,
                catalogue: catalogue,
                mapping: try ContactMapping(json: settings["mapping"] ?? [], catalogue: catalogue)
            )
        } catch {
            throw SettingsError(error.findings)
        }
    }

    /// The ways into the target's vendor.
    var loads: [LoadDoor] {
        Vendors.modules.first { $0.formats.contains { $0.id == target.id } }?.loads ?? []
    }

    /// What the target's vendor wants beside the file with the contacts.
    func companions() throws(SettingsError) -> [CompanionFile] { try target.makeCompanions?(targetSettings) ?? [] }

    private static let unknownMember = FindingRow(
        "settings.unknown",
        .error,
        .misconfigured,
        reason: "The settings of a migration have no such member",
        remedy: "Known are: from, to, mapping."
    )
}

extension Session {
    /// The file format that a flag names.
    func format(_ flag: Flag) throws(UsageError) -> RecordFormat {
        let formats = [.neutralContacts] + Vendors.modules.flatMap(\.formats)
        let id = invocation.text(flag) ?? ""
        if let format = formats.first(where: { $0.id == id }) { return format }
        let known = formats.map(\.id)
        let guess = id.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
        throw UsageError(
            "--\(flag.name): there is no format \"\(id)\".\(guess) Known are: \(known.joined(separator: ", ")).",
            command: invocation.command.name
        )
    }
}
