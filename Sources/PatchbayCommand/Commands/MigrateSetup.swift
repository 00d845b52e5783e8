import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords

/// The parts that the migration commands share: source, target, settings, and the types of attributes.
@MainActor struct MigrationSetup {
    let migration: Migration
    let source: RecordFormat
    let target: RecordFormat
    /// The target server API; nil if the target is a file.
    let server: ServerTarget?
    /// Every setting that affects the output, by name.
    let parts: [(String, JSONValue)]
    private let targetSettings: JSONObject
    /// The sidecar file of the source, which describes how the source is read; nil if there is none.
    private let sidecar: SourceSidecar?
    /// The sidecar file that is used, and the one beside the source whether it is used or not.
    let pathsBesideSource: [String]

    /// The parts as one value.
    var identity: JSONValue { .object(JSONObject(parts)) }

    init(_ session: Session) throws {
        try session.requireFileNames(besides: [.input, .output, .target, .settings])
        let settings = try session.migrationSettings()
        source = try session.format(.from)
        server = try session.serverTarget(settings: settings["to"]?.object ?? [:])
        target = try server?.format ?? session.format(.to)
        targetSettings = server == nil ? settings["to"]?.object ?? [:] : [:]
        let sourceSettings = settings["from"]?.object ?? [:]
        let sidecar = try session.sidecar(of: source, given: sourceSettings)
        self.sidecar = sidecar
        let readSettings = sidecar?.settings ?? sourceSettings
        var (datedSettings, head) = (readSettings, [UInt8]?.none)
        // A pipe can be opened only once, by the migration itself.
        let regularInput = session.invocation.file(.input).flatMap { FilePlace.isFile($0) ? $0 : nil }
        if let path = regularInput {
            session.hintFormat(of: path, instead: source, readSettings)
            head = FileSource.rowsHead(of: path)
            if let head { datedSettings = source.decidingDateForms(readSettings, inHead: head) }
        }
        let beside = session.pathBesideSource(source).flatMap { ResumableMigration.size(of: $0) == nil ? nil : $0 }
        pathsBesideSource = [sidecar?.path, beside].compactMap(\.self)
        let catalogue = session.invocation.has(.config) ? try session.configuration().catalogue : AttributeCatalogue()
        let configuration = try session.invocation.text(.config).map { try FileSource.contents(of: $0) } ?? []
        let earlier = try session.invocation.text(.after).map { [("after", try ResumableMigration.identity(of: $0))] }
        let read = (sidecar.map { [("sidecar", JSONValue.object($0.settings))] } ?? []) + (earlier ?? [])
        parts =
            [
                ("version", .string(Sender.version)), ("from", .string(source.id)), ("to", .string(target.id)),
                ("settings", .object(settings)),
                (
                    "configuration",
                    // For a server API the other parts identify the provider; its rate may change between runs.
                    server == nil
                        ? .string(String(decoding: configuration, as: UTF8.self)) : Self.attributes(configuration)
                ),
            ] + read
        do {
            let mapping = try ContactMapping(json: settings["mapping"] ?? [], catalogue: catalogue)
            var migration = try Migration(
                from: source,
                to: target,
                sourceSettings: datedSettings,
                targetSettings: targetSettings,
                catalogue: catalogue,
                mapping: mapping
            )
            migration.earlier = session.invocation.text(.after)
            if server == nil, let path = regularInput {
                session.omitUnfilledColumns(of: &migration, from: source, in: path, head: head)
            }
            if session.invocation.command.flags.contains(.maxRejects) {
                let percent = session.invocation.number(.maxRejects)
                migration.rejectLimit = percent.map { .init(percent: $0, fewestRecords: 1) } ?? .init()
            }
            self.migration = migration
        } catch {
            throw session.settingsError(error.findings)
        }
    }

    /// The part of a configuration that declares attributes.
    private static func attributes(_ configuration: [UInt8]) -> JSONValue {
        (try? JSONValue(parsing: configuration.withoutByteOrderMark))?["attributes"] ?? .null
    }

    /// The warning that a mapping rule changed no contact. The usual cause is a misspelled name in the rule.
    static func idleWarning(_ rule: String) -> String {
        "warning: the mapping rule \"\(rule)\" changed no contact. Check the names in it."
    }

    /// The import routes of the target's vendor.
    var loads: [ImportRoute] {
        Vendors.loads(of: target)
    }

    /// The sidecar files that the target's vendor requires.
    func sidecars() throws(SettingsError) -> [SidecarFile] { try target.makeSidecars?(migration.writtenSettings) ?? [] }

