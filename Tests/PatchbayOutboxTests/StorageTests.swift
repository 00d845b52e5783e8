import PatchbaySystem
import Testing

@testable import PatchbayOutbox

@Suite("Outbox storage") struct StorageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `distinguishes a missing permission from a missing folder`() {
        let error = Connection.openingError("outbox.sqlite", 14, 13)
        #expect(error.code == .cannotOpen)
        #expect(error.detail == "outbox.sqlite cannot be opened (this user may not read it).")
        #expect(error.remedy.contains("right to read and write the file"))
        #expect(Connection.openingError("outbox.sqlite", 14, 2).remedy.contains("folder exists"))
    }

    @Test func `the outbox, -wal and -shm files are accessible only to this user`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        for name in [folder.outbox, folder.outbox + "-wal", folder.outbox + "-shm"] {
            var status = stat()
            try #require(stat(name, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test func `opening removes permissions for other users`() throws {
        _ = try OutboxStore.open(.file(folder.outbox))
        chmod(folder.outbox, 0o644)
        _ = try OutboxStore.open(.file(folder.outbox))
        var status = stat()
        try #require(stat(folder.outbox, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    /// The umask belongs to the whole process, so this test does not change it. The store creates files with an
    /// explicit mode, which no umask widens, and narrows the mode of existing files.
    @Test func `all files of a recovered outbox are accessible only to this user`() throws {
        let file = OutboxFile(folder.outbox)
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            for number in 0..<50 { try store.capture("o-\(number)") }
            file.markSuspect()
            try OutboxFile.copy(folder.outbox, to: folder.outbox + ".copy")
            for suffix in ["", "-wal", "-shm"] { chmod(folder.outbox + suffix, 0o666) }
        }
        // The damaged file and its log are moved aside and become accessible only to this user.
        try OutboxFile.write(Array(repeating: 0x41, count: 4096), to: folder.outbox, at: 0)
        let store = try OutboxStore.open(.file(folder.outbox))
        #expect(store.openReport.recovered)
        try store.capture("later")
        #expect(folder.names.count >= 4, "\(folder.names)")
        for name in folder.names {
            var status = stat()
            try #require(stat(folder.path + "/" + name, &status) == 0)
            #expect(status.st_mode & 0o077 == 0, "\(name)")
        }
    }

    @Test func `follows a symbolic link and restricts the permissions of its target`() throws {
        let target = folder.path + "/elsewhere.sqlite"
        try OutboxFile(target).make()
        chmod(target, 0o644)
        try #require(symlink(target, folder.outbox) == 0)
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        var status = stat()
        try #require(lstat(folder.outbox, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFLNK)
        try #require(stat(target, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func `reports a new file as created and an existing one as not created`() throws {
        #expect(try OutboxStore.open(.file(folder.outbox)).openReport == OpenReport(created: true))
        #expect(try OutboxStore.open(.file(folder.outbox)).openReport == OpenReport())
    }

    @Test func `closing leaves one file and no statement open`() throws {
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            try store.capture("o-1")
            #expect(store.connection.runningStatements == 0)
        }
        #expect(folder.names == ["outbox.sqlite"])
    }

    @Test func `refuses a file of another schema version and leaves it unchanged`() throws {
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            try store.capture("o-1")
            try store.connection.run(
                "UPDATE meta SET value = '2', checksum = row_checksum('meta', key, '2') WHERE key = 'schema'"
            )
        }
        let before = try folder.bytes(folder.outbox)
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox)) }
        #expect(error?.code == .otherVersion)
        #expect(error?.remedy.contains("Use the release") == true)
        #expect(outboxError { _ = try OutboxStore.open(.file(folder.outbox), readOnly: true) }?.code == .otherVersion)
        #expect(try folder.bytes(folder.outbox) == before)
    }

    @Test func `refuses a database of another program and leaves it unchanged`() throws {
        OutboxFile.delete(folder.outbox)
        try OutboxFile(folder.outbox).make()
        try Connection(.file(folder.outbox), .readWrite).script("CREATE TABLE note (text TEXT)")
        let before = try folder.bytes(folder.outbox)
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox)) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.detail.contains("another program") == true)
        #expect(try folder.bytes(folder.outbox) == before)
    }

    @Test func `a read-only store reads everything and refuses to write`() throws {
        let writer = try OutboxStore.open(.file(folder.outbox))
        try writer.capture("o-1")
        let reader = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        #expect(try reader.windowIDs() == ["o-1"])
        let error = outboxError { try reader.capture("o-2") }
        #expect(error?.code == .readOnly)
        #expect(error?.remedy.isEmpty == false)
        try writer.capture("o-3")
        #expect(try reader.windowIDs() == ["o-1", "o-3"])
    }

    @Test func `an error for a file that cannot be opened has a remedy`() throws {
        let places = [folder.path + "/missing/outbox.sqlite", folder.path]
        for place in places {
            let error = try #require(outboxError { _ = try OutboxStore.open(.file(place)) })
            #expect(error.code == .cannotOpen)
            #expect(error.remedy.contains("folder"))
            #expect(error.detail.contains(place))
        }
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox), readOnly: true) }
        #expect(error?.code == .cannotOpen)
        #expect(folder.names.isEmpty)
    }

    @Test func `an error for an unwritable folder has a remedy`() throws {
        // Root may write to any ordinary folder, so the test uses a folder of the kernel.
        let place = geteuid() == 0 ? "/proc" : folder.path
        if geteuid() != 0 { chmod(folder.path, 0o500) }
        let error = try #require(outboxError { _ = try OutboxStore.open(.file(place + "/outbox.sqlite")) })
        #expect(error.code == .cannotOpen)
        #expect(error.remedy.contains("folder"))
    }

    @Test func `a full volume loses nothing that was committed`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("first")
        let pages = try #require(try store.connection.number("PRAGMA page_count"))
        try store.connection.script("PRAGMA max_page_count = \(pages + 20)")
        var stored = ["first"]
        var error: OutboxError?
        for number in 0..<1_000 where error == nil {
            do {
                try store.transaction(.full) {
                    for part in 0..<3 {
                        try store.capture("o-\(number)-\(part)", body: Array(repeating: 7, count: 900))
                    }
                }
                stored += (0..<3).map { "o-\(number)-\($0)" }
            } catch let caught as OutboxError {
                error = caught
            }
        }
        #expect(error?.code == .full)
        #expect(error?.remedy.contains("space") == true)
        #expect(stored.count > 10)
        #expect(try store.windowIDs(limit: 10_000) == stored)
        #expect(try store.maintenance.verify().faults == [])
        // With free space again, the store resumes.
        try store.connection.script("PRAGMA max_page_count = 1000000")
        try store.capture("last")
        let again = try OutboxStore.open(.file(folder.outbox))
        #expect(try again.windowIDs(limit: 10_000) == stored + ["last"])
    }

    @Test func `errors contain no stored value`() throws {
        let store = try OutboxStore.open(.memory)
        try store.capture("anna@example.com", subject: "anna@example.com")
        let error = try #require(outboxError { try store.capture("anna@example.com", subject: "anna@example.com") })
        #expect(!error.description.contains("anna"))
        #expect(error.description.contains("operation.id"))
    }

    @Test(arguments: OutboxError.Code.allCases) func `every error code has a remedy`(_ code: OutboxError.Code) {
        #expect(OutboxError(code, "x").remedy.count > 20)
    }
}
