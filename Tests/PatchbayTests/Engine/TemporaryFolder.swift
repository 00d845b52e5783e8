import Foundation

/// A temporary folder that is deleted with its test.
final class TemporaryFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")

    /// If the folder cannot be created, the test fails when it writes there.
    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of an outbox of the test.
    var outbox: String { url.appending(path: "outbox.sqlite").path }
}
