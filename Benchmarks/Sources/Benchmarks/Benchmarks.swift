import Foundation

/// Measures what an app feels. Arguments name scenes (`capture`, `delivery`, `opening`); none is all.
@main struct Benchmarks {
    static func main() async throws {
        let chosen = CommandLine.arguments.dropFirst()
        var scenes = Scenes(workplace: try Workplace())
        if chosen.isEmpty || chosen.contains("capture") { try await scenes.capture() }
        if chosen.isEmpty || chosen.contains("delivery") { try await scenes.delivery() }
        if chosen.isEmpty || chosen.contains("opening") { try await scenes.opening() }
        print(scenes.report.markdown)
        scenes.workplace.remove()
    }
}
