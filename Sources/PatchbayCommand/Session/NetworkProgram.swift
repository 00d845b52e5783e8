import Foundation

/// The program that has a network and every command; it lies in the folder of this one.
enum NetworkProgram {
    static let name = "patchbay-network"

    /// Turns this process into that program, with the same arguments, environment, folder, files and process id.
    ///
    /// What was read or begun before is lost to it, so nothing may have been.
    static func takeOver(for command: Command) throws(CommandFailure) -> Never {
        guard let own = ownPath else { throw failure(command, "the path of this program is unknown") }
        let path = "\(own[..<(own.lastIndex(of: "/") ?? own.endIndex)])/\(name)"
        // A link or a copy of this program under that name would start itself for ever.
        guard FilePlace.text(own) != FilePlace.text(path) else {
            throw failure(command, "\(path) is patchbay under another name")
        }
        execv(path, CommandLine.unsafeArgv)
        throw failure(command, "\(path): \(String(cString: strerror(errno)))")
    }

    private static func failure(_ command: Command, _ problem: String) -> CommandFailure {
        CommandFailure(
            """
            "\(command.name)" uses the network and needs the program \(name), which cannot be started: \(problem).
            Install \(name) beside patchbay, or build it with `swift build --product \(name)`.
            """
        )
    }

    /// Where this program lies, whatever links lead to it.
    private static var ownPath: String? {
        #if canImport(Darwin)
        var (name, size) = ([CChar](repeating: 0, count: Int(PATH_MAX)), UInt32(PATH_MAX))
        guard _NSGetExecutablePath(&name, &size) == 0 else { return nil }
        #else
        let name = "/proc/self/exe"
        #endif
        guard let path = realpath(name, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
