import Foundation
import PatchbayAdapterKit
import Testing

@testable import PatchbayMigration

@Suite("Output file") final class OutputFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? [] }
    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }

    @Test func `gives the file its name only when it is complete`() throws {
        let file = try OutputFile(path: "\(folder)/a.csv")
        try file.write(Array("one".utf8))
        #expect(!names.contains("a.csv"))
        try file.commit()
        #expect(names == ["a.csv"])
        #expect(try content("a.csv") == "one")
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/a.csv")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `releases a lock with its owner, even if a child process has a copy of the descriptor`() throws {
        let path = "\(folder)/journal"
        var owner: FileDescriptor? = try FileDescriptor(path, O_RDWR | O_CREAT)
        #expect(owner?.lock() == true)
        var wanted = stat()
        #expect(stat(path, &wanted) == 0)
        let number = try #require(
            (3..<Int32(4_096)).first { number in
                var status = stat()
                return fstat(number, &status) == 0 && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev
            }
        )
        // A child process has this copy between its creation and the start of its program.
        let copy = dup(number)
        defer { close(copy) }
        owner = nil
        #expect(try FileDescriptor(path, O_RDWR).lock())
    }

    @Test func `keeps the existing file if the new one is discarded`() throws {
        try "old".write(toFile: "\(folder)/a.csv", atomically: false, encoding: .utf8)
        do {
            let file = try OutputFile(path: "\(folder)/a.csv")
            try file.write(Array("new".utf8))
        }
        #expect(names == ["a.csv"])
        #expect(try content("a.csv") == "old")
    }

    @Test func `keeps a symbolic link and replaces its target file`() throws {
        try "old".write(toFile: "\(folder)/real.csv", atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link.csv", withDestinationPath: "real.csv")
        let file = try OutputFile(path: "\(folder)/link.csv")
        try file.write(Array("new".utf8))
        try file.commit()
        #expect(try content("real.csv") == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/link.csv") == "real.csv")
    }

    @Test func `removes drafts of killed processes for the same file and nothing else`() throws {
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sh")
        child.arguments = ["-c", "exit 0"]
        try child.run()
        child.waitUntilExit()
        let (gone, alive) = (child.processIdentifier, getppid())
        for name in [
            "a.csv.\(gone).partial", "a.csv.\(alive).partial", "b.csv.\(gone).partial", "a.csv.x.partial",
            "a.csv.partial",
        ] {
            try "left".write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
        let held = try FileDescriptor("\(folder)/a.csv.\(gone).partial", O_RDWR)
        #expect(held.lock())
        // A process that shares the folder but has other process ids still writes it.
        try OutputFile(path: "\(folder)/a.csv").commit()
        #expect(names.contains("a.csv.\(gone).partial"))
        try held.close()
        try OutputFile(path: "\(folder)/a.csv").commit()
        let rest = ["a.csv", "a.csv.\(alive).partial", "a.csv.partial", "a.csv.x.partial", "b.csv.\(gone).partial"]
        #expect(names == rest.sorted())
        // A resumable file uses the same name for another purpose.
        try OutputFile(path: "\(folder)/b.csv", from: nil).commit()
        #expect(!names.contains("b.csv.\(gone).partial"))
        // The owner of a draft is unknown if a process with its id is alive.
        #expect(OutputFile.clearDrafts(of: "\(folder)/a.csv") == ["\(folder)/a.csv.\(alive).partial"])
    }

    @Test func `writes to a device without replacing it`() throws {
        let file = try OutputFile(path: "/dev/null")
        try file.write([1])
        try file.commit()
        #expect(
            try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
                == .typeCharacterSpecial
        )
    }

    @Test func `names a folder or a missing folder with a remedy`() {
        let folderError = #expect(throws: FileError.self) { try OutputFile(path: self.folder) }
        #expect(folderError?.finding.remedy == "Name a file, not a folder.")
        let missing = #expect(throws: FileError.self) { try OutputFile(path: "\(self.folder)/none/a.csv") }
        #expect(missing?.path == "\(folder)/none/a.csv")
        #expect(missing?.finding.remedy == "Check the path and its folder.")
    }

    #if os(Linux)
    @Test func `reports a full disk with a remedy`() throws {
        let file = try OutputFile(path: "/dev/full")
        let error = #expect(throws: FileError.self) { try file.write([1]) }
        #expect(error?.finding.remedy == "Free space, or choose another disk.")
    }
    #endif

    @Test func `reads a whole source in chunks and reports its size`() throws {
        try String(repeating: "x", count: 1000).write(toFile: "\(folder)/a", atomically: false, encoding: .utf8)
        var (source, sizes) = (try FileSource(path: "\(folder)/a", chunk: 300), [Int]())
        while let chunk = try source.next() { sizes.append(chunk.count) }
        #expect(sizes == [300, 300, 300, 100])
        #expect(source.size == 1000)
    }

    @Test func `rejects a folder as a source`() {
        let error = #expect(throws: FileError.self) { try FileSource(path: self.folder) }
        #expect(error?.finding.remedy == "Name a file, not a folder.")
    }
}
