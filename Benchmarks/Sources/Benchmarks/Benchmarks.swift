import Dispatch
import Foundation

/// Measures what an app feels. Arguments name scenes (`capture`, `delivery`, `opening`); none is all.
///
/// `fill VENDOR COUNT FILE` and `drain VENDOR FILE` do one part alone, for a profiler.
@main struct Benchmarks {
    /// The main thread waits and does not leave: profilers that emulate the machine get lost otherwise.
    static func main() {
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run()
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
            end.signal()
        }
        end.wait()
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments
        if arguments.count > 3, let vendor = Vendor.all.first(where: { $0.name == arguments[2] }) {
            if arguments[1] == "fill", arguments.count == 5, let count = Int(arguments[3]) {
                return try await Stage(vendor: vendor, path: arguments[4]).fill(count)
            }
            if arguments[1] == "drain" {
                return print(try await Stage(vendor: vendor, path: arguments[3]).drain(), "accepted")
            }
        }
        let chosen = arguments.dropFirst()
        var scenes = Scenes(workplace: try Workplace())
        if chosen.isEmpty || chosen.contains("capture") { try await scenes.capture() }
        if chosen.isEmpty || chosen.contains("delivery") { try await scenes.delivery() }
        if chosen.isEmpty || chosen.contains("opening") { try await scenes.opening() }
        print(scenes.report.markdown)
        scenes.workplace.remove()
    }
}