    /// A sidecar file that the migration writes.
    struct Sidecar {
        let path: String
        let title: String
        /// The option that names the file beside which this one is written.
        let owner: String
        let bytes: [UInt8]

        /// Writes the file. Every user may read it, because it holds no personal data.
        func write() throws(FileError) {
            let file = try OutputFile(path: path, isPrivate: false)
            try file.write(bytes)
            try file.commit()
        }
    }

    /// The sidecar files to write: those that the target's vendor requires beside `output`, and a copy of the source's
    /// sidecar file beside the rejected rows, which are read in the same way.
    func sidecars(beside output: String?, rejects: String?) throws(SettingsError) -> [Sidecar] {
        var all: [Sidecar] = []
        if let output, output != "-" {
            for file in try sidecars() {
                let path = SourceSidecar.path(beside: output, file.fileExtension)
                all.append(Sidecar(path: path, title: file.title, owner: "--out", bytes: file.bytes))
            }
        }
        if let rejects, let copy = sidecar?.copy(beside: RejectFiles.paths(rejects, source: source).replay) {
            let title = "the sidecar file of the original rows"
            all.append(Sidecar(path: copy.path, title: title, owner: "--rejects", bytes: copy.bytes))
        }
        return all
    }
}

/// Problems in the settings of a migration.
private enum MigrationSettingsFinding {
    static let unknownMember = FindingRow(
        .error("settings.unknown", .misconfigured),
        reason: "This member is not a setting of a migration",
        remedy: "Write {\"from\": {…}, \"to\": {…}, \"mapping\": […]}."
    )
    static let noObject = FindingRow(
        .error("settings.object", .misconfigured),
        reason: "The settings of a format must be an object",
        remedy: "Write an object such as {\"columns\": …}, or remove the member."
    )

    /// Returns every problem of the members.
    static func problems(of settings: JSONObject) -> [Finding] {
        settings.compactMap { member in
            switch member.name {
            case "mapping": nil
            case "from", "to":
                member.value.object == nil
                    ? noObject.at(member.name, detail: "it is \(member.value.typePhrase)") : nil
            default: unknownMember.at(member.name)
            }
        }
    }
}

/// A sidecar file of the source, which describes how the source is read.
struct SourceSidecar {
    let settings: JSONObject
    let path: String
    private let bytes: [UInt8]
    private let fileExtension: String

    init(_ reader: SidecarReader, at path: String, given: JSONObject) throws {
        (self.path, fileExtension) = (path, reader.fileExtension)
        bytes = try FileSource.contents(of: path, limit: reader.limit)
        do {
            settings = try reader.settings(bytes, given)
        } catch {
            throw SettingsError(error.findings.map { $0.inFile(path) })
        }
    }

    /// The path of a sidecar file beside a file.
    static func path(beside file: String, _ fileExtension: String) -> String { "\(file.pathStem).\(fileExtension)" }

    /// A copy of the sidecar file beside a file; nil if the copy would be the sidecar file itself.
    func copy(beside file: String) -> (path: String, bytes: [UInt8])? {
        let copy = Self.path(beside: file, fileExtension)
        return FilePlace.name(copy) == FilePlace.name(path) ? nil : (copy, bytes)
    }
}

extension Session {
    /// The settings from a file or from standard input. If they come from standard input, no other option may read it.
    func migrationSettings() throws -> JSONObject {
        let settings = try givenSettings()
        let problems = MigrationSettingsFinding.problems(of: settings)
        guard problems.isEmpty else { throw settingsError(problems) }
        return settings
    }

    private func givenSettings() throws -> JSONObject {
        guard invocation.text(.settings) == "-" else { return try object(.settings) }
        let others = [
            (invocation.file(.input) == nil, "--in"), (invocation.text(.target) == "-", "--target"),
        ]
        if let other = others.first(where: \.0)?.1 {
            throw notAFile("--settings", because: ": \(other) reads standard input")
        }
        var input = try source(nil)
        guard let bytes = try input.contents(limit: FileSource.mostContents) else {
            throw SettingsError([
                SessionFinding.tooLong.at("standard input", detail: "over \(FileSource.mostContents) bytes")
            ])
        }
        return try object(bytes, from: "standard input")
    }

    /// The path of the sidecar file beside the source, whether it exists or not; nil if the format has no sidecar file.
    func pathBesideSource(_ source: RecordFormat) -> String? {
        guard let reader = source.sidecar, let input = invocation.file(.input) else { return nil }
        return SourceSidecar.path(beside: input, reader.fileExtension)
    }

