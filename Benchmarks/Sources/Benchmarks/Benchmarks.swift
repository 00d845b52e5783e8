import Dispatch
import Foundation

/// Measures what an app feels. Arguments name scenes; none is all, and writes RESULTS.md.
///
/// `fill VENDOR COUNT FILE`, `capture VENDOR COUNT FILE GROUP`, `drain VENDOR FILE`, `map VENDOR COUNT`, `begin VENDOR FILE COUNT`,
/// `gather COUNT FILE`, `await FILE COUNT` (a crowd of subjects), `contacts COUNT FILE` (rows where the file's name ends with `.csv`, Adobe's with `.txt`)
/// and `migrate WORKERS IN OUT [REJECTS]` do one part alone, for a profiler.
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
        if arguments.count == 4, arguments[1] == "contacts", let count = Int(arguments[2]) {
            return try MigrationData.write(count, to: arguments[3])
        }
        if arguments.count == 4, arguments[1] == "gather", let count = Int(arguments[2]) {
            return try await Crowd(path: arguments[3]).gather(count)
        }
        if arguments.count == 4, arguments[1] == "await", let count = Int(arguments[3]) {
            return print(try await Crowd(path: arguments[2]).wait(count), Child.peakMemory)
        }
        if arguments.count > 4, ["migrate", "mapped"].contains(arguments[1]) {
            return try MigrationChild.run(arguments)
        }
        if arguments.count > 3, let vendor = Vendor.all.first(where: { $0.name == arguments[2] }) {
            if arguments[1] == "fill", arguments.count == 5, let count = Int(arguments[3]) {
                return try await Stage(vendor: vendor, path: arguments[4]).fill(count)
            }
            if arguments[1] == "capture", arguments.count == 6, let count = Int(arguments[3]),
                let group = Int(arguments[5])
            {
                return print(
                    try await Stage(vendor: vendor, path: arguments[4]).capture(count, group: group).short,
                    "µs"
                )
            }
            if arguments[1] == "map", let count = Int(arguments[3]) {
                return print(try Mapper(vendor).microsecondsEach(count).short, "µs")
            }
            if arguments[1] == "drain" {
                return print(try await Stage(vendor: vendor, path: arguments[3]).drain(), "accepted in all")
            }
            if arguments[1] == "begin", arguments.count == 5, let count = Int(arguments[4]) {
                return print(try await Stage(vendor: vendor, path: arguments[3]).begin(count), Child.peakMemory)
            }
        }
        let chosen = arguments.dropFirst()
        func isChosen(_ scene: String) -> Bool { chosen.isEmpty || chosen.contains(scene) }
        var scenes = Scenes(workplace: try Workplace())
        defer { scenes.workplace.remove() }
        let machine = Machine()
        if isChosen("capture") { try await scenes.capture() }
        if isChosen("delivery") { try await scenes.delivery() }
        if isChosen("opening") { try await scenes.opening() }
        if isChosen("crowd") { try scenes.crowd() }
        if isChosen("start") { try await scenes.start() }
        if isChosen("mapping") { try await scenes.mapping() }
        if isChosen("migration") { try scenes.migration() }
        let text = machine.words + "\n\n" + scenes.report.markdown + "\n"
        print(text)
        if chosen.isEmpty, let path = ProcessInfo.processInfo.environment["PATCHBAY_RESULTS"] {
            try Results.write(text, to: path)
        }
    }
}
