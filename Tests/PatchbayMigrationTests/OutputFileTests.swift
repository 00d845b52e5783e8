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

    @Test func `it has its name only when it is complete`() throws {
        let file = try OutputFile(path: "\(folder)/a.csv")
        try file.write(Array("one".utf8))
        #expect(!names.contains("a.csv"))
        try file.commit()
        #expect(names == ["a.csv"])
        #expect(try content("a.csv") == "one")
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/a.csv")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a lock ends with its owner, although a child process still has a copy of the descriptor`() throws {
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
        // What a child process has between its creation and the start of its program.
        let copy = dup(number)
        defer { close(copy) }
        owner = nil
        #expect(try FileDescriptor(path, O_RDWR).lock())
    }

    @Test func `a file that is given up leaves the one that stood there`() throws {
        try "old".write(toFile: "\(folder)/a.csv", atomically: false, encoding: .utf8)
        do {
            let file = try OutputFile(path: "\(folder)/a.csv")
            try file.write(Array("new".utf8))
        }
        #expect(names == ["a.csv"])
        #expect(try content("a.csv") == "old")
    }

    @Test func `a link stays a link, and the file behind it is replaced`() throws {
        try "old".write(toFile: "\(folder)/real.csv", atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link.csv", withDestinationPath: "real.csv")
        let file = try OutputFile(path: "\(folder)/link.csv")
        try file.write(Array("new".utf8))
        try file.commit()
        #expect(try content("real.csv") == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/link.csv") == "real.csv")
    }

    @Test func `what a killed process left of the same file is cleared away, and nothing else is`() throws {
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
        // Somebody who shares the folder, but not the processes' numbers, writes it still.
        try OutputFile(path: "\(folder)/a.csv").commit()
        #expect(names.contains("a.csv.\(gone).partial"))
        try held.close()
        try OutputFile(path: "\(folder)/a.csv").commit()
        let rest = ["a.csv", "a.csv.\(alive).partial", "a.csv.partial", "a.csv.x.partial", "b.csv.\(gone).partial"]
        #expect(names == rest.sorted())
        // A file that can be gone on with is another way to the same name.
        try OutputFile(path: "\(folder)/b.csv", from: nil).commit()
        #expect(!names.contains("b.csv.\(gone).partial"))
        // Nobody knows whose a draft is of which a process of that number lives.
        #expect(OutputFile.clearDrafts(of: "\(folder)/a.csv") == ["\(folder)/a.csv.\(alive).partial"])
    }

    @Test func `a device is written and stays a device`() throws {
        let file = try OutputFile(path: "/dev/null")
        try file.write([1])
        try file.commit()
        #expect(
            try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
                == .typeCharacterSpecial
        )
    }

    @Test func `a folder and a missing folder are named with a remedy`() {
        let folderError = #expect(throws: FileError.self) { try OutputFile(path: self.folder) }
        #expect(folderError?.finding.remedy == "Name a file, not a folder.")
        let missing = #expect(throws: FileError.self) { try OutputFile(path: "\(self.folder)/none/a.csv") }
        #expect(missing?.path == "\(folder)/none/a.csv")
        #expect(missing?.finding.remedy == "Check the path and its folder.")
    }

    #if os(Linux)
    @Test func `a full disk is named with a remedy`() throws {
        let file = try OutputFile(path: "/dev/full")
        let error = #expect(throws: FileError.self) { try file.write([1]) }
        #expect(error?.finding.remedy == "Free space, or choose another disk.")
    }
    #endif

    @Test func `a source gives the whole file in chunks, and knows its size`() throws {
        try String(repeating: "x", count: 1000).write(toFile: "\(folder)/a", atomically: false, encoding: .utf8)
        var (source, sizes) = (try FileSource(path: "\(folder)/a", chunk: 300), [Int]())
        while let chunk = try source.next() { sizes.append(chunk.count) }
        #expect(sizes == [300, 300, 300, 100])
        #expect(source.size == 1000)
    }

    @Test func `a source that is a folder is refused`() {
        let error = #expect(throws: FileError.self) { try FileSource(path: self.folder) }
        #expect(error?.finding.remedy == "Name a file, not a folder.")
    }
}
