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
        #expect(missing?.finding.remedy == "Check the path, and that its folder is there.")
    }

    #if os(Linux)
    @Test func `a full disk is named with a remedy`() throws {
        let file = try OutputFile(path: "/dev/full")
        let error = #expect(throws: FileError.self) { try file.write([1]) }
        #expect(error?.finding.remedy == "Free some space, or choose another disk.")
    }
    #endif

    @Test(arguments: [0, 1, 4096, 1_048_576, 2_100_000], [NSTemporaryDirectory(), "/dev/shm/"])
    func `a draft is the same past the cache, from wherever it goes on`(begun: Int, place: String) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: place, isDirectory: &isFolder)
        let folder = (exists ? place : NSTemporaryDirectory()) + "blocks-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/out"
        var all = (0..<begun).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try Data(all + [1, 2, 3]).write(to: URL(filePath: OutputFile.draft(of: path)))
        let file = try OutputFile(path: path, from: begun)
        var blocks = Blocks(to: file, from: begun)
        var wereLent: Set<Bool> = []
        for count in [1, 700_000, 1_048_576, 0, 300, 2_500_000, 0, 3_000_000, 4096] {
            let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
            all += piece
            var room = OutputRoom()
            room.use(blocks.lend())
            // Whoever maps fills it from its start, and begins anew where it is too small.
            room.put([9, 9, 9].suffix(min(3, room.count)), behind: 0)
            while room.count < count { room.grow(used: 0, by: count) }
            wereLent.insert(room.isLent)
            room.put(piece, behind: 0)
            try blocks.take(&room, count)
            #expect(!room.isLent)
            guard count == 0 else { continue }
            // A checkpoint: everything is there for whoever goes on.
            try blocks.flush()
            #expect(try Data(contentsOf: URL(filePath: OutputFile.draft(of: path))) == Data(all))
        }
        try blocks.flush()
        try blocks.flush()
        #expect(wereLent == (file.directWriter() == nil ? [false] : [false, true]))
        #expect(file.count == all.count)
        try file.commit()
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(all))
    }

    @Test func `room that is lent becomes a task's own where it is too small`() {
        var memory = [UInt8](repeating: 0, count: 10)
        memory.withUnsafeMutableBytes { bytes in
            var room = OutputRoom()
            room.use(OutputRoom.Lent(bytes))
            room.put([1, 2, 3], behind: 0)
            room.put([4], behind: 3)
            #expect(room.isLent && room.count == 10)
            room.grow(used: 4, by: 20)
            #expect(!room.isLent && room.count >= 24)
            room.put([5], behind: 4)
            #expect(room.prefix(5) == [1, 2, 3, 4, 5])
            #expect(Array(bytes[..<6]) == [1, 2, 3, 4, 0, 0])
            // Its own, which is large enough now, is used where what is lent is too small again.
            room.use(OutputRoom.Lent(bytes))
            room.put([6, 7], behind: 0)
            room.grow(used: 2, by: 1)
            #expect(!room.isLent && room.count >= 24 && room.prefix(2) == [6, 7])
        }
    }

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
