import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// A journal with which a migration between files can be undone. It names the files that the migration replaced or created.
///
/// A replaced file is kept by a hard link, so keeping it needs no copy. The journal is synced to the disk before the first
/// output is renamed.
public enum Journal: Sendable {
    /// The result of undoing the migration of one file.
    public enum Deed: String, Sendable {
        /// The earlier file is restored.
        case restored
        /// The file is removed; there was no earlier one.
        case removed
        /// The migration had not written the file.
        case untouched
    }

    private static let version = 1

    /// A file that a migration wrote.
    private struct Entry {
        let path: String
        /// The path of the link that keeps the earlier file; nil if there was none.
        let before: String?
        let inode: Int64
        let size: Int64
        let changed: Int64
    }

    // MARK: Writing

    /// Writes the journal of outputs that are complete but not renamed yet. A journal of these outputs that exists already
    /// stays.
    static func write(_ path: String, for outputs: [OutputFile]) throws {
        if try isWritten(path, for: outputs) { return }
        try requireFree(path, for: outputs.map(\.path))
        var entries: [JSONValue] = []
        for (kept, output) in zip(places(keptBy: path, count: outputs.count), outputs) {
            let target = OutputFile.resolved(output.path) ?? absolute(output.path)
            var before = JSONValue.null
            if access(target, F_OK) == 0 {
                // A link that a killed run has made already leads to the same file.
                guard access(kept, F_OK) == 0 || link(target, kept) == 0 else { throw FileError(kept, .open) }
                before = .string(kept)
            }
            let status = try output.status()
            entries.append([
                "path": .string(target), "before": before, "inode": .integer(status.st_ino),
                "size": .integer(status.st_size), "changed": .integer(status.changed),
            ])
        }
        let file = try OutputFile(path: path, from: nil)
        let json: JSONValue = ["version": .integer(version), "files": .array(entries)]
        try file.write(Array((json.text + "\n").utf8))
        try file.commit()
    }

    /// Throws ``Migration/Failure`` if the journal of another migration, or one of its kept files, exists at these paths.
    static func requireFree(_ path: String, for outputs: [String]) throws {
        if status(path).map({ $0.st_size > 0 }) ?? false {
            throw Migration.Failure([ServerFinding.journalLost.at(path)])
        }
        for (kept, output) in zip(places(keptBy: path, count: outputs.count), outputs) {
            guard let held = status(kept) else { continue }
            let now = status(output)
            guard held.st_ino == now?.st_ino, held.st_dev == now?.st_dev else {
                throw Migration.Failure([ServerFinding.journalLost.at(kept)])
            }
        }
    }

    /// Whether the journal of these outputs exists already, because a killed run has written it.
    private static func isWritten(_ path: String, for outputs: [OutputFile]) throws -> Bool {
        guard let entries = try? entries(of: path), entries.count == outputs.count else { return false }
        return try zip(entries, outputs).allSatisfy { entry, output in
            try Int64(output.status().st_ino) == entry.inode
        }
    }

    /// The paths of the links by which a journal keeps a number of earlier files.
    public static func places(keptBy path: String, count: Int) -> [String] {
        (0..<count).map { "\(absolute(path)).\($0 + 1).before" }
    }

    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    // MARK: Undo

    /// Restores the earlier files and removes the journal.
    ///
    /// No file is changed if any of them was changed since the migration. If undoing is interrupted, it can be repeated.
    /// - Parameter path: The journal.
    /// - Returns: The result for each file.
    /// - Throws: ``Migration/Failure`` if the journal cannot be read or a file was changed since the migration;
    ///   ``FileError``.
    public static func undo(_ path: String) throws -> [(path: String, deed: Deed)] {
        let entries = try entries(of: path)
        let deeds = try entries.map { entry in (entry, try deed(at: entry, of: path)) }
        for (entry, deed) in deeds {
            switch deed {
            case .restored:
                guard let before = entry.before, rename(before, entry.path) == 0 else {
                    throw FileError(entry.path, .rename)
                }
            case .removed: guard unlink(entry.path) == 0 else { throw FileError(entry.path, .rename) }
            case .untouched: if let before = entry.before { unlink(before) }
            }
        }
        unlink(path)
        return deeds.map { ($0.0.path, $0.1) }
    }

