import Foundation

/// A folder of its own for each test, which goes away with the test.
final class TemporaryFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")

    /// Where the folder can't be made, the test can't write there either, and says so.
    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Where an outbox of the test can stand.
    var outbox: String { url.appending(path: "outbox.sqlite").path }
}