    /// Returns the sidecar file that `--sidecar` names, or the one beside the source; nil if there is none or `--sidecar
    /// none` was given.
    func sidecar(of source: RecordFormat, given: JSONObject) throws -> SourceSidecar? {
        let named = invocation.text(.sidecar)
        guard let reader = source.sidecar else {
            guard named == nil || named == "none" else {
                throw UsageError(
                    "--sidecar: the format \(source.id) has no sidecar file. Leave the option out.",
                    command: invocation.command.name
                )
            }
            return nil
        }
        guard named != "none" else { return nil }
        guard let path = named ?? pathBesideSource(source), named != nil || ResumableMigration.size(of: path) != nil
        else { return nil }
        let sidecar = try SourceSidecar(reader, at: path, given: given)
        console.say("Reading the source as \(path) describes (\(reader.title)).")
        return sidecar
    }

    /// The file format that a flag names.
    func format(_ flag: Flag) throws(UsageError) -> RecordFormat {
        let formats = [.neutralContacts] + Vendors.files.flatMap(\.formats)
        let id = invocation.text(flag) ?? ""
        if let format = formats.first(where: { $0.id == id }) { return format }
        let takesServers = flag == .to && invocation.command.flags.contains(.provider)
        let servers = takesServers ? Vendors.serverAPIs.map { $0.descriptor.id.rawValue } : []
        let known = formats.map(\.id) + servers
        let guess = id.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
        throw UsageError(
            "--\(flag.name): unknown format \"\(id)\".\(guess) Formats: \(known.joined(separator: ", ")).",
            command: invocation.command.name
        )
    }

    /// The server API that `--to` names, as a provider of the configuration; nil if it names none.
    func serverTarget(settings: JSONObject) throws -> ServerTarget? {
        let id = invocation.text(.to) ?? ""
        guard let server = Vendors.modules.flatMap(\.apis).first(where: { $0.descriptor.id.rawValue == id }) else {
            return nil
        }
        try ServerTarget.check(server)
        let command = invocation.command.name
        guard invocation.has(.config) else {
            throw UsageError(
                "--to \(id) is a server API. Name a configuration with a provider for it: --config FILE.",
                command: command
            )
        }
        let configuration = try configuration()
        if invocation.has(.provider) {
            let provider = try provider(of: configuration)
            guard provider.adapterID.rawValue == id else {
                throw UsageError(
                    "--provider: \"\(provider.name)\" uses the adapter \(provider.adapterID.rawValue), but --to names \(id).",
                    command: command
                )
            }
            return try ServerTarget(provider, settings: settings)
        }
        let providers = configuration.providers.filter { $0.adapterID.rawValue == id }
        guard let provider = providers.first, providers.count == 1 else {
            let all = configuration.providers.map { "\($0.name) (\($0.adapterID.rawValue))" }
            let problem =
                providers.isEmpty
                ? "The configuration has no provider with the adapter \(id). Providers: \(all.joined(separator: ", "))."
                : "Several providers use the adapter \(id). Choose one with --provider: \(providers.map(\.name).joined(separator: ", "))."
            throw UsageError(problem, command: command)
        }
        return try ServerTarget(provider, settings: settings)
    }
}

extension Session {
    /// Leaves out the columns of the target file that nothing in the source fills.
    ///
    /// A run that is resumed keeps the columns of the earlier run. A plan learns them from the records that it reads anyway.
    fileprivate func omitUnfilledColumns(
        of migration: inout Migration,
        from source: RecordFormat,
        in path: String,
        head: [UInt8]?
    ) {
        let isApply = invocation.command.name == Command.migrateApply.name && !invocation.has(.dryRun)
        if isApply, !invocation.has(.restart), let output = invocation.file(.output),
            ResumableMigration.canResume(files(path, output, source: source)),
            let columns = ResumableMigration.omittedColumns(ofUnfinished: output)
        {
            return migration.omit(columns)
        }
        let total = ResumableMigration.size(of: path)
        var progress = ProgressLine(console, total: total)
        migration.omitUnfilledColumns(
            in: path,
            head: head,
            readsRecords: invocation.command.name != Command.migratePlan.name,
            progress: { progress.show(records: $0.records, bytes: $0.bytes, of: .columns(of: total)) },
            isCancelled: { self.interruption.signalNumber != nil }
        )
    }
}