    private static func entries(of path: String) throws -> [Entry] {
        let bytes = try FileSource.contents(of: path)
        guard let json = try? JSONValue(parsing: bytes), json["version"]?.integer == Int64(version),
            let files = json["files"]?.array
        else { throw Migration.Failure([unreadable.at(path)]) }
        return try files.map { file in
            guard let target = file["path"]?.string, let inode = file["inode"]?.integer,
                let size = file["size"]?.integer, let changed = file["changed"]?.integer
            else { throw Migration.Failure([unreadable.at(path)]) }
            return Entry(
                path: target,
                before: file["before"]?.string,
                inode: inode,
                size: size,
                changed: changed
            )
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func deed(at entry: Entry, of journal: String) throws -> Deed {
        let now = status(entry.path)
        let before = entry.before.flatMap(status)
        if let now, Int64(now.st_ino) == entry.inode {
            guard now.st_size == entry.size, now.changed == entry.changed else {
                throw Migration.Failure([changed.at(entry.path)])
            }
            if entry.before != nil, before == nil { throw Migration.Failure([lost.at(entry.path)]) }
            return entry.before == nil ? .removed : .restored
        }
        let folder = entry.path.pathFolder
        guard status(folder) != nil else { throw Migration.Failure([moved.at(entry.path)]) }
        switch (now, entry.before, before) {
        // The migrated file was removed meanwhile.
        case (nil, .some, .some): return .restored
        case (nil, .some, nil): throw Migration.Failure([lost.at(entry.path)])
        // The migration was interrupted before this file, or an earlier undo has restored it.
        case (nil, nil, _), (.some, .some, nil): return .untouched
        case (let now?, .some, let before?) where now.st_ino == before.st_ino: return .untouched
        default:
            guard let later = laterJournal(than: entry, of: journal) else {
                throw Migration.Failure([replaced.at(entry.path)])
            }
            let remedy = "Undo that migration first: `patchbay migrate undo \(later)`. Then repeat the command."
            throw Migration.Failure([replacedLater.at(entry.path, remedy: remedy)])
        }
    }

    /// The journal of a later migration that replaced a file of this one. That journal keeps the file under another name.
    private static func laterJournal(than entry: Entry, of journal: String) -> String? {
        let folder = absolute(journal).pathFolder
        guard let listing = opendir(folder) else { return nil }
        defer { closedir(listing) }
        while let found = readdir(listing) {
            let name = withUnsafePointer(to: &found.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let path = "\(folder)/\(name)"
            guard name.hasSuffix(".before"), let kept = status(path), Int64(kept.st_ino) == entry.inode,
                kept.st_size == entry.size
            else { continue }
            let parts = name.split(separator: ".").dropLast(2)
            let later = parts.joined(separator: ".")
            return journal.contains("/") ? "\(folder)/\(later)" : later
        }
        return nil
    }

    private static let unreadable = FindingRow(
        .error("migration.journal.unreadable", .invalid),
        reason: "The file is not a journal of a migration",
        remedy: "Name the file that `patchbay migrate apply --journal` wrote."
    )
    private static let changed = FindingRow(
        .error("migration.journal.changed", .conflict),
        reason: "The file was changed after the migration. Nothing was undone",
        remedy: "Move the file away, then repeat the command."
    )
    private static let replaced = FindingRow(
        .error("migration.journal.replaced", .conflict),
        reason: "The file is not the one that this migration wrote. Nothing was undone",
        remedy:
            "If a later migration with a journal replaced the file, undo that one first. Otherwise move the file away, then repeat "
            + "the command."
    )
    private static let replacedLater = replaced.with(
        reason: "A later migration replaced the file. Nothing was undone",
        remedy: "Undo that migration first."
    )
    private static let moved = FindingRow(
        .error("migration.journal.moved", .notFound),
        reason: "The folder of the migrated files is missing. Nothing was undone, and the journal is kept",
        remedy: "Restore the folder with the journal and the files beside it, and undo again."
    )
    private static let lost = FindingRow(
        .error("migration.journal.lost", .notFound),
        reason: "The previous files are missing beside the journal. Nothing was undone",
        remedy: "Restore them beside the journal."
    )
}

extension String {
    /// The folder of an absolute path.
    fileprivate var pathFolder: String {
        let folder = lastIndex(of: "/").map { String(self[..<$0]) } ?? "."
        return folder.isEmpty ? "/" : folder
    }
}
