import Foundation
import Synchronization

/// A program in its own process, started by `posix_spawn`.
///
/// Foundation's `Process` is not used because this process has about a thousand open files while all tests run. In Swift
/// 6.3 on Linux, `Process` lists the open files to close them in the child and copies 256 bytes of each name, even of a
/// shorter one. It crashes if the list ends with its page (swift-corelibs-foundation, change 5472).
final class ChildProcess: Sendable {
    private let identifier: pid_t
    /// The exit status after it was queried.
    private let ended = Mutex<Int32?>(nil)

    /// Starts a program with standard input from a file, and standard output and error to two new files. The program
    /// inherits no other file of this process.
    init(
        _ path: String,
        _ arguments: [String],
        in folder: String,
        environment: [String: String],
        input: String,
        output: String,
        messages: String
    ) throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        try Self.check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init")
        defer { posix_spawn_file_actions_destroy(&actions) }
        try Self.check(posix_spawnattr_init(&attributes), "posix_spawnattr_init")
        defer { posix_spawnattr_destroy(&attributes) }
        // The paths are resolved by this process, before the child changes its folder.
        for (place, file, mode) in [
            (STDIN_FILENO, input, O_RDONLY), (STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC),
            (STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_TRUNC),
        ] {
            try Self.check(posix_spawn_file_actions_addopen(&actions, place, file, mode, 0o600), file)
        }
        #if canImport(Darwin)
        try Self.check(posix_spawn_file_actions_addchdir_np(&actions, folder), folder)
        #else
        try Self.check(Self.addFolder(&actions, folder), folder)
        #endif
        // A pool thread may block signals, but the program must receive all of them.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        try Self.check(posix_spawnattr_setsigmask(&attributes, &none), "its signals")
        try Self.check(posix_spawnattr_setsigdefault(&attributes, &all), "its signals")
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        try Self.check(Self.addEndOfFiles(&actions, STDERR_FILENO + 1), "its files")
        #endif
        try Self.check(posix_spawnattr_setflags(&attributes, Int16(flags)), "its attributes")

        let (words, names) = ([path] + arguments, environment.map { "\($0)=\($1)" })
        var identifier = pid_t()
        let status = Self.withList(words) { words in
            Self.withList(names) { posix_spawn(&identifier, path, &actions, &attributes, words, $0) }
        }
        try Self.check(status, path)
        self.identifier = identifier
    }

    /// Returns the exit status if the process has ended. As in a shell, a signal gives 128 plus its number.
    func status() throws -> Int32? {
        try ended.withLock { ended in
            if let ended { return ended }
            var word: Int32 = 0
            let answer = waitpid(identifier, &word, WNOHANG)
            guard answer != 0 else { return nil }
            try Self.check(answer == identifier ? 0 : errno, "waitpid")
            let signal = word & 0x7F
            ended = signal == 0 ? (word >> 8) & 0xFF : 128 + signal
            return ended
        }
    }

    /// Sends a signal, unless it has ended.
    func send(_ signal: Int32) {
        ended.withLock { if $0 == nil { kill(identifier, signal) } }
    }

    #if !canImport(Darwin)
    private typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>

    // The C library declares both functions as extensions, which Swift's module of it does not import.
    private static let addFolder = function(
        "posix_spawn_file_actions_addchdir_np",
        (@convention(c) (Actions, UnsafePointer<CChar>) -> Int32).self
    )
    private static let addEndOfFiles = function(
        "posix_spawn_file_actions_addclosefrom_np",
        (@convention(c) (Actions, Int32) -> Int32).self
    )

    private static func function<Function>(_ name: String, _ type: Function.Type) -> Function {
        guard let found = dlsym(nil, name) else { preconditionFailure("The C library has no \(name).") }
        return unsafeBitCast(found, to: type)
    }
    #endif

    private static func check(_ status: Int32, _ subject: String) throws {
        guard status != 0 else { return }
        throw NSError(
            domain: NSPOSIXErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: "\(subject): \(String(cString: strerror(status)))"]
        )
    }

    /// Calls the body with the texts as a null-terminated C array.
    private static func withList<Output>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Output
    ) -> Output {
        let list = texts.map { strdup($0) } + [nil]
        defer { for text in list { free(text) } }
        return body(list)
    }
}
