import Foundation

/// The files of the repository, located relative to this file.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file with its path from the root.
    struct File: Sendable {
        let path: String
        let text: String

        /// The lines with their numbers from 1, comments at their end included.
        var lines: [(number: Int, text: String)] {
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, String($1)) }
        }
    }

    /// Returns the files with the suffix in these folders, sorted, without build folders.
    static func files(_ folders: String..., suffix: String = ".swift") -> [File] {
        folders.flatMap { folder -> [File] in
            let base = root.appendingPathComponent(folder)
            let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
            return names.filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }.sorted().compactMap { name in
                guard let text = try? String(contentsOf: base.appendingPathComponent(name), encoding: .utf8) else {
                    return nil
                }
                return File(path: "\(folder)/\(name)", text: text)
            }
        }
    }

    /// The names of the folders in a folder.
    static func folders(in folder: String) -> [String] {
        let base = root.appendingPathComponent(folder)
        return ((try? FileManager.default.contentsOfDirectory(atPath: base.path)) ?? []).filter { name in
            var isFolder: ObjCBool = false
            return !name.hasPrefix(".")
                && FileManager.default.fileExists(
                    atPath: base.appendingPathComponent(name).path,
                    isDirectory: &isFolder
                )
                && isFolder.boolValue
        }.sorted()
    }

    /// Runs a program in the root and returns its exit status and output.
    static func run(_ words: String...) throws -> (status: Int32, text: String) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        (process.arguments, process.currentDirectoryURL) = (words, root)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
