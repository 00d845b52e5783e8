import PatchbaySystem
import Testing

@testable import PatchbayOutbox

@Suite("Outbox storage") struct StorageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a file that this user may not read is no missing folder`() {
        let error = Connection.openingError("outbox.sqlite", 14, 13)
        #expect(error.code == .cannotOpen)
        #expect(error.detail == "outbox.sqlite cannot be opened (this user may not read it).")
        #expect(error.remedy.contains("right to read and write the file"))
        #expect(Connection.openingError("outbox.sqlite", 14, 2).remedy.contains("folder exists"))
    }

    @Test func `the file and what stands beside it are for this user only`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        try store.capture("o-1")
        for name in [folder.outbox, folder.outbox + "-wal", folder.outbox + "-shm"] {
            var status = stat()
            try #require(stat(name, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test func `rights that are too wide are taken away on opening`() throws {
        _ = try OutboxStore.open(.file(folder.outbox))
        chmod(folder.outbox, 0o644)
        _ = try OutboxStore.open(.file(folder.outbox))
        var status = stat()
        try #require(stat(folder.outbox, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    /// The mask is the whole process's: another program of the same machine can't be given less, so it is not changed
    /// here; files are made with their mode, which no mask widens, and one that is too wide is narrowed.
    @Test func `whatever the process's mask, everything beside an outbox is for this user only`() throws {
        let file = OutboxFile(folder.outbox)
        do {
            let store = try OutboxStore.open(.file(folder.outbox))
            for number in 0..<50 { try store.capture("o-\(number)") }
            file.markSuspect()
            try OutboxFile.copy(folder.outbox, to: folder.outbox + ".copy")
            for ending in ["", "-wal", "-shm"] { chmod(folder.outbox + ending, 0o666) }
        }
        // What was damaged while it was open to all is moved aside with its log, and for this user only.
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

    @Test func `a link at the path is followed, and the file behind it is for this user only`() throws {
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

    @Test func `a new file is reported as created and an old one is not`() throws {
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

    @Test func `a file of another schema version is refused and left as it is`() throws {
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

    @Test func `a database of another program is refused and left as it is`() throws {
        OutboxFile.delete(folder.outbox)
        try OutboxFile(folder.outbox).make()
        try Connection(.file(folder.outbox), .readWrite).script("CREATE TABLE note (text TEXT)")
        let before = try folder.bytes(folder.outbox)
        let error = outboxError { _ = try OutboxStore.open(.file(folder.outbox)) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.detail.contains("another program") == true)
        #expect(try folder.bytes(folder.outbox) == before)
    }

    @Test func `a store opened for reading sees everything and changes nothing`() throws {
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

    @Test func `what cannot be opened says so with a remedy`() throws {
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

    @Test func `a folder that may not be written says so with a remedy`() throws {
        // Root may write any ordinary folder, so it is tried on one that the kernel keeps for itself.
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
        // Room again: the store goes on.
        try store.connection.script("PRAGMA max_page_count = 1000000")
        try store.capture("last")
        let again = try OutboxStore.open(.file(folder.outbox))
        #expect(try again.windowIDs(limit: 10_000) == stored + ["last"])
    }

    @Test func `errors name no stored value`() throws {
        let store = try OutboxStore.open(.memory)
        try store.capture("anna@example.com", subject: "anna@example.com")
        let error = try #require(outboxError { try store.capture("anna@example.com", subject: "anna@example.com") })
        #expect(!error.description.contains("anna"))
        #expect(error.description.contains("operation.id"))
    }

    @Test(arguments: OutboxError.Code.allCases) func `every code has a remedy`(_ code: OutboxError.Code) {
        #expect(OutboxError(code, "x").remedy.count > 20)
    }
}
