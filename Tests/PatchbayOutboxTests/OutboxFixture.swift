import PatchbaySystem
import Testing

@testable import PatchbayOutbox

/// A temporary folder that is deleted with its test.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/outbox-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        path = String(cString: try #require(made))
    }

    var outbox: String { path + "/outbox.sqlite" }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { found.append(name) }
        }
        return found.sorted()
    }

    func bytes(_ path: String) throws -> [UInt8] {
        try OutboxFile.read(path, at: 0, count: OutboxFile.size(path) ?? 0)
    }

    deinit {
        chmod(path, 0o700)
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }
}

/// A random number generator with a fixed sequence for a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension OutboxStore {
    /// Captures one operation for one provider and counts it.
    @discardableResult
    func capture(
        _ id: String,
        subject: String = "installation-1",
        group: String? = nil,
        provider: String = "acoustic",
        lane: String = "device",
        queue: String = "events",
        hold: String? = nil,
        body: [UInt8] = Array("{\"name\":\"Order Placed\"}".utf8)
    ) throws -> Int64 {
        let operation = OutboxOperation(
            id: id,
            subject: subject,
            group: group,
            capturedAt: 1_700_000_000_000,
            since: 10,
            body: body
        )
        let sequence = try captures.insert(operation)
        try captures.enter(sequence, provider: provider, lane: lane, queue: queue, hold: hold)
        try accounts.count(provider: provider, term: "captured", code: "", by: 1)
        return sequence
    }

    func windowIDs(
        provider: String = "acoustic",
        lane: String = "device",
        limit: Int = 100,
        closed: Set<String> = []
    ) throws -> [String] {
        try window(provider: provider, lane: lane, limit: limit, closed: closed).rows.map(\.operation.id)
    }

    /// Returns the window while exactly these queues of the lane are closed.
    func window(
        provider: String,
        lane: String,
        limit: Int,
        closed: Set<String>
    ) throws -> (rows: [OutboxRow], hasMore: Bool) {
        try close(closed, provider: provider, lane: lane)
        return try queues.window(provider: provider, lane: lane, limit: limit)
    }

    /// Closes these queues of a lane and opens the others.
    func close(_ queues: Set<String>, provider: String = "acoustic", lane: String = "device") throws {
        guard try Set(closedQueues.list(provider: provider, lane: lane).map(\.queue)) != queues else { return }
        try closedQueues.openWoken(provider: provider, lane: lane)
        for queue in queues.sorted() {
            try closedQueues.close(provider: provider, lane: lane, queue: queue, until: nil, orWoken: true)
        }
    }
}

/// Returns the store's error that a closure throws; otherwise records an issue.
func outboxError(_ body: () throws -> Void) -> OutboxError? {
    do {
        try body()
        Issue.record("nothing was thrown")
    } catch let error as OutboxError {
        return error
    } catch {
        Issue.record(error)
    }
    return nil
}

/// The location of a store. A test of an API runs with a file and in memory.
enum StoreKind: CaseIterable {
    case file, memory

    func open(_ folder: TemporaryFolder) throws -> OutboxStore {
        try OutboxStore.open(self == .file ? .file(folder.outbox) : .memory)
    }
}
