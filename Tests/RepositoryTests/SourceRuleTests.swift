import Foundation
import PatchbayJSON
import Testing

@Suite("Sources") struct SourceRuleTests {
    private static let vendorWords = [
        "acoustic", "salesforce", "exacttarget", "mobilepush", "sfmc", "adobe", "marketo", "emarsys", "altcraft",
        "mapps", "braze", "sendgrid",
    ]
    /// Vendor names that are also common words, so their case matters.
    private static let vendorNames = ["DES", "Campaign", "Acoustic", "Silverpop"]
    /// The file of the command that names the vendors.
    private static let vendorList = "Sources/PatchbayCommand/Vendors.swift"

    @Test func `core sources contain no vendor names`() {
        for file in Repository.files("Sources") where file.path != Self.vendorList {
            // Examples of command lines name adapters, and tests run them.
            for line in file.lines where !line.text.contains("patchbay ") {
                let words = line.text.split { !$0.isLetter }.map(String.init)
                let found = words.filter { Self.vendorWords.contains($0.lowercased()) || Self.vendorNames.contains($0) }
                #expect(found.isEmpty, "\(file.path):\(line.number) says \(found).")
            }
        }
    }

    @Test(arguments: [
        "@unchecked " + "Sendable", "nonisolated" + "(unsafe)", "try" + "!", "fatal" + "Error(", "as" + "! ",
    ])
    func `sources contain no forbidden constructs`(_ form: String) {
        for file in Repository.files("Sources", "Adapters") where !file.path.contains("/Tests/") {
            for line in file.lines where !line.text.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                #expect(!line.text.contains(form), "\(file.path):\(line.number) says \(form).")
            }
        }
    }

    @Test func `no file contains a path of a local machine`() {
        let paths = ["/ho" + "me/", "/Us" + "ers/", "/wo" + "rk/", "/ro" + "ot/", "C:" + "\\"]
        let texts =
            Repository.files("Sources", "Adapters", "Tests", "Schemas", "Examples")
            + [".md", ".json", ".txt", ".sh", ".py"].flatMap { suffix in
                Repository.files("Adapters", "Sources", "Schemas", "Examples", "Tests", suffix: suffix)
            }
        for file in texts where file.path != "Tests/RepositoryTests/SourceRuleTests.swift" {
            for line in file.lines {
                let found = paths.filter { line.text.contains($0) }
                #expect(found.isEmpty, "\(file.path):\(line.number) names \(found).")
            }
        }
    }

    /// Declarations that a protocol already documents.
    private static let documentedRequirements = [
        "init(json:", "init(json ", "write(to", "encode(to", "init(from", "var description", "let description",
        "rawValue", "init(rawValue",
        "var startIndex", "var endIndex", "subscript(position", "init(stringLiteral", "init(integerLiteral",
        "init(booleanLiteral", "init(nilLiteral", "init(arrayLiteral", "init(dictionaryLiteral", "init()",
        "static func ==", "static func <", "func hash(into", "func examine(", "func place(", "func plan(",
        "func interpret(", "static func upgrade(", "init(settings", "var isJournaled", "static var table",
        "static let table",
        "static let descriptor", "static var descriptor", "static let id:", "static var id:", "var initialState",
        "func respond(", "func header(", "func footer(", "mutating func read(", "mutating func finish(",
        "var errorDescription", "var isRecursive", "func scopeProvider", "func provideScope", "var testDescription",
        "func next()", "func index(", "typealias ", "func date()", "func uptime()", "var boot:", "var process:",
        "static let settings:", "static let account:", "static var account:", "static func credential(of",
        "static func say(", "static var closing:",
        "static var question:", "static let question", "static var opposites:",
        "static let opposites", "static let expectedState", "static var expectedState:", "static var handedOut:",
        "static func problems(in", "func isDead(", "func chance()",
        "func makeID()", "func realTime(", "var afterErase", "func afterDenial(", "func mustRegisterAgain(",
        "var registeredContacts", "func withoutContact(",
        "static var changingSettings", "static var changingAccount", "static func action(", "static func identities(of",
        "static func expiredCredential(of", "static func interactionCounts(in", "static var retriesWhenWoken",
        "static let retriesWhenWoken", "static func records(in", "func write(_ bytes",
        "func problems(ofKeyOf", "func problems(ofOptionsOf", "func problems(ofContentOf", "func settled(in",
        "func verdictWithoutRequest(",
        "func tokenRequest(", "func transmission(for", "func interpretException(", "func refusesToken(",
        "func interpretAccepted(", "func interpretRefusal(", "func verdict(", "func requestedDelay(",
        "func suspension(", "static let conventions", "static var initial", "public var most:",
    ]

    @Test func `every public declaration has a doc comment`() {
        for file in Repository.files("Sources", "Adapters") where !file.path.contains("/Tests/") {
            for fault in undocumented(file) {
                Issue.record("\(file.path):\(fault.number) is public and has no doc comment: \(fault.text)")
            }
        }
    }

    private func undocumented(_ file: Repository.File) -> [(number: Int, text: String)] {
        let lines = file.lines.map { ($0.number, $0.text.trimmingCharacters(in: .whitespaces)) }
        return lines.indices.compactMap { index in
            let (number, text) = lines[index]
            guard text.hasPrefix("public "), !text.hasPrefix("public import"), !text.hasPrefix("public extension"),
                !Self.documentedRequirements.contains(where: { text.contains($0) })
            else { return nil }
            var above = index - 1
            while above >= 0, lines[above].1.hasPrefix("@") || lines[above].1.hasPrefix("#") { above -= 1 }
            return above >= 0 && lines[above].1.hasPrefix("///") ? nil : (number, text)
        }
    }

    @Test func `only the module under test is imported with @testable`() {
        for file in Repository.files("Tests", "Adapters", "Examples") {
            for line in file.lines {
                let words = line.text.split(separator: " ")
                guard words.starts(with: ["@testable", "import"]), let module = words.last else { continue }
                let folders = file.path.split(separator: "/")
                let isOwn =
                    folders[0] == "Tests"
                    ? folders[1] == "\(module)Tests" : module.hasPrefix("Patchbay\(folders[1])")
                #expect(
                    isOwn,
                    "\(file.path):\(line.number) imports \(module) with @testable. Use what is package or public."
                )
            }
        }
    }

    @Test func `goldens belong to known kinds`() {
        for vendor in Repository.folders(in: "Adapters") {
            let kinds = Set(Repository.folders(in: "Adapters/\(vendor)/Goldens"))
            let known: Set<String> = ["Requests", "Refusals", "Replies", "Conversations", "Records"]
            #expect(kinds.isSubset(of: known), "\(vendor) has goldens of an unknown kind.")
        }
    }

    @Test func `no golden contains a secret of its scenario`() throws {
        let scenarios = Repository.files("Adapters", suffix: ".json").filter { $0.path.contains("/Conversations/") }
        let secrets = Set(
            try scenarios.flatMap { scenario -> [String] in
                let story = try JSONValue(parsing: scenario.text)
                let given = story["environment"]?.object?.compactMap { $0.value.string } ?? []
                return given + (story["steps"]?.array ?? []).compactMap { $0["credential"]?["credential"]?.string }
            }
        )
        #expect(secrets.count >= 8)
        let outputs = [".txt", ".ndjson"].flatMap { Repository.files("Adapters", suffix: $0) }
            .filter { $0.path.contains("/Goldens/") }
        #expect(outputs.count > 700)
        for output in outputs {
            let isShown = secrets.contains { output.text.contains($0) }
            #expect(!isShown, "\(output.path) shows a secret. Hide it, or give the scenario another text.")
        }
    }
}
